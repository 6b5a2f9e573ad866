"""The entries of one commit as bytes for a journal, and back. Pure.

A turn's commit writes these bytes, so they are few: fields have no names, and of several states with the same outcome
only the first has it. The order of fields is part of the format, as the names of the entries are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from forcemove.errors import MalformedBytes
from forcemove.history.entries import Entry, EntryWithoutState, StateAccepted, StateSigned
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.types import Allocation, Outcome, Signature, SignedState, VariablePart

_WHAT = "history"


class _Packed(Struct, frozen=True, array_like=True):
    """A signed state. `outcome`: None where it is that of the state before in the same bytes."""

    turn_num: int
    is_final: bool
    app_data: bytes
    outcome: tuple[tuple[bytes, bytes, int], ...] | None
    signatures: tuple[tuple[int, bytes], ...]
    evidence: bytes


class _Signed(Struct, frozen=True, array_like=True, tag="StateSigned"):
    time: int
    state: _Packed


class _Accepted(Struct, frozen=True, array_like=True, tag="StateAccepted"):
    time: int
    state: _Packed
    from_chain: bool


_CODEC: Codec[tuple[Any, ...]] = Codec(_WHAT, tuple[_Signed | _Accepted | EntryWithoutState, ...])


def pack(entries: Iterable[Entry]) -> bytes:
    """The bytes of entries."""
    return _CODEC.encode(tuple(_packed(entries)))


def unpack(data: bytes) -> tuple[Entry, ...]:
    """The entries of these bytes. Raises `MalformedBytes`, `UnknownVersion`."""
    return tuple(_unpacked(_CODEC.decode(data)))


def _packed(entries: Iterable[Entry]) -> Iterator[object]:
    """States as the tuples of `_Signed` and `_Accepted`, which are made faster than these."""
    last: Outcome | None = None
    for each in entries:
        if isinstance(each, StateAccepted):
            yield ("StateAccepted", each.time, _pack_state(each.signed, last), each.from_chain)
            last = each.signed.state.outcome
        elif isinstance(each, StateSigned):
            yield ("StateSigned", each.time, _pack_state(each.signed, last))
            last = each.signed.state.outcome
        else:
            yield each


def _pack_state(signed: SignedState, last: Outcome | None) -> tuple[object, ...]:
    state, signatures = signed.state, signed.signatures
    outcome = None if state.outcome == last else [(each.asset, each.destination, each.amount) for each in state.outcome]
    by_seat = [(index, signatures[index].compact) for index in sorted(signatures)]
    return (state.turn_num, state.is_final, state.app_data, outcome, by_seat, state.full_evidence())


def _unpacked(packed: Iterable[_Signed | _Accepted | EntryWithoutState]) -> Iterator[Entry]:
    last: Outcome | None = None
    for each in packed:
        match each:
            case _Signed(time, state):
                signed = _unpack_state(state, last)
                last = signed.state.outcome
                yield StateSigned(time, signed)
            case _Accepted(time, state, from_chain):
                signed = _unpack_state(state, last)
                last = signed.state.outcome
                yield StateAccepted(time, signed, from_chain)
            case _:
                yield each


def _unpack_state(packed: _Packed, last: Outcome | None) -> SignedState:
    outcome = last if packed.outcome is None else tuple(Allocation(*each) for each in packed.outcome)
    if outcome is None:
        raise MalformedBytes(_WHAT, "a state has no outcome")
    state = VariablePart(outcome, packed.app_data, packed.turn_num, packed.is_final, packed.evidence)
    return SignedState(state, {index: Signature(compact) for index, compact in packed.signatures})
