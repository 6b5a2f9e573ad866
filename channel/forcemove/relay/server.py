"""The relay's process: it listens, serves clients, answers requests for its health, and stops without losing posts."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from typing import cast

from aiohttp import WSCloseCode, web

from forcemove.connecting import connection_words
from forcemove.errors import JournalUnavailable
from forcemove.relay.admission.accounts import Accounts
from forcemove.relay.admission.listening import ConnectionIntake, Listener
from forcemove.relay.admission.turns import Gate, Turns
from forcemove.relay.clients.peer import Peer
from forcemove.relay.clients.services import Services
from forcemove.relay.housekeeping import Housekeeper
from forcemove.relay.http_answers import HttpAnswers
from forcemove.relay.keeping import Committer
from forcemove.relay.metrics import Metrics
from forcemove.relay.offers.lobby import Lobby
from forcemove.relay.settings import Settings, fitting
from forcemove.relay.storage.store import open_store
from forcemove.relay.storage.worker import Worker
from forcemove.relay.tables import Tables
from forcemove.serving.errors import AddressUnusable
from forcemove.serving.process import LOGGING, close_after_answer, set_on_signals, url_of
from forcemove.transport.limits import MAX_FRAME

_LOG = logging.getLogger(__name__)
_HOUR = 3_600.0
_SWITCH = 0.0005
"""Seconds after which the event loop and the thread of the store take turns: each gives Python's lock away all the
time, and the usual 5 ms are longer than a commit."""
_COLLECT_AFTER = (10_000, 5, 1_000_000)
"""Of the garbage collector's three generations: objects more than before until the youngest is collected, and how often
each is until the next one is, too; the oldest only once an hour."""
_GOODBYE = 3.0
"""Seconds that clients have to answer when they are sent away."""
_NO_PAGE = "This is a relay of Forcemove: it speaks WebSocket. /health and /metrics tell how it is."
_GONE = "The client has gone."
_WAITING = 1_024
"""Connections that may wait in the system until the relay accepts them."""
_AROUND = 64
"""Bytes of a request besides its path and headers, at most."""
_SWEEP = 5.0
"""Seconds between two searches for overdue connections, at most."""
_AT_ONCE = 100
"""Connections that are looked at before those who play are served: a ping takes some microseconds."""
_READS, _WRITES = 2, 1
"""Requests, posts aside, that use the store at once; the other requests wait, and addresses take turns."""


async def serve(settings: Settings, ready: Callable[[str], object]) -> None:
    """Serve until the process is told to end (SIGTERM, SIGINT): then posts are committed, connections are closed,
    and this returns. `ready`: is called with the address where the relay listens.

    Raises `AddressUnusable`, `RelayStoreInUse`, `NotARelayStore`, `RelayStoreUnusable`; and while the
    relay runs a `JournalError` where the store has failed for good.
    """
    sys.setswitchinterval(_SWITCH)
    _tune_collector()
    settings = fitting(settings)
    async with AsyncExitStack() as stack:
        store = open_store(settings.store)
        stack.callback(store.close)
        worker = Worker()
        stack.callback(worker.close)
        metrics, tables = Metrics(), Tables(store, worker, settings.limits)
        await tables.start()
        committer = Committer(store, worker, tables, metrics, time.time)
        lobby = Lobby(store, worker, settings.limits, settings.chains, time.time)
        await lobby.start()
        services = Services(
            tables=tables,
            committer=committer,
            lobby=lobby,
            metrics=metrics,
            accounts=Accounts(settings.limits, time.monotonic),
            turns=Turns(),
            reads=Gate(_READS),
            writes=Gate(_WRITES),
            limits=settings.limits,
            urls=set(settings.urls),
            clock=time.time,
        )
        housekeeper = Housekeeper(store, worker, tables, settings.limits, metrics)
        await _Process(settings, services, housekeeper).run(ready)


def _tune_collector() -> None:
    """Let the garbage collector leave alone what was imported, and look through everything rarely: with thousands of
    connections that takes a fifth of a second, in which nobody is served. Connections leave nothing to collect."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


