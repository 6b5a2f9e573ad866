"""What carries tables, each in a process of its own that can be killed: a relay, and a NATS server."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

from tests.jetstream.server import NatsServer, running_server
from tests.relay.process import RelayProcess, running_relay
from tests.relay.proxy import Proxy

__all__ = ["CARRIERS", "Carriers", "Process", "through_a_proxy"]


class Process(Protocol):
    """One that runs. What it has acknowledged is on its disk."""

    @property
    def url(self) -> str: ...

    @property
    def port(self) -> int: ...

    def start(self) -> None: ...

    def kill(self) -> None: ...


class Carriers(Protocol):
    """Of one kind. `scheme`: of their addresses."""

    scheme: str

    def running(self, folder: Path) -> AbstractContextManager[Process]:
        """Killed at the end."""
        ...

    def through(self, proxy: Proxy, folder: Path) -> AbstractContextManager[Process]:
        """One whose clients come through a proxy."""
        ...

    def forget_everything(self, process: Process, folder: Path) -> None:
        """It is there again at once, with nothing."""
        ...


class _Relays:
    scheme = "ws"

    def running(self, folder: Path) -> AbstractContextManager[RelayProcess]:
        return running_relay(folder)

    def through(self, proxy: Proxy, folder: Path) -> AbstractContextManager[RelayProcess]:
        """Clients know a relay by the address that it has itself."""
        return running_relay(folder, "--url", proxy.url)

    def forget_everything(self, process: Process, folder: Path) -> None:
        process.kill()
        for path in folder.glob("relay.sqlite*"):
            path.unlink()
        process.start()


class _NatsServers:
    scheme = "nats"

    def running(self, folder: Path) -> AbstractContextManager[NatsServer]:
        return running_server(folder)

    def through(self, proxy: Proxy, folder: Path) -> AbstractContextManager[NatsServer]:
        return running_server(folder)

    def forget_everything(self, process: Process, folder: Path) -> None:
        process.kill()
        shutil.rmtree(folder / "store")
        process.start()


CARRIERS: dict[str, Carriers] = {"relay": _Relays(), "nats": _NatsServers()}


@asynccontextmanager
async def through_a_proxy(carriers: Carriers, folder: Path) -> AsyncIterator[tuple[Proxy, str, Process]]:
    """The proxy, the address of the way through it, and the process behind it."""
    async with Proxy() as proxy:
        with carriers.through(proxy, folder) as process:
            proxy.target = process.port
            yield proxy, proxy.url.replace("ws", carriers.scheme, 1), process
