"""The command, in a directory of its own without our environment variables; and houses whose people play."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.served.chromium import chromium
from tests.cli.command import Command
from tests.cli.tables import House, World, world_on
from tests.jetstream.server import running_server
from tests.relay.process import RelayProcess, running_relay
from tests.store.server import Server


@pytest.fixture
def forcemove(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    for name in ("FORCEMOVE_PASSPHRASE", "FORCEMOVE_PRIVATE_KEY", "FORCEMOVE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return Command(capsys)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[RelayProcess]:
    with running_relay(tmp_path) as relay:
        yield relay


@pytest.fixture
def house(tmp_path: Path, relay: RelayProcess) -> Iterator[House]:
    """People who play for nothing, over a relay."""
    house = House(tmp_path, relay)
    yield house
    house.leave()


@pytest.fixture
def world(tmp_path: Path, relay: RelayProcess) -> Iterator[World]:
    """People who play for a stake: over a relay, with journals in files."""
    with world_on(relay, tmp_path) as world:
        yield world


@pytest.fixture
def elsewhere(tmp_path: Path, server: Server) -> Iterator[World]:
    """People who play for a stake: over NATS, with journals on PostgreSQL."""
    with running_server(tmp_path) as nats, world_on(nats, tmp_path, server) as world:
        yield world
