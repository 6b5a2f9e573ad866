"""Two processes with a thousand channels between them, over one relay process and on a real chain. A sample of it in
the normal run."""

from __future__ import annotations

import asyncio
import resource
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from forcemove.channel.chain.local import AnvilChain, connect
from forcemove.channel.line import connect as carriers
from forcemove.channel.line.channel_line import ChannelLine
from forcemove.channel.line.terms import Table, TableKind
from forcemove.channel.node.assemble import reassemble
from forcemove.channel.node.node import Node
from forcemove.channel.protocol.agreement import Agreement
from forcemove.channel.protocol.effects import ChooseMove
from forcemove.channel.protocol.inputs import MoveChosen
from forcemove.channel.store.opening import open_journal
from forcemove.games.tic_tac_toe import GAME
from tests.forked import CONTEXT
from tests.relay.process import RelayProcess, running_relay
from tests.scenarios.story import KEYS, Playground
from tests.simulation import crowd

LAST_TURN = 8
DURATION = 3_600
_PATIENCE = 600.0


@dataclass(frozen=True)
class Part:
    """What one process needs. `seat`: of its player in all channels."""

    seat: int
    agreements: list[Agreement]
    node_url: str
    relay_url: str
    journal: str
    first_block: int


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


def play(parts: list[Part]) -> list[Said]:
    pipes = [CONTEXT.Pipe() for _ in parts]
    processes = [
        CONTEXT.Process(target=_run, args=(part, there), daemon=True)
        for part, (_, there) in zip(parts, pipes, strict=True)
    ]
    for process in processes:
        process.start()
    try:
        said: list[Said] = []
        for here, _ in pipes:
            assert here.poll(_PATIENCE), "a process has not finished"
            said.append(here.recv())
        return said
    finally:
        for process in processes:
            process.kill()
            process.join()


def _run(part: Part, pipe: Connection) -> None:
    asyncio.run(_play(part, pipe))


async def _play(part: Part, pipe: Connection) -> None:
    chain, bot, key = connect(part.node_url), GAME.bot(part.seat), KEYS[part.seat]

    def choose(question: ChooseMove) -> MoveChosen | None:
        if question.state.turn_num >= LAST_TURN:
            return None
        move = bot.move(question.state, another_round=True)
        return None if move is None else MoveChosen(*move)

    before, began = _largest(), time.monotonic()
    with open_journal(part.journal, owner=secrets.token_bytes(16)) as journal:
        node = Node(journal, policy=None)
        async with carriers.connect(part.relay_url) as place, asyncio.TaskGroup() as group:
            for agreement in part.agreements:
                table = Table(TableKind.CHANNEL, agreement.fixed_part.participants, agreement.channel_id)
                line = ChannelLine(await place.join(table, key))
                node.add(reassemble(chain, agreement, GAME, from_block=part.first_block), key, line, choose)
                group.create_task(line.run())
            group.create_task(node.run())
            while any(each.channel.next_turn <= LAST_TURN for each in node.channels.values()):
                await asyncio.sleep(0.05)
            turns = [each.channel.next_turn for each in node.channels.values()]
            pipe.send(Said(time.monotonic() - began, _largest() - before, turns))
            await asyncio.Event().wait()  # the other may still want something


def _largest() -> int:
    """The largest memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
