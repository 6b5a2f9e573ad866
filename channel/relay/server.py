"""The relay's process: it listens, serves clients, tells its health, and stops without losing anything."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from ssl import SSLContext

from aiohttp import WSCloseCode, web

from forcemove.channel.errors import InvalidValue, JournalUnavailable
from forcemove.channel.line.limits import MAX_FRAME
from forcemove.channel.relay.housekeeping import Housekeeper
from forcemove.channel.relay.keeping import Keeper
from forcemove.channel.relay.limits import Limits
from forcemove.channel.relay.lobby import Lobby
from forcemove.channel.relay.metrics import Metrics
from forcemove.channel.relay.peer import Peer, Services
from forcemove.channel.relay.storage.store import open_store
from forcemove.channel.relay.storage.worker import Worker
from forcemove.channel.relay.tables import Tables
from forcemove.channel.serving.errors import AddressUnusable

__all__ = ["Settings", "serve"]

_LOG = logging.getLogger(__name__)
_HOUR = 3_600.0
_EVERYWHERE = {"", "0.0.0.0", "::"}  # noqa: S104  # compared with, not listened on
_SWITCH = 0.0005
"""Seconds after which the loop and the thread of the store take turns: each gives the lock of Python away all the
time, and the usual 5 ms are longer than a commit."""
_GOODBYE = 3.0
"""Seconds that clients have to answer when they are sent away."""
_NO_PAGE = "This is a relay of Forcemove: it speaks WebSocket. /health and /metrics tell how it is."
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Settings:
    """`host`, `port`: where to listen, port 0 for any that is free. `store`: a path, or `:memory:`. `urls`: the
    addresses by which clients know this relay, ws:// or wss://; the one where it listens if none are given.
    `chains`: the ids of the chains for which the lobby takes offers, all if none are given. `heartbeat`: seconds
    between pings. `tls`: the certificate, if the relay itself is to speak wss://."""

    host: str
    port: int
    store: str
    urls: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    chains: frozenset[int] = frozenset()
    heartbeat: float = 30.0
    tls: SSLContext | None = None

    def __post_init__(self) -> None:
        if self.host in _EVERYWHERE and not self.urls:
            reason = "an address of this machine, unless the addresses by which clients know it are given, too"
            raise InvalidValue("listen", self.host or "every address", reason)
        for url in self.urls:
            if not url.startswith(("ws://", "wss://")):
                raise InvalidValue("url", url, "ws://host:port or wss://host:port")


async def serve(settings: Settings, ready: Callable[[str], object]) -> None:
    """Serve until the process is told to end (SIGTERM, SIGINT): then what was posted is kept, clients are told, and
    this returns. `ready`: is called with the address where it listens.

    Raises `AddressUnusable`, `RelayStoreInUse`, `NotARelayStore`, `RelayStoreUnusable`; and while it runs a
    `JournalError` where the store has failed for good.
    """
    sys.setswitchinterval(_SWITCH)
    async with AsyncExitStack() as stack:
        store = open_store(settings.store)
        stack.callback(store.close)
        worker = Worker()
        stack.callback(worker.close)
        metrics, tables = Metrics(), Tables(store, worker, settings.limits)
        await tables.start()
        keeper = Keeper(store, worker, tables, metrics, time.time)
        lobby = Lobby(store, worker, settings.limits, settings.chains, time.time)
        await lobby.start()
        services = Services(
            store, worker, tables, keeper, lobby, metrics, settings.limits, set(settings.urls), time.time
        )
        housekeeper = Housekeeper(store, worker, tables, settings.limits, metrics)
        await _Process(settings, services, housekeeper).run(ready)


