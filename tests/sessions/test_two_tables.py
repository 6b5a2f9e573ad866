"""Two tables at once in one service: one node, one journal and one account play two games against two counterparties,
over a real relay and a real chain."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from forcemove import ETHER, AddressBook, Adjudicator, Agreement, Chain, ChooseMove, Game, Key, deploy, open_journal
from forcemove.chain.local import connect, local_keys
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
from forcemove.protocol.types import address_destination
from forcemove.registry import find_game, installed_games
from forcemove.sessions.channel_game import ChannelGameRunner
from forcemove.sessions.meetings.venues import GameOnChain
from forcemove.sessions.options import HostGame, JoinGame, TableOptions, Wallet
from forcemove.sessions.playing.bot import BotSeat
from forcemove.sessions.service import TableService
from forcemove.sessions.table import PlayTable
from forcemove.store.journal import Journal
from forcemove.store.records import OWNER_LENGTH, Ownership
from tests.cli.nodes import Node
from tests.relay.process import RelayProcess, running_relay
from tests.sessions.ports import BotPort

ALICE, BOB, CAROL = local_keys()[1:4]
STAKE, START = 10**16, 10**18
DEPOSIT = 5 * STAKE
DURATION = 3_600
SHORT, LONG = 2.0, 120.0
"""Seconds of patience: at the table whose counterparty goes, and at the others."""


class Room:
    """A chain, a relay, and a service for each player."""

    def __init__(self, node: Node, relay: RelayProcess, folder: Path) -> None:
        self.node, self.relay, self._folder, self.stack = node, relay, folder, ExitStack()
        self.games = installed_games().games
        self.book: AddressBook = deploy(self.chain, local_keys()[0], folder / "book.json", self.games)
        self.payouts = {key.address: secrets.token_bytes(20) for key in (ALICE, BOB, CAROL)}

    @property
    def chain(self) -> Chain:
        """Over a connection of its own."""
        return connect(self.node.endpoint)

    def service(self, key: Key, port: BotPort) -> TableService:
        """A player at home, with a journal and some ether."""
        self.node.give(key.address, START)
        path = self._folder / f"{key.address.hex()}.journal"
        journal = self.stack.enter_context(open_journal(str(path), owner=secrets.token_bytes(OWNER_LENGTH)))
        wallet = Wallet(key, key, self.payouts[key.address])
        return TableService(journal, wallet, port, chains=(self.chain,), games=self.games)

    def table(self, service: TableService, name: str, port: BotPort, patience: float = LONG) -> PlayTable:
        game = find_game(name).game
        venue = GameOnChain(service.chains, self.book, game)
        options = TableOptions(self.relay.url, duration=DURATION, patience=patience)
        runner = ChannelGameRunner(service, game, venue, options, port)
        return PlayTable(service, venue, options, port, runner)

    def travel(self, seconds: int) -> None:
        """Let the chain's clock go on."""
        self.chain.rpc.ask("evm_increaseTime", seconds)
        self.chain.rpc.ask("evm_mine")

    def paid(self, key: Key) -> int:
        """What a player was paid, in wei."""
        return self.chain.balance(self.payouts[key.address])

    def held(self, channel: Channel) -> int:
        """What the channel holds on the chain."""
        return Adjudicator(self.chain, self.book.adjudicator).holdings_of(channel.agreement.channel_id, ETHER, 0).amount


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with running_relay(tmp_path) as relay:
        node = Node(tmp_path)
        try:
            room = Room(node, relay, tmp_path)
            with room.stack:
                yield room
        finally:
            node.stop()


def channels(journal: Journal) -> list[Channel]:
    """All of a journal, which are finished."""
    stored = list(journal.channels(Ownership.FINISHED))
    return [CHANNELS.decode(each.snapshot) for each in stored]


def share(channel: Channel, payout: bytes) -> int:
    """What a channel's newest state pays to an address."""
    assert channel.newest is not None
    return sum(each.amount for each in channel.newest.state.outcome if each.destination == address_destination(payout))


