"""A watchtower's process on the network: it accepts appointments over HTTP, polls its tower, answers requests for its
health, and stops without losing appointments."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from aiohttp import web

from forcemove.chain.errors import TransactionReverted
from forcemove.errors import (
    ChainError,
    CounterpartyError,
    ForcemoveError,
    JournalError,
    MalformedBytes,
    RuleError,
    UnknownVersion,
)
from forcemove.protocol.machine.effects import operation_name
from forcemove.sender.errors import RevertsAgain
from forcemove.serving.metrics import metrics_page
from forcemove.serving.process import LOGGING, close_after_answer, set_on_signals
from forcemove.serving.rate import Allowances
from forcemove.watchtower.appointment import MAX_APPOINTMENT, RECEIPTS
from forcemove.watchtower.budgeted_sender import AnswerResult
from forcemove.watchtower.errors import (
    BudgetExhausted,
    ChannelOver,
    NotAParticipant,
    NothingNewer,
    NotServed,
    NotWatched,
    StandingBy,
    TooManyChannels,
)
from forcemove.watchtower.service.connection_limit import ConnectionLimit
from forcemove.watchtower.service.limits import ServiceLimits
from forcemove.watchtower.service.metrics import TowerMetrics
from forcemove.watchtower.service.worker import ServiceWorker, TooManyWaiting
from forcemove.watchtower.tower import Tower

_LOG = logging.getLogger(__name__)
APPOINTMENT_PATH = "/appointments"
MEDIA_TYPE = "application/octet-stream"
_SILENT_AFTER = 30.0
"""Seconds without a look at the chain after which the service fails its health check."""
_GOODBYE = 5.0
"""Seconds in which answers may still be sent when the service ends."""
_FOR_PAGES = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "Content-Type",
    "Access-Control-Expose-Headers": "Retry-After",
    "Access-Control-Max-Age": "600",
}
_AGAIN = 5
"""Seconds after which a client may try again, where nothing better is known."""
_NO_PAGE = (
    "This is a watchtower of Forcemove: POST /appointments takes appointments, /health and /metrics tell how it is."
)
_STATUS: tuple[tuple[type[ForcemoveError], int], ...] = (
    (StandingBy, 503),
    (JournalError, 503),
    (ChainError, 503),
    (MalformedBytes, 400),
    (UnknownVersion, 400),
    (NotServed, 403),
    (NotAParticipant, 403),
    (TooManyChannels, 403),
    (BudgetExhausted, 403),
    (NothingNewer, 409),
    (ChannelOver, 409),
    (CounterpartyError, 422),
    (RuleError, 422),
)
"""The HTTP status of an error is that of the first class that it is one of. Any other error is an impossible value in
an appointment."""

MakeTower = Callable[[Callable[[AnswerResult], None], Callable[[Exception], None]], Tower]
"""Makes the tower, given its `on_answer` and its `on_error`."""


@dataclass(frozen=True)
class ServiceSettings:
    """`host`, `port`: where to listen, port 0 for any that is free. `clients`: for whom the tower works (20 bytes
    each). `look_every`: seconds between two looks at the chain."""

    host: str
    port: int
    clients: tuple[bytes, ...]
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    look_every: float = 1.0


async def serve(settings: ServiceSettings, make: MakeTower, ready: Callable[[str], object]) -> None:
    """Serve until the process is told to end (SIGTERM, SIGINT): then waiting appointments are accepted or refused,
    the lease is given back, and this returns. `ready`: is called with the URL when the service listens, after the first
    look at the chain.

    Raises `AddressUnusable`.
    """
    await _Service(settings, make).run(ready)


class _Service:
    """A running service."""

    def __init__(self, settings: ServiceSettings, make: MakeTower) -> None:
        self._settings, self._metrics = settings, TowerMetrics()
        self._allowances = Allowances(settings.limits.bytes_per_second)
        loop = asyncio.get_running_loop()
        tower = make(lambda paid: _soon(loop, self._on_answer, paid), lambda error: _soon(loop, self._on_error, error))
        self._worker = ServiceWorker(
            tower,
            settings.clients,
            look_every=settings.look_every,
            max_waiting=settings.limits.waiting,
            on_error=self._metrics.on_error,
        )
        self._began = time.monotonic()
        self._is_stopping = asyncio.Event()
        self._last_error = ""

    async def run(self, ready: Callable[[str], object]) -> None:
        runner = web.AppRunner(self._app(), **LOGGING, shutdown_timeout=_GOODBYE, auto_decompress=False)
        await runner.setup()
        self._limit = ConnectionLimit(cast("web.Server", runner.server), self._settings.limits)
        try:
            await self._worker.poll()
            url = await self._limit.open(self._settings.host, self._settings.port)
            await self._until_stopped(lambda: ready(url))
        finally:
            self._limit.close()
            await runner.cleanup()
            await self._worker.release()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_APPOINTMENT)
        app.router.add_get("/", self._page)
        app.router.add_get("/health", self._health)
        app.router.add_get("/metrics", self._metrics_page)
        app.router.add_post(APPOINTMENT_PATH, self._on_appointment)
        app.router.add_options(APPOINTMENT_PATH, self._may_post)
        app.on_response_prepare.append(close_after_answer)
        app.on_response_prepare.append(_let_pages_read)
        return app

    async def _until_stopped(self, ready: Callable[[], object]) -> None:
        with set_on_signals(self._is_stopping):
            attending = asyncio.create_task(self._worker.run())
            attending.add_done_callback(lambda _: self._is_stopping.set())
            try:
                _LOG.info("listening", extra={"facts": {"clients": len(self._settings.clients)}})
                ready()
                await self._is_stopping.wait()
                _LOG.info("stopping", extra={"facts": {"connections": self._limit.connections}})
            finally:
                self._limit.close()
                self._worker.stop()
                await attending

    # ---------------------------------------------------------------------------------------------- what the tower says

    def _on_answer(self, paid: AnswerResult) -> None:
        self._metrics.on_answer(paid)
        facts = {
            "channel": "0x" + paid.channel_id.hex(),
            "client": "0x" + paid.client.hex(),
            "kind": operation_name(paid.submission),
            "block": paid.block,
            "wei": paid.cost,
        }
        what, error = outcome_of(paid)
        _LOG.log(logging.WARNING if "error" in error else logging.INFO, what, extra={"facts": facts | error})

    def _on_error(self, error: Exception) -> None:
        """Count an error; it is logged where it differs from the last one, since each poll reports it again."""
        self._metrics.on_error(error)
        if str(error) != self._last_error:
            self._last_error = str(error)
            _LOG.warning("trouble, which is tried again", extra={"facts": {"error": str(error)}})

    # -------------------------------------------------------------------------------------------------------- requests

    async def _on_appointment(self, request: web.Request) -> web.Response:
        size, address = request.content_length, request.remote or ""
        if size is None:
            return self._refuse(411, "LengthRequired", "say how long the appointment is (Content-Length)")
        if size > MAX_APPOINTMENT:
            return self._refuse(413, "TooLong", f"an appointment has at most {MAX_APPOINTMENT} bytes")
        wait = self._allowances.take(address, size, time.monotonic())
        if wait:
            return self._refuse(429, "TooFast", "this address sends too much", math.ceil(wait))
        return await self._take(await request.read())

    async def _may_post(self, _: web.Request) -> web.Response:
        """What a browser asks before a page of another host may post."""
        return web.Response(status=204)

    async def _take(self, data: bytes) -> web.Response:
        if self._is_stopping.is_set():
            return self._refuse(503, "Stopping", "the tower is stopping", _AGAIN)
        try:
            receipt = await self._worker.accept(data)
        except TooManyWaiting:
            return self._refuse(503, "TooManyWaiting", "the tower has much to read", _AGAIN)
        except ForcemoveError as error:
            status = self._status_of(error)
            return self._refuse(status, type(error).__name__, str(error), _AGAIN if status == 503 else None)
        except Exception as error:
            _LOG.exception("an appointment was not read")
            self._metrics.on_error(error)
            return self._refuse(500, "Mistake", "the tower made a mistake")
        self._metrics.accepted.inc()
        return web.Response(body=RECEIPTS.encode(receipt), content_type=MEDIA_TYPE)

    def _status_of(self, error: ForcemoveError) -> int:
        if isinstance(error, NotWatched) and self._worker.snapshot.looked_at is None:
            return 503  # the tower may watch this adjudicator when the chain can be read again
        return next((status for kind, status in _STATUS if isinstance(error, kind)), 422)

    def _refuse(self, status: int, error: str, detail: str, again: int | None = None) -> web.Response:
        self._metrics.refused.labels(error).inc()
        headers = {"Retry-After": str(again)} if again is not None else {}
        return web.json_response({"error": error, "detail": detail}, status=status, headers=headers)

    async def _page(self, _: web.Request) -> web.Response:
        return web.Response(text=_NO_PAGE)

    def _silence(self) -> float:
        """Seconds since the chain was read, or since the last poll of a process that stands by, which reads no
        chain."""
        snapshot, now = self._worker.snapshot, time.monotonic()
        last = snapshot.looked_at if snapshot.is_driving else self._worker.polled_at
        return now - (self._began if last is None else last)

    async def _health(self, _: web.Request) -> web.Response:
        snapshot, silence = self._worker.snapshot, self._silence()
        is_silent = silence > _SILENT_AFTER or (snapshot.is_driving and snapshot.looked_at is None)
        state = "ok" if snapshot.is_driving else "standing by"
        if is_silent:
            state = "failing: the chain cannot be read"
        if self._is_stopping.is_set():
            state = "stopping"
        facts = {"status": state, "driving": snapshot.is_driving, "channels": snapshot.channels}
        facts |= {"connections": self._limit.connections, "turned_away": self._limit.turned_away}
        facts["seconds_since_look"] = round(silence, 1)
        return web.json_response(facts, status=503 if is_silent or self._is_stopping.is_set() else 200)

    async def _metrics_page(self, _: web.Request) -> web.Response:
        text = self._metrics.text(self._worker.snapshot, self._silence())
        return metrics_page(text)


async def _let_pages_read(request: web.Request, response: web.StreamResponse) -> None:
    """Let pages of any host give appointments, which are signed, and read the receipts; nothing else is for pages."""
    if request.path == APPOINTMENT_PATH:
        response.headers.update(_FOR_PAGES)


def _soon(loop: asyncio.AbstractEventLoop, part: Callable[..., None], value: object) -> None:
    """Call a function in the loop's thread, from the tower's."""
    loop.call_soon_threadsafe(part, value)


def outcome_of(paid: AnswerResult) -> tuple[str, dict[str, str]]:
    """What became of an answer, in the words of the log, and why it was not sent. An answer that was not needed any
    more, since another one was faster or the channel was settled, is not an error."""
    if paid.error is None:
        return "answered", {}
    if isinstance(paid.error, RuleError | TransactionReverted) and not isinstance(paid.error, RevertsAgain):
        return "not needed any more", {"because": str(paid.error)}
    return "not answered", {"error": str(paid.error)}
