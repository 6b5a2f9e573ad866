"""A thousand tables at once: no message is lost, none twice, and memory stays within bounds."""

from __future__ import annotations

import asyncio
from pathlib import Path

from forcemove.transport.terms import TableKind
from forcemove.transport.websocket.connection import RelayConnection
from forcemove.transport.websocket.transport import WebSocketTransport
from tests.relay.process import running_relay
from tests.transport.people import ALICE, BOB, new_table, read

TABLES = 1_000
POSTS = 4


async def test_a_thousand_tables_at_once(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--messages-per-second", "100000") as relay:
        before = relay.memory()
        tables = [new_table(kind) for kind in (TableKind.GAME, TableKind.CHANNEL) for _ in range(TABLES // 2)]
        async with RelayConnection(relay.url) as hers, RelayConnection(relay.url) as his:
            alice = await asyncio.gather(*(hers.join(table, ALICE) for table in tables))
            bob = await asyncio.gather(*(his.join(table, BOB) for table in tables))
            async with asyncio.TaskGroup() as group:
                for name, seat in ((b"a", alice), (b"b", bob)):
                    for number, transport in enumerate(seat):
                        group.create_task(_say(transport, b"%s%d " % (name, number)))
            for number, pair in enumerate(zip(alice, bob, strict=True)):
                logs = [await read(each.reader(), 2 * POSTS) for each in pair]
                assert logs[0] == logs[1]
                said = {b"%s%d %d" % (name, number, each) for name in (b"a", b"b") for each in range(POSTS)}
                assert set(logs[0]) == said
            assert relay.memory() - before < 64 * 2**20


async def _say(transport: WebSocketTransport, name: bytes) -> None:
    for number in range(POSTS):
        await transport.post(name + b"%d" % number)
