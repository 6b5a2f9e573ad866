"""The log of a table on a real NATS server keeps what every transport promises, also with signatures."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest

from forcemove.channel.errors import InvalidValue
from forcemove.channel.flow.signed import SignedTransport
from forcemove.channel.flow.transport import Transport
from forcemove.channel.line.jetstream.connection import JetStreamConnection
from forcemove.channel.line.terms import TableKind
from tests.flow.table import ADDRESSES, KEYS, NAMES
from tests.flow.transport_contract import TransportContract
from tests.jetstream.server import NatsServer, running_server
from tests.line.people import new_table, run


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running_server(tmp_path_factory.mktemp("nats")) as server:
        yield server


class TestJetStreamTransport(TransportContract):
    kind = TableKind.GAME

    @pytest.fixture(autouse=True)
    def on(self, shared: NatsServer) -> None:
        self.url = shared.url

    def run(self, story: Coroutine[Any, Any, None]) -> None:
        async def connected() -> None:
            async with AsyncExitStack() as self.connections:
                await story

        run(connected())

    async def table(self, clients: int) -> Sequence[Transport]:
        """Each client has a connection of its own."""
        terms = new_table(self.kind, *(ADDRESSES[name] for name in NAMES[:clients]))
        table = []
        for name in NAMES[:clients]:
            place = await self.connections.enter_async_context(JetStreamConnection(self.url))
            table.append(await place.join(terms, KEYS[name]))
        return table


class TestChannelsTable(TestJetStreamTransport):
    kind = TableKind.CHANNEL


class TestSignedOnJetStream(TestJetStreamTransport):
    async def table(self, clients: int) -> Sequence[Transport]:
        table = await super().table(clients)
        id_ = table[0].id  # type: ignore[attr-defined]  # it is a JetStreamTransport
        return [
            SignedTransport(each, id_, KEYS[name], ADDRESSES) for each, name in zip(table, NAMES[:clients], strict=True)
        ]


def test_there_is_no_message_before_the_first(shared: NatsServer) -> None:
    async def story() -> None:
        async with JetStreamConnection(shared.url) as place:
            transport = await place.join(new_table(), KEYS["alice"])
            with pytest.raises(InvalidValue):
                transport.reader(-1)

    run(story())
