"""A WebSocket of frames of bytes, through the browser's. Stands in for the module of this name that uses aiohttp.

The browser answers the relay's pings itself, and sends none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from js import WebSocket  # type: ignore[import-not-found]  # the worker's
from pyodide.ffi import create_proxy, to_js  # type: ignore[import-not-found]  # there in a browser alone

from forcemove.errors import MalformedBytes

CUT_OFF = (None, 1006)
"""The close codes of a connection that nobody has closed."""
_OPEN = 1
_WAITING = 2**20
"""Bytes that may wait in the browser before the next frame is sent."""
_LOOK = 0.02
"""Seconds between two looks at how many they are."""


class Socket:
    """An open connection, as `open_socket` gives it."""

    def __init__(self, url: str) -> None:
        loop = asyncio.get_running_loop()
        self.opened = loop.create_future()
        self.close_code: int | None = None
        self._frames: asyncio.Queue[bytes | str | None] = asyncio.Queue()
        self._socket = WebSocket.new(url)
        self._socket.binaryType = "arraybuffer"
        self._proxies = {
            name: create_proxy(each)
            for name, each in (("open", self._on_open), ("message", self._on_message), ("close", self._on_close))
        }
        for name, proxy in self._proxies.items():
            self._socket.addEventListener(name, proxy)

    def _on_open(self, _: object) -> None:
        if not self.opened.done():
            self.opened.set_result(None)

    def _on_message(self, event: Any) -> None:
        data = event.data
        self._frames.put_nowait(data if isinstance(data, str) else data.to_bytes())

    def _on_close(self, event: Any) -> None:
        self.close_code = event.code
        self._frames.put_nowait(None)
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("nobody answers there"))

    async def receive(self) -> bytes | None:
        """The next frame, None once the connection has ended. Raises `MalformedBytes` on a frame of text."""
        frame = await self._frames.get()
        if isinstance(frame, str):
            raise MalformedBytes("frame", "it is not binary")
        return frame

    async def send(self, data: bytes) -> None:
        """Send a frame; returns once it is on its way. Raises where the connection has ended."""
        if self._socket.readyState != _OPEN:
            raise ConnectionError("the connection has ended")
        self._socket.send(to_js(data))
        while self._socket.bufferedAmount > _WAITING and self._socket.readyState == _OPEN:
            await asyncio.sleep(_LOOK)

    async def close(self) -> None:
        """End the connection, which ends `receive`, too."""
        self._socket.close()
        self._frames.put_nowait(None)

    def forget(self) -> None:
        """Nobody listens any more."""
        self._socket.close()
        for name, proxy in self._proxies.items():
            self._socket.removeEventListener(name, proxy)
            proxy.destroy()


@asynccontextmanager
async def open_socket(url: str, heartbeat: float, ssl: None) -> AsyncIterator[Socket]:  # noqa: ARG001  # the browser's
    """Open a connection, which is closed at the end of the block. What it raises `reason_of` says in words.

    - `url`: ws:// or wss://.
    - `heartbeat`, `ssl`: are the browser's business.
    """
    socket = Socket(url)
    try:
        await socket.opened
        yield socket
    finally:
        socket.forget()


def reason_of(error: Exception) -> str:
    """Why there is no connection, in words."""
    if isinstance(error, TimeoutError) and not str(error):
        return "it has not welcomed us in time"
    return str(error) if isinstance(error, ConnectionError) else f"{type(error).__name__}: {error}"