async def play_both(room: Room) -> tuple[Journal, BotPort]:
    """Alice plays with Bob to the end, and with Carol until she goes; the journal of Alice, and her port at the table
    of Carol's game."""
    with_bob, with_carol = BotPort(HostGame(STAKE), rounds=4), BotPort(HostGame(STAKE), rounds=50)
    alice = room.service(ALICE, with_bob)
    tables = (
        room.table(alice, "rock-paper-scissors", with_bob),
        room.table(alice, "tic-tac-toe", with_carol, patience=SHORT),
    )

    async def join(key: Key, name: str, port: BotPort) -> None:
        service = room.service(key, port)
        await service.run(room.table(service, name, port).play(port.find))

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            for table, port in zip(tables, (with_bob, with_carol), strict=True):
                group.create_task(table.play(port.find))

    async with asyncio.timeout(240), asyncio.TaskGroup() as group:
        group.create_task(alice.run(both()))
        bob = BotPort(JoinGame(await with_bob.link), rounds=4)
        group.create_task(join(BOB, "rock-paper-scissors", bob))
        carol = BotPort(JoinGame(await with_carol.link), rounds=50)
        hers = group.create_task(join(CAROL, "tic-tac-toe", carol))
        await carol.reach("turn    7")
        hers.cancel()
        await with_carol.reach("challenge: in block")
        await asyncio.to_thread(room.travel, DURATION + 1)
    return alice.journal, with_carol


def test_two_games_are_played_to_their_payouts_at_once_and_one_is_disputed(room: Room) -> None:
    journal, disputed = asyncio.run(play_both(room))
    played = channels(journal)
    assert len(played) == 2
    assert [room.held(each) for each in played] == [0, 0]
    shares = [share(each, room.payouts[ALICE.address]) for each in played]
    assert room.paid(ALICE) == sum(shares)
    assert room.paid(BOB) + room.paid(CAROL) == 4 * DEPOSIT - sum(shares)
    assert {room.paid(BOB), room.paid(CAROL)} == {2 * DEPOSIT - each for each in shares}
    assert any("The chain has decided: a challenge was not answered in time." in line for line in disputed.lines)


class Mistaken(BotPort):
    """A player who makes a mistake of its own at its third decision."""

    def take_seat(self, game: Game, agreement: Agreement, index: int) -> BotSeat:
        seat, asked = super().take_seat(game, agreement, index), count(1)

        def choose(question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
            if next(asked) == 3:
                raise LookupError("a mistake")
            return BotSeat.choose(seat, question)

        seat.choose = choose  # type: ignore[method-assign]
        return seat


async def play_on_after_a_mistake(room: Room) -> Journal:
    """Alice's table with Carol fails, her table with Bob goes on; then she sits down with Carol again."""
    with_bob, mistaken = BotPort(HostGame(STAKE), rounds=6), Mistaken(HostGame(STAKE), rounds=2)
    again = BotPort(HostGame(STAKE), rounds=2)
    alice = room.service(ALICE, with_bob)

    async def join(key: Key, name: str, port: BotPort) -> None:
        service = room.service(key, port)
        await service.run(room.table(service, name, port).play(port.find))

    async def fail_and_go_on() -> None:
        with pytest.raises(LookupError, match="a mistake"):
            await room.table(alice, "tic-tac-toe", mistaken).play(mistaken.find)
        await room.table(alice, "tic-tac-toe", again).play(again.find)

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(room.table(alice, "rock-paper-scissors", with_bob).play(with_bob.find))
            group.create_task(fail_and_go_on())

    async with asyncio.timeout(240), asyncio.TaskGroup() as group:
        group.create_task(alice.run(both()))
        group.create_task(join(BOB, "rock-paper-scissors", BotPort(JoinGame(await with_bob.link), rounds=6)))
        group.create_task(join(CAROL, "tic-tac-toe", BotPort(JoinGame(await mistaken.link), rounds=2)))
    return alice.journal


def test_a_table_that_fails_leaves_the_other_alone_and_its_game_is_gone_on_with(room: Room) -> None:
    journal = asyncio.run(play_on_after_a_mistake(room))
    played = channels(journal)
    assert len(played) == 2
    assert [room.held(each) for each in played] == [0, 0]
    assert [each.phase(0) for each in played] == [Phase.CLOSED, Phase.CLOSED]
    assert room.paid(ALICE) == sum(share(each, room.payouts[ALICE.address]) for each in played)
    assert room.paid(ALICE) + room.paid(BOB) + room.paid(CAROL) == 4 * DEPOSIT
