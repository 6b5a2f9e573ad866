"""Threats 32 and 33: an address that does not follow from the creation code is refused before anything is signed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from eth_utils.address import to_canonical_address
from web3 import Web3

from forcemove import deploy, verify
from forcemove.chain import asking, create2, errors, rpc
from forcemove.chain.chain import Call, Chain
from forcemove.chain.create2 import derived_address
from forcemove.chain.genuine import genuine_steps, require_genuine_contract
from forcemove.chain.local import AnvilChain, EmbeddedChain
from forcemove.contracts import UnknownArtifact, artifact, artifact_names
from tests.chain.world import MINER, World, deploy_artifact, deploy_contract, place
from tests.expected import raising
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.node import MemoryNode

NOBODY = b"\x99" * 20
ADJUDICATOR, APP = derived_address(artifact("Adjudicator")), derived_address(artifact("CountingApp"))


def require_genuine(chain: Chain, *facts: Any) -> None:
    asking.ask_now(chain.rpc, genuine_steps(chain, *facts))


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedChain:
    """With a deployment, and the counting app beside it."""
    chain = EmbeddedChain()
    deploy(chain, MINER, tmp_path_factory.mktemp("deployment") / "book.json")
    deploy_artifact(chain, MINER, artifact("CountingApp"))
    return chain


def test_the_deployed_contracts_are_genuine(chain: EmbeddedChain) -> None:
    require_genuine(chain, ADJUDICATOR, APP, artifact("CountingApp"))


@pytest.mark.parametrize("name", [*artifact_names(), "CountingApp"])
def test_the_derived_address_is_that_of_eip_1014(name: str) -> None:
    init_code = artifact(name).bytecode
    preimage = b"\xff" + create2.CUSTOMARY_FACTORY + create2.SALT + Web3.keccak(init_code)

    assert derived_address(artifact(name)) == to_canonical_address(Web3.keccak(preimage)[-20:])


@pytest.mark.parametrize("where", ["the same code", "a bit of the code"])
def test_a_look_alike_adjudicator_is_refused(chain: EmbeddedChain, where: str) -> None:
    code = bytearray(chain.code(ADJUDICATOR))
    code[0] ^= where != "the same code"
    address = place(chain, bytes(code))

    with raising(errors.NotGenuine("Adjudicator", address, ADJUDICATOR)):
        require_genuine(chain, address, APP, artifact("CountingApp"))


def test_what_an_account_has_created_is_refused(embedded_world: World) -> None:
    """The very creation code: but nothing at its address says so."""
    with pytest.raises(errors.NotGenuine):
        require_genuine_contract(embedded_world.chain, artifact("Adjudicator"), embedded_world.adjudicator.address)


@pytest.mark.parametrize(
    ("salt", "code"),
    [(bytes(32), artifact("Adjudicator").bytecode), (create2.SALT, artifact("Adjudicator").bytecode + b"\0")],
    ids=["another salt", "another creation code"],
)
def test_what_the_factory_makes_otherwise_is_refused(chain: EmbeddedChain, salt: bytes, code: bytes) -> None:
    call = Call(create2.CUSTOMARY_FACTORY, salt + code)
    address = chain.call(call, MINER.address)
    chain.send(call, MINER)
    assert chain.code(address)

    with pytest.raises(errors.NotGenuine):
        require_genuine_contract(chain, artifact("Adjudicator"), address)


def test_another_factory_makes_another_address(chain: EmbeddedChain) -> None:
    with pytest.raises(errors.NotGenuine) as caught:
        require_genuine(chain, ADJUDICATOR, APP, artifact("CountingApp"), NOBODY)

    assert caught.value.expected == derived_address(artifact("Adjudicator"), NOBODY) != ADJUDICATOR


def test_another_game_than_the_agreed_one_is_refused(chain: EmbeddedChain) -> None:
    other = deploy_contract(chain, "PermissiveApp")

    with pytest.raises(errors.NotGenuine) as caught:
        require_genuine(chain, ADJUDICATOR, other, artifact("CountingApp"))

    assert (caught.value.contract, caught.value.address) == ("CountingApp", other)


@pytest.mark.parametrize("wei", [0, 1])
def test_a_derived_address_without_code_is_refused(embedded: EmbeddedChain, wei: int) -> None:
    """Anybody can send ether there before anything is deployed."""
    embedded.send(Call(ADJUDICATOR, b"", wei), MINER)

    with raising(errors.NoContract("Adjudicator", ADJUDICATOR)):
        require_genuine(embedded, ADJUDICATOR, APP, artifact("CountingApp"))
    assert embedded.balance(ADJUDICATOR) == wei


def test_a_new_contract_is_believed_once_it_is_deep_enough(embedded: EmbeddedChain, tmp_path: Path) -> None:
    book = deploy(embedded, MINER, tmp_path / "book.json")
    block = book.find("Adjudicator").block_number
    while embedded.block_number() < block + 3:
        with raising(errors.NotConfirmed("Adjudicator", ADJUDICATOR, 4)):
            require_genuine_contract(embedded, artifact("Adjudicator"), ADJUDICATOR, confirmations=4)
        embedded.send(Call(NOBODY, b"", 1), MINER)

    require_genuine_contract(embedded, artifact("Adjudicator"), ADJUDICATOR, confirmations=4)
    with pytest.raises(errors.NotConfirmed):
        require_genuine_contract(embedded, artifact("Adjudicator"), ADJUDICATOR, confirmations=10**6)


def test_a_contract_that_nobody_knows_is_refused(chain: EmbeddedChain) -> None:
    with pytest.raises(UnknownArtifact):
        require_genuine(chain, ADJUDICATOR, APP, artifact("Chess"))


# ------------------------------------------------------------------------------------------------ a chain before Cancun


@pytest.fixture(scope="module")
def shanghai() -> Iterator[AnvilChain]:
    """Where every contract can be deployed, and none can pay out."""
    with AnvilChain("--hardfork", "shanghai") as chain:
        yield chain


def test_a_chain_without_transient_storage_gets_no_deployment(shanghai: AnvilChain, tmp_path: Path) -> None:
    before = shanghai.balance(MINER.address)
    with raising(errors.NoTransientStorage(shanghai.endpoint)):
        deploy(shanghai, MINER, tmp_path / "book.json")
    assert (shanghai.balance(MINER.address), list(tmp_path.iterdir())) == (before, [])


def test_contracts_that_stand_on_it_are_not_trusted(shanghai: AnvilChain, chain: EmbeddedChain, tmp_path: Path) -> None:
    deploy_artifact(shanghai, MINER, artifact("Adjudicator"))
    deploy_artifact(shanghai, MINER, artifact("CountingApp"))
    with pytest.raises(errors.NoTransientStorage):
        require_genuine(shanghai, ADJUDICATOR, APP, artifact("CountingApp"))
    book = deploy(chain, MINER, tmp_path / "book.json")
    with pytest.raises(errors.NoTransientStorage):
        verify(shanghai, replace(book, chain_id=shanghai.chain_id))


@pytest.mark.parametrize("options", [(), ("--hardfork", "cancun"), ("--hardfork", "osaka")])
def test_a_chain_with_transient_storage_is_used(options: tuple[str, ...]) -> None:
    with AnvilChain(*options) as chain:
        chain.require_transient_storage()


@pytest.mark.parametrize(
    "answer", [errors.EndpointFailed("eth_call", "no creation"), rpc.Reverted(b""), "0x", "0x" + "00" * 20]
)
def test_a_node_that_cannot_say_proves_nothing(answer: object) -> None:
    chain = telling(answer)
    chain.require_transient_storage()


def test_a_node_that_does_not_answer_is_asked_again() -> None:
    chain = telling(errors.Unreachable("memory", "down"))
    with pytest.raises(errors.Unreachable):
        chain.require_transient_storage()


def telling(answer: object) -> MemoryChain:
    """The chain of an endpoint that answers each call so."""
    chain = MemoryChain(endpoint := Endpoint(MemoryNode()))

    def respond(*_: object) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    endpoint.answer = respond
    return chain
