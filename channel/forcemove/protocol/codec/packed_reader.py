"""Reads packed calldata exactly as the adjudicator does: the same values, or the same error first. Knows no rules but
those of the layout; a fixed part that no channel can have is refused at the end, when all of its bytes were read."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from forcemove.errors import MalformedBytes
from forcemove.protocol.codec import packed
from forcemove.protocol.rule_errors import LengthMismatch, NotCanonical, NotInABatch, StateCountOutOfRange
from forcemove.protocol.types import (
    ETHER,
    UINT256_MAX,
    Allocation,
    FixedPart,
    Outcome,
    Signature,
    SupportProof,
    VariablePart,
    address_destination,
)

_SELECTOR = 4


def decode_call(data: bytes) -> packed.Call:
    """What calldata asks of the adjudicator.

    Raises as the adjudicator reverts: `NotCanonical`, `StateCountOutOfRange` and `NotInABatch` where they are met, then
    `LengthMismatch`, then what a `FixedPart` raises. Raises `MalformedBytes` where the selector is none of those that
    have packed calldata. Items of a batch are not looked into; their selectors are.
    """
    decode = _DECODERS.get(data[:_SELECTOR])
    if decode is None:
        raise MalformedBytes("call", "it does not begin with the selector of an operation with packed calldata")
    return decode(_Reader(data))


def decode_proof_log(arguments: bytes) -> tuple[FixedPart, SupportProof]:
    """What `ChallengeRegistered` and `Checkpointed` log: the arguments of a checkpoint. The proof of a recorded state
    that was challenged is from the record, and has no signatures. Raises as `decode_call`."""
    reader = _Reader(bytes(_SELECTOR) + arguments)
    fixed = _fixed_part(reader)
    proof = _proof(reader, fixed, is_logged=True)
    reader.end()
    return FixedPart(*fixed), proof


def decode_response_log(arguments: bytes) -> packed.RespondCall:
    """What `Responded` logs: the response's turn number (6 bytes) and the arguments of `respond`. Both states are given
    their turns. Raises as `decode_call`."""
    call = _respond(_Reader(bytes(_SELECTOR) + arguments[6:]))
    turn_num = int.from_bytes(arguments[:6])
    return replace(
        call,
        challenged=replace(call.challenged, turn_num=turn_num - 1),
        response=replace(call.response, turn_num=turn_num),
    )


class _Reader:
    """Takes the bytes after the selector in their order. Beyond the end they are zeros."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, _SELECTOR

    @property
    def left(self) -> int:
        """How many bytes are left; below zero beyond the end."""
        return len(self._data) - self.at

    def bytes(self, size: int) -> bytes:
        """The next bytes."""
        start, self.at = self.at, self.at + size
        return self._data[start : self.at].ljust(size, b"\0")

    def number(self, size: int = 1) -> int:
        """The next bytes as a number."""
        return int.from_bytes(self.bytes(size))

    def byte_within(self, is_canonical: Callable[[int], bool]) -> int:
        """The next byte, which must be one that means something."""
        value = self.number()
        if not is_canonical(value):
            raise NotCanonical(self.at - 1)
        return value

    def signature(self) -> Signature:
        """The next 64 bytes."""
        return Signature(self.bytes(64))

    def signatures(self, count: int) -> tuple[Signature, ...]:
        """The next so many."""
        return tuple(self.signature() for _ in range(count))

    def end(self) -> None:
        """Refuse calldata that is longer or shorter than what was read."""
        if self.left:
            raise LengthMismatch(self.at, len(self._data))


class _Fixed(NamedTuple):
    """A fixed part before anybody has looked whether there can be such a one."""

    participants: tuple[bytes, ...]
    channel_nonce: int
    app_definition: bytes
    challenge_duration: int
    asset: bytes
    total: int


# ------------------------------------------------------------------------------------------------------------- calls


