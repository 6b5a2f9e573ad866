"""What becomes of a transaction by what two endpoints show of it, over all that they can show: who invents a receipt,
or leaves one out, makes nothing be forgotten, sent again or taken for done. Row 54 of the list of attacks, hole 22."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from forcemove.chain.answers import Receipt
from forcemove.chain.errors import TransactionReverted
from forcemove.sender.observations import TxObservation, TxStatus
from forcemove.sender.opinions import Opinion
from forcemove.sender.pricing import FeeMarket
from forcemove.sender.settling import SettlementVerdict, judge
from forcemove.sender.transactions import Confirmed, PendingTx, TxFailed, TxRequest, Version

DEEP, NONCE, COPY = 3, 5, 6
FAILED = TxFailed(b"purpose", TransactionReverted(bytes(32), 5, 21_000, None), 7)
LANDED = Confirmed(b"purpose", Receipt(bytes(32), 5, bytes(32), 21_000, 1, None, ()))
SHOWN = {
    "waits": TxObservation(TxStatus.WAITS),
    "unclear": TxObservation(TxStatus.UNCLEAR),
    "taken": TxObservation(TxStatus.TAKEN),
    "mined": TxObservation(TxStatus.MINED, FAILED, 1),
    "buried": TxObservation(TxStatus.MINED, FAILED, DEEP),
}


def flying(nonce: int, value: int = 0) -> PendingTx:
    wanted = TxRequest(b"purpose", bytes(20), b"", value, 10**18, gas=21_000)
    return PendingTx(wanted, nonce, 21_000, 0, (Version(bytes(32), b"", 1, 1, False, 0),))


def opinion(seen: TxObservation, copy: TxObservation | None = None) -> Opinion:
    return Opinion(9, 0, NONCE, NONCE, FeeMarket(1), 0, {NONCE: seen, COPY: copy or TxObservation(TxStatus.WAITS)})


def verdicts(age: float = 1) -> Iterator[tuple[str, str, SettlementVerdict]]:
    for (one, first), (other, second) in product(SHOWN.items(), repeat=2):
        yield one, other, judge(flying(NONCE), [opinion(first), opinion(second)], [COPY], DEEP, age)


def test_threat_54_nothing_is_over_that_an_endpoint_does_not_show_as_over() -> None:
    for one, other, verdict in verdicts():
        both = {one, other}
        assert verdict.waits == (both == {"waits"})
        assert verdict.is_taken == (both == {"taken"})
        assert verdict.is_settled == (both <= {"mined", "buried", "taken"} and both != {"taken"})
        assert verdict.is_buried == (both <= {"buried", "taken"} and "buried" in both)


def test_threat_54_a_receipt_that_one_shows_counts() -> None:
    for one, other, verdict in verdicts():
        assert bool(verdict.mined) == bool({one, other} & {"mined", "buried"})
        assert verdict.is_believed == ("buried" in {one, other})


def test_what_an_endpoint_denies_for_ever_is_kept_for_long_and_no_longer() -> None:
    for one, other, verdict in verdicts(age=61):
        assert verdict.is_buried == ("buried" in {one, other})


@pytest.mark.parametrize("value", [0, 1])
def test_threat_54_what_has_happened_by_one_word_alone_is_not_needless(value: int) -> None:
    """And what pays in is never: its copy would pay again."""
    words = [
        TxObservation(TxStatus.WAITS),
        TxObservation(TxStatus.MINED, LANDED, 1),
        TxObservation(TxStatus.MINED, LANDED, DEEP),
    ]
    for one, other in product(words, repeat=2):
        opinions = [opinion(TxObservation(TxStatus.WAITS), each) for each in (one, other)]
        are_deep = one.depth == other.depth == DEEP
        assert judge(flying(NONCE, value), opinions, [COPY], DEEP, 1).is_needless == (are_deep and not value)
