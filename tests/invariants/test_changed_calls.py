"""Calls that are accepted, changed in every place: each byte in five ways, cut everywhere, and with more behind. On the
bytecode and the twin, which `World` compares, whatever still is accepted does what the call did.

Two kinds of calls say what nobody signs: which payments a transfer makes, and which operations a batch has. A changed
one may do a part of what the call did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from forcemove import ETHER, Outcome, VariablePart
from forcemove.chain.prices import OSAKA
from forcemove.protocol.adjudication import Payment
from forcemove.protocol.codec.packed import Call, ChallengeCall, ConcludeCall, TransferCall
from forcemove.protocol.codec.packed_reader import decode_call
from forcemove.protocol.codec.packed_writer import (
    batch_call,
    challenge_call,
    checkpoint_call,
    conclude_call,
    respond_call,
    transfer_call,
)
from forcemove.protocol.encoding import hash_state
from forcemove.protocol.logs import Log
from forcemove.protocol.types import FixedPart, SupportProof
from tests.invariants.test_full_channels import TOTAL, Funded
from tests.parity.core_verdict import ALLOWED
from tests.parity.core_world import World
from tests.protocol.builders import (
    ALICE,
    BOB,
    MALLORY,
    allocation,
    chain,
    fixed_part,
    outcome,
    proof,
    sign,
    sign_all,
    sign_challenge,
    state,
)

A, B, M = ALICE.address, BOB.address, MALLORY.address
WAYS = (0x01, 0x02, 0x40, 0x80, 0xFF)
"""Which bits of a byte are turned over."""
MORE = (b"\0", b"\x01", bytes(32), bytes(64), bytes(5))
PUSH = OSAKA.push
GAS = 3_000_000
EVIDENCE = b"why this move was right, in a few more bytes than a hash has"
OTHER = b"\xfe" * 20
"""An asset that no contract is of."""


class Case(NamedTuple):
    """`world`: where Mallory can send the call. `parts`: the calls that do a part of what it does."""

    world: World
    data: bytes
    parts: Sequence[bytes] = ()


class Effect(NamedTuple):
    """All that is seen of a call afterwards."""

    stored: tuple[object, ...]
    paid: list[Payment]
    logs: list[Log]


def effect(world: World, data: bytes) -> Effect | None:
    """What a call does, where it is accepted. Nothing has happened afterwards."""
    with world.trial():
        world.take_logs()
        if world.packed(M, data) != ALLOWED:
            return None
        model = world.model
        return Effect((model.statuses, model.holdings, model.credits), world.paid, world.logs)


# ---------------------------------------------------------------------------------------------------- accepted calls


def pays(first: int, second: int, of: bytes = ETHER) -> Outcome:
    """Of the home asset to Alice and Mallory, and of another one to nobody's account and a channel."""
    return (
        *outcome(first, second, to=(A, M), asset=of),
        allocation(b"\x77" * 20, 3, OTHER),
        allocation(b"\x99" * 32, 0x1234, OTHER),
    )


def shown(turn: int, first: int = 12) -> VariablePart:
    """A state with evidence."""
    return replace(state(turn, pays(first, TOTAL - first)), evidence=EVIDENCE)


def a_challenge_with_two_states() -> Case:
    funded = Funded()
    good = funded_proof(funded, shown(10), shown(11, 5))
    signature = sign_challenge(ALICE, good.last, funded.fixed, funded.world.domain)
    return Case(funded.world, challenge_call(funded.fixed, good, signature))


def a_challenge_with_the_recorded_state() -> Case:
    funded = Funded()
    recorded = shown(11)
    assert funded.world.checkpoint(A, funded.fixed, funded_proof(funded, recorded)) == ALLOWED
    signature = sign_challenge(BOB, recorded, funded.fixed, funded.world.domain)
    return Case(funded.world, challenge_call(funded.fixed, SupportProof((recorded,), (), 0), signature))


def a_challenge_of_three() -> Case:
    """Nothing is held, and no total agreed upon."""
    world = World()
    keys = (ALICE, MALLORY, BOB)
    fixed = fixed_part(keys, app=world.app, asset=world.tokens["TestToken"])
    states = chain(10, 11, 12, outcome_=pays(2**255, 0, fixed.asset), num_participants=3)
    return Case(world, challenge_call(fixed, proof(*states, keys=keys, fixed=fixed, domain=world.domain)))


