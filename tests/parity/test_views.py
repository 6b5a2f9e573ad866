"""The adjudicator's views: each says what the twin says, of one and of many."""

from __future__ import annotations

from random import Random

import pytest
from eth_abi.abi import decode

from forcemove import ETHER, keccak256
from forcemove.protocol.encoding import channel_id, hash_state, word
from tests.evm import function_selector
from tests.parity import core_abi as abi
from tests.parity.core_actor import STRANGE_IDS, Actor
from tests.parity.core_generate import Generator
from tests.parity.core_world import World
from tests.protocol.builders import ALICE, outcome


@pytest.fixture(scope="module")
def actor() -> Actor:
    """After a history that has left channels of every kind."""
    actor = Actor(Random(7), World())
    for _ in range(300):
        actor.step()
    return actor


def call(world: World, function: str, *parts: bytes | abi.Tail) -> bytes:
    return world.chain.call("Adjudicator", function, world.adjudicator, *parts)


def test_the_statuses_of_many_channels(actor: Actor) -> None:
    model, ids = actor.world.model, [*actor.ids, *STRANGE_IDS, actor.ids[0]]
    expected = [model.status_of(id_).pack() for id_ in ids]
    assert len(set(expected)) > 2
    output = call(actor.world, "statusesOf", abi.numbers([int.from_bytes(id_, "big") for id_ in ids]))
    assert decode(["uint256[]"], output) == (tuple(expected),)
    assert decode(["uint256[]"], call(actor.world, "statusesOf", abi.numbers([]))) == ((),)


def test_the_holdings_of_many_channels(actor: Actor) -> None:
    model = actor.world.model
    keys = [(id_, asset) for id_ in (*actor.ids, STRANGE_IDS[0]) for asset in actor.assets]
    expected = tuple(
        (each.amount, each.payout_begun, each.closed) for each in (model.holdings_of(*key) for key in keys)
    )
    assert len(set(expected)) > 2
    asked = abi.Tail(word(len(keys)) + b"".join(id_ + abi.address(asset) for id_, asset in keys))
    output = call(actor.world, "holdingsOfList", asked)
    assert decode(["(uint256,bool,bool)[]"], output) == (expected,)
    assert decode(["(uint256,bool,bool)[]"], call(actor.world, "holdingsOfList", abi.numbers([]))) == ((),)


@pytest.mark.parametrize("seed", range(40))
def test_ids_and_hashes(actor: Actor, seed: int) -> None:
    """Of whatever is asked about, good or not."""
    world, generator = actor.world, Generator(Random(seed), actor.world.domain, actor.world.app)
    fixed = generator.fixed_part()
    id_ = channel_id(fixed, world.domain)
    assert call(world, "channelIdOf", abi.fixed_part(fixed)) == id_
    state = generator.state(fixed)
    typed = abi.Tail(
        abi.arguments(
            id_, abi.outcome(state.outcome), abi.text(state.app_data), word(state.turn_num), word(state.is_final)
        )
    )
    assert call(world, "stateHashOf", typed) == hash_state(id_, state).state


def test_the_domain_that_wallets_ask_for(actor: Actor) -> None:
    """EIP-5267: the fields that are there are name, version, chain id and contract."""
    output = call(actor.world, "eip712Domain")
    types = ["bytes1", "string", "string", "uint256", "address", "bytes32", "uint256[]"]
    fields, name, version, chain_id, contract, salt, extensions = decode(types, output)
    assert (fields, salt, extensions) == (b"\x0f", bytes(32), ())
    domain = actor.world.domain
    assert (name, version, chain_id, contract) == ("Forcemove", "1", domain.chain_id, "0x" + domain.adjudicator.hex())
    type_hash = keccak256(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
    hashed = (keccak256(name.encode()), keccak256(version.encode()), word(chain_id), abi.address(domain.adjudicator))
    assert keccak256(b"".join((type_hash, *hashed))) == domain.separator


def test_dirty_values_are_refused(actor: Actor) -> None:
    """An address wider than an address is not a key, and no state has one."""
    world = actor.world
    dirty = abi.Tail(word(1) + actor.ids[0] + b"\x01" + abi.address(ETHER)[1:])
    wide = b"\x01" + abi.outcome(outcome()).data[33:]
    state = abi.Tail(abi.arguments(bytes(32), abi.Tail(word(2) + wide), abi.text(b""), word(0), word(0)))
    for function, part in (("holdingsOfList", dirty), ("stateHashOf", state)):
        data = function_selector("Adjudicator", function) + abi.arguments(part)
        assert not world.chain.transact(ALICE.address, world.adjudicator, data).success
