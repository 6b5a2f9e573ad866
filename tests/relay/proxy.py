"""A way between a client and a relay that can be cut, held up, or lose what goes one way."""

from __future__ import annotations

import asyncio
from types import TracebackType

__all__ = ["Proxy"]


class Proxy:
    """`async with Proxy(port) as proxy`: connections to `proxy.url` go to a port of this machine."""

    def __init__(self, port: int = 0) -> None:
        self.target = port
        self.url = ""
        self.is_refusing = False
        self._open = asyncio.Event()
        self._open.set()
        self.loses_answers = False
        self.holding = asyncio.Event()
        self.count = 0
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.url = f"ws://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._server.close()
        self.cut()

    def cut(self) -> None:
        """End all connections, at once."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def hold(self) -> None:
        """Nothing goes either way until it is `let_go`."""
        self._open.clear()

    def let_go(self) -> None:
        self._open.set()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_refusing:
            writer.transport.abort()
            return
        self.count += 1
        try:
            back, there = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there}
        await asyncio.gather(self._pass(reader, there, False), self._pass(back, writer, True))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_back: bool) -> None:
        try:
            while data := await reader.read(2**16):
                if not self._open.is_set():
                    self.holding.set()
                    await self._open.wait()
                if is_back and self.loses_answers:
                    continue
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.transport.abort()
