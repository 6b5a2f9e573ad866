"""One client's connection at the relay: what the client asks for, and what it is sent."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable

from aiohttp import WSMsgType, web

from forcemove.errors import JournalError, MalformedBytes, UnknownVersion
from forcemove.relay.admission.listening import PER_MESSAGE, ConnectionIntake
from forcemove.relay.admission.meter import FORGERY, REFUSAL, Meter
from forcemove.relay.clients.seats import Seats
from forcemove.relay.clients.sending import FrameSender
from forcemove.relay.clients.services import Services
from forcemove.relay.offers.visiting import Visitor
from forcemove.relay.tables import Reading, chunks
from forcemove.transport import wire
from forcemove.transport.errors import Reason
from forcemove.transport.limits import MAX_ENTRY

_LOG = logging.getLogger(__name__)
_CATCHING_UP, _PING = 4, 4
"""What reading a log's next entries counts for, and a ping, as `meter` counts."""
_MOST_MESSAGES = 2_048
"""Messages of one frame; more do not fit into a frame unless they are requests to the lobby."""
_HEAD = 14
"""Bytes around what a frame carries, at most."""
_WRONG_DATA, _FAILED, _IDLE = 1007, 1011, 1000
_LONGEST_REASON = 120
"""Bytes that a closing frame has room for."""


