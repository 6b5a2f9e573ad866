"""What nodes mean by words, codes and statuses that no standard fixes: one table. Knows no library and raises nothing:
which error follows is decided where a failure is read.

What a node cannot do is not here. Whether it takes batches, how large, and how wide a range of logs is learned by
asking (`learned`); what is asked instead of a block tag or a method that it lacks stands beside the request
(`Rpc.request`, `Chain.fees`, `Chain.gas_used`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Meaning(Enum):
    """What a node has said."""

    HAS_IT = auto()
    """It has this transaction already."""
    NO_FUNDS = auto()
    """The sender cannot pay for the call or transaction."""
    REVERTED = auto()
    """The call itself has failed, and not the node."""
    BUSY = auto()
    """It will answer later."""
    TOO_MUCH = auto()
    """It would answer less, as a smaller range of blocks."""


@dataclass(frozen=True, slots=True)
class Quirk:
    """One way of saying something: by `words` (lower case) in the message of a JSON-RPC error, by the error's `code`,
    or by the `status` of HTTP."""

    meaning: Meaning
    words: str = ""
    code: int | None = None
    status: int | None = None


QUIRKS = (
    Quirk(Meaning.HAS_IT, words="already known"),  # geth, reth
    Quirk(Meaning.HAS_IT, words="already imported"),  # anvil
    Quirk(Meaning.HAS_IT, words="alreadyknown"),  # Nethermind
    Quirk(Meaning.HAS_IT, words="known transaction"),  # Besu
    Quirk(Meaning.NO_FUNDS, words="insufficient funds"),  # geth, anvil
    Quirk(Meaning.NO_FUNDS, words="not have enough balance"),
    Quirk(Meaning.NO_FUNDS, words="cannot afford"),  # eth-tester
    Quirk(Meaning.REVERTED, words="revert"),
    Quirk(Meaning.REVERTED, code=3),  # geth
    Quirk(Meaning.BUSY, code=429),
    Quirk(Meaning.BUSY, status=429),
    Quirk(Meaning.BUSY, status=503),
    Quirk(Meaning.TOO_MUCH, status=400),
    Quirk(Meaning.TOO_MUCH, status=413),
)


def means(meaning: Meaning, *, message: object = "", code: object = None, status: int | None = None) -> bool:
    """Whether a node means this by an error's message and code, as it gave them, or by a status."""
    said = str(message).lower()
    return any(
        (quirk.words and quirk.words in said)
        or (quirk.code is not None and quirk.code == code)
        or (quirk.status is not None and quirk.status == status)
        for quirk in QUIRKS
        if quirk.meaning is meaning
    )
