"""A watchtower's process on the network: takes hand-overs over HTTP, polls its tower, tells its health, and stops
without losing anything."""

from __future__ import annotations

import asyncio
import logging
import math
import signal
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
from forcemove.protocol.effects import operation_name
from forcemove.sender.errors import RevertsAgain
from forcemove.tower.desk import Paid
from forcemove.tower.errors import (
    BudgetExhausted,
    ChannelOver,
    NotAParticipant,
    NothingNewer,
    NotServed,
    NotWatched,
    StandingBy,
    TooManyChannels,
)
from forcemove.tower.handover import MAX_HAND_OVER
from forcemove.tower.receipts import RECEIPTS
from forcemove.tower.tower import Tower
from forcemove.watching.allowances import Allowances
from forcemove.watching.attendant import Attendant, TooManyWaiting
from forcemove.watching.door import Door
from forcemove.watching.limits import Limits
from forcemove.watching.metrics import Metrics

__all__ = ["HAND_OVER_PATH", "MEDIA_TYPE", "MakeTower", "Settings", "outcome_of", "serve"]

_LOG = logging.getLogger(__name__)
HAND_OVER_PATH = "/hand-over"
MEDIA_TYPE = "application/octet-stream"
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_SILENT_AFTER = 30.0
"""Seconds without a look at the chain after which the service is not well."""
_GOODBYE = 5.0
"""Seconds that answers have to go out when the service ends."""
_AGAIN = 5
"""Seconds after which a client may try again, where nothing better is known."""
_NO_PAGE = "This is a watchtower of Forcemove: POST /hand-over takes hand-overs, /health and /metrics tell how it is."
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
"""Of each error the first that it is one of; what else was in a hand-over is a value that cannot be."""

MakeTower = Callable[[Callable[[Paid], None], Callable[[Exception], None]], Tower]
"""Makes the tower, given what it is to report answers and troubles to."""


@dataclass(frozen=True)
class Settings:
    """`host`, `port`: where to listen, port 0 for any that is free. `clients`: for whom the tower works (20 bytes
    each). `look_every`: seconds between two looks at the chain."""

    host: str
    port: int
    clients: tuple[bytes, ...]
    limits: Limits = field(default_factory=Limits)
    look_every: float = 1.0


async def serve(settings: Settings, make: MakeTower, ready: Callable[[str], object]) -> None:
    """Serve until the process is told to end (SIGTERM, SIGINT): then what was handed over before is taken or refused,
    the lease is given back, and this returns. `ready`: is called with the URL when it listens, after the first look.

    Raises `AddressUnusable`.
    """
    await _Service(settings, make).run(ready)


