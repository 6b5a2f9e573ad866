"""How a service starts and stops: signals, the service's URL, and connections that are for one request."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

__all__ = ["close_after_answer", "set_on_signals", "url_of"]

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
