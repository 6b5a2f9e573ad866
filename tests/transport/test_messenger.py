"""Two nodes play a channel over a real relay or NATS server, also when their connections are cut all the time."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import cast

import pytest

from forcemove import ChannelSetup, ChooseMove, Node, Phase, assemble, connect_relay, deploy, open_journal
from forcemove.arena.network import MemoryMessenger
from forcemove.chain.local import EmbeddedChain, local_keys
from forcemove.errors import ForcemoveError
from forcemove.flow.transport import MemoryTransport
from forcemove.node import effect_executor, friendly, ports
from forcemove.node.client import Client
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
from forcemove.transport.messenger import ChannelMessenger
from forcemove.transport.terms import TableKind, TableTerms
from forcemove_games.tic_tac_toe import GAME, rules
from tests.jetstream.server import running_server
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
async def test_two_nodes_play_a_channel_over_a_relay(tmp_path: Path, carrier: str, cut_every: int) -> None:
    chain, keys, random = EmbeddedChain(), local_keys(), Random(1)
    book = deploy(chain, keys[-1], tmp_path / "book.json", [GAME])
    addresses = [key.address for key in keys[:2]]
    channel = assemble(chain, book, GAME, addresses, stake=10**17, deposit=10**18, duration=3600)
    table = TableTerms(TableKind.CHANNEL, tuple(addresses), channel.agreement.channel_id)
    cells = iter([4, 0, 2, 1, 6])

    def choose(question: ChooseMove) -> MoveChosen | ConcludeWanted:
        cell = next(cells, None)
        return ConcludeWanted() if cell is None else MoveChosen(*rules.mark(question.state, cell))

    async with Proxy() as proxy, AsyncExitStack() as stack:
        url = stack.enter_context(_place(carrier, tmp_path, proxy))
        driven, carrying, nodes = [], [], []
        for key, name in zip(keys, ("alice", "bob"), strict=False):
            connection = await stack.enter_async_context(connect_relay(url))
            line = ChannelMessenger(await connection.join(table, key))
            carrying.append(asyncio.create_task(line.run()))
            journal = stack.enter_context(open_journal(str(tmp_path / name), owner=secrets.token_bytes(16)))
            nodes.append(Node(journal))
            driven.append(nodes[-1].add(ChannelSetup(channel, key, line, choose)))
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


class Counting:
    """A client that counts the messages that it receives."""

    def __init__(self) -> None:
        self.count = 0

    def on_message(self, message: bytes, now: int) -> None:  # the client's
        self.count += 1

    def take_faults(self) -> tuple[ForcemoveError, ...]:
        return ()


class Pouring:
    """A line on which there is always more. `count`: of the messages that were fetched."""

    def __init__(self, size: int = 10) -> None:
        self.count, self._size = 0, size

    def send(self, message: bytes) -> None:
        """Lost."""

    def receive(self) -> Sequence[bytes]:
        self.count += 20_000
        return [bytes(self._size)] * 20_000


def _performer(client: Counting, line: ports.Messenger) -> effect_executor.EffectExecutor:
    def unused(*_: object) -> None:
        raise AssertionError

    return effect_executor.EffectExecutor(cast("Client", client), friendly.NullSubmitter(), line, unused, unused)


def test_threat_46_of_a_flood_a_channel_takes_in_few_messages_at_once() -> None:
    client, line = Counting(), Pouring()
    performer = _performer(client, line)
    for step in range(1, 100):
        performer.receive()
        performer.process_messages(0)
        assert client.count == 64 * step
        assert performer.has_received
    assert line.count == 20_000  # the rest waits with the line


def test_threat_46_what_a_line_gives_at_once_is_bounded_in_bytes() -> None:
    client = Counting()
    performer = _performer(client, Pouring(2**16))
    performer.receive()
    while performer.has_received:
        performer.process_messages(0)
    assert client.count == 128  # 8 MiB


def test_threat_46_a_line_in_memory_gives_few_messages_at_once_and_calls_for_the_rest() -> None:
    ours, theirs = MemoryMessenger.table(2)
    for number in range(100):
        ours.send(b"%d" % number)
    calls: list[None] = []
    theirs.listen(lambda: calls.append(None))
    assert list(theirs.receive()) == [b"%d" % number for number in range(64)]
    assert len(calls) == 1
    assert list(theirs.receive()) == [b"%d" % number for number in range(64, 100)]
    assert len(calls) == 1


def test_threat_46_a_line_in_memory_is_bounded() -> None:
    ours, theirs = MemoryMessenger.table(2)
    for number in range(300):
        ours.send(number.to_bytes(2**16))
    heard: list[bytes] = []
    while new := theirs.receive():
        heard += new
    assert heard == [number.to_bytes(2**16) for number in range(300 - 256, 300)]


async def test_what_we_say_is_not_heard_and_what_waits_is_bounded() -> None:
    log = MemoryTransport()
    alice, bob = ChannelMessenger(log), ChannelMessenger(log)
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
