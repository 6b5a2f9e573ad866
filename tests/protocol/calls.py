"""Any call with packed calldata, how it is written, and what is read of it again."""

from __future__ import annotations

from typing import assert_never

from hypothesis import strategies as st
from msgspec.structs import replace

from forcemove import Allocation, Outcome, VariablePart, address_destination
from forcemove.protocol.codec import packed_writer
from forcemove.protocol.codec.packed import (
    BatchCall,
    BatchItem,
    Call,
    ChallengeCall,
    CheckpointCall,
    ConcludeCall,
    RespondCall,
    TransferCall,
)
from forcemove.protocol.types import (
    ETHER,
    MAX_AMOUNT,
    MAX_PARTICIPANTS,
    UINT256_MAX,
    FixedPart,
    Signature,
    SupportProof,
)
from tests.protocol.builders import TOKEN

HASHED_ABOVE = 30
"""Evidence that is longer is given by its hash, where its hash is enough."""


def write(call: Call) -> bytes:
    """The calldata of a call."""
    match call:
        case ChallengeCall(fixed_part, proof, signature):
            return packed_writer.challenge_call(fixed_part, proof, signature)
        case CheckpointCall(fixed_part, proof):
            return packed_writer.checkpoint_call(fixed_part, proof)
        case RespondCall(fixed_part, challenged, response, signature):
            return packed_writer.respond_call(fixed_part, challenged, response, signature)
        case ConcludeCall(fixed_part, outcome, turn_num, signatures, push):
            return packed_writer.conclude_call(fixed_part, outcome, turn_num, signatures, push)
        case TransferCall(channel_id, asset, state_hash, outcome, indices, push):
            return packed_writer.transfer_call(channel_id, asset, state_hash, outcome, indices, push)
        case BatchCall(items):
            return packed_writer.batch_call(items)
        case _:
            assert_never(call)


def as_read(call: Call) -> Call:
    """What is known of a call after it was written: long evidence by its hash, where its hash is enough, and of a
    response no turns."""
    match call:
        case ChallengeCall(_, proof) | CheckpointCall(_, proof) if len(proof.states) > 1:
            states = (_as_first(proof.states[0]), *proof.states[1:])
            return replace(call, proof=replace(proof, states=states))
        case RespondCall(_, challenged, response):
            challenged = replace(_as_first(challenged), turn_num=0)
            return replace(call, challenged=challenged, response=replace(response, turn_num=1))
        case _:
            return call


def _as_first(state: VariablePart) -> VariablePart:
    is_hashed = len(state.evidence) > HASHED_ABOVE and not state.is_final
    return state.with_hashed_evidence() if is_hashed else state


# -------------------------------------------------------------------------------------------------------- strategies

addresses = st.one_of(st.binary(min_size=20, max_size=20), st.sampled_from((b"\x01" * 20, TOKEN, b"\0" * 19 + b"\x02")))
assets = st.one_of(st.sampled_from((ETHER, TOKEN)), addresses)
words = st.one_of(
    st.just(bytes(32)),
    st.binary(max_size=32).map(lambda low: low.rjust(32, b"\0")),
    st.binary(min_size=32, max_size=32),
    st.just(b"w" * 32),
)
amounts = st.one_of(st.integers(0, 30), st.integers(0, UINT256_MAX))
turns = st.one_of(st.integers(8, 2**20), st.just(2**48 - 2))
bytes_of_any = st.one_of(st.binary(max_size=70), st.lists(words, max_size=7).map(b"".join))
signatures = st.binary(min_size=64, max_size=64).map(Signature)


@st.composite
def fixed_parts(draw: st.DrawFn) -> FixedPart:
    participants = draw(st.lists(addresses.filter(any), min_size=2, max_size=MAX_PARTICIPANTS, unique=True).map(tuple))
    nonce, duration = draw(st.integers(0, 2**64 - 1)), draw(st.integers(60, 31_536_000))
    total = draw(st.one_of(st.just(0), st.integers(0, 60), st.integers(0, MAX_AMOUNT)))
    return FixedPart(participants, nonce, draw(addresses), duration, draw(assets), total)