def _challenge(reader: _Reader) -> packed.Call:
    fixed = _fixed_part(reader)
    proof = _proof(reader, fixed)
    signature = reader.signature() if reader.left > 0 else None
    reader.end()
    return packed.ChallengeCall(FixedPart(*fixed), proof, signature)


def _checkpoint(reader: _Reader) -> packed.Call:
    fixed = _fixed_part(reader)
    proof = _proof(reader, fixed)
    reader.end()
    return packed.CheckpointCall(FixedPart(*fixed), proof)


def _respond(reader: _Reader) -> packed.RespondCall:
    fixed = _fixed_part(reader)
    challenged = _state(reader, fixed, 0, None, may_hash=True)
    response = _state(reader, fixed, 1, challenged)
    signature = reader.signature()
    reader.end()
    return packed.RespondCall(FixedPart(*fixed), challenged, response, signature)


def _conclude(reader: _Reader) -> packed.Call:
    fixed = _fixed_part(reader)
    turn_num, outcome = reader.number(6), _outcome(reader, fixed)
    signatures, push = reader.signatures(len(fixed.participants)), reader.number()
    reader.end()
    return packed.ConcludeCall(FixedPart(*fixed), outcome, turn_num, signatures, push)


def _transfer(reader: _Reader) -> packed.Call:
    channel_id = reader.bytes(32)
    asset = reader.bytes(20) if reader.byte_within(lambda size: size in (0, 20)) else ETHER
    state_hash = reader.bytes(32)
    outcome = _outcome(reader, _Fixed((), 0, ETHER, 0, asset, 0))
    count = reader.byte_within(lambda count: count > 0) if reader.left > 1 else 0
    indices, push = tuple(reader.bytes(count)), reader.number()
    reader.end()
    return packed.TransferCall(channel_id, asset, state_hash, outcome, indices, push)


def _batch(reader: _Reader) -> packed.Call:
    items = []
    while reader.left > 0:
        gas, size = reader.number(3), reader.number(2)
        calldata = reader.bytes(size)
        if reader.left < 0:
            reader.end()
        selector = calldata[:_SELECTOR] if size >= _SELECTOR else bytes(_SELECTOR)
        if selector not in _IN_A_BATCH:
            raise NotInABatch(selector)
        items.append(packed.BatchItem(gas, calldata))
    return packed.BatchCall(tuple(items))


_DECODERS: dict[bytes, Callable[[_Reader], packed.Call]] = {
    packed.SELECTORS["challenge"]: _challenge,
    packed.SELECTORS["checkpoint"]: _checkpoint,
    packed.SELECTORS["respond"]: _respond,
    packed.SELECTORS["conclude"]: _conclude,
    packed.SELECTORS["transfer"]: _transfer,
    packed.SELECTORS["batch"]: _batch,
}
_IN_A_BATCH = frozenset(packed.SELECTORS[name] for name in packed.BATCHED)

# ------------------------------------------------------------------------------------------------------------- parts


def _fixed_part(reader: _Reader) -> _Fixed:
    head = reader.byte_within(lambda head: head & 0x70 == 0)
    nonce, app, duration = reader.number(8), reader.bytes(20), reader.number(4)
    asset = ETHER if head & packed.ETHER_BIT else reader.bytes(20)
    total = reader.number(reader.byte_within(lambda size: size <= 32))
    participants = tuple(reader.bytes(20) for _ in range(head & 0x0F))
    return _Fixed(participants, nonce, app, duration, asset, total)


def _proof(reader: _Reader, fixed: _Fixed, *, is_logged: bool = False) -> SupportProof:
    last_turn, head_at, head = reader.number(6), reader.at, reader.number()
    count, is_from_record, participants = head & 0x7F, head & packed.FROM_RECORD_BIT, len(fixed.participants)
    if not 0 < count <= participants:
        raise StateCountOutOfRange(count)
    if count > last_turn + 1:
        raise NotCanonical(head_at)
    states: list[VariablePart] = []
    for turn in range(last_turn + 1 - count, last_turn + 1):
        is_first = not states
        before = None if is_first else states[-1]
        states.append(_state(reader, fixed, turn, before, may_hash=is_first and count > 1))
    signed = reader.bytes(participants) if count > 1 and not is_from_record else b""
    signers = count - 1 if is_from_record else participants
    if is_logged and is_from_record and not reader.left:
        signers = 0
    return SupportProof(tuple(states), reader.signatures(signers), int.from_bytes(signed, "little"))


