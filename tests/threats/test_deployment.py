"""Look-alikes of deployed contracts: rows 32 and 33 of the list of attacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from forcemove import ETHER, Adjudicator, Assembly, ChannelSetup, Domain, EmbeddedChain, Phase, agree, keccak256
from forcemove.arena.network import MemoryMessenger
from forcemove.chain.chain import Call
from forcemove.chain.create2 import SALT, create2_address
from forcemove.chain.errors import NotGenuine
from forcemove.chain.verification import ContractStatus, verify
from forcemove.contracts import artifact
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.chain.world import deploy_artifact, place
from tests.expected import raising
from tests.process import Process
from tests.scenarios.story import ALICE, BOB, MALLORY, MINER, STAKE, Playground, Story
from tests.threats.poison import credit_place, poisoned_creation_code

LOOT = 10 * STAKE


@pytest.fixture(scope="module")
def playground() -> Playground:
    return Playground.on(EmbeddedChain())


def poisoned(playground: Playground, *, by_factory: bool = False) -> Adjudicator:
    """The genuine runtime code, and a credit of Mallory's that nobody ever paid for; perhaps by the factory and with
    the salt of all deployments."""
    for slot in range(16):
        storage = {credit_place(slot, MALLORY.address, ETHER): LOOT}
        code = poisoned_creation_code(playground.chain, playground.book.adjudicator, storage)
        fake = Adjudicator(playground.chain, created(playground, code, by_factory))
        if fake.credit_of(MALLORY.address, ETHER) == LOOT:
            return fake
    raise AssertionError("the mapping of credits has another slot")


def created(playground: Playground, code: bytes, by_factory: bool) -> bytes:
    receipt = playground.chain.send(
        Call(playground.book.factory, SALT + code) if by_factory else Call(None, code), MINER
    )
    address = (
        create2_address(playground.book.factory, SALT, keccak256(code)) if by_factory else receipt.contract_address
    )
    assert address is not None
    assert playground.chain.code(address)
    return address


def agreed_on(
    story: Story, adjudicator: Adjudicator, app: bytes | None = None, confirmations: int = 1
) -> tuple[Process, MemoryMessenger]:
    """Alice's client in a channel with these contracts, and what her counterparty hears."""
    honest = story.agreement
    fixed = msgspec.structs.replace(honest.fixed_part, app_definition=app or honest.fixed_part.app_definition)
    agreement = agree(adjudicator.domain, fixed, TIC_TAC_TOE, STAKE, honest.deposits, honest.destinations)
    line, other = MemoryMessenger.table(2)
    assembly = Assembly(TIC_TAC_TOE, adjudicator, agreement)
    return Process(ChannelSetup(assembly, ALICE, line, lambda _: None, confirmations=confirmations)), other


def signs_nothing(client: Process, other: MemoryMessenger) -> bool:
    """Whether the client has sent, signed and asked for nothing, and has written down no signature."""
    written = client.journal.load(client.channel.agreement.channel_id)
    return (
        other.receive() == ()
        and client.channel.last_signed is None
        and not client.channel.requested
        and (written is None or CHANNELS.decode(written.snapshot).last_signed is None)
    )


# ------------------------------------------------------------------------------------------- 32: a look-alike of an app

OTHER_APP = artifact("PermissiveApp")
LOOK_ALIKES: dict[str, Callable[[Playground], bytes]] = {
    "another app of the same factory": lambda on: deploy_artifact(on.chain, MINER, OTHER_APP, on.book.factory),
    "the same code by another hand": lambda on: place(on.chain, on.chain.code(on.book.find("TicTacToe").address)),
}


@pytest.mark.parametrize("kind", LOOK_ALIKES)
def test_threat_32_nothing_is_signed_for_a_look_alike_app(playground: Playground, story: Story, kind: str) -> None:
    app = LOOK_ALIKES[kind](playground)
    client, other = agreed_on(story, story.adjudicator, app)
    for _ in range(2):
        with pytest.raises(NotGenuine) as caught:
            client.poll()
        assert (caught.value.contract, caught.value.address) == ("TicTacToe", app)
        assert signs_nothing(client, other)


