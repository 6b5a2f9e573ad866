"""What clients of a service do wrong is told in few words; what the service does wrong is told in full."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from forcemove.serving import process
from forcemove.serving.process import LOGGING
from forcemove.serving.rate import Bucket
from tests.serving.rubbish import RUBBISH, send


async def answer(request: web.Request) -> web.Response:
    return web.Response(body=await request.read())


async def fail(_: web.Request) -> web.Response:
    raise RuntimeError("our mistake")


def after(handler: Callable[[web.Request], Awaitable[web.StreamResponse]], *requests: bytes) -> None:
    """Serve on a real socket while the requests are sent, one after the other."""

    async def serve() -> None:
        app = web.Application()
        app.router.add_route("*", "/", handler)
        runner = web.AppRunner(app, **LOGGING)
        await runner.setup()
        try:
            listening = socket.create_server(("127.0.0.1", 0))
            await web.SockSite(runner, listening).start()
            for each in requests:
                await asyncio.to_thread(send, listening.getsockname()[1], each)
        finally:
            await runner.cleanup()

    asyncio.run(serve())


def lines_a_second(monkeypatch: pytest.MonkeyPatch, rate: float) -> None:
    monkeypatch.setattr(process, "_LINES", Bucket(rate, time.monotonic(), 1))


@pytest.mark.parametrize("kind", RUBBISH)
def test_a_malformed_request_is_one_line(
    kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lines_a_second(monkeypatch, 1e6)
    after(answer, RUBBISH[kind])

    assert [(each.levelno, each.exc_info) for each in caplog.records] == [(logging.WARNING, None)]
    assert "\n" not in caplog.records[0].getMessage()
    assert caplog.records[0].getMessage().startswith("Error handling request from 127.0.0.1: ")


def test_of_many_malformed_requests_few_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lines_a_second(monkeypatch, 1e-6)
    after(answer, *RUBBISH.values())

    assert len(caplog.records) == 1


def test_a_mistake_of_ours_is_told_in_full(caplog: pytest.LogCaptureFixture) -> None:
    after(fail, *[b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"] * 3)

    assert [type(each.exc_info[1]) for each in caplog.records if each.exc_info] == [RuntimeError] * 3
