"""One client's connection, as the relay has it: what it asks for, and what it is sent."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import WSMsgType, web

from forcemove.errors import JournalError, MalformedBytes, UnknownVersion
from forcemove.line.errors import Reason
from forcemove.line.limits import MAX_ENTRY
from forcemove.line.terms import Table
from forcemove.line.wire import (
    JoinOffer,
    Leave,
    ListOffers,
    MakeOffer,
    Open,
    Opened,
    Post,
    Posted,
    Prove,
    Proved,
    Refused,
    ToRelay,
    WatchOffer,
    Welcome,
    WithdrawOffer,
    decode_to_relay,
    encode,
)
from forcemove.relay.admission.accounts import Accounts
from forcemove.relay.admission.listening import Intake
from forcemove.relay.admission.meter import FORGERY, REFUSAL, Meter
from forcemove.relay.admission.turns import Gate, Turns
from forcemove.relay.keeping import Keeper
from forcemove.relay.limits import Limits
from forcemove.relay.metrics import Metrics
from forcemove.relay.offers.lobby import Lobby, NotOffered
from forcemove.relay.proofs import fault_of
from forcemove.relay.sending import Sender
from forcemove.relay.tables import LiveLog, Reading, Tables, TooManyTables, chunks

__all__ = ["Peer", "Services"]

_LOG = logging.getLogger(__name__)
_LOOKED_AT_ONCE = 20
"""Entries that are looked at in the time of a message, when one that was posted before is looked for."""
_CATCHING_UP, _PING = 4, 4
"""What a look for a log's next entries counts for, and a ping."""
_MOST_MESSAGES = 2_048
"""Messages of one frame; more do not fit in unless they are requests for the lobby."""
_HEAD = 14
"""Bytes around what a frame carries, at most."""
_WRONG_DATA, _FAILED, _IDLE = 1007, 1011, 1000
_LONGEST_REASON = 120
"""Bytes that a closing frame has room for."""


@dataclass(frozen=True)
class Services:
    """What all connections share. `accounts`: of addresses; `turns`: for the loop's time; `reads`, `writes`: for
    the store, posts aside; `urls`: the addresses by which clients may know this relay."""

    tables: Tables
    keeper: Keeper
    lobby: Lobby
    metrics: Metrics
    accounts: Accounts
    turns: Turns
    reads: Gate
    writes: Gate
    limits: Limits
    urls: set[str]
    clock: Callable[[], float]


@dataclass(eq=False)
class _Seat:
    """A table that a connection uses: who posts there, and what it reads."""

    log: LiveLog
    participant: bytes | None = None
    reading: Reading | None = None


