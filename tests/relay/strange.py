"""A relay for one table that does what it is told to: right things, and wrong ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from types import TracebackType

from aiohttp import WSMsgType, web

from forcemove.flow.history import NOTHING_READ, running_hash
from forcemove.transport import wire
from forcemove.transport.terms import TableKind
from forcemove.transport.websocket.socket import Socket

__all__ = ["GOOD", "Flood", "StrangeRelay", "frame", "until"]

GOOD = "good"
_NEWER = (wire.VERSION + 1).to_bytes(2) + b"\x90"


def frame(*messages: wire.Message) -> bytes:
    outbox = wire.SendBuffer()
    for each in messages:
        outbox.add(wire.encode(each))
    return outbox.take()


class StrangeRelay:
    """Used as `async with`. `mode`: what it does. `log`: the table's; `proofs`: those that it was given; `count`: of
    connections."""

    def __init__(self, mode: str = GOOD) -> None:
        self.mode, self.log, self.url = mode, list[bytes](), ""
        self.proofs: list[wire.Prove] = []
        self.count = 0
        self._sockets: set[web.WebSocketResponse] = set()
        self._table = b""

    async def __aenter__(self) -> StrangeRelay:
        app = web.Application()
        app.router.add_get("/", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"ws://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.turn(self.mode)
        await self._runner.cleanup()

    async def turn(self, mode: str) -> None:
        """Do this from now on, beginning with those that are connected, who are sent away after it."""
        self.mode = mode
        for socket in tuple(self._sockets):
            await self._misbehave(socket)
            await socket.close()

    async def add(self, entry: bytes) -> None:
        """Somebody else says this."""
        self.log.append(entry)
        for socket in tuple(self._sockets):
            await socket.send_bytes(frame(wire.Entries(self._table, len(self.log) - 1, (entry,))))

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.count += 1
        if self.mode == "no relay":
            return web.Response(status=404)
        socket = web.WebSocketResponse(timeout=0.1)
        await socket.prepare(request)
        self._sockets.add(socket)
        try:
            await self._talk(socket)
        except ConnectionError:
            pass
        finally:
            self._sockets.discard(socket)
        return socket

    async def _talk(self, socket: web.WebSocketResponse) -> None:
        await self._misbehave(socket)
        if self.mode in ("closing", "newer", "malformed", "text"):
            return
        if self.mode != "silent":
            await socket.send_bytes(frame(wire.Welcome(bytes(32))))
        async for each in socket:
            if each.type is WSMsgType.BINARY:
                for message in wire.decode_to_relay(each.data):
                    await socket.send_bytes(frame(*self._answers(message)))

    async def _misbehave(self, socket: web.WebSocketResponse) -> None:
        match self.mode:
            case "newer":
                await socket.send_bytes(_NEWER)
            case "malformed":
                await socket.send_bytes(wire.VERSION.to_bytes(2) + b"\xc1")
            case "text":
                await socket.send_str("hello")

    def _answers(self, message: wire.ToRelay) -> list[wire.Message]:
        if self.mode in ("mute", "silent"):
            return []
        match message:
            case wire.Prove():
                self._table = message.table.id
                self.proofs.append(message)
                return [self._refused(b"", "expired")] if self.mode == "refusing" else [wire.Proved(self._table)]
            case wire.Open(table, start):
                hash_ = NOTHING_READ
                for each in self.log[:start]:
                    hash_ = running_hash(hash_, each)
                rest = [wire.Entries(table, start, tuple(self.log[start:]))] if self.log[start:] else []
                return [wire.Opened(table, TableKind.CHANNEL, start, len(self.log), hash_), *rest]
            case wire.PostEntry(table, id_, entry):
                if self.mode in ("table-full", "not-proved", "unheard-of"):
                    return [self._refused(id_, self.mode)]
                self.log.append(entry)
                return [wire.Posted(table, id_, len(self.log) - 1), wire.Entries(table, len(self.log) - 1, (entry,))]
            case _:
                return []

    def _refused(self, id_: bytes, reason: str) -> wire.RequestRefused:
        return wire.RequestRefused(self._table, id_, reason, "as the test wants it")


class Flood(Socket):
    """A socket on which there is always one more frame."""

    def __init__(self, frames: Iterable[bytes]) -> None:
        self._frames = iter(frames)

    async def receive(self) -> bytes | None:
        """See `Socket`."""
        return next(self._frames, None)

    @property
    def close_code(self) -> int | None:
        """See `Socket`."""
        return None


async def until(condition: Callable[[], bool]) -> None:
    """Poll a condition, for 10 seconds at most."""
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.002)
