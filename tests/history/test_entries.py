"""The entries of a history, as bytes and back, and what a history says of those that were removed."""

from __future__ import annotations

import pytest

from forcemove import Allocation, MalformedBytes, SignedState, VariablePart
from forcemove.history import entries, packing
from forcemove.history.history import MAX_ENTRIES, decode_history
from forcemove.history.packing import pack, unpack
from forcemove.protocol.logs import ChallengeRegistered, Closed, Deposited
from forcemove.protocol.types import UINT256_MAX, Signature

ID, REQUEST, HASH, BLOCK = (bytes([each]) * 32 for each in (1, 2, 3, 4))
SIGNATURES = (Signature(b"\x05" * 64), Signature(b"\x06" * 64))
POSITION, LATER = entries.LogPosition(7, BLOCK, HASH, 0), entries.LogPosition(8, HASH, HASH, 3)


def signed(turn: int, amount: int = 10, *seats: int) -> SignedState:
    outcome = (Allocation(bytes(20), b"\x07" * 32, amount), Allocation(bytes(20), b"\x08" * 32, 1))
    return SignedState(VariablePart(outcome, b"position %d" % turn, turn), {seat: SIGNATURES[seat] for seat in seats})


EVERYTHING: tuple[entries.Entry, ...] = (
    entries.StateSigned(1, signed(0, 10, 0)),
    entries.StateAccepted(2, signed(1, 10, 1), False),
    entries.StateSigned(3, signed(2, UINT256_MAX, 0)),
    entries.StateAccepted(4, signed(3, 11, 0, 1), True),
    entries.SignatureAdded(5, 3, 0, SIGNATURES[0]),
    entries.LogIncluded(6, Deposited(ID, bytes(20), UINT256_MAX), POSITION),
    entries.LogIncluded(6, ChallengeRegistered(ID, 9, signed(3).state, SIGNATURES), LATER),
    entries.LogReorged(7, Deposited(ID, bytes(20), UINT256_MAX), POSITION),
    entries.TxRequested(8, REQUEST, "deposit"),
    entries.TxSent(9, REQUEST, "deposit", 4, HASH, 10, 1, None),
    entries.TxSent(9, REQUEST, "deposit", 4, BLOCK, 20, 2, HASH),
    entries.TxMined(10, REQUEST, "deposit", BLOCK, 7, BLOCK, 50_000, 9),
    entries.TxReorged(11, REQUEST, "deposit", BLOCK, BLOCK),
    entries.TxRefused(12, REQUEST, "deposit", "GasTooDear", "GasTooDear(cost=5, most=4)", 0),
    entries.FaultFound(13, 1, "MessageRefused OutOfTurn", "facts", signed(9, 10, 1)),
    entries.FaultFound(13, None, "MalformedBytes", "facts", None),
    entries.AppointmentAcknowledged(14, "http://tower", 3),
    entries.ConnectionLost(15, "ws://relay"),
    entries.ConnectionRestored(16, "ws://relay"),
)


def test_all_entries_survive_as_bytes() -> None:
    assert unpack(pack(EVERYTHING)) == EVERYTHING
    for each in EVERYTHING:
        assert unpack(pack([each])) == (each,)


def test_every_kind_of_entry_is_tried() -> None:
    assert {type(each) for each in EVERYTHING} == set(entries.Entry.__args__)


def test_an_outcome_that_stays_is_written_once() -> None:
    same, other = (
        pack([entries.StateSigned(1, signed(0)), entries.StateSigned(2, signed(1, amount))]) for amount in (10, 11)
    )
    assert len(other) - len(same) > 100


def test_a_state_without_an_outcome_is_malformed() -> None:
    bare = packing._Packed(0, False, b"", None, (), b"")
    with pytest.raises(MalformedBytes):
        unpack(packing._CODEC.encode((packing._Signed(1, bare),)))


@pytest.mark.parametrize("data", [b"", b"\x90", b"nonsense", pack(EVERYTHING)[:-1]])
def test_other_bytes_are_malformed(data: bytes) -> None:
    with pytest.raises(MalformedBytes):
        unpack(data)


def test_the_kinds_of_entries() -> None:
    assert entries.kinds_of(EVERYTHING[:5]) == entries.EntryKinds.STATES
    assert entries.kinds_of(EVERYTHING[5:14]) == entries.EntryKinds.CHAIN
    assert entries.kinds_of(EVERYTHING[14:]) == entries.EntryKinds.OTHERS
    assert (
        entries.kinds_of(EVERYTHING) == entries.EntryKinds.STATES | entries.EntryKinds.CHAIN | entries.EntryKinds.OTHERS
    )
    assert entries.kinds_of(()) == entries.EntryKinds(0)


def test_what_cannot_be_read_is_counted_and_the_rest_is_there() -> None:
    history = decode_history([pack(EVERYTHING[:2]), b"damaged", pack(EVERYTHING[2:3])], damaged=1)
    assert (history.entries, history.unreadable) == (EVERYTHING[:3], 2)


def test_the_newest_entries_are_shown() -> None:
    many = [pack([entries.ConnectionLost(time, "ws://relay")]) for time in range(MAX_ENTRIES + 2)]
    history = decode_history(many)
    assert (len(history.entries), history.entries[0].time) == (MAX_ENTRIES, 2)


def test_what_was_removed_is_told_from_what_stands() -> None:
    log, again = entries.LogIncluded(1, Closed(ID), POSITION), entries.LogIncluded(4, Closed(ID), POSITION)
    mined = entries.TxMined(1, REQUEST, "conclude", HASH, 7, BLOCK, 1, 1)
    moved = entries.TxMined(3, REQUEST, "conclude", HASH, 8, HASH, 1, 1)
    happened: tuple[entries.Entry, ...] = (
        log,
        mined,
        entries.LogReorged(2, Closed(ID), POSITION),
        entries.TxReorged(2, REQUEST, "conclude", HASH, BLOCK),
        moved,
        again,
    )
    assert decode_history([pack(happened)]).reorged == {0, 1}
