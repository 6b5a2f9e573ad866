"""A chain with an adjudicator and the counting app, and Alice, Bob and Mallory with ether on it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest

from forcemove import Artifact, ForcemoveError, Key, local_keys
from forcemove.chain.adjudicator import Adjudicator, Operation, PlacedLog
from forcemove.chain.chain import Call, Chain, Receipt
from forcemove.chain.create2 import (
    CUSTOMARY_FACTORY,
    PRESIGNED,
    PRESIGNED_COST,
    PRESIGNER,
    deploying_calldata,
    derived_address,
)
from forcemove.chain.genuine import require_genuine_contract
from forcemove.chain.reverts import app_errors
from forcemove.contracts import artifact
from forcemove.protocol.encoding import Domain, channel_id, hash_state
from forcemove.protocol.types import ETHER, FixedPart, Signature, SupportProof, VariablePart
from tests.expected import known
from tests.protocol.builders import (
    ALICE,
    BOB,
    DAY,
    MALLORY,
    MalformedCount,
    WrongCount,
    fixed_part,
    proof,
    sign,
    sign_all,
)

MINER = local_keys()[0]
COUNTING_ERRORS = app_errors(artifact("CountingApp"), {"MalformedCount": MalformedCount, "WrongCount": WrongCount})
_nonces = itertools.count()


@dataclass(frozen=True)
class World:
    """Every channel of a world is a new one."""

    chain: Chain
    adjudicator: Adjudicator
    app: bytes

    @property
    def domain(self) -> Domain:
        return self.adjudicator.domain

    def channel(self, duration: int = DAY) -> FixedPart:
        return fixed_part(nonce=next(_nonces), app=self.app, duration=duration)

    def id_of(self, fixed: FixedPart) -> bytes:
        return channel_id(fixed, self.domain)

    def fund(self, fixed: FixedPart, alice: int = 10, bob: int = 10) -> None:
        id_ = self.id_of(fixed)
        self.adjudicator.send(self.adjudicator.deposit(id_, ETHER, 0, alice), ALICE)
        self.adjudicator.send(self.adjudicator.deposit(id_, ETHER, alice, bob), BOB)

    def proof(self, fixed: FixedPart, *states: VariablePart) -> SupportProof:
        return proof(*states, fixed=fixed, domain=self.domain)

    def signature(self, key: Key, state: VariablePart, fixed: FixedPart) -> Signature:
        return sign(key, state, fixed, self.domain)

    def signatures(self, state: VariablePart, fixed: FixedPart) -> tuple[Signature, ...]:
        return sign_all(state, fixed=fixed, domain=self.domain)

    def state_hash(self, fixed: FixedPart, state: VariablePart) -> bytes:
        return hash_state(self.id_of(fixed), state).state

    def challenge(self, fixed: FixedPart, *states: VariablePart) -> Receipt[PlacedLog]:
        return self.adjudicator.send(self.adjudicator.challenge(fixed, self.proof(fixed, *states)), ALICE)


def deploy_contract(chain: Chain, name: str) -> bytes:
    """Without a book: what tests need, not what users do."""
    return known(chain.send(Call(None, artifact(name).bytecode), MINER).contract_address)


def place(chain: Chain, code: bytes) -> bytes:
    """Put this runtime code on the chain: a constructor that copies all that follows its 13 bytes."""
    length = len(code).to_bytes(2, "big")
    init = bytes.fromhex("61") + length + bytes.fromhex("80600d6000396000f300") + code
    address = known(chain.send(Call(None, init), MINER).contract_address)
    assert chain.code(address) == code
    return address


def bring_factory(chain: Chain) -> None:
    """Put the customary factory on a chain that lacks it, and nothing else."""
    chain.send(Call(PRESIGNER, b"", PRESIGNED_COST), MINER)
    chain.rpc.ask("eth_sendRawTransaction", "0x" + PRESIGNED.hex())
    assert chain.code(CUSTOMARY_FACTORY)


def deploy_artifact(chain: Chain, key: Key, contract: Artifact, factory: bytes = CUSTOMARY_FACTORY) -> bytes:
    """Deploy one more compiled contract with the factory, unless it is there; its address."""
    address = derived_address(contract, factory)
    if not chain.code(address):
        chain.send(Call(factory, deploying_calldata(contract.bytecode)), key)
    require_genuine_contract(chain, contract, address, factory)
    return address


def make_world(chain: Chain) -> World:
    for key in (ALICE, BOB, MALLORY):
        chain.send(Call(key.address, b"", 100 * 10**18), MINER)
    adjudicator = Adjudicator(chain, deploy_contract(chain, "Adjudicator"), COUNTING_ERRORS)
    return World(chain, adjudicator, deploy_contract(chain, "CountingApp"))


def refusal(world: World, operation: Operation, key: Key = ALICE) -> ForcemoveError:
    """What the adjudicator says."""
    with pytest.raises(ForcemoveError) as caught:
        world.adjudicator.send(operation, key)
    return caught.value
