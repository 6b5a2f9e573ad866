"""The largest that the bounds allow, on a real node with the limits of the strictest chains: row 36 of the list.

Eight participants, 32 allocations of four assets, 8,192 bytes of appData in each of eight states: every operation fits
into one transaction of 95,000 bytes of calldata and 2**24 gas (EIP-7825), and is mined.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass

import pytest
from eth_account import Account

from forcemove import Key, word
from forcemove.chain.adjudicator import Operation
from forcemove.chain.chain import Call
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.local import AnvilChain
from forcemove.chain.token import Token
from forcemove.protocol.types import (
    ETHER,
    MAX_ALLOCATIONS,
    MAX_APP_DATA,
    MAX_ASSETS,
    MAX_PARTICIPANTS,
    FixedPart,
    Outcome,
    SupportProof,
    VariablePart,
)
from tests.chain.world import World, deploy_contract, make_world
from tests.evm import function_selector
from tests.parity import core_abi as abi
from tests.protocol.builders import (
    ALICE,
    MALLORY,
    allocation,
    fixed_part,
    players,
    proof,
    sign,
    sign_all,
    sign_challenge,
    state,
)

GAS_CAP = 2**24
MOST_CALLDATA = 95_000
EVERYBODY = players(MAX_PARTICIPANTS)
FIRST = 100


@dataclass(frozen=True)
class Largest:
    """A channel of everybody's, and the largest outcome that it may have."""

    world: World
    fixed: FixedPart
    outcome: Outcome

    def state(self, turn: int) -> VariablePart:
        return state(turn, self.outcome, app_data=b"\xff" * MAX_APP_DATA)

    def proof(self, *turns: int) -> SupportProof:
        return proof(*map(self.state, turns), keys=EVERYBODY, fixed=self.fixed, domain=self.world.domain)

    def from_record(self, *turns: int) -> SupportProof:
        states = tuple(map(self.state, turns))
        signatures = (sign(self.mover(each), each, self.fixed, self.world.domain) for each in states[1:])
        return SupportProof(states, tuple(signatures), 0)

    def mover(self, state_: VariablePart) -> Key:
        return EVERYBODY[state_.turn_num % MAX_PARTICIPANTS]

    def send(self, operation: Operation) -> int:
        """Sent by a stranger, under the limits; the gas that it took."""
        assert len(operation.data) <= MOST_CALLDATA
        gas = self.world.adjudicator.send(operation, MALLORY).gas_used
        assert gas <= GAS_CAP
        return gas

    def deposit_all(self) -> None:
        id_ = self.world.id_of(self.fixed)
        for asset in sorted({entry.asset for entry in self.outcome}):
            total = sum(entry.amount for entry in self.outcome if entry.asset == asset)
            self.world.adjudicator.send(self.world.adjudicator.deposit(id_, asset, 0, total), ALICE)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    chain = AnvilChain("--enable-tx-gas-limit")
    try:
        yield make_world(chain)
    finally:
        chain.close()


@pytest.fixture(scope="module")
def tokens(world: World) -> list[bytes]:
    """Three, of which Alice has enough."""
    found = sorted(deploy_contract(world.chain, "TestToken") for _ in range(MAX_ASSETS - 1))
    for token in found:
        mint = function_selector("TestToken", "mint") + abi.arguments(abi.address(ALICE.address), word(10**6))
        world.chain.send(Call(token, mint), ALICE)
        world.chain.send(Token(world.chain, token).approve(world.adjudicator.address, 10**6), ALICE)
    return found


@pytest.fixture
def largest(world: World, tokens: list[bytes]) -> Largest:
    """Paid to accounts that nobody has used."""
    each = MAX_ALLOCATIONS // MAX_ASSETS
    payees = [bytes.fromhex(f"{index + 1:040x}") for index in range(0x1000, 0x1000 + MAX_ALLOCATIONS)]
    owed = tuple(
        allocation(payees[place], place + 1, asset)
        for number, asset in enumerate((ETHER, *tokens))
        for place in range(number * each, (number + 1) * each)
    )
    fixed = fixed_part(EVERYBODY, next(_nonces), app=deploy_contract(world.chain, "PermissiveApp"))
    return Largest(world, fixed, owed)