class _Process:
    """A running relay."""

    def __init__(self, settings: Settings, services: Services, housekeeper: Housekeeper) -> None:
        self._settings, self._services, self._housekeeper = settings, services, housekeeper
        self._peers: dict[web.WebSocketResponse, Peer | None] = {}
        self._accounts = services.accounts
        self._is_stopping = asyncio.Event()
        is_stopping = self._is_stopping.is_set
        self._answers = HttpAnswers(services, settings.pages, lambda: len(self._peers), is_stopping)

    async def run(self, ready: Callable[[str], object]) -> None:
        limits = self._settings.limits
        runner = web.AppRunner(
            self._app(),
            **LOGGING,
            shutdown_timeout=_GOODBYE,
            keepalive_timeout=limits.header_seconds,
            lingering_time=0,
        )
        await runner.setup()
        listeners: list[Listener] = []
        try:
            listening = await self._bind()
            listeners = [self._listener(each, runner) for each in listening]
            url = self._url(listening[0])
            self._services.urls.update(self._settings.urls or (url,))
            await self._until_stopped(lambda: ready(url))
        finally:
            for listener in listeners:
                listener.close()
            await runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/", self._connect)
        app.add_routes(self._answers.routes())
        app.on_response_prepare.append(close_after_answer)
        return app

    async def _bind(self) -> list[socket.socket]:
        host, port = self._settings.host, self._settings.port
        bound: list[socket.socket] = []
        try:
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            for family, *_, address in dict.fromkeys(found):
                place = (address[0], bound[0].getsockname()[1] if bound else port)
                bound.append(socket.create_server(place, family=family, backlog=_WAITING))
        except OSError as error:
            for each in bound:
                each.close()
            raise AddressUnusable(host, port, connection_words(error)) from None
        return bound

    def _listener(self, listening: socket.socket, runner: web.AppRunner) -> Listener:
        settings, services = self._settings, self._services
        server = cast("web.Server", runner.server)  # it was set up
        return Listener(
            listening,
            server,
            self._accounts,
            settings.limits,
            services.metrics,
            settings.proxies,
            settings.tls,
            services.turns,
        )

    def _url(self, listening: socket.socket) -> str:
        return url_of("wss" if self._settings.tls else "ws", self._settings.host, listening.getsockname()[1])

    async def _until_stopped(self, ready: Callable[[], object]) -> None:
        """The committer ends before connections are closed: posts that were taken are committed and answered first."""
        with set_on_signals(self._is_stopping):
            try:
                await self._work(ready)
            except BaseExceptionGroup as group:
                raise group.exceptions[0] from group  # of one task: the others were cancelled for it

    async def _work(self, ready: Callable[[], object]) -> None:
        committer = self._services.committer
        async with asyncio.TaskGroup() as group:
            keeping = group.create_task(committer.run())
            others = [group.create_task(each) for each in (self._housekeeper.run(), self._expire(), self._sweep())]
            _LOG.info("listening", extra={"facts": {"urls": sorted(self._services.urls)}})
            ready()
            await self._is_stopping.wait()
            _LOG.info("stopping", extra={"facts": {"connections": len(self._peers)}})
            for task in others:
                task.cancel()
            committer.stop()
            await keeping
            await self._send_away()

    async def _send_away(self) -> None:
        going = [
            each.close(code=WSCloseCode.GOING_AWAY, message=b"the relay is stopping") for each in list(self._peers)
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
            gc.collect()

    async def _sweep(self) -> None:
        limits, heartbeat = self._settings.limits, self._settings.heartbeat
        while True:
            await asyncio.sleep(min(_SWEEP, limits.idle_seconds / 2, limits.stall / 2, heartbeat / 4))
            await self._dismiss_overdue(heartbeat)

    async def _dismiss_overdue(self, heartbeat: float) -> None:
        """Close the connections that are overdue, see `Peer.overdue`. In a function of its own: what it has searched is
        not kept until it searches again."""
        now, peers = time.monotonic(), [peer for peer in self._peers.values() if peer is not None]
        for first in range(0, len(peers), _AT_ONCE):
            some = peers[first : first + _AT_ONCE]
            overdue = [peer.dismiss(why) for peer in some if (why := peer.overdue(now, heartbeat))]
            await asyncio.gather(asyncio.sleep(0), *overdue, return_exceptions=True)

    # -------------------------------------------------------------------------------------------------------- requests

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        if (transport := request.transport) is None:
            return web.Response(status=400, text=_GONE)
        intake = cast("ConnectionIntake", transport.get_protocol())
        intake.read(_size(request))
        intake.upgrade()
        proxies = self._settings.proxies
        if proxies.has(request.remote or ""):
            client = proxies.client(request.remote or "", request.headers.getall(proxies.header, []))
            intake.belongs_to(self._accounts.of(client))
        if fault := self._fault(intake):
            return web.Response(status=503, text=fault, headers={"Retry-After": "10"})
        socket = web.WebSocketResponse(
            max_msg_size=MAX_FRAME,
            compress=False,
            timeout=_GOODBYE,
            autoping=False,
        )
        if not socket.can_prepare(request).ok:
            if self._answers.has_page:
                return await self._answers.first_page(request)
            return web.Response(status=426, text=_NO_PAGE, headers={"Upgrade": "websocket"})
        self._peers[socket] = None
        try:
            writer = await socket.prepare(request)
            if request.transport is not None:
                peer = self._peers[socket] = Peer(socket, self._services, intake, transport, writer.drain)
                intake.begin(peer.take)
                await peer.run()
                await socket.close()  # else aiohttp does it after this, and keeps an error with its frames once more
        except ConnectionResetError:
            _LOG.debug("a client has gone before it was answered")
        finally:
            del self._peers[socket]
            _forget_frames(socket.exception())
        return socket

    def _fault(self, intake: ConnectionIntake) -> str | None:
        if self._is_stopping.is_set():
            return "the relay is stopping"
        return self._accounts.fault(intake.account)


def _forget_frames(error: BaseException | None) -> None:
    """Let go of the frames of an error that a connection keeps: they have the connection, and the collector would have
    to search for both."""
    while error is not None:
        error.__traceback__, error = None, error.__context__


def _size(request: web.Request) -> int:
    """The bytes of a request, or somewhat more."""
    return _AROUND + len(request.raw_path) + sum(len(name) + len(value) + 8 for name, value in request.raw_headers)
