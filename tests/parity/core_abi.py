"""Calldata of the adjudicator and of the harness, packed by hand: a general encoder would take most of the time of a
million calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from forcemove.protocol.encoding import encode_variable_part_tail, word
from forcemove.protocol.types import FixedPart, Outcome, Signature, SupportProof, VariablePart


class Tail(NamedTuple):
    """An argument of dynamic size: its place holds an offset."""

    data: bytes


def arguments(*parts: bytes | Tail) -> bytes:
    """Heads, then tails, as `abi.encode` lays out arguments and the members of a tuple."""
    offset = sum(32 if isinstance(part, Tail) else len(part) for part in parts)
    heads, tails = [], []
    for part in parts:
        if isinstance(part, Tail):
            heads.append(word(offset))
            tails.append(part.data)
            offset += len(part.data)
        else:
            heads.append(part)
    return b"".join((*heads, *tails))


def address(value: bytes) -> bytes:
    return bytes(12) + value


def text(value: bytes) -> Tail:
    """`bytes`: the length, then the bytes padded to words."""
    return Tail(word(len(value)) + value + bytes(-len(value) % 32))


def numbers(values: Sequence[int]) -> Tail:
    return Tail(b"".join(map(word, (len(values), *values))))


def outcome(value: Outcome) -> Tail:
    entries = (address(entry.asset) + entry.destination + word(entry.amount) for entry in value)
    return Tail(word(len(value)) + b"".join(entries))


def state(value: VariablePart) -> Tail:
    return Tail(encode_variable_part_tail(value))


def fixed_part(value: FixedPart) -> Tail:
    participants = Tail(b"".join((word(len(value.participants)), *map(address, value.participants))))
    return Tail(
        arguments(
            participants,
            word(value.channel_nonce),
            address(value.app_definition),
            word(value.challenge_duration),
            address(value.asset),
            word(value.total),
        )
    )


def signature(value: Signature) -> bytes:
    return value.compact


def signatures(values: Sequence[Signature]) -> Tail:
    return Tail(word(len(values)) + b"".join(value.compact for value in values))


def states(values: Sequence[VariablePart]) -> Tail:
    return Tail(word(len(values)) + arguments(*map(state, values)))


def proof(value: SupportProof) -> tuple[Tail, Tail, bytes]:
    """Three arguments: the signatures, the states, and which participant has signed which."""
    return signatures(value.signatures), states(value.states), word(value.signed_states)