@pytest.mark.parametrize("kind", LOOK_ALIKES)
def test_threat_32_a_look_alike_app_is_told_by_verifying(playground: Playground, kind: str) -> None:
    assert different(playground, "TicTacToe", LOOK_ALIKES[kind](playground)) == {"TicTacToe"}


def different(playground: Playground, contract: str, address: bytes) -> set[str]:
    """What is said of a book that says that the contract is there."""
    book = playground.book
    entry = replace(book.contracts[contract], address=address)
    verdicts = verify(playground.chain, replace(book, contracts={**book.contracts, contract: entry}))
    return {verdict.contract for verdict in verdicts if verdict.status is ContractStatus.DIFFERENT}


# ------------------------------------------------------------------------------------------------------ 33: the poison


def test_threat_33_a_poisoned_adjudicator_pays_mallory_out_of_others_money(playground: Playground) -> None:
    adjudicator, id_ = poisoned(playground), b"\x01" * 32
    adjudicator.send(adjudicator.deposit(id_, ETHER, 0, LOOT), ALICE)
    adjudicator.send(adjudicator.deposit(id_, ETHER, LOOT, LOOT), BOB)
    before = playground.chain.balance(b"\x33" * 20)

    adjudicator.send(adjudicator.claim(ETHER, b"\x33" * 20), MALLORY)

    assert playground.chain.balance(b"\x33" * 20) == before + LOOT
    assert adjudicator.holdings_of(id_, ETHER, 0).amount == 2 * LOOT
    assert playground.chain.balance(adjudicator.address) == LOOT


def test_threat_33_a_poisoned_adjudicator_has_the_genuine_runtime_code(playground: Playground) -> None:
    """But for its own domain: what was believed before."""
    chain, genuine, fake = playground.chain, playground.book.adjudicator, poisoned(playground)
    domain, others = (Domain(chain.chain_id, address).separator for address in (genuine, fake.address))

    assert chain.code(fake.address) == chain.code(genuine).replace(domain, others)


def test_threat_33_a_poisoned_adjudicator_is_told_by_verifying(playground: Playground) -> None:
    assert different(playground, "Adjudicator", poisoned(playground).address) == {"Adjudicator"}


@pytest.mark.parametrize("by_factory", [False, True], ids=["by an account", "by the factory"])
def test_threat_33_nothing_is_signed_for_a_poisoned_adjudicator(
    playground: Playground, story: Story, by_factory: bool
) -> None:
    fake = poisoned(playground, by_factory=by_factory)
    client, other = agreed_on(story, fake)
    for _ in range(2):
        with raising(NotGenuine("Adjudicator", fake.address, playground.book.adjudicator)):
            client.poll()
        assert signs_nothing(client, other)


def test_threat_33_nothing_is_signed_before_the_contracts_are_deep_enough() -> None:
    """A reorganisation could still put something else in the place of what is new."""
    chain = EmbeddedChain()
    for _ in range(20):
        chain.send(Call(BOB.address, b"", 1), MINER)
    playground = Playground.on(chain)
    story = playground.story(TIC_TAC_TOE)
    depth = chain.block_number() - playground.book.deployment_block + 1
    client, other = agreed_on(story, story.adjudicator, confirmations=depth)

    assert depth > 1
    client.poll()
    assert client.phase is Phase.CHECKING, "the adjudicator is deep enough, the app is not"
    assert signs_nothing(client, other)

    while chain.block_number() < playground.book.find("TicTacToe").block_number + depth - 1:
        assert client.channel.last_signed is None
        chain.send(Call(BOB.address, b"", 1), MINER)
        client.poll()
    assert client.channel.last_signed is not None