def a_checkpoint_with_one_state() -> Case:
    funded = Funded()
    return Case(funded.world, checkpoint_call(funded.fixed, funded_proof(funded, shown(11))))


def a_checkpoint_from_the_record() -> Case:
    funded = Funded()
    first, second = shown(11), shown(12, 9)
    assert funded.world.checkpoint(A, funded.fixed, funded_proof(funded, first)) == ALLOWED
    signatures = (sign(ALICE, second, funded.fixed, funded.world.domain),)
    return Case(funded.world, checkpoint_call(funded.fixed, SupportProof((first, second), signatures, 0)))


def a_response() -> Case:
    funded = Funded()
    challenged, response = shown(11), replace(shown(12), evidence=b"short")
    assert funded.world.challenge(A, funded.fixed, funded_proof(funded, challenged)) == ALLOWED
    signature = sign(ALICE, response, funded.fixed, funded.world.domain)
    return Case(funded.world, respond_call(funded.fixed, challenged, response, signature))


def a_conclusion() -> Case:
    world = World()
    token = world.tokens["TestToken"]
    funded = Funded(asset=token, world=world)
    return Case(world, conclusion(world, funded.fixed, outcome(15, 5, asset=token)))


def a_transfer() -> Case:
    funded, recorded = Funded(), state(11, outcome(12, 8))
    funded.finalize(recorded)
    hashed = hash_state(funded.id, recorded).state
    both, *parts = (
        transfer_call(funded.id, ETHER, hashed, recorded.outcome, indices, PUSH) for indices in ((0, 1), (0,), (1,))
    )
    return Case(funded.world, both, parts)


def a_batch() -> Case:
    funded = Funded()
    other = fixed_part(nonce=1, app=funded.world.app, total=10)
    assert funded.deposit(0, 10, funded.name(other)) == ALLOWED
    checkpoint = checkpoint_call(funded.fixed, funded_proof(funded, *chain(10, 11)))
    items = (GAS, checkpoint), (GAS, conclusion(funded.world, other, outcome(4, 6)))
    return Case(funded.world, batch_call(items), [batch_call(part) for part in (items[:1], items[1:], ())])


def funded_proof(funded: Funded, *states: VariablePart) -> SupportProof:
    return proof(*states, fixed=funded.fixed, domain=funded.world.domain)


def conclusion(world: World, fixed: FixedPart, owed: Outcome) -> bytes:
    signatures = sign_all(VariablePart(owed, b"", 14, True), fixed=fixed, domain=world.domain)
    return conclude_call(fixed, owed, 14, signatures, PUSH)


# ------------------------------------------------------------------------------------------------------------ changes


def changes(data: bytes) -> Iterator[bytes]:
    """With another byte in each place, cut before it, and with more behind the last."""
    for at in range(len(data)):
        yield data[:at]
        yield from (data[:at] + bytes((data[at] ^ way,)) + data[at + 1 :] for way in WAYS)
    yield from (data + more for more in (*MORE, data[-64:], data[4:]))


def signed(data: bytes) -> Call:
    """Of a call what somebody has signed or recorded: neither the gas of payments nor a signature that a participant's
    challenge does not need, and one of the ways to write it."""
    match call := decode_call(data):
        case ConcludeCall():
            return replace(call, push=0)
        case TransferCall():
            return replace(call, push=0, indices=())
        case ChallengeCall(fixed) if M in fixed.participants:
            return replace(call, challenger_signature=None)
    return call


CASES = (
    a_challenge_with_two_states,
    a_challenge_with_the_recorded_state,
    a_challenge_of_three,
    a_checkpoint_with_one_state,
    a_checkpoint_from_the_record,
    a_response,
    a_conclusion,
    a_transfer,
    a_batch,
)


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_a_changed_call_is_refused_or_does_the_same(make: Callable[[], Case]) -> None:
    world, data, parts = make()
    allowed = [effect(world, each) for each in (data, *parts)]
    assert None not in allowed
    for changed in changes(data):
        if changed[:4] != data[:4]:
            assert not world.chain.transact(M, world.adjudicator, changed).success
        elif (found := effect(world, changed)) is not None:
            assert found in allowed, changed.hex()
            assert make is a_batch or signed(changed) == signed(data)