def _outcome(reader: _Reader, fixed: _Fixed) -> Outcome:
    outcome: list[Allocation] = []
    asset, so_far = fixed.asset, 0
    for place in range(reader.number()):
        tag_at, tag = reader.at, reader.number()
        if tag == packed.ANOTHER_ASSET:
            asset = reader.bytes(20)
            tag_at, tag = reader.at, reader.number()
        kind, size, is_home = tag >> 6, tag & 0x3F, asset == fixed.asset
        has_rest = is_home and fixed.total != 0 and so_far <= fixed.total
        has_destination = kind in (packed.ADDRESS, packed.ANY) or (
            kind == packed.PARTICIPANT and place < len(fixed.participants)
        )
        if not has_destination or not (size <= 32 or (size == packed.REST and has_rest)):
            raise NotCanonical(tag_at)
        if kind == packed.PARTICIPANT:
            destination = address_destination(fixed.participants[place])
        else:
            destination = address_destination(reader.bytes(20)) if kind == packed.ADDRESS else reader.bytes(32)
        amount = fixed.total - so_far if size == packed.REST else reader.number(size)
        so_far = (so_far + amount) & UINT256_MAX if is_home else so_far
        outcome.append(Allocation(asset, destination, amount))
    return tuple(outcome)


def _state(
    reader: _Reader, fixed: _Fixed, turn_num: int, before: VariablePart | None, *, may_hash: bool = False
) -> VariablePart:
    flags_at, flags = reader.at, reader.number()
    is_same, is_hashed = bool(flags & packed.SAME_OUTCOME), bool(flags & packed.EVIDENCE_HASHED)
    if (
        flags > (packed.FINAL | packed.SAME_OUTCOME | packed.IN_WORDS | packed.EVIDENCE_HASHED | packed.EVIDENCE)
        or (is_hashed and (not may_hash or flags & (packed.EVIDENCE | packed.FINAL)))
        or (is_same and before is None)
    ):
        raise NotCanonical(flags_at)
    outcome = before.outcome if is_same and before is not None else _outcome(reader, fixed)
    if flags & packed.IN_WORDS:
        app_data = _words(reader, b"" if before is None else before.app_data)
    else:
        app_data = reader.bytes(reader.number(2))
    evidence_hash = reader.bytes(32) if is_hashed else b""
    evidence = _evidence(reader) if flags & packed.EVIDENCE else b""
    return VariablePart(outcome, app_data, turn_num, bool(flags & packed.FINAL), evidence, evidence_hash)


def _evidence(reader: _Reader) -> bytes:
    size_at, size = reader.at, reader.number(2)
    if not size:
        raise NotCanonical(size_at)
    return reader.bytes(size)


def _words(reader: _Reader, before: bytes) -> bytes:
    length, app_data = 32 * reader.number(), bytearray()
    while len(app_data) < length:
        at, mark = reader.at, reader.number()
        if mark <= 32:
            app_data += reader.bytes(mark).rjust(32, b"\0")
            continue
        kind, size = mark & 0xC0, 32 * ((mark & 0x3F) + 1)
        start, end = len(app_data), len(app_data) + size
        if (
            kind not in (packed.ZEROS, packed.AS_BEFORE, packed.WHOLE)
            or end > length
            or (kind == packed.AS_BEFORE and end > len(before))
        ):
            raise NotCanonical(at)
        if kind == packed.WHOLE:
            app_data += reader.bytes(size)
        else:
            app_data += bytes(size) if kind == packed.ZEROS else before[start:end]
    return bytes(app_data)
