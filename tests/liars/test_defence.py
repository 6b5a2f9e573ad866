"""A liar in every place: while a stale challenge runs, one honest endpoint is enough for it to be answered, by a node
and by a watchtower, whatever the others say. A liar alone keeps an answer away, and gets nothing else: no signature, no
process, and when it says the truth again the channel ends as it should."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from forcemove.chain import codec
from forcemove.chain.errors import EndpointFailed
from forcemove.errors import ForcemoveError
from tests.liars.lies import MONEY
from tests.liars.places import NodeAmongLiars, TowerAmongLiars, honest
from tests.liars.proxy import Tell
from tests.sampled import with_sample
from tests.simulation.liars import TOLD, Fickle

Among = NodeAmongLiars | TowerAmongLiars
Make = Callable[..., Among]
Honestly = dict[str, tuple[int, set[object], set[object]]]
PARTS: dict[str, type[Among]] = {"node": NodeAmongLiars, "tower": TowerAmongLiars}
UNCHARGED = ("eceipt", "eth_getTransactionCount")
"""Lies by which a tower pays more than it can charge: what its receipts cost, and the same answer at two nonces."""
SOON, LATER = 4, 8
"""Blocks: until it is answered, and for which the liars go on."""


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    made: list[Among] = []

    def among(part: str, tells: Sequence[Tell], **options: Any) -> Among:
        (folder := tmp_path / str(len(made))).mkdir()
        made.append(PARTS[part](folder, monkeypatch, tells, **options))
        return made[-1]

    yield among
    for each in made:
        each.close()


@pytest.fixture(scope="module")
def honestly(tmp_path_factory: pytest.TempPathFactory) -> Honestly:
    """By part: what an honest endpoint's run costs, what is signed in it, and what where nobody has challenged."""
    found = {}
    for part, among in PARTS.items():
        runs = []
        for challenged in (True, False):
            with pytest.MonkeyPatch.context() as patch:
                run = among(tmp_path_factory.mktemp(part), patch, [honest], challenged=challenged)
                for _ in range(SOON + LATER):
                    run.tick()
                runs.append(run)
        challenged_run, other = runs
        assert challenged_run.is_answered
        found[part] = challenged_run.cost, set(challenged_run.signed), set(other.signed)
        for run in runs:
            run.close()
    return found


def answers(part: str, tells: Sequence[Tell], make: Make, honestly: Honestly) -> Among:
    """The whole story."""
    cost, signed, signed_unchallenged = honestly[part]
    run, has_honest = make(part, tells), honest in tells
    for number in range(SOON + LATER):
        for each in tells:
            if isinstance(each, Fickle):
                each.change()
        run.tick()
        assert run.is_answered or not has_honest or number < SOON
    assert run.cost <= 3 * cost
    assert set(run.signed) <= (signed if has_honest else signed | signed_unchallenged)
    run.end()
    assert all(isinstance(each, ForcemoveError) for each in run.troubles), run.troubles
    return run


def cases(*places: int, every: int = 1) -> list[object]:
    """All lies in all of these places; those for money, or of them one of this many, in the normal run."""
    all_ = list(product(PARTS, TOLD, places))
    return with_sample(all_, [each for each in all_ if each[1] in list(MONEY)[::every]])


@pytest.mark.parametrize(("part", "lie", "place"), cases(0, 1, every=6))
def test_threat_43_beside_an_honest_endpoint_a_liar_keeps_no_answer_away(
    part: str, lie: str, place: int, make: Make, honestly: Honestly
) -> None:
    tells: list[Tell] = [honest]
    tells.insert(place, TOLD[lie])
    run = answers(part, tells, make, honestly)
    assert run.charged == run.cost or any(each in lie for each in UNCHARGED)


@pytest.mark.parametrize(("part", "lie", "place"), cases(0, 1, 2, every=16))
def test_threat_43_one_honest_endpoint_is_enough_beside_two_liars(
    part: str, lie: str, place: int, make: Make, honestly: Honestly
) -> None:
    """The second one tells something else."""
    names = list(TOLD)
    tells: list[Tell] = [TOLD[lie], TOLD[names[(names.index(lie) + 10) % len(names)]]]
    tells.insert(place, honest)
    answers(part, tells, make, honestly)


@pytest.mark.parametrize(("part", "lie", "place"), cases(0, every=8))
def test_threat_43_a_liar_alone_gets_no_signature_and_ends_nothing(
    part: str, lie: str, place: int, make: Make, honestly: Honestly
) -> None:
    answers(part, [TOLD[lie]], make, honestly)


# --------------------------------------------------------------------------------------------------- lies over time


@pytest.mark.parametrize("seed", with_sample(range(1_000), range(5)))
@pytest.mark.parametrize("part", PARTS)
def test_threat_43_whatever_is_told_over_time_one_honest_endpoint_is_enough(
    part: str, seed: int, make: Make, honestly: Honestly
) -> None:
    """Beside none, one or two liars, or there is no honest one."""
    answers_over_time(part, seed, make, honestly)


@pytest.mark.parametrize("seed", [61, 135])
def test_threat_43_an_end_that_was_invented_once_is_not_shown_for_ever(
    seed: int, make: Make, honestly: Honestly
) -> None:
    """In a log of one look; after that the endpoint says the truth."""
    answers_over_time("node", seed, make, honestly)


@pytest.mark.parametrize("part", PARTS)
def test_threat_45_who_is_alone_cannot_say_that_no_time_is_left(part: str, make: Make, honestly: Honestly) -> None:
    """Else all that an answer is worth is offered at once."""
    answers(part, [TOLD["latest two hours ahead"]], make, honestly)


def answers_over_time(part: str, seed: int, make: Make, honestly: Honestly) -> None:
    """A seed's endpoints, and their lies."""
    random = Random(seed)
    tells: list[Tell] = [Fickle(random) for _ in range(random.randint(1, 2))]
    if random.random() < 0.8:
        tells.insert(random.randint(0, len(tells)), honest)
    answers(part, tells, make, honestly)


@pytest.mark.parametrize("part", PARTS)
def test_threat_46_a_challenge_whose_log_is_shown_is_answered_whatever_question_fails(
    part: str, make: Make, honestly: Honestly
) -> None:
    """An honest endpoint, of which `wordsOf` is too much from the challenge on."""
    statuses, is_out_of_capacity = "0x" + codec.function("wordsOf").selector.hex(), False

    def tell(ask: Any, method: str, *params: Any) -> Any:
        if is_out_of_capacity and method == "eth_call" and params[0]["data"].startswith(statuses):
            raise EndpointFailed(method, "out of capacity")
        return ask(method, *params)

    cost, signed, _ = honestly[part]
    run = make(part, [tell], challenged=False)
    run.tick()
    is_out_of_capacity = True
    run.challenge()
    for _ in range(SOON):
        run.tick()
    assert run.is_answered
    assert run.cost <= 3 * cost
    assert set(run.signed) <= signed
