"""How a service starts and stops: signals, the service's URL, connections that are for one request, and its log."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from forcemove.serving.rate import Bucket

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def set_on_signals(is_stopping: asyncio.Event) -> Iterator[None]:
    """Within the block, SIGTERM and SIGINT set this event instead of ending the process."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, is_stopping.set)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def url_of(scheme: str, host: str, port: int) -> str:
    """The URL of a service that listens at this host, which may be an IPv6 address."""
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


async def close_after_answer(_: web.Request, response: web.StreamResponse) -> None:
    """For `on_response_prepare`: a connection is for one request, or for one WebSocket. So each further request
    needs a new connection, and connections are what is counted and limited."""
    if not isinstance(response, web.WebSocketResponse):
        response.force_close()


def _should_log(record: logging.LogRecord) -> bool:
    """What a client does wrong is one line, without a traceback, and at most one a second."""
    error, now = record.exc_info[1] if record.exc_info else None, time.monotonic()
    if not isinstance(error, HttpProcessingError | ConnectionResetError):
        return record.levelno > logging.DEBUG
    record.levelno, record.levelname, record.exc_info = logging.WARNING, "WARNING", None
    record.msg += f": {type(error).__name__}"
    return not _LINES.wait(1, now) and not _LINES.take(1, now)


_LINES = Bucket(1, time.monotonic(), 1)
_LOG = logging.getLogger(__name__)
_LOG.setLevel(logging.DEBUG)
_LOG.addFilter(_should_log)
LOGGING: dict[str, Any] = {"access_log": None, "logger": _LOG}
"""Options of a service's `AppRunner`."""
