"""The carrier is chosen by the address."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from forcemove.errors import InvalidValue
from forcemove.transport.connect import Connection, connect_relay
from forcemove.transport.errors import NatsMissing, RelayUnreachable, TransportClosed
from forcemove.transport.jetstream.connection import JetStreamConnection
from forcemove.transport.websocket.connection import RelayConnection
from tests.relay.process import running_relay
from tests.transport.people import ALICE, new_table


@pytest.mark.parametrize("url", ["ws://relay.example:1", "wss://relay.example"])
def test_a_websocket_is_a_relays(url: str) -> None:
    connection: Connection = connect_relay(url)
    assert isinstance(connection, RelayConnection)
    assert connection.url == url


@pytest.mark.parametrize("url", ["nats://nats.example", "tls://nats.example:4222"])
def test_nats_is_a_nats_servers(url: str) -> None:
    connection: Connection = connect_relay(url)
    assert isinstance(connection, JetStreamConnection)
    assert connection.url == url


def test_a_password_is_not_shown() -> None:
    assert connect_relay("nats://alice:secret@nats.example:4222").url == "nats://nats.example:4222"


def test_who_lacks_the_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nats", None)
    with pytest.raises(NatsMissing):
        connect_relay("nats://nats.example")


@pytest.mark.parametrize(
    "url",
    ["", "relay.example:4600", "http://relay.example", "file:///etc/passwd", "ws:/relay", "http://[::1", "nats://[::1"],
)
def test_another_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        connect_relay(url)
    assert refused.value.field == "relay"


@pytest.mark.parametrize("url", ["ws://[::1", "ws://[relay]"])
async def test_an_address_that_leads_nowhere_is_told_so(url: str) -> None:
    with pytest.raises(RelayUnreachable):
        async with connect_relay(url):
            pass


async def test_a_relay_is_used_through_the_port(tmp_path: Path) -> None:
    with running_relay(tmp_path) as relay:
        async with connect_relay(relay.url) as connection, connect_relay(relay.url) as others:
            table = new_table()
            transport = await connection.join(table, ALICE)
            await transport.post(b"here")
            spectator = await others.watch(table.id)
            assert spectator.length() == 1
            connection.leave(table.id)
            with pytest.raises(TransportClosed):
                await transport.post(b"gone")
