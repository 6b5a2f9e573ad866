"""The entries of a history, as bytes and back, and what a history says of those that were removed."""

from __future__ import annotations

import pytest

from forcemove import Allocation, MalformedBytes, SignedState, VariablePart
from forcemove.history import packing
from forcemove.history.entries import (
    AppointmentAcknowledged,
    ConnectionLost,
    ConnectionRestored,
    Entry,
    EntryKinds,
    FaultFound,
    LogIncluded,
    LogPosition,
    LogReorged,
    SignatureAdded,
    StateAccepted,
    StateSigned,
    TxMined,
    TxRefused,
    TxReorged,
    TxRequested,
    TxSent,
    kinds_of,
)
from forcemove.history.history import MAX_ENTRIES, decode_history
from forcemove.history.packing import pack, unpack
from forcemove.protocol.logs import ChallengeRegistered, Closed, Deposited
from forcemove.protocol.types import UINT256_MAX, Signature

ID, REQUEST, HASH, BLOCK = (bytes([each]) * 32 for each in (1, 2, 3, 4))
SIGNATURES = (Signature(b"\x05" * 64), Signature(b"\x06" * 64))
POSITION, LATER = LogPosition(7, BLOCK, HASH, 0), LogPosition(8, HASH, HASH, 3)


def signed(turn: int, amount: int = 10, *seats: int) -> SignedState:
    outcome = (Allocation(bytes(20), b"\x07" * 32, amount), Allocation(bytes(20), b"\x08" * 32, 1))
    return SignedState(VariablePart(outcome, b"position %d" % turn, turn), {seat: SIGNATURES[seat] for seat in seats})


EVERYTHING: tuple[Entry, ...] = (
    StateSigned(1, signed(0, 10, 0)),
    StateAccepted(2, signed(1, 10, 1), False),
    StateSigned(3, signed(2, UINT256_MAX, 0)),
    StateAccepted(4, signed(3, 11, 0, 1), True),
    SignatureAdded(5, 3, 0, SIGNATURES[0]),
    LogIncluded(6, Deposited(ID, bytes(20), UINT256_MAX), POSITION),
    LogIncluded(6, ChallengeRegistered(ID, 9, signed(3).state, SIGNATURES), LATER),
    LogReorged(7, Deposited(ID, bytes(20), UINT256_MAX), POSITION),
    TxRequested(8, REQUEST, "deposit"),
    TxSent(9, REQUEST, "deposit", 4, HASH, 10, 1, None),
    TxSent(9, REQUEST, "deposit", 4, BLOCK, 20, 2, HASH),
    TxMined(10, REQUEST, "deposit", BLOCK, 7, BLOCK, 50_000, 9),
    TxReorged(11, REQUEST, "deposit", BLOCK, BLOCK),
    TxRefused(12, REQUEST, "deposit", "GasTooDear", "GasTooDear(cost=5, most=4)", 0),
    FaultFound(13, 1, "MessageRefused OutOfTurn", "facts", signed(9, 10, 1)),
    FaultFound(13, None, "MalformedBytes", "facts", None),
    AppointmentAcknowledged(14, "http://tower", 3),
    ConnectionLost(15, "ws://relay"),
    ConnectionRestored(16, "ws://relay"),
)


def test_all_entries_survive_as_bytes() -> None:
    assert unpack(pack(EVERYTHING)) == EVERYTHING
    for each in EVERYTHING:
        assert unpack(pack([each])) == (each,)


def test_every_kind_of_entry_is_tried() -> None:
    assert {type(each) for each in EVERYTHING} == set(Entry.__args__)


def test_an_outcome_that_stays_is_written_once() -> None:
    same, other = (pack([StateSigned(1, signed(0)), StateSigned(2, signed(1, amount))]) for amount in (10, 11))
    assert len(other) - len(same) > 100


def test_a_state_without_an_outcome_is_malformed() -> None:
    bare = packing._Packed(0, False, b"", None, ())
    with pytest.raises(MalformedBytes):
        unpack(packing._CODEC.encode((packing._Signed(1, bare),)))


@pytest.mark.parametrize("data", [b"", b"\x90", b"nonsense", pack(EVERYTHING)[:-1]])
def test_other_bytes_are_malformed(data: bytes) -> None:
    with pytest.raises(MalformedBytes):
        unpack(data)


def test_the_kinds_of_entries() -> None:
    assert kinds_of(EVERYTHING[:5]) == EntryKinds.STATES
    assert kinds_of(EVERYTHING[5:14]) == EntryKinds.CHAIN
    assert kinds_of(EVERYTHING[14:]) == EntryKinds.OTHERS
    assert kinds_of(EVERYTHING) == EntryKinds.STATES | EntryKinds.CHAIN | EntryKinds.OTHERS
    assert kinds_of(()) == EntryKinds(0)


def test_what_cannot_be_read_is_counted_and_the_rest_is_there() -> None:
    history = decode_history([pack(EVERYTHING[:2]), b"damaged", pack(EVERYTHING[2:3])], damaged=1)
    assert (history.entries, history.unreadable) == (EVERYTHING[:3], 2)


def test_the_newest_entries_are_shown() -> None:
    many = [pack([ConnectionLost(time, "ws://relay")]) for time in range(MAX_ENTRIES + 2)]
    history = decode_history(many)
    assert (len(history.entries), history.entries[0].time) == (MAX_ENTRIES, 2)


def test_what_was_removed_is_told_from_what_stands() -> None:
    log, again = LogIncluded(1, Closed(ID), POSITION), LogIncluded(4, Closed(ID), POSITION)
    mined = TxMined(1, REQUEST, "conclude", HASH, 7, BLOCK, 1, 1)
    moved = TxMined(3, REQUEST, "conclude", HASH, 8, HASH, 1, 1)
    happened: tuple[Entry, ...] = (
        log,
        mined,
        LogReorged(2, Closed(ID), POSITION),
        TxReorged(2, REQUEST, "conclude", HASH, BLOCK),
        moved,
        again,
    )
    assert decode_history([pack(happened)]).reorged == {0, 1}