class Peer:
    """A client. Its proofs, its open tables and its requests end with its connection."""

    def __init__(
        self,
        socket: web.WebSocketResponse,
        services: Services,
        intake: ConnectionIntake,
        transport: asyncio.Transport,
        drained: Callable[[], Awaitable[None]],
    ) -> None:
        """What the connection is made of.

        - `socket`: the WebSocket, which is open.
        - `services`: the relay's.
        - `intake`: receives the connection's bytes.
        - `transport`: the socket's own.
        - `drained`: waits until the transport takes more bytes.
        """
        self._socket, self._services, self._intake, self._transport = socket, services, intake, transport
        self.account = intake.account
        self._meter = Meter(self.account, services.turns, services.limits)
        self._is_busy = False
        self._asked = self._received_at = self._alive_at = time.monotonic()
        self._pinged_at: float | None = None
        self._nonce = secrets.token_bytes(32)
        self._seats = Seats(self, services, self.account, self._meter)
        self._visitor = Visitor(self, services, self.account)
        self._behind, self._has_work = deque[Reading](), asyncio.Event()
        self._sender = FrameSender(transport, drained, self._has_work.set)

    async def run(self) -> None:
        """Serve the client until the connection ends."""
        writing = asyncio.create_task(self._write())
        writing.add_done_callback(self._has_written)
        self.say(wire.encode(wire.Welcome(self._nonce)))
        try:
            await self._listen()
        except (MalformedBytes, UnknownVersion) as error:
            await self._close(_WRONG_DATA, "malformed", str(error))
        except JournalError as error:
            _LOG.error("the store has failed", extra={"facts": {"error": str(error)}})
            await self._close(_FAILED, "store", "the relay's disk has failed")
        finally:
            writing.cancel()
            await asyncio.wait([writing])
            self._seats.leave_all()
            self._visitor.leave()
            self._intake.end()
            del self._seats, self._visitor  # they have this peer: without cycles it is freed, and never searched for

    def say(self, message: bytes) -> None:
        """Send an encoded message. The answers to a client are bounded by what is read from it."""
        self._sender.add(message)

    def offer(self, messages: list[bytes]) -> bool:
        """See `tables.TableClient`."""
        return self._sender.offer(messages)

    def fall_behind(self, reading: Reading) -> None:
        """See `tables.TableClient`."""
        self._behind.append(reading)
        self._has_work.set()

    # ------------------------------------------------------------------------------------------------------- listening

    async def _listen(self) -> None:
        while not self._transport.is_closing():
            self._received_at, self._is_busy, self._intake.is_quiet = time.monotonic(), False, True
            frame = await self._socket.receive()
            self._is_busy, self._intake.is_quiet = True, False
            match frame.type:
                case WSMsgType.BINARY:
                    await self._read(frame.data)
                case WSMsgType.PING:
                    await self._pong(frame.data)
                case WSMsgType.PONG:
                    await self._meter.work(1)
                case WSMsgType.CLOSE | WSMsgType.CLOSING | WSMsgType.CLOSED | WSMsgType.ERROR:
                    return
                case _:
                    raise MalformedBytes("frame", "it is not binary")
            self._intake.read(len(frame.data) + _HEAD + PER_MESSAGE)

    def take(self, frame: bytes) -> bool:
        """Handle a frame at once, if it is a player's next post and need not wait; else False, and nothing was done.
        Only while the intake is quiet: else the frame would overtake those that came before it."""
        post, now = wire.decode_post(frame), time.monotonic()
        if post is None or not self._sender.has_room.is_set() or not self._seats.take(post, len(frame), now):
            return False
        self._received_at = self._asked = now
        return True

    async def _read(self, frame: bytes) -> None:
        """Handle the messages of a frame, each in its turn: a client that sends too much is read no faster than it may
        send. Messages of a closed connection are dropped: else clients that connect again and again would leave more
        and more of them."""
        await self._meter.frame(len(frame))
        messages = wire.decode_to_relay(frame)
        if len(messages) > _MOST_MESSAGES:
            raise MalformedBytes("frame", f"it has {len(messages)} messages; {_MOST_MESSAGES} are allowed")
        for message in messages:
            await self._meter.message(message)
            if self._transport.is_closing():
                return
            await self._handle(message)
            await self._sender.has_room.wait()
        self._asked = time.monotonic()

    async def _pong(self, data: bytes) -> None:
        await self._meter.work(_PING)
        try:
            async with asyncio.timeout(self._services.limits.stall):
                await self._socket.pong(data)
        except (TimeoutError, ConnectionError) as error:
            self._cut_off("slow", error)

    def overdue(self, now: float, heartbeat: float) -> str | None:
        """Why this connection should be closed, None if it should not: the client has answered no ping ("gone"), has
        begun a frame and does not go on ("half"), or it has no table and no offer, and has asked nothing for long
        ("idle"). `now`: seconds of `time.monotonic`. `heartbeat`: seconds without a byte after which the client is sent
        a ping; it has half as long to answer."""
        limits = self._services.limits
        if self._is_busy:
            return None
        if not self._is_alive(now, heartbeat):
            return "gone"
        if self._intake.unread and now > self._received_at + limits.stall:
            return "half"
        if not (self._seats or self._visitor) and now > self._asked + limits.idle_seconds:
            return "idle"
        return None

    def _is_alive(self, now: float, heartbeat: float) -> bool:
        if self._intake.has_received:
            self._intake.has_received, self._alive_at, self._pinged_at = False, now, None
        elif self._pinged_at is not None:
            return now <= self._pinged_at + heartbeat / 2
        elif now > self._alive_at + heartbeat:
            self._pinged_at = now
            self._sender.ping()
        return True

    async def dismiss(self, why: str) -> None:
        """Close this connection, which is overdue. `why`: as `overdue` says."""
        if why == "gone":
            self._cut_off(why)
            return
        await self._close(_IDLE, why, "nothing was asked here" if why == "idle" else "a frame did not come to its end")

    async def _handle(self, message: wire.ToRelay) -> None:
        match message:
            case wire.PostEntry():
                await self._seats.post(message)
            case wire.Open():
                await self._seats.open(message)
            case wire.Prove():
                await self._seats.prove(message, self._nonce)
            case wire.Leave(table):
                self._seats.leave(table)
            case _:
                await self._visitor.handle(message)

    def refuse(self, about: bytes, reason: Reason, detail: str, id_: bytes = b"") -> None:
        """See `tables.TableClient`. A refusal is charged to the client, too."""
        self._services.metrics.refused.labels(reason.value).inc()
        self._meter.charge(FORGERY if reason is Reason.BAD_SIGNATURE else REFUSAL)
        self.say(wire.encode(wire.RequestRefused(about, id_, reason.value, detail)))

    async def _close(self, code: int, label: str, reason: str) -> None:
        self._services.metrics.closed.labels(label).inc()
        _LOG.info("closed a connection", extra={"facts": {"why": reason}})
        await self._socket.close(code=code, message=reason.encode()[:_LONGEST_REASON])

    # --------------------------------------------------------------------------------------------------------- sending

    async def _write(self) -> None:
        """Send what the transport did not take at once, and entries from the disk. A client that reads nothing is cut
        off."""
        try:
            while True:
                if self._sender.is_full:
                    await self._sender.drain(self._services.limits.stall)
                elif self._behind:
                    await self._catch_up(self._behind.popleft())
                else:
                    self._has_work.clear()
                    await self._has_work.wait()
        except (TimeoutError, ConnectionError) as error:
            self._cut_off("slow", error)
        except JournalError as error:
            _LOG.error("a log cannot be read", extra={"facts": {"error": str(error)}})
            await self._close(_FAILED, "store", "the relay's disk has failed")

    def _has_written(self, writing: asyncio.Task[None]) -> None:
        """End the connection where `_write` has failed."""
        self._sender.has_room.set()
        if not writing.cancelled() and (error := writing.exception()) is not None:
            _LOG.error("a mistake of the relay", exc_info=error)
            self._transport.abort()

    def _cut_off(self, label: str, error: Exception | None = None) -> None:
        """End the connection at once: a client that reads nothing would not answer a closing frame."""
        self._services.metrics.closed.labels(label).inc()
        _LOG.info("cut a connection off", extra={"facts": {"why": type(error).__name__ if error else label}})
        self._transport.abort()

    async def _catch_up(self, reading: Reading) -> None:
        """Send the next entries from the disk; when the reading is up to date, new entries are sent as they come."""
        services, kept = self._services, reading.log.kept
        if reading not in reading.log.readings:
            return
        await services.turns.wait(self.account, _CATCHING_UP)
        if reading.next < kept.length:
            async with services.reads.entered(self.account):
                first, entries = await services.tables.read(reading.log, reading.next, MAX_ENTRY)
            reading.next = first + len(entries)
            for message in chunks(kept.id, first, entries):
                self.say(message)
        reading.is_behind = reading.next < kept.length
        if reading.is_behind:
            self._behind.append(reading)
