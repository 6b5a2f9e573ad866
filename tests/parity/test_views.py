"""The adjudicator's views: each says what the twin says, of one and of many."""

from __future__ import annotations

from random import Random

import pytest
from eth_abi.abi import decode

from forcemove import keccak256
from forcemove.protocol.encoding import channel_id, hash_state, word
from forcemove.protocol.words import Status, holdings_in, late_key, word_key
from tests.evm import function_selector
from tests.parity import core_abi as abi
from tests.parity.core_actor import STRANGE_IDS, Actor
from tests.parity.core_generate import Generator
from tests.parity.core_world import World
from tests.protocol.builders import ALICE, outcome


@pytest.fixture(scope="module")
def actor() -> Actor:
    """After a history that has left channels of every kind."""
    actor = Actor(Random(11), World())
    for _ in range(300):
        actor.step()
    return actor


def call(world: World, function: str, *parts: bytes | abi.Tail) -> bytes:
    return world.chain.call("Adjudicator", function, world.adjudicator, *parts)


def test_the_words_of_many_channels(actor: Actor) -> None:
    """What they say of records and of money is what the twin says."""
    model, totals = actor.world.model, actor.world.totals
    places = [(id_, asset) for id_ in (*actor.ids, *STRANGE_IDS, actor.ids[0]) for asset in actor.assets]
    keys = [int.from_bytes(key(*place)) for place in places for key in (word_key, late_key)]
    (words,) = decode(["uint256[]"], call(actor.world, "wordsOf", abi.numbers(keys)))
    statuses = [Status.unpack(word_) for word_ in words[::2]]
    assert statuses == [model.status_of(*place) for place in places]
    assert len(set(statuses)) > 2
    pairs = zip(words[::2], words[1::2], places, strict=True)
    found = [holdings_in(word_, late, totals.get(id_, 0)) for word_, late, (id_, _) in pairs]
    assert found == [model.holdings_of(*place) for place in places]
    assert len(set(found)) > 4
    assert decode(["uint256[]"], call(actor.world, "wordsOf", abi.numbers([]))) == ((),)


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
            id_,
            abi.outcome(state.outcome),
            abi.text(state.app_data),
            abi.text(state.evidence),
            word(state.turn_num),
            word(state.is_final),
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
    assert (name, version, chain_id, contract) == ("Forcemove", "2", domain.chain_id, "0x" + domain.adjudicator.hex())
    type_hash = keccak256(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
    hashed = (keccak256(name.encode()), keccak256(version.encode()), word(chain_id), abi.address(domain.adjudicator))
    assert keccak256(b"".join((type_hash, *hashed))) == domain.separator


def test_dirty_values_are_refused(actor: Actor) -> None:
    """No state has an address that is wider than an address."""
    world = actor.world
    wide = b"\x01" + abi.outcome(outcome()).data[33:]
    state = abi.Tail(abi.arguments(bytes(32), abi.Tail(word(2) + wide), abi.text(b""), abi.text(b""), word(0), word(0)))
    data = function_selector("Adjudicator", "stateHashOf") + abi.arguments(state)
    assert not world.chain.transact(ALICE.address, world.adjudicator, data).success