class _Service:
    """One that runs."""

    def __init__(self, settings: Settings, make: MakeTower) -> None:
        self._settings, self._metrics = settings, Metrics()
        self._allowances = Allowances(settings.limits.bytes_per_second)
        loop = asyncio.get_running_loop()
        tower = make(
            lambda paid: _soon(loop, self._hear_answer, paid), lambda error: _soon(loop, self._hear_trouble, error)
        )
        self._attendant = Attendant(
            tower,
            settings.clients,
            look_every=settings.look_every,
            most=settings.limits.waiting,
            mistake=self._metrics.troubled,
        )
        self._began = time.monotonic()
        self._is_stopping = asyncio.Event()
        self._last_trouble = ""

    async def run(self, ready: Callable[[str], object]) -> None:
        runner = web.AppRunner(self._app(), access_log=None, shutdown_timeout=_GOODBYE, auto_decompress=False)
        await runner.setup()
        self._door = Door(cast("web.Server", runner.server), self._settings.limits)
        try:
            await self._attendant.poll()
            url = await self._door.open(self._settings.host, self._settings.port)
            await self._until_stopped(lambda: ready(url))
        finally:
            self._door.close()
            await runner.cleanup()
            await self._attendant.release()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_HAND_OVER)
        app.router.add_get("/", self._page)
        app.router.add_get("/health", self._health)
        app.router.add_get("/metrics", self._tell_metrics)
        app.router.add_post(HAND_OVER_PATH, self._hand_over)
        app.on_response_prepare.append(_close_after)
        return app

    async def _until_stopped(self, ready: Callable[[], object]) -> None:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._is_stopping.set)
        attending = asyncio.create_task(self._attendant.run())
        attending.add_done_callback(lambda _: self._is_stopping.set())
        try:
            _LOG.info("listening", extra={"facts": {"clients": len(self._settings.clients)}})
            ready()
            await self._is_stopping.wait()
            _LOG.info("stopping", extra={"facts": {"connections": self._door.connections}})
        finally:
            self._door.close()
            self._attendant.stop()
            await attending
            for number in _SIGNALS:
                loop.remove_signal_handler(number)

    # ---------------------------------------------------------------------------------------------- what the tower says

    def _hear_answer(self, paid: Paid) -> None:
        self._metrics.answered(paid)
        facts = {
            "channel": "0x" + paid.channel_id.hex(),
            "client": "0x" + paid.client.hex(),
            "kind": operation_name(paid.submission),
            "block": paid.block,
            "wei": paid.cost,
        }
        what, error = outcome_of(paid)
        _LOG.log(logging.WARNING if "error" in error else logging.INFO, what, extra={"facts": facts | error})

    def _hear_trouble(self, error: Exception) -> None:
        """Each poll tells it again: it is logged when it is another one."""
        self._metrics.troubled(error)
        if str(error) != self._last_trouble:
            self._last_trouble = str(error)
            _LOG.warning("trouble, which is tried again", extra={"facts": {"error": str(error)}})

    # -------------------------------------------------------------------------------------------------------- requests

    async def _hand_over(self, request: web.Request) -> web.Response:
        size, address = request.content_length, request.remote or ""
        if size is None:
            return self._refuse(411, "LengthRequired", "say how long the hand-over is (Content-Length)")
        if size > MAX_HAND_OVER:
            return self._refuse(413, "TooLong", f"a hand-over has at most {MAX_HAND_OVER} bytes")
        wait = self._allowances.take(address, size, time.monotonic())
        if wait:
            return self._refuse(429, "TooFast", "this address sends too much", math.ceil(wait))
        return await self._take(await request.read())

    async def _take(self, data: bytes) -> web.Response:
        if self._is_stopping.is_set():
            return self._refuse(503, "Stopping", "the tower is stopping", _AGAIN)
        try:
            receipt = await self._attendant.accept(data)
        except TooManyWaiting:
            return self._refuse(503, "TooManyWaiting", "the tower has much to read", _AGAIN)
        except ForcemoveError as error:
            status = self._status_of(error)
            return self._refuse(status, type(error).__name__, str(error), _AGAIN if status == 503 else None)
        except Exception as error:
            _LOG.exception("a hand-over was not read")
            self._metrics.troubled(error)
            return self._refuse(500, "Mistake", "the tower made a mistake")
        self._metrics.accepted.inc()
        return web.Response(body=RECEIPTS.encode(receipt), content_type=MEDIA_TYPE)

    def _status_of(self, error: ForcemoveError) -> int:
        if isinstance(error, NotWatched) and self._attendant.seen.looked_at is None:
            return 503  # it may be watched when the chain can be read again
        return next((status for kind, status in _STATUS if isinstance(error, kind)), 422)

    def _refuse(self, status: int, error: str, detail: str, again: int | None = None) -> web.Response:
        self._metrics.refused.labels(error).inc()
        headers = {"Retry-After": str(again)} if again is not None else {}
        return web.json_response({"error": error, "detail": detail}, status=status, headers=headers)

    async def _page(self, _: web.Request) -> web.Response:
        return web.Response(text=_NO_PAGE)

    def _silence(self) -> float:
        """Seconds since the chain was read; a process that stands by reads the journal alone."""
        seen, now = self._attendant.seen, time.monotonic()
        last = seen.looked_at if seen.is_driving else self._attendant.polled_at
        return now - (self._began if last is None else last)

    async def _health(self, _: web.Request) -> web.Response:
        seen, silence = self._attendant.seen, self._silence()
        is_silent = silence > _SILENT_AFTER or (seen.is_driving and seen.looked_at is None)
        state = "ok" if seen.is_driving else "standing by"
        if is_silent:
            state = "failing: the chain cannot be read"
        if self._is_stopping.is_set():
            state = "stopping"
        facts = {"status": state, "driving": seen.is_driving, "channels": seen.channels}
        facts |= {"connections": self._door.connections, "turned_away": self._door.turned_away}
        facts["seconds_since_look"] = round(silence, 1)
        return web.json_response(facts, status=503 if is_silent or self._is_stopping.is_set() else 200)

    async def _tell_metrics(self, _: web.Request) -> web.Response:
        text = self._metrics.text(self._attendant.seen, self._silence())
        return web.Response(body=text, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})


def _soon(loop: asyncio.AbstractEventLoop, part: Callable[..., None], value: object) -> None:
    """From the tower's thread to the loop's."""
    loop.call_soon_threadsafe(part, value)


async def _close_after(_: web.Request, response: web.StreamResponse) -> None:
    """A connection is for one request: what is limited is then how many there are, and how long each may last."""
    response.force_close()


def outcome_of(paid: Paid) -> tuple[str, dict[str, str]]:
    """What has become of an answer, as the log has it, and why it was not one. That it was not needed any more, as
    somebody else was faster, or all was settled, is no error."""
    if paid.error is None:
        return "answered", {}
    is_over = isinstance(paid.error, RuleError | TransactionReverted) and not isinstance(paid.error, RevertsAgain)
    return (
        ("not needed any more", {"because": str(paid.error)})
        if is_over
        else (
            "not answered",
            {"error": str(paid.error)},
        )
    )
