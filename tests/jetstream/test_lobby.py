"""The lobby on a real NATS server keeps what every lobby promises, and believes nothing unsigned."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from forcemove.channel.line.connect import Connection, connect
from forcemove.channel.line.jetstream.connection import JetStreamConnection
from tests.jetstream.server import NatsServer, running_server
from tests.line.lobby_contract import LobbyContract


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running_server(tmp_path_factory.mktemp("nats")) as server:
        yield server


class TestJetStreamLobby(LobbyContract):
    @pytest.fixture(autouse=True)
    def on(self, server: NatsServer) -> None:
        self.server = server

    def connect(self, join_seconds: float | None = None) -> Connection:
        if join_seconds is None:
            return connect(self.server.url)
        return JetStreamConnection(self.server.url, join_seconds=join_seconds)

    async def restart(self) -> None:
        await asyncio.to_thread(self.server.kill)
        await asyncio.to_thread(self.server.start)
