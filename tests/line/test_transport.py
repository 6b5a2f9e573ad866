"""The log of a table on a real relay keeps what every transport promises, also bare of signatures and with them."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from forcemove.channel.errors import InvalidValue
from forcemove.channel.flow.signed import SignedTransport
from forcemove.channel.flow.transport import Transport
from forcemove.channel.line.terms import TableKind
from forcemove.channel.line.websocket.connection import RelayConnection
from tests.flow.table import ADDRESSES, KEYS, NAMES
from tests.flow.transport_contract import TransportContract
from tests.line.people import new_table, run
from tests.relay.process import RelayProcess, running_relay


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    with running_relay(tmp_path_factory.mktemp("relay"), "--messages-per-second", "100000") as relay:
        yield relay


class TestWebSocketTransport(TransportContract):
    kind = TableKind.GAME

    @pytest.fixture(autouse=True)
    def on(self, shared: RelayProcess) -> None:
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
            relay = await self.connections.enter_async_context(RelayConnection(self.url))
            table.append(await relay.join(terms, KEYS[name]))
        return table


class TestChannelsTable(TestWebSocketTransport):
    kind = TableKind.CHANNEL


class TestSignedOnWebSocket(TestWebSocketTransport):
    async def table(self, clients: int) -> Sequence[Transport]:
        table = await super().table(clients)
        id_ = table[0].id  # type: ignore[attr-defined]  # it is a WebSocketTransport
        return [
            SignedTransport(each, id_, KEYS[name], ADDRESSES) for each, name in zip(table, NAMES[:clients], strict=True)
        ]


def test_there_is_no_message_before_the_first(tmp_path: Path, shared: RelayProcess) -> None:
    async def story() -> None:
        async with RelayConnection(shared.url) as relay:
            transport = await relay.join(new_table(), KEYS["alice"])
            with pytest.raises(InvalidValue):
                transport.reader(-1)

    run(story())