@st.composite
def outcomes(draw: st.DrawFn, home: bytes, total: int, participants: tuple[bytes, ...]) -> Outcome:
    """Of any kind, those that add up to the total among them."""
    outcome: list[Allocation] = []
    for place in range(draw(st.integers(0, 5))):
        to = draw(
            st.one_of(
                st.just(address_destination((*participants, ETHER)[min(place, len(participants))])),
                addresses.map(address_destination),
                st.binary(min_size=32, max_size=32),
            )
        )
        outcome.append(Allocation(draw(st.one_of(st.just(home), assets)), to, draw(amounts)))
    of_home = [place for place, entry in enumerate(outcome) if entry.asset == home]
    adds_up: bool = draw(st.booleans())
    if of_home and adds_up:
        missing = total - sum(outcome[place].amount for place in of_home[:-1])
        outcome[of_home[-1]] = replace(outcome[of_home[-1]], amount=max(0, missing))
    return tuple(outcome)


@st.composite
def states(draw: st.DrawFn, fixed: FixedPart, turn: int, before: VariablePart | None) -> VariablePart:
    """A state that may have much of the state before."""
    outcome = draw(outcomes(fixed.asset, fixed.total, fixed.participants))
    app_data, evidence = draw(bytes_of_any), draw(st.one_of(st.just(b""), bytes_of_any))
    if before is not None and draw(st.booleans()):
        outcome = before.outcome
    if before is not None and draw(st.booleans()):
        kept = draw(st.integers(0, len(before.app_data)))
        app_data = before.app_data[: kept - kept % 32] + app_data
    return VariablePart(outcome, app_data, turn, draw(st.booleans()), evidence)


@st.composite
def chains(draw: st.DrawFn, fixed: FixedPart, count: int, may_hash: bool) -> tuple[VariablePart, ...]:
    """Consecutive states; of the first the evidence may be known by its hash alone."""
    last = draw(turns)
    chain: list[VariablePart] = []
    for turn in range(last - count + 1, last + 1):
        chain.append(draw(states(fixed, turn, chain[-1] if chain else None)))
    if may_hash and not chain[0].is_final and draw(st.booleans()):
        chain[0] = chain[0].with_hashed_evidence()
    return tuple(chain)


@st.composite
def proofs(draw: st.DrawFn, fixed: FixedPart) -> SupportProof:
    players = len(fixed.participants)
    count = draw(st.integers(1, players))
    chain = draw(chains(fixed, count, count > 1))
    if draw(st.booleans()):
        return SupportProof(chain, draw(_many(count - 1)), 0)
    signed = draw(st.binary(min_size=players, max_size=players)) if count > 1 else b""
    return SupportProof(chain, draw(_many(players)), int.from_bytes(signed, "little"))


def _many(count: int) -> st.SearchStrategy[tuple[Signature, ...]]:
    return st.lists(signatures, min_size=count, max_size=count).map(tuple)


@st.composite
def operations(draw: st.DrawFn) -> Call:
    """Any call but a batch."""
    fixed, push = draw(fixed_parts()), draw(st.integers(0, 255))
    match draw(st.integers(0, 4)):
        case 0:
            return ChallengeCall(fixed, draw(proofs(fixed)), draw(st.one_of(st.none(), signatures)))
        case 1:
            return CheckpointCall(fixed, draw(proofs(fixed)))
        case 2:
            challenged, response = draw(chains(fixed, 2, may_hash=True))
            return RespondCall(fixed, challenged, response, draw(signatures))
        case 3:
            outcome = draw(outcomes(fixed.asset, fixed.total, fixed.participants))
            return ConcludeCall(fixed, outcome, draw(turns), draw(_many(len(fixed.participants))), push)
        case _:
            ids = draw(st.binary(min_size=32, max_size=32)), fixed.asset, draw(st.binary(min_size=32, max_size=32))
            indices = tuple(draw(st.lists(st.integers(0, 255), max_size=4)))
            return TransferCall(*ids, draw(outcomes(fixed.asset, 0, ())), indices, push)


batches = st.lists(st.builds(BatchItem, st.integers(0, 2**24 - 1), operations().map(write)), max_size=3).map(
    lambda items: BatchCall(tuple(items))
)
calls = st.one_of(operations(), batches)
