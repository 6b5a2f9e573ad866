"""The adjudicator's packed calldata: which calls there are, and the marks that their bytes are made of.

The layout is that of `contracts/README.md`: four bytes of selector, then bytes without padding, big-endian; every
operation takes exactly as many as it needs. `packed_writer` makes the bytes, `packed_reader` takes them apart.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import FixedPart, Outcome, Signature, SupportProof, VariablePart

BATCHED = ("challenge", "checkpoint", "respond", "conclude", "transfer")
"""The operations that a batch may have in it."""
SELECTORS = {name: keccak256(f"{name}()".encode())[:4] for name in (*BATCHED, "batch")}
"""The four bytes that calldata begins with, by the name of the operation."""

# ------------------------------------------------------------------------------------------------ marks in the bytes

ETHER_BIT = 0x80
"""In a fixed part's head, above the number of participants: the home asset is ether."""
FROM_RECORD_BIT = 0x80
"""In a proof's head, above the number of states: the first of them is the recorded one."""
ANOTHER_ASSET = 62
"""In the place of an allocation's tag: an asset follows, and then the tag."""
PARTICIPANT, ADDRESS, ANY = 0, 1, 2
"""Bits 6 and 7 of a tag, how a destination is said: the participant of the allocation's place, 20 bytes, or 32."""
REST = 63
"""Bits 0 to 5 of a tag, where they are not the size of the amount: what the total leaves."""
FINAL, SAME_OUTCOME, IN_WORDS, EVIDENCE_HASHED, EVIDENCE = 1, 2, 4, 8, 16
"""Flags of a state."""
ZEROS, AS_BEFORE, WHOLE = 0x40, 0x80, 0xC0
"""Marks of k + 1 words, k in bits 0 to 5: zero, as in the state before, or following. (0 to 32: the low bytes of one.)
"""
MAX_RUN = 64
"""The most words that one mark stands for."""

# ------------------------------------------------------------------------------------------------------------- calls


class ChallengeCall(Struct, frozen=True):
    """`challenge`. `challenger_signature`: None where the sender is the challenger."""

    fixed_part: FixedPart
    proof: SupportProof
    challenger_signature: Signature | None


class CheckpointCall(Struct, frozen=True):
    """`checkpoint`."""

    fixed_part: FixedPart
    proof: SupportProof


class RespondCall(Struct, frozen=True):
    """`respond`. Its bytes have no turns, for the record has them: `challenged` is given turn 0, and `response` 1."""

    fixed_part: FixedPart
    challenged: VariablePart
    response: VariablePart
    signature: Signature


class ConcludeCall(Struct, frozen=True):
    """`conclude`. `signatures`: of the final state, by every participant in their order. `push`: the gas that each
    payment may use, in units of 16,384."""

    fixed_part: FixedPart
    outcome: Outcome
    turn_num: int
    signatures: tuple[Signature, ...]
    push: int


class TransferCall(Struct, frozen=True):
    """`transfer`. `channel_id` and `state_hash`: 32 bytes. `asset`: 20 bytes, the channel's home asset. `indices`: of
    the allocations to pay; none: all. `push`: as of `ConcludeCall`."""

    channel_id: bytes
    asset: bytes
    state_hash: bytes
    outcome: Outcome
    indices: tuple[int, ...]
    push: int


class BatchItem(NamedTuple):
    """One operation of a batch. `gas`: the most that it may use, below 2**24. `calldata`: with its selector, at most
    65,535 bytes; it fails by itself where it means nothing."""

    gas: int
    calldata: bytes


class BatchCall(Struct, frozen=True):
    """`batch`."""

    items: tuple[BatchItem, ...]


Call = ChallengeCall | CheckpointCall | RespondCall | ConcludeCall | TransferCall | BatchCall
"""What packed calldata asks of the adjudicator."""
