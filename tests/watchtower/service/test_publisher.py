"""What hands over for a node: after each step, to towers that live and towers that do not; and it says so when no tower
has what is newest."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from forcemove import ChannelSetup, ChooseMove, Node, SignedState, TowerClient, assemble, moves_of, open_journal
from forcemove.arena.network import MemoryMessenger
from forcemove.chain.local import AnvilChain
from forcemove.history.entries import AppointmentAcknowledged
from forcemove.history.history import decode_history
from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import ETHER
from forcemove.store.errors import JournalUnwritable
from forcemove.watchtower.appointment import verify_receipt
from forcemove.watchtower.client_errors import TowerRefused, TowerUnreachable
from forcemove.watchtower.publisher import Acknowledged, NotAcknowledged, TowerNotification, TowerPublisher, Unprotected
from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import ALICE, BOB, DEPOSIT, DURATION, KEYS, STAKE, Playground
from tests.watchtower.keeper import TOWER
from tests.watchtower.service.process import TowerProcess, running_tower

_PATIENCE = 30.0
_LAST = 6


@pytest.fixture(scope="module")
def playground(anvil: AnvilChain) -> Playground:
    return Playground.on(anvil)


def choose(seat: int) -> Callable[[ChooseMove], MoveChosen | ConcludeWanted | None]:
    """A bot that keeps still after turn 6."""
    answer = moves_of(GAME.bot(seat))
    return lambda question: answer(question) if question.state.turn_num < _LAST else None


class Table:
    """Two nodes on a channel. `told`: what Alice's publisher has told."""

    def __init__(self, playground: Playground, folder: Path) -> None:
        self.chain = playground.chain
        addresses = [key.address for key in KEYS]
        self.assembly = assemble(
            self.chain, playground.book, GAME, addresses, stake=STAKE, deposit=DEPOSIT, duration=DURATION
        )
        self.journals = [open_journal(str(folder / name), owner=secrets.token_bytes(16)) for name in ("alice", "bob")]
        self.nodes = [Node(journal) for journal in self.journals]
        self.told: list[TowerNotification] = []
        self.alice, self.bob = (
            node.add(ChannelSetup(self.assembly, key, line, choose(seat)))
            for seat, (node, key, line) in enumerate(zip(self.nodes, KEYS, MemoryMessenger.table(2), strict=True))
        )

    @contextlib.asynccontextmanager
    async def running(self, *towers: TowerClient, alarm_after: float = 0.2) -> AsyncIterator[TowerPublisher]:
        publisher = TowerPublisher(towers, notify=self.told.append, alarm_after=alarm_after)
        self.nodes[0].on_committed(publisher.on_committed)
        publisher.add(self.alice, ALICE)
        parts = [*(node.run(look_every=0.05) for node in self.nodes), publisher.run()]
        tasks = [asyncio.create_task(part) for part in parts]
        try:
            yield publisher
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(_PATIENCE):
            while not condition():
                await asyncio.sleep(0.02)

    def acknowledged(self) -> list[int]:
        return [each.appointment.turn_num for each in self.told if isinstance(each, Acknowledged)]

    def challenge_with_the_opening(self) -> None:
        """Bob, with the last two states of the setup."""
        agreement, adjudicator = self.assembly.agreement, self.assembly.adjudicator
        states = [agreement.setup_state(turn) for turn in (2, 3)]
        digests = [digest(agreement.domain, hash_state(agreement.channel_id, each).state) for each in states]
        signed = [
            SignedState(state, {seat: KEYS[seat].sign(to_sign)})
            for seat, (state, to_sign) in enumerate(zip(states, digests, strict=True))
        ]
        proof = build_support_proof(agreement.fixed_part, signed)
        assert proof is not None
        adjudicator.send(adjudicator.challenge(agreement.fixed_part, proof), BOB)

    @property
    def record(self) -> tuple[int, bool]:
        status = self.assembly.adjudicator.status_of(self.alice.id, ETHER)
        return status.turn_num_record, status.finalizes_at != 0

    def close(self) -> None:
        for journal in self.journals:
            journal.close()


@pytest.fixture
def table(playground: Playground, tmp_path: Path) -> Iterator[Table]:
    made = Table(playground, tmp_path)
    yield made
    made.close()


@pytest.fixture
def tower(playground: Playground, tmp_path: Path) -> Iterator[TowerProcess]:
    with running_tower(tmp_path, playground) as tower:
        yield tower


