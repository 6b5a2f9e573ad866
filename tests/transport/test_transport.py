"""The log of a table on a real relay, and on a real NATS server, keeps what every transport promises, also bare of
signatures and with them."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest

from forcemove import InvalidValue, SignedTransport, TableKind, connect_relay
from forcemove.flow.transport import Transport
from tests.flow.table import ADDRESSES, KEYS, NAMES
from tests.flow.transport_contract import TransportContract
from tests.transport.carriers import CARRIERS
from tests.transport.people import new_table, run


@pytest.fixture(scope="module", params=list(CARRIERS))
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with CARRIERS[request.param].running(tmp_path_factory.mktemp(request.param)) as process:
        yield process.url


class TestGamesTable(TransportContract):
    kind = TableKind.GAME

    @pytest.fixture(autouse=True)
    def on(self, url: str) -> None:
        self.url = url

    def run(self, story: Coroutine[Any, Any, None]) -> None:
        async def connected() -> None:
            async with AsyncExitStack() as self.connections:
                await story

        run(connected())

    async def table(self, clients: int) -> Sequence[Transport]:
        """Each client has a connection of its own."""
        terms = new_table(self.kind, *(ADDRESSES[name] for name in NAMES[:clients]))
        self.id = terms.id
        table = []
        for name in NAMES[:clients]:
            place = await self.connections.enter_async_context(connect_relay(self.url))
            table.append(await place.join(terms, KEYS[name]))
        return table


class TestChannelsTable(TestGamesTable):
    kind = TableKind.CHANNEL


class TestSignedGamesTable(TestGamesTable):
    async def table(self, clients: int) -> Sequence[Transport]:
        table = await super().table(clients)
        names = NAMES[:clients]
        return [SignedTransport(each, self.id, KEYS[name], ADDRESSES) for each, name in zip(table, names, strict=True)]


async def test_there_is_no_message_before_the_first(url: str) -> None:
    async with connect_relay(url) as place:
        transport = await place.join(new_table(), KEYS["alice"])
        with pytest.raises(InvalidValue):
            transport.reader(-1)
