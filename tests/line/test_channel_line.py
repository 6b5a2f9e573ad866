"""Two nodes play a channel over a real relay or NATS server, also when their connections are cut all the time."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from random import Random

import pytest

from forcemove.channel.chain.deployment import deploy
from forcemove.channel.chain.local import EmbeddedChain, local_keys
from forcemove.channel.flow.transport import MemoryTransport
from forcemove.channel.line.channel_line import ChannelLine
from forcemove.channel.line.connect import connect
from forcemove.channel.line.terms import Table, TableKind
from forcemove.channel.node.assemble import assemble
from forcemove.channel.node.node import Node
from forcemove.channel.protocol.channel import Phase
from forcemove.channel.protocol.effects import ChooseMove
from forcemove.channel.protocol.inputs import ConcludeWanted, MoveChosen
from forcemove.channel.store.opening import open_journal
from forcemove.games.tic_tac_toe import GAME, rules
from tests.jetstream.server import running_server
from tests.line.people import run
from tests.relay.process import running_relay
from tests.relay.proxy import Proxy


@contextmanager
def _place(carrier: str, folder: Path, proxy: Proxy) -> Iterator[str]:
    """The address of a relay or a NATS server, by way of the proxy."""
    if carrier == "relay":
        with running_relay(folder, "--url", proxy.url) as relay:
            proxy.target = relay.port
            yield proxy.url
    else:
        with running_server(folder) as server:
            proxy.target = server.port
            yield proxy.url.replace("ws://", "nats://")


@pytest.mark.parametrize(
    ("carrier", "cut_every"),
    [("relay", 0), ("relay", 50), ("nats", 0), ("nats", 400)],  # more goes to and fro before NATS's tables are open
)
def test_two_nodes_play_a_channel_over_a_relay(tmp_path: Path, carrier: str, cut_every: int) -> None:
    async def story() -> None:
        chain, keys, random = EmbeddedChain(), local_keys(), Random(1)
        book = deploy(chain, keys[-1], tmp_path / "book.json", [GAME])
        addresses = [key.address for key in keys[:2]]
        channel = assemble(chain, book, GAME, addresses, stake=10**17, deposit=10**18, duration=3600)
        table = Table(TableKind.CHANNEL, tuple(addresses), channel.agreement.channel_id)
        cells = iter([4, 0, 2, 1, 6])

        def choose(question: ChooseMove) -> MoveChosen | ConcludeWanted:
            cell = next(cells, None)
            return ConcludeWanted() if cell is None else MoveChosen(*rules.mark(question.state, cell))

        async with Proxy() as proxy, AsyncExitStack() as stack:
            url = stack.enter_context(_place(carrier, tmp_path, proxy))
            driven, carrying, nodes = [], [], []
            for key, name in zip(keys, ("alice", "bob"), strict=False):
                connection = await stack.enter_async_context(connect(url))
                line = ChannelLine(await connection.join(table, key))
                carrying.append(asyncio.create_task(line.run()))
                journal = stack.enter_context(open_journal(str(tmp_path / name), owner=secrets.token_bytes(16)))
                nodes.append(Node(journal))
                driven.append(nodes[-1].add(channel, key, line, choose))
            while any(each.phase is not Phase.CLOSED for each in driven):
                for node in nodes:
                    node.poll()
                await asyncio.sleep(0)
                if cut_every and random.randrange(cut_every) == 0:
                    proxy.cut()
            newest = driven[0].channel.newest
            assert newest is not None
            assert [each.amount for each in newest.state.outcome] == [11 * 10**17, 9 * 10**17]
            for task in carrying:
                assert not task.done()
                task.cancel()

    run(story())


def test_what_we_say_is_not_heard_and_what_waits_is_bounded() -> None:
    async def story() -> None:
        log = MemoryTransport()
        alice, bob = ChannelLine(log), ChannelLine(log)
        carrying = [asyncio.create_task(each.run()) for each in (alice, bob)]
        for number in range(3_000):
            alice.send(b"%d" % number)
        heard: list[bytes] = []
        while len(heard) < 3_000:
            await asyncio.sleep(0)
            new = bob.receive()
            assert len(new) <= 1_000
            heard += new
        assert heard == [b"%d" % number for number in range(3_000)]
        assert alice.receive() == ()
        for task in carrying:
            task.cancel()

    run(story())