def nobody() -> TowerClient:
    """At an address at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return TowerClient(f"http://127.0.0.1:{free.getsockname()[1]}", TOWER.address)


def test_threat_22_each_step_is_handed_over_and_then_alice_can_go_away(table: Table, tower: TowerProcess) -> None:
    """One of her two towers is dead; that does not keep the other one from anything."""

    async def play() -> None:
        async with table.running(tower.client(), nobody(), alarm_after=_PATIENCE) as publisher:
            await table.until(lambda: table.acknowledged()[-1:] == [_LAST])
            assert not publisher.unprotected

    asyncio.run(play())
    turns = table.acknowledged()
    assert turns == sorted(set(turns))
    assert receipts_in_history(table) == turns
    for each in table.told:
        if isinstance(each, Acknowledged):
            verify_receipt(each.receipt, TOWER.address, ALICE.address, each.appointment)
    assert {type(each.error) for each in table.told if isinstance(each, NotAcknowledged)} == {TowerUnreachable}
    table.challenge_with_the_opening()  # nobody drives Alice's channel any more

    async def wait() -> None:
        await table.until(lambda: table.record == (_LAST, False))

    asyncio.run(wait())


def receipts_in_history(table: Table) -> list[int]:
    """The turns of the receipts in Alice's history: in her journal, and what goes there with the next commit."""
    row = table.alice.recorder.row()
    stored = table.journals[0].history(table.alice.id)
    history = decode_history([*stored.bodies, *(() if row is None else (row.body,))])
    return [each.turn_num for each in history.entries if isinstance(each, AppointmentAcknowledged)]


def alarms(table: Table) -> list[int]:
    return [each.turn_num for each in table.told if isinstance(each, Unprotected)]


def test_it_says_so_when_no_tower_has_acknowledged_and_goes_on_trying(
    table: Table, playground: Playground, tmp_path: Path, tower: TowerProcess
) -> None:
    tower.kill()

    async def play() -> None:
        async with table.running(tower.client()) as publisher:
            await table.until(lambda: _LAST in alarms(table))
            assert list(publisher.unprotected) == [table.alice.id]
            assert table.acknowledged() == []
            tower.start()
            await table.until(lambda: table.acknowledged() == [_LAST])
            assert list(publisher.unprotected) == []

    asyncio.run(play())
    assert alarms(table) == sorted(set(alarms(table)))
    assert all(each.seconds >= 0.2 for each in table.told if isinstance(each, Unprotected))


def test_what_a_tower_refuses_is_told_and_not_given_again(table: Table, tower: TowerProcess) -> None:
    """The tower serves Alice alone: Bob's publisher hears that once for each state."""

    async def play() -> None:
        async with table.running(alarm_after=_PATIENCE) as publisher:
            publisher.remove(table.alice.id)
            other = TowerPublisher([tower.client()], notify=table.told.append, alarm_after=_PATIENCE)
            table.nodes[1].on_committed(other.on_committed)
            other.add(table.bob, BOB)
            running = asyncio.create_task(other.run())
            await table.until(
                lambda: any(isinstance(each, NotAcknowledged) and each.turn_num == _LAST for each in table.told)
            )
            await asyncio.sleep(0.2)  # many looks, in which it could be given again
            running.cancel()
            assert other.unprotected == (table.bob.id,)

    asyncio.run(play())
    turns = [each.turn_num for each in table.told if isinstance(each, NotAcknowledged)]
    assert turns == sorted(set(turns))
    assert all(isinstance(each.error, TowerRefused) for each in table.told if isinstance(each, NotAcknowledged))


def test_threat_21_what_is_not_on_disk_is_given_to_nobody(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a crash another state of the same turn could be signed: a tower would have both."""
    node, commit = table.nodes[0], table.journals[0].commit
    publisher = TowerPublisher([])
    node.on_committed(publisher.on_committed)

    def fail(*_: object) -> None:
        raise JournalUnwritable("alice", "the disk is full")

    while not table.alice.channel.signed_states[1:]:
        for each in table.nodes:
            each.poll()
    while node.poll():  # until all is saved that has happened
        pass
    monkeypatch.setattr(table.journals[0], "commit", fail)
    before = table.alice.channel
    with pytest.raises(JournalUnwritable):
        poll_until_it_fails(table)
    assert table.alice.channel is not before
    publisher.add(table.alice, ALICE)
    assert not publisher.unprotected
    monkeypatch.setattr(table.journals[0], "commit", commit)
    node.poll()
    assert list(publisher.unprotected) == [table.alice.id]


def test_what_is_on_disk_already_is_given_when_a_channel_is_added(table: Table) -> None:
    while not table.alice.channel.signed_states[1:]:
        for each in table.nodes:
            each.poll()
    publisher = TowerPublisher([])
    publisher.add(table.alice, ALICE)
    assert list(publisher.unprotected) == [table.alice.id]
    publisher.remove(table.alice.id)
    assert not publisher.unprotected


def poll_until_it_fails(table: Table) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        for each in table.nodes:
            each.poll()
