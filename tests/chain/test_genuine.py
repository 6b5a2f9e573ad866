"""Threat 32: a look-alike adjudicator or app named by the counterparty is refused before anything is signed."""

from __future__ import annotations

import pytest

from channel.chain.errors import NoContract, NotGenuine
from channel.chain.genuine import expected_code_hashes, require_genuine, require_genuine_contract
from channel.protocol.hashing import keccak256
from contracts import UnknownArtifact, artifact
from tests.chain.world import World, deploy_contract, place

NOBODY = b"\x99" * 20


def test_the_deployed_contracts_are_genuine(world: World) -> None:
    require_genuine(world.chain, world.adjudicator.address, world.app, "CountingApp")


def test_the_expected_hash_is_that_of_the_code_on_the_chain(world: World) -> None:
    found = require_genuine_contract(world.chain, "Adjudicator", world.adjudicator.address)

    assert found == keccak256(world.chain.code(world.adjudicator.address))
    assert found in expected_code_hashes("Adjudicator", world.chain.chain_id, world.adjudicator.address)


def test_an_app_is_expected_to_be_its_artifact() -> None:
    assert expected_code_hashes("CountingApp", 1, NOBODY) == {artifact("CountingApp").runtime_code_hash}


@pytest.mark.parametrize("where", ["first byte", "last byte of the program", "last byte", "an immutable"])
def test_a_look_alike_adjudicator_is_refused(embedded_world: World, where: str) -> None:
    code = bytearray(embedded_world.chain.code(embedded_world.adjudicator.address))
    index = {
        "first byte": 0,
        "last byte of the program": len(code) - int.from_bytes(code[-2:], "big") - 3,
        "last byte": len(code) - 1,
        "an immutable": artifact("Adjudicator").immutable_references[0][0] + 31,
    }[where]
    code[index] ^= 1
    address = place(embedded_world.chain, bytes(code))

    with pytest.raises(NotGenuine) as caught:
        require_genuine(embedded_world.chain, address, embedded_world.app, "CountingApp")

    assert caught.value == NotGenuine("Adjudicator", address, keccak256(bytes(code)))


def test_a_copy_that_signs_for_another_address_is_refused(embedded_world: World) -> None:
    copied = place(embedded_world.chain, embedded_world.chain.code(embedded_world.adjudicator.address))

    with pytest.raises(NotGenuine):
        require_genuine_contract(embedded_world.chain, "Adjudicator", copied)


def test_another_game_than_the_agreed_one_is_refused(embedded_world: World) -> None:
    other = deploy_contract(embedded_world.chain, "PermissiveApp")

    with pytest.raises(NotGenuine) as caught:
        require_genuine(embedded_world.chain, embedded_world.adjudicator.address, other, "CountingApp")

    assert (caught.value.contract, caught.value.address) == ("CountingApp", other)


def test_an_address_without_code_is_refused(embedded_world: World) -> None:
    with pytest.raises(NoContract) as caught:
        require_genuine(embedded_world.chain, embedded_world.adjudicator.address, NOBODY, "CountingApp")

    assert caught.value == NoContract("CountingApp", NOBODY)


def test_a_contract_that_nobody_knows_is_refused(embedded_world: World) -> None:
    with pytest.raises(UnknownArtifact):
        require_genuine(embedded_world.chain, embedded_world.adjudicator.address, embedded_world.app, "Chess")
