"""What nodes say in ways of their own: each line of the table, by an example of what a node says."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from forcemove.chain.quirks import QUIRKS, Meaning, Quirk, means


@dataclass(frozen=True)
class NodeAnswer:
    """What a node says: the message and the code of an error, or a status."""

    message: str = ""
    code: object = -32000
    status: int | None = None

    def meanings(self) -> set[Meaning]:
        """All that is meant by it."""
        return {each for each in Meaning if means(each, message=self.message, code=self.code, status=self.status)}


EXAMPLES: list[tuple[NodeAnswer, Meaning]] = [
    (NodeAnswer("already known"), Meaning.HAS_IT),
    (NodeAnswer("transaction already imported"), Meaning.HAS_IT),
    (NodeAnswer("AlreadyKnown, transaction is already in the pool"), Meaning.HAS_IT),
    (NodeAnswer("Known transaction"), Meaning.HAS_IT),
    (NodeAnswer("Insufficient funds for gas * price + value"), Meaning.NO_FUNDS),
    (NodeAnswer("sender does not have enough balance"), Meaning.NO_FUNDS),
    (NodeAnswer("Sender account balance cannot afford txn gas"), Meaning.NO_FUNDS),
    (NodeAnswer("VM Exception while processing transaction: reverted"), Meaning.REVERTED),
    (NodeAnswer("", code=3), Meaning.REVERTED),
    (NodeAnswer("Too Many Requests", code=429), Meaning.BUSY),
    (NodeAnswer(code=None, status=429), Meaning.BUSY),
    (NodeAnswer(code=None, status=503), Meaning.BUSY),
    (NodeAnswer(code=None, status=400), Meaning.TOO_MUCH),
    (NodeAnswer(code=None, status=413), Meaning.TOO_MUCH),
]


@pytest.mark.parametrize(("said", "meaning"), EXAMPLES, ids=str)
def test_what_a_node_says_means_one_thing(said: NodeAnswer, meaning: Meaning) -> None:
    assert said.meanings() == {meaning}


@pytest.mark.parametrize("quirk", QUIRKS, ids=str)
def test_each_quirk_has_an_example_of_its_own(quirk: Quirk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forcemove.chain.quirks.QUIRKS", [each for each in QUIRKS if each != quirk])

    assert any(meaning not in said.meanings() for said, meaning in EXAMPLES), "EXAMPLES has nothing that needs it"


@pytest.mark.parametrize(
    "said", [NodeAnswer("nonce too low"), NodeAnswer("", code="3"), NodeAnswer(status=200)], ids=str
)
def test_anything_else_means_nothing(said: NodeAnswer) -> None:
    assert said.meanings() == set()
