"""Processes with a thousand channels between them, on a real chain: two over one relay, and over NATS two and a third,
which goes on when one of them dies. A sample of it in the normal run."""

from __future__ import annotations

import asyncio
import resource
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from forcemove import Agreement, ChannelMessenger, ChannelSetup, ChooseMove, MoveChosen, Node, open_journal
from forcemove.chain.local import AnvilChain, connect
from forcemove.node.assemble import reassemble
from forcemove.sessions.standby import when_free
from forcemove.transport import connect as carriers
from forcemove.transport.terms import TableKind, TableTerms
from forcemove_games.tic_tac_toe import GAME
from tests.forked import CONTEXT
from tests.jetstream.server import running_server
from tests.relay.process import RelayProcess, running_relay
from tests.scenarios.story import KEYS, Playground
from tests.simulation import crowd
from tests.store.server import Server

MIDDLE, LAST_TURN = 5, 8
DURATION = 3_600
_PATIENCE = 600.0


@dataclass(frozen=True)
class Part:
    """What one process needs. `seat`: of its player in all channels. `last`: the turn after which it makes no move;
    `lease`: seconds. It waits for channels that another process drives."""

    seat: int
    agreements: list[Agreement]
    node_url: str
    relay_url: str
    journal: str
    first_block: int
    last: int = LAST_TURN
    lease: float = 30.0


@dataclass(frozen=True)
class Said:
    """`seconds`: until every channel had its last turn; `bytes`: the process's largest memory."""

    seconds: float
    bytes: int
    turns: list[int]


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[RelayProcess]:
    with running_relay(tmp_path, "--tables", "2000", "--messages-per-second", "100000") as relay:
        yield relay


@pytest.mark.parametrize("count", [20, pytest.param(1_000, marks=pytest.mark.long)])
def test_all_channels_of_two_processes_are_opened_and_played_over_one_relay(
    relay: RelayProcess, tmp_path: Path, count: int
) -> None:
    chain = AnvilChain()
    try:
        playground = Playground.on(chain)
        first_block = chain.block_number()
        agreements = crowd.agreements(playground, count, DURATION)
        crowd.fund(chain, agreements)
        said = play(
            [
                Part(seat, agreements, chain.endpoint, relay.url, str(tmp_path / f"{seat}.journal"), first_block)
                for seat in (0, 1)
            ]
        )
        memory = relay.memory()
    finally:
        chain.close()
    for each in said:
        print(f"{count} channels: {each.seconds:.1f} s, {each.bytes / count:,.0f} bytes each; relay {memory:,} bytes")
        assert len(each.turns) == count
        assert min(each.turns) > LAST_TURN, "every channel has all its turns: no message was lost"


@pytest.mark.parametrize("count", [10, pytest.param(1_000, marks=pytest.mark.long)])
def test_all_channels_of_a_process_that_dies_are_played_on_by_one_elsewhere(
    tmp_path: Path, server: Server, count: int
) -> None:
    """It has nothing of the other's but the key, and the addresses of chain, log and journal."""
    chain = AnvilChain()
    try:
        playground = Playground.on(chain)
        first_block = chain.block_number()
        agreements = crowd.agreements(playground, count, DURATION)
        crowd.fund(chain, agreements)
        with running_server(tmp_path) as nats:
            where = chain.endpoint, nats.url
            lease = 2.0 + count / 50
            ours = Part(0, agreements, *where, server.schema(), first_block, lease=lease)
            theirs = Part(1, agreements, *where, server.schema(), first_block, lease=lease)
            with running([ours, replace(theirs, last=MIDDLE)]) as (us, mortal):
                mortal.wait()
                with running([theirs]) as (spare,):
                    mortal.kill()
                    said = [us.wait(), spare.wait()]
    finally:
        chain.close()
    for each in said:
        print(f"{count} channels: {each.seconds:.1f} s")
        assert len(each.turns) == count
        assert min(each.turns) > LAST_TURN


def play(parts: list[Part]) -> list[Said]:
    with running(parts) as players:
        return [each.wait() for each in players]


class Player:
    """A process that plays a part."""

    def __init__(self, part: Part) -> None:
        self._here, there = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=_run, args=(part, there), daemon=True)
        self._process.start()

    def wait(self) -> Said:
        """Until it has made its last move in every channel."""
        assert self._here.poll(_PATIENCE), "a process has not finished"
        said: Said = self._here.recv()
        return said

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


@contextmanager
def running(parts: list[Part]) -> Iterator[list[Player]]:
    players = [Player(part) for part in parts]
    try:
        yield players
    finally:
        for each in players:
            each.kill()


def _run(part: Part, pipe: Connection) -> None:
    asyncio.run(_play(part, pipe))


async def _play(part: Part, pipe: Connection) -> None:
    chain, bot, key = connect(part.node_url), GAME.bot(part.seat), KEYS[part.seat]

    def choose(question: ChooseMove) -> MoveChosen | None:
        if question.state.turn_num >= part.last:
            return None
        move = bot.move(question.state, another_round=True)
        return None if move is None else MoveChosen(*move)

    before, began = _largest(), time.monotonic()
    with open_journal(part.journal, owner=secrets.token_bytes(16)) as journal:
        node = Node(journal, policy=None, lease=part.lease)
        async with carriers.connect_relay(part.relay_url) as place, asyncio.TaskGroup() as group:
            for agreement in part.agreements:
                table = TableTerms(TableKind.CHANNEL, agreement.fixed_part.participants, agreement.channel_id)
                line = ChannelMessenger(await place.join(table, key))
                assembly = reassemble(chain, agreement, GAME, from_block=part.first_block)
                await when_free(partial(node.add, ChannelSetup(assembly, key, line, choose)), print)
                group.create_task(line.run())
            group.create_task(node.run())
            while any(each.channel.next_turn <= part.last for each in node.channels.values()):
                await asyncio.sleep(0.05)
            turns = [each.channel.next_turn for each in node.channels.values()]
            pipe.send(Said(time.monotonic() - began, _largest() - before, turns))
            await asyncio.Event().wait()  # the other may still want something


def _largest() -> int:
    """The largest memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