class Peer:
    """A client. What it has proved and asked for ends with its connection."""

    def __init__(
        self,
        socket: web.WebSocketResponse,
        services: Services,
        intake: Intake,
        transport: asyncio.Transport,
        drained: Callable[[], Awaitable[None]],
    ) -> None:
        """`intake`: of its bytes; `transport`: the socket's own; `drained`: waits until it takes more."""
        self._socket, self._services, self._intake, self._transport = socket, services, intake, transport
        self.account = intake.account
        self._meter = Meter(self.account, services.turns, services.limits)
        self._is_player, self._is_busy = False, False
        self._asked = self._heard = time.monotonic()
        self._nonce = secrets.token_bytes(32)
        self._seats: dict[bytes, _Seat] = {}
        self._watched: set[bytes] = set()
        self._behind, self._has_work = deque[Reading](), asyncio.Event()
        self._sender = Sender(transport, drained, self._has_work.set)

    async def run(self) -> None:
        """Until the connection ends."""
        services = self._services
        writing = asyncio.create_task(self._write())
        writing.add_done_callback(self._has_written)
        self.say(encode(Welcome(self._nonce)))
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
            for table in list(self._seats):
                self._leave(table)
            self.account.players -= self._is_player
            services.lobby.forget(self, self._watched)

    def say(self, message: bytes) -> None:
        """Send an encoded message. What a client may cause to be said is bounded by what is read from it."""
        self._sender.add(message)

    def offer(self, messages: list[bytes]) -> bool:
        """See `tables.Listener`."""
        return self._sender.offer(messages)

    def fall_behind(self, reading: Reading) -> None:
        """See `tables.Listener`."""
        self._behind.append(reading)
        self._has_work.set()

    # ------------------------------------------------------------------------------------------------------- listening

    async def _listen(self) -> None:
        while True:
            self._heard, self._is_busy = time.monotonic(), False
            frame = await self._socket.receive()
            self._is_busy = True
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
                    raise MalformedBytes("frame", "it is no binary one")
            self._intake.read(len(frame.data) + _HEAD)

    async def _read(self, frame: bytes) -> None:
        """Each message of a frame waits for its turn: whoever floods is read no faster than it may speak."""
        await self._meter.frame(len(frame))
        messages = decode_to_relay(frame)
        if len(messages) > _MOST_MESSAGES:
            raise MalformedBytes("frame", f"it has {len(messages)} messages; {_MOST_MESSAGES} are allowed")
        for message in messages:
            await self._meter.message(message)
            await self._handle(message)
            await self._sender.has_room.wait()
        self._asked = time.monotonic()

    async def _pong(self, data: bytes) -> None:
        await self._meter.work(_PING)
        try:
            async with asyncio.timeout(self._services.limits.stall):
                await self._socket.pong(data)
        except (TimeoutError, ConnectionError) as error:
            await self._cut_off(error)

    def overdue(self, now: float) -> str | None:
        """Why this connection is of no use, if so: it has begun a frame and does not go on, or has no table and no
        offer, and has asked nothing for long. `now`: seconds of `time.monotonic`."""
        limits = self._services.limits
        if self._is_busy:
            return None
        if self._intake.unread and now > self._heard + limits.stall:
            return "half"
        if not (self._seats or self._watched) and now > self._asked + limits.idle_seconds:
            return "idle"
        return None

    async def dismiss(self, why: str) -> None:
        """Close a connection that is overdue."""
        await self._close(_IDLE, why, "nothing was asked here" if why == "idle" else "a frame did not come to its end")

    async def _handle(self, message: ToRelay) -> None:
        match message:
            case Post():
                await self._post(message)
            case Open():
                await self._open(message)
            case Prove():
                await self._prove(message)
            case Leave(table):
                self._leave(table)
            case _:
                await self._visit(message)

    async def _visit(self, message: MakeOffer | ListOffers | JoinOffer | WatchOffer | WithdrawOffer) -> None:
        """What concerns the lobby."""
        lobby = self._services.lobby
        try:
            match message:
                case ListOffers():
                    self.say(lobby.listed(message))
                case MakeOffer():
                    async with self._services.writes.entered(self.account):
                        offer = await lobby.make(message, self.account)
                    self._watch(offer, message.id)
                case JoinOffer():
                    self._watch(lobby.join(message, self.account), message.id)
                case WatchOffer():
                    self._watch(message.offer, message.id)
                case WithdrawOffer():
                    async with self._services.writes.entered(self.account):
                        self.say(await lobby.withdraw(message))
        except NotOffered as refused:
            self._refuse(refused.about, refused.reason, refused.detail, message.id)

    def _watch(self, offer: bytes, request: bytes) -> None:
        if len(self._watched) >= self._services.limits.watched:
            raise NotOffered(offer, Reason.TOO_MANY_OFFERS, "this connection watches as many offers as it may")
        self._services.lobby.watch(offer, self, request)
        self._watched.add(offer)

    def _refuse(self, about: bytes, reason: Reason, detail: str, id_: bytes = b"") -> None:
        self._services.metrics.refused.labels(reason.value).inc()
        self._meter.charge(FORGERY if reason is Reason.BAD_SIGNATURE else REFUSAL)
        self.say(encode(Refused(about, id_, reason.value, detail)))

    async def _close(self, code: int, label: str, reason: str) -> None:
        self._services.metrics.closed.labels(label).inc()
        _LOG.info("closed a connection", extra={"facts": {"why": reason}})
        await self._socket.close(code=code, message=reason.encode()[:_LONGEST_REASON])

    # -------------------------------------------------------------------------------------------------- what they want

    async def _prove(self, prove: Prove) -> None:
        table, services = prove.table.id, self._services
        if fault := fault_of(prove, table, self._nonce, services.urls, int(services.clock())):
            self._refuse(table, *fault)
            return
        seat = self._seats.get(table)
        if seat is None:
            try:
                seat = await self._seated(table, lambda: self._made(prove.table))
            except TooManyTables as full:
                self._refuse(table, full.reason, full.detail)
                return
        if seat is None:
            return
        seat.participant = prove.participant
        if seat.reading is not None:
            seat.reading.is_players = True
        self.account.players += not self._is_player
        self._is_player = True
        self.say(encode(Proved(table)))
        await services.lobby.arrive(table, prove.participant)

    async def _made(self, table: Table) -> LiveLog:
        """A table's log; made where there is none, if the address may make one more. Raises `TooManyTables`."""
        services, made = self._services, self.account.tables
        if log := await self._found(table.id):
            return log
        if wait := made.wait(1, time.monotonic()):
            raise TooManyTables(Reason.TOO_MANY_TABLES, f"you have made many tables; the next one in {wait:.0f} s")
        async with services.writes.entered(self.account):
            log = await services.tables.make(table, self.account.address)
        made.take(1, time.monotonic())
        return log

    async def _found(self, table: bytes) -> LiveLog | None:
        async with self._services.reads.entered(self.account):
            return await self._services.tables.find(table)

    async def _open(self, asked: Open) -> None:
        seat = await self._seat(asked.table)
        if seat is None:
            return
        services, kept = self._services, seat.log.kept
        start = max(asked.start, kept.first)
        async with services.reads.entered(self.account):
            hash_ = await services.tables.hash_before(seat.log, start)
        is_other = start > kept.length or (asked.hash is not None and start == asked.start and asked.hash != hash_)
        if is_other:
            self._refuse(asked.table, Reason.OTHER_LOG, f"the log has {kept.length} entries, or others before {start}")
            return
        if seat.reading is not None:
            seat.log.readings.discard(seat.reading)
        seat.reading = Reading(self, seat.log, start, is_players=seat.participant is not None)
        seat.log.readings.add(seat.reading)
        self.say(encode(Opened(asked.table, kept.table.kind, start, kept.length, hash_ or bytes(32))))
        self.fall_behind(seat.reading)

    async def _seat(self, table: bytes) -> _Seat | None:
        """The table, if the relay has it; else that is said."""
        if seat := self._seats.get(table):
            return seat
        try:
            seat = await self._seated(table, lambda: self._found(table))
        except TooManyTables as full:
            self._refuse(table, full.reason, full.detail)
            return None
        if seat is None:
            self._refuse(table, Reason.UNKNOWN_TABLE, "there is no such table")
        return seat

    async def _seated(self, table: bytes, find: Callable[[], Awaitable[LiveLog | None]]) -> _Seat | None:
        """At a table whose log is found so, if it is. Raises `TooManyTables`."""
        services, log = self._services, None
        if len(self._seats) >= services.limits.per_connection or not services.accounts.sit(self.account):
            raise TooManyTables(Reason.TOO_MANY_TABLES, "you have as many tables open as you may")
        try:
            log = await find()
        finally:
            if log is None:
                services.accounts.rise(self.account)
        if log is None:
            return None
        seat = self._seats[table] = _Seat(log)
        return seat

    async def _post(self, post: Post) -> None:
        seat, services = self._seats.get(post.table), self._services
        if seat is None or seat.participant is None:
            self._refuse(post.table, Reason.NOT_PROVED, "nobody has proved to take part here", post.id)
            return
        if post.since is not None and await self._is_there(seat, seat.participant, post, post.since):
            return
        if fault := services.tables.fault_of_post(seat.log, len(post.entry)):
            self._refuse(post.table, *fault, post.id)
            return
        account = self.account
        await services.keeper.add(seat.log, self, seat.participant, post, account.address, account.weight)

    async def _is_there(self, seat: _Seat, author: bytes, post: Post, since: int) -> bool:
        """Whether an id was posted before; then its author is told where. The store is asked after what waits for it,
        so that a post of the connection before is found. A long way to look counts for many messages."""
        services = self._services
        while (author, post.id) in seat.log.coming:
            await services.keeper.next_commit()
        kept = seat.log.kept
        await self._meter.work(max(0, kept.length - since) // _LOOKED_AT_ONCE + 1)
        async with services.reads.entered(self.account):
            place = await services.tables.find_post(seat.log, since, author, post.id)
        if place is None:
            return False
        self.say(encode(Posted(post.table, post.id, place)))
        return True

    def _leave(self, table: bytes) -> None:
        seat = self._seats.pop(table, None)
        if seat is None:
            return
        self._services.accounts.rise(self.account)
        if seat.reading is not None:
            seat.log.readings.discard(seat.reading)
        self._services.tables.release(seat.log)

    # --------------------------------------------------------------------------------------------------------- sending

    async def _write(self) -> None:
        """What was not taken at once, and what is to be read from the disk. Who does not read is cut off."""
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
            await self._cut_off(error)
        except JournalError as error:
            _LOG.error("a log cannot be read", extra={"facts": {"error": str(error)}})
            await self._close(_FAILED, "store", "the relay's disk has failed")

    def _has_written(self, writing: asyncio.Task[None]) -> None:
        """A connection to which nothing is written any more is of no use."""
        self._sender.has_room.set()
        if not writing.cancelled() and (error := writing.exception()) is not None:
            _LOG.error("a mistake of the relay", exc_info=error)
            self._transport.abort()

    async def _cut_off(self, error: Exception) -> None:
        """Without waiting for an answer: it would not be sent."""
        self._services.metrics.closed.labels("slow").inc()
        _LOG.info("cut a connection off", extra={"facts": {"why": type(error).__name__}})
        self._transport.abort()

    async def _catch_up(self, reading: Reading) -> None:
        """The next entries that are on disk; when those were all, what is new is sent as it comes."""
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
