"""The tables that one connection uses: as which participant it posts there, and what it reads."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Set
from dataclasses import dataclass

from forcemove.errors import ForcemoveError
from forcemove.protocol.signing import require_signer
from forcemove.protocol.types import Signature
from forcemove.relay.admission.accounts import AddressAccount
from forcemove.relay.admission.meter import Meter
from forcemove.relay.clients.services import Services
from forcemove.relay.keeping import PendingPost
from forcemove.relay.tables import LiveLog, Reading, TableClient, TooManyTables
from forcemove.transport.errors import Reason
from forcemove.transport.terms import TableTerms, proof_digest
from forcemove.transport.wire import Open, Opened, Posted, PostEntry, Prove, Proved, encode

_LOOKED_AT_ONCE = 20
"""Entries that are read in the time of a message, in a search for one that was posted before."""
_LONGEST_PROOF = 3_600
"""Seconds from now until which a proof may be good."""
_MOST_WORDS = 200


@dataclass(eq=False)
class _Seat:
    """A table that a connection uses: who posts there, and what it reads."""

    log: LiveLog
    participant: bytes | None = None
    reading: Reading | None = None


class Seats:
    """The tables of one connection; each method answers one request."""

    def __init__(self, client: TableClient, services: Services, account: AddressAccount, meter: Meter) -> None:
        self._client, self._services, self._account, self._meter = client, services, account, meter
        self._seats: dict[bytes, _Seat] = {}
        self._is_player = False

    def __len__(self) -> int:
        return len(self._seats)

    def leave_all(self) -> None:
        """Leave all tables, since the connection ends."""
        for table in list(self._seats):
            self.leave(table)
        self._account.players -= self._is_player

    def take(self, post: PostEntry, size: int, now: float) -> bool:
        """Add an entry that was never posted before, if it need not wait and nothing is wrong with it; else False, and
        nothing was done. `size`: bytes of its frame; `now`: seconds of `time.monotonic`."""
        services, account, seat = self._services, self._account, self._seats.get(post.table)
        if post.since is not None or seat is None or seat.participant is None:
            return False
        if not services.committer.has_room(account.address) or services.tables.fault_of_post(seat.log, len(post.entry)):
            return False
        if not self._meter.pass_at_once(size, now):
            return False
        addition = PendingPost(seat.log, self._client, seat.participant, post)
        services.committer.add_at_once(addition, account.address, account.weight)
        return True

    async def prove(self, prove: Prove, nonce: bytes) -> None:
        """Let the client take part at a table if its proof is right. `nonce`: of the connection, 32 bytes."""
        table, services = prove.table.id, self._services
        if fault := _fault_of(prove, table, nonce, services.urls, int(services.clock())):
            self._client.refuse(table, *fault)
            return
        seat = self._seats.get(table)
        if seat is None:
            try:
                seat = await self._seated(table, lambda: self._made(prove.table))
            except TooManyTables as full:
                self._client.refuse(table, full.reason, full.detail)
                return
        if seat is None:
            return
        seat.participant = prove.participant
        if seat.reading is not None:
            seat.reading.is_players = True
        self._account.players += not self._is_player
        self._is_player = True
        self._client.say(encode(Proved(table)))
        await services.lobby.arrive(table, prove.participant)

    async def _made(self, table: TableTerms) -> LiveLog:
        """A table's log; made where there is none, if the address may make one more. Raises `TooManyTables`."""
        services, made = self._services, self._account.tables
        if log := await self._found(table.id):
            return log
        if wait := made.wait(1, time.monotonic()):
            raise TooManyTables(Reason.TOO_MANY_TABLES, f"you have made many tables; the next one in {wait:.0f} s")
        async with services.writes.entered(self._account):
            log = await services.tables.make(table, self._account.address)
        made.take(1, time.monotonic())
        return log

    async def _found(self, table: bytes) -> LiveLog | None:
        async with self._services.reads.entered(self._account):
            return await self._services.tables.find(table)

    async def open(self, asked: Open) -> None:
        """Send the client a table's log, from the place on that it asks for."""
        seat = await self._seat(asked.table)
        if seat is None:
            return
        services, kept = self._services, seat.log.kept
        start = max(asked.start, kept.first)
        async with services.reads.entered(self._account):
            hash_ = await services.tables.hash_before(seat.log, start)
        is_other = start > kept.length or (asked.hash is not None and start == asked.start and asked.hash != hash_)
        if is_other:
            self._client.refuse(
                asked.table, Reason.OTHER_LOG, f"the log has {kept.length} entries, or others before {start}"
            )
            return
        if seat.reading is not None:
            seat.log.readings.discard(seat.reading)
        seat.reading = Reading(self._client, seat.log, start, is_players=seat.participant is not None)
        seat.log.readings.add(seat.reading)
        self._client.say(encode(Opened(asked.table, kept.table.kind, start, kept.length, hash_ or bytes(32))))
        self._client.fall_behind(seat.reading)

    async def _seat(self, table: bytes) -> _Seat | None:
        """The seat at a table, if the relay has the table; else the request is refused, and None."""
        if seat := self._seats.get(table):
            return seat
        try:
            seat = await self._seated(table, lambda: self._found(table))
        except TooManyTables as full:
            self._client.refuse(table, full.reason, full.detail)
            return None
        if seat is None:
            self._client.refuse(table, Reason.UNKNOWN_TABLE, "there is no such table")
        return seat

    async def _seated(self, table: bytes, find: Callable[[], Awaitable[LiveLog | None]]) -> _Seat | None:
        """A new seat at the table whose log `find` returns, None where it finds none. Raises `TooManyTables`."""
        services, log = self._services, None
        if len(self._seats) >= services.limits.per_connection or not services.accounts.sit(self._account):
            raise TooManyTables(Reason.TOO_MANY_TABLES, "you have as many tables open as you may")
        try:
            log = await find()
        finally:
            if log is None:
                services.accounts.rise(self._account)
        if log is None:
            return None
        seat = self._seats[table] = _Seat(log)
        return seat

    async def post(self, post: PostEntry) -> None:
        """Add an entry, or refuse it."""
        seat, services = self._seats.get(post.table), self._services
        if seat is None or seat.participant is None:
            self._client.refuse(post.table, Reason.NOT_PROVED, "nobody has proved to take part here", post.id)
            return
        if post.since is not None and await self._is_there(seat, seat.participant, post, post.since):
            return
        if fault := services.tables.fault_of_post(seat.log, len(post.entry)):
            self._client.refuse(post.table, *fault, post.id)
            return
        addition, account = PendingPost(seat.log, self._client, seat.participant, post), self._account
        await services.committer.add(addition, account.address, account.weight)

    async def _is_there(self, seat: _Seat, author: bytes, post: PostEntry, since: int) -> bool:
        """Whether an entry with this id was posted before; then its place is sent to its author. The store is read when
        no such post waits for the disk, so that one of an earlier connection is found. A long search counts for many
        messages."""
        services = self._services
        while (author, post.id) in seat.log.coming:
            await services.committer.next_commit()
        kept = seat.log.kept
        await self._meter.work(max(0, kept.length - since) // _LOOKED_AT_ONCE + 1)
        async with services.reads.entered(self._account):
            place = await services.tables.find_post(seat.log, since, author, post.id)
        if place is None:
            return False
        self._client.say(encode(Posted(post.table, post.id, place)))
        return True

    def leave(self, table: bytes) -> None:
        """Use a table no more."""
        seat = self._seats.pop(table, None)
        if seat is None:
            return
        self._services.accounts.rise(self._account)
        if seat.reading is not None:
            seat.log.readings.discard(seat.reading)
        self._services.tables.release(seat.log)


def _fault_of(prove: Prove, table: bytes, nonce: bytes, urls: Set[str], now: int) -> tuple[Reason, str] | None:
    """What is wrong with a proof, None if nothing is.

    - `prove`: the proof.
    - `table`: the id of its table, 32 bytes.
    - `nonce`: of the connection, 32 bytes.
    - `urls`: the addresses of this relay.
    - `now`: Unix seconds.
    """
    if prove.relay not in urls:
        return Reason.WRONG_RELAY, f"this is {', '.join(sorted(urls))}"[:_MOST_WORDS]
    if prove.expiry <= now:
        return Reason.EXPIRED, f"here it is {now}, and the proof was good until {prove.expiry}"
    if prove.expiry > now + _LONGEST_PROOF:
        return Reason.EXPIRED, f"here it is {now}, and a proof may be good for {_LONGEST_PROOF} seconds"
    if prove.participant not in prove.table.participants:
        return Reason.NOT_A_PARTICIPANT, "the table is others'"
    digest = proof_digest(prove.relay, table, prove.participant, prove.expiry, nonce)
    try:
        require_signer(digest, Signature(prove.signature), prove.participant)
    except ForcemoveError:
        return Reason.BAD_SIGNATURE, "the participant has not signed this proof, or not for this connection"
    return None