_nonces = iter(range(1_000))


def test_the_gas_cap_is_that_of_the_chain(world: World) -> None:
    """The node refuses more, so what is sent below was sent within the cap."""
    sender = Account.create()
    world.chain.send(Call(bytes.fromhex(sender.address[2:]), b"", 10**18), ALICE)
    fields = {"chainId": world.chain.chain_id, "nonce": 0, "to": sender.address, "value": 0, "gasPrice": 2 * 10**9}
    for gas, is_refused in ((GAS_CAP + 1, True), (GAS_CAP, False)):
        signed = sender.sign_transaction(fields | {"gas": gas})
        with pytest.raises(EndpointFailed, match="gas") if is_refused else nullcontext():
            world.chain.rpc.ask("eth_sendRawTransaction", "0x" + signed.raw_transaction.hex())


def test_threat_36_the_largest_challenge_is_mined_and_answered(largest: Largest) -> None:
    """With eight states that each somebody else has signed, by a stranger with a participant's signature."""
    adjudicator, fixed, domain = largest.world.adjudicator, largest.fixed, largest.world.domain
    given = largest.proof(*range(FIRST, FIRST + MAX_PARTICIPANTS))
    signature = sign_challenge(ALICE, given.last, fixed, domain)
    largest.send(adjudicator.challenge(fixed, given, signature))

    response = largest.state(FIRST + MAX_PARTICIPANTS)
    mover = sign(largest.mover(response), response, fixed, domain)
    largest.send(adjudicator.respond(fixed, given.last, response, mover))

    last = FIRST + MAX_PARTICIPANTS
    onwards = largest.from_record(*range(last, last + MAX_PARTICIPANTS))
    signature = sign_challenge(ALICE, onwards.last, fixed, domain)
    largest.send(adjudicator.challenge(fixed, onwards, signature))
    last = onwards.last.turn_num
    largest.send(adjudicator.checkpoint(fixed, largest.proof(*range(last + 1, last + 1 + MAX_PARTICIPANTS))))


def test_threat_36_the_largest_checkpoints_are_mined(largest: Largest) -> None:
    adjudicator, fixed = largest.world.adjudicator, largest.fixed
    largest.send(adjudicator.checkpoint(fixed, largest.proof(FIRST)))
    largest.send(adjudicator.checkpoint(fixed, largest.from_record(*range(FIRST, FIRST + MAX_PARTICIPANTS))))


def test_threat_36_the_largest_payouts_are_mined(largest: Largest) -> None:
    adjudicator, fixed, id_ = largest.world.adjudicator, largest.fixed, largest.world.id_of(largest.fixed)
    largest.deposit_all()
    largest.send(adjudicator.checkpoint(fixed, largest.proof(FIRST)))
    challenged = SupportProof((largest.state(FIRST),), (), 0)
    signature = sign_challenge(ALICE, challenged.last, fixed, largest.world.domain)
    largest.send(adjudicator.challenge(fixed, challenged, signature))
    largest.world.chain.travel_to(adjudicator.status_of(id_, ETHER).finalizes_at)
    recorded = largest.world.state_hash(fixed, largest.state(FIRST))
    largest.send(adjudicator.transfer(id_, ETHER, recorded, largest.outcome))
    assert adjudicator.holdings_of(id_, ETHER, 0).closed


@pytest.mark.parametrize("kind", ["new accounts", "recipients that burn their gas"])
def test_threat_36_the_largest_conclusion_is_mined_and_paid(largest: Largest, kind: str) -> None:
    adjudicator, world = largest.world.adjudicator, largest.world
    if kind != "new accounts":
        burning = deploy_contract(world.chain, "BurningRecipient")
        largest = Largest(world, largest.fixed, (allocation(burning, 1),) * MAX_ALLOCATIONS)
    largest.deposit_all()
    final = VariablePart(largest.outcome, b"", FIRST, True)
    signatures = sign_all(final, EVERYBODY, largest.fixed, world.domain)
    largest.send(adjudicator.conclude(largest.fixed, largest.outcome, FIRST, signatures))
    assert adjudicator.holdings_of(world.id_of(largest.fixed), ETHER, 0).closed