class _Process:
    """A relay that runs."""

    def __init__(self, settings: Settings, services: Services, housekeeper: Housekeeper) -> None:
        self._settings, self._services, self._housekeeper = settings, services, housekeeper
        self._sockets: set[web.WebSocketResponse] = set()
        self._addresses: Counter[str] = Counter()
        self._is_stopping = asyncio.Event()

    async def run(self, ready: Callable[[str], object]) -> None:
        runner = web.AppRunner(self._app(), access_log=None, shutdown_timeout=_GOODBYE)
        await runner.setup()
        try:
            url = await self._listen(runner)
            self._services.urls.update(self._settings.urls or (url,))
            await self._until_stopped(lambda: ready(url))
        finally:
            await runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/", self._connect)
        app.router.add_get("/health", self._health)
        app.router.add_get("/metrics", self._metrics)
        return app

    async def _listen(self, runner: web.AppRunner) -> str:
        settings = self._settings
        try:
            site = web.TCPSite(runner, settings.host, settings.port, ssl_context=settings.tls)
            await site.start()
        except OSError as error:
            raise AddressUnusable(settings.host, settings.port, error.strerror or str(error)) from None
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        return f"{'wss' if settings.tls else 'ws'}://{host}:{runner.addresses[0][1]}"

    async def _until_stopped(self, ready: Callable[[], object]) -> None:
        """The keeper ends last: what was taken is kept, and said to be kept, before clients are sent away."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._is_stopping.set)
        try:
            await self._work(ready)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from group  # the keeper's or the expiry's: the other was cancelled for it
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)

    async def _work(self, ready: Callable[[], object]) -> None:
        keeper = self._services.keeper
        async with asyncio.TaskGroup() as group:
            keeping = group.create_task(keeper.run())
            others = [group.create_task(self._housekeeper.run()), group.create_task(self._expire())]
            _LOG.info("listening", extra={"facts": {"urls": sorted(self._services.urls)}})
            ready()
            await self._is_stopping.wait()
            _LOG.info("stopping", extra={"facts": {"connections": len(self._sockets)}})
            for task in others:
                task.cancel()
            keeper.stop()
            await keeping
            await self._send_away()

    async def _send_away(self) -> None:
        going = [
            each.close(code=WSCloseCode.GOING_AWAY, message=b"the relay is stopping") for each in list(self._sockets)
        ]
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE):
                await asyncio.gather(*going, return_exceptions=True)

    async def _expire(self) -> None:
        while True:
            try:
                await self._services.lobby.expire()
            except JournalUnavailable as error:
                self._services.tables.room.shut(error)
            await asyncio.sleep(_HOUR)

    # -------------------------------------------------------------------------------------------------------- requests

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        address = request.remote or ""
        if fault := self._fault(address):
            return web.Response(status=503, text=fault, headers={"Retry-After": "10"})
        socket = web.WebSocketResponse(
            heartbeat=self._settings.heartbeat, max_msg_size=MAX_FRAME, compress=False, timeout=_GOODBYE
        )
        if not socket.can_prepare(request).ok:
            return web.Response(status=426, text=_NO_PAGE, headers={"Upgrade": "websocket"})
        self._sockets.add(socket)
        self._addresses[address] += 1
        try:
            writer = await socket.prepare(request)
            if (transport := request.transport) is not None:
                await Peer(socket, self._services, transport, writer.drain).run()
        finally:
            self._sockets.discard(socket)
            self._addresses[address] -= 1
            self._addresses += Counter()  # forgets those without any
        return socket

    def _fault(self, address: str) -> str | None:
        limits = self._settings.limits
        if self._is_stopping.is_set():
            return "the relay is stopping"
        if len(self._sockets) >= limits.connections:
            return "the relay has as many connections as it may have"
        if self._addresses[address] >= limits.per_address:
            return "your address has as many connections as it may have"
        return None

    async def _health(self, _: web.Request) -> web.Response:
        is_failing = self._services.keeper.is_failing
        is_well = not (is_failing or self._is_stopping.is_set())
        state = "ok" if is_well else "failing: the disk takes nothing" if is_failing else "stopping"
        facts = {"status": state, "connections": len(self._sockets), "tables": self._services.tables.count}
        facts["offers"] = self._services.lobby.count
        return web.json_response(facts, status=200 if is_well else 503)

    async def _metrics(self, _: web.Request) -> web.Response:
        metrics, tables = self._services.metrics, self._services.tables
        metrics.connections.set(len(self._sockets))
        metrics.tables.set(tables.count)
        metrics.in_use.set(tables.in_use)
        return web.Response(body=metrics.text(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})
