"""Writes packed calldata: the shortest that can be found without a search. Every function gives the bytes with their
selector, and raises `InvalidValue` on what the layout cannot say, of a proof also `StateCountOutOfRange`. Knows no
rules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from forcemove.errors import InvalidValue
from forcemove.protocol.codec import packed
from forcemove.protocol.types import (
    ETHER,
    Allocation,
    FixedPart,
    Outcome,
    Signature,
    SupportProof,
    VariablePart,
    address_destination,
    destination_address,
    require_bytes,
    require_uint,
)

_SHORT_EVIDENCE = 30
"""The most bytes of evidence that are not longer than a hash, with the two of their size."""
_SHORT_WORD = 30
"""The most low bytes that are never longer by themselves than in a run of whole words."""


def challenge_call(fixed_part: FixedPart, proof: SupportProof, challenger_signature: Signature | None = None) -> bytes:
    """A challenge; the signature only where the sender is not the challenger."""
    signature = b"" if challenger_signature is None else challenger_signature.compact
    return packed.SELECTORS["challenge"] + _fixed_part(fixed_part) + _proof(fixed_part, proof) + signature


def checkpoint_call(fixed_part: FixedPart, proof: SupportProof) -> bytes:
    """A checkpoint."""
    return packed.SELECTORS["checkpoint"] + _fixed_part(fixed_part) + _proof(fixed_part, proof)


def respond_call(
    fixed_part: FixedPart, challenged: VariablePart, response: VariablePart, signature: Signature
) -> bytes:
    """A response; `challenged` has the recorded turn, `response` the next one."""
    if response.turn_num != challenged.turn_num + 1:
        raise InvalidValue(
            "turn_num", response.turn_num, f"{challenged.turn_num + 1}, which follows the challenged one"
        )
    states = _state(fixed_part, challenged, None, may_hash=True) + _state(fixed_part, response, challenged)
    return packed.SELECTORS["respond"] + _fixed_part(fixed_part) + states + signature.compact


def conclude_call(
    fixed_part: FixedPart, outcome: Outcome, turn_num: int, signatures: Sequence[Signature], push: int
) -> bytes:
    """A conclusion.

    - `fixed_part`: of the channel.
    - `outcome`: of the final state.
    - `turn_num`: of the final state.
    - `signatures`: of it, by every participant in their order.
    - `push`: the gas that each payment may use, in units of 16,384.
    """
    count = len(fixed_part.participants)
    if len(signatures) != count:
        raise InvalidValue("signatures", len(signatures), f"one of each of the {count} participants")
    parts = (
        _fixed_part(fixed_part),
        _number("turn_num", turn_num, 6),
        _outcome(outcome, fixed_part.asset, fixed_part.total, fixed_part.participants),
        *(signature.compact for signature in signatures),
        _number("push", push, 1),
    )
    return packed.SELECTORS["conclude"] + b"".join(parts)


def transfer_call(
    channel_id: bytes, asset: bytes, state_hash: bytes, outcome: Outcome, indices: Sequence[int], push: int
) -> bytes:
    """A payout of a finalised channel.

    - `channel_id`: 32 bytes.
    - `asset`: its home asset, 20 bytes.
    - `state_hash`: 32 bytes, of the recorded state.
    - `outcome`: its outcome, less what has been paid.
    - `indices`: of the allocations to pay, each below 256; none: all.
    - `push`: as of `conclude_call`.
    """
    for name, value, length in (("channel_id", channel_id, 32), ("asset", asset, 20), ("state_hash", state_hash, 32)):
        require_bytes(name, value, length)
    parts = (
        channel_id,
        b"\0" if asset == ETHER else b"\x14" + asset,
        state_hash,
        _outcome(outcome, asset, 0, ()),
        _number("indices", len(indices), 1) if indices else b"",
        *(_number("indices", index, 1) for index in indices),
        _number("push", push, 1),
    )
    return packed.SELECTORS["transfer"] + b"".join(parts)


def batch_call(items: Sequence[tuple[int, bytes]]) -> bytes:
    """Several operations in one call: of each the gas that it may use, and its calldata."""
    parts = [_number("gas", gas, 3) + _number("calldata", len(calldata), 2) + calldata for gas, calldata in items]
    return packed.SELECTORS["batch"] + b"".join(parts)


# ------------------------------------------------------------------------------------------------------------- parts


def _number(field: str, value: int, size: int) -> bytes:
    require_uint(field, value, 256**size - 1)
    return value.to_bytes(size)


def _shortest(value: int) -> bytes:
    """Without zeros in front."""
    return value.to_bytes((value.bit_length() + 7) // 8)


def _fixed_part(fixed_part: FixedPart) -> bytes:
    is_ether, total = fixed_part.asset == ETHER, _shortest(fixed_part.total)
    parts = (
        bytes((len(fixed_part.participants) | (packed.ETHER_BIT if is_ether else 0),)),
        fixed_part.channel_nonce.to_bytes(8),
        fixed_part.app_definition,
        fixed_part.challenge_duration.to_bytes(4),
        b"" if is_ether else fixed_part.asset,
        bytes((len(total),)),
        total,
        *fixed_part.participants,
    )
    return b"".join(parts)


def _proof(fixed_part: FixedPart, proof: SupportProof) -> bytes:
    proof.require_complete(len(fixed_part.participants))
    states, is_from_record = proof.states, proof.is_from_record
    several = len(states) > 1
    parts = [
        _number("turn_num", proof.last.turn_num, 6),
        bytes((len(states) | packed.FROM_RECORD_BIT * is_from_record,)),
    ]
    parts.append(_state(fixed_part, states[0], None, may_hash=several))
    parts += [_state(fixed_part, state, before) for before, state in pairwise(states)]
    if several and not is_from_record:
        parts.append(proof.signed_states.to_bytes(len(fixed_part.participants), "little"))
    return b"".join((*parts, *(signature.compact for signature in proof.signatures)))


def _outcome(outcome: Outcome, home: bytes, total: int, participants: Sequence[bytes]) -> bytes:
    of_home = [place for place, entry in enumerate(outcome) if entry.asset == home]
    adds_up = total != 0 and sum(outcome[place].amount for place in of_home) == total
    rest_at = of_home[-1] if adds_up else None
    parts, asset = [_number("allocations", len(outcome), 1)], home
    for place, entry in enumerate(outcome):
        if entry.asset != asset:
            asset = entry.asset
            parts.append(bytes((packed.ANOTHER_ASSET,)) + asset)
        participant = participants[place] if place < len(participants) else None
        parts.append(_allocation(entry, participant, is_rest=place == rest_at))
    return b"".join(parts)


def _allocation(entry: Allocation, participant: bytes | None, is_rest: bool) -> bytes:
    amount = b"" if is_rest else _shortest(entry.amount)
    address = destination_address(entry.destination)
    if participant is not None and entry.destination == address_destination(participant):
        kind, to = packed.PARTICIPANT, b""
    else:
        kind, to = (packed.ANY, entry.destination) if address is None else (packed.ADDRESS, address)
    return bytes((kind << 6 | (packed.REST if is_rest else len(amount)),)) + to + amount


def _state(fixed_part: FixedPart, state: VariablePart, before: VariablePart | None, *, may_hash: bool = False) -> bytes:
    """`may_hash`: whether nobody asks for its evidence."""
    parts, flags = [], packed.FINAL if state.is_final else 0
    if before is not None and state.outcome == before.outcome:
        flags |= packed.SAME_OUTCOME
    else:
        parts.append(_outcome(state.outcome, fixed_part.asset, fixed_part.total, fixed_part.participants))
    sized = _sized("app_data", state.app_data)
    words = _words(state.app_data, b"" if before is None else before.app_data)
    if words is not None and len(words) < len(sized):
        flags |= packed.IN_WORDS
        parts.append(words)
    else:
        parts.append(sized)
    if may_hash and not state.is_final and len(state.evidence) > _SHORT_EVIDENCE:
        state = state.with_hashed_evidence()
    if may_hash and state.evidence_hash:
        flags |= packed.EVIDENCE_HASHED
        parts.append(state.evidence_hash)
    elif evidence := state.full_evidence():
        flags |= packed.EVIDENCE
        parts.append(_sized("evidence", evidence))
    return b"".join((bytes((flags,)), *parts))


def _sized(field: str, data: bytes) -> bytes:
    return _number(field, len(data), 2) + data


# ------------------------------------------------------------------------------------------------------------- words


def _words(app_data: bytes, before: bytes) -> bytes | None:
    """appData in words, or None where it is not of at most 255 whole ones."""
    if len(app_data) % 32 or len(app_data) > 255 * 32:
        return None
    words = [app_data[start : start + 32] for start in range(0, len(app_data), 32)]
    same = [word == before[32 * place : 32 * place + 32] for place, word in enumerate(words)]
    low = [word.lstrip(b"\0") for word in words]
    zero = [not each for each in low]
    whole = [len(each) > _SHORT_WORD and not is_same for each, is_same in zip(low, same, strict=True)]
    parts, place = [bytes((len(words),))], 0
    while place < len(words):
        run = max(_run(same, place), _run(zero, place))
        if run:
            parts.append(_mark(packed.AS_BEFORE if run == _run(same, place) else packed.ZEROS, run))
        elif whole[place]:
            run = _run(whole, place)
            parts += (_mark(packed.WHOLE, run), *words[place : place + run])
        else:
            run = 1
            parts += (bytes((len(low[place]),)), low[place])
        place += run
    return b"".join(parts)


def _mark(kind: int, run: int) -> bytes:
    return bytes((kind + run - 1,))


def _run(fits: Sequence[bool], place: int) -> int:
    """How many from this place on fit, as far as one mark reaches."""
    end = min(place + packed.MAX_RUN, len(fits))
    return next((other for other in range(place, end) if not fits[other]), end) - place
