"""A table's log on a relay, as flows want it: the messages that a connection receives and sends of this table; no
socket.

A post has an id of 16 random bytes. It is posted again, with the same id, after every loss of the connection, until the
relay has acknowledged it: the relay takes an id once, so that the log never has a message twice.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from forcemove.errors import InvalidValue
from forcemove.flow.history import NOTHING_READ
from forcemove.protocol.signing import Key
from forcemove.protocol.types import UINT64_MAX
from forcemove.transport import wire
from forcemove.transport.errors import LogReplaced, Reason, refusal
from forcemove.transport.remote_log import RemoteLog, finish
from forcemove.transport.terms import TableKind, TableTerms, proof_digest

_PROOF_SECONDS = 300
"""How long a proof may take to arrive; clocks may differ by as much."""
_LAST = UINT64_MAX >> 1
"""The largest number that a message has room for. A relay that has claimed a larger one is asked from this number on:
it has another log, as an honest answer then shows."""


@dataclass(frozen=True)
class NewConnection:
    """What a table needs to know of a new connection: the relay's address and nonce, and the time in Unix seconds."""

    relay: str
    nonce: bytes
    now: int


@dataclass(eq=False)
class _Waiting:
    post: wire.PostEntry
    done: asyncio.Future[None]
    since: int | None = None


class WebSocketTransport(RemoteLog):
    """One client's view of a table's log, see `flow.transport.Transport`; `connection.RelayConnection` makes them.

    A lost connection costs time only: posts without an acknowledgement are posted again, and reading goes on where it
    stopped.
    """

    def __init__(
        self, table: bytes, terms: TableTerms | None, key: Key | None, send: Callable[[wire.Message], None]
    ) -> None:
        """`terms`, `key`: None for a spectator, who knows the table's id alone and may not post. `send`: sends a
        message to the relay if there is a connection."""
        if key is not None and (terms is None or key.address not in terms.participants):
            raise InvalidValue("key", key.address, "that of a participant")
        super().__init__(table, key, drops=terms is not None and terms.kind is TableKind.CHANNEL)
        self._terms, self._send = terms, send
        self._shift = 0  # our number of an entry less the relay's: not 0 once the relay has begun its log again
        self._asked = 0
        self._waiting: dict[bytes, _Waiting] = {}
        self._is_connected, self._is_opening = False, False

    # ------------------------------------------------------------------------------------------------- for flows

    def _begin_post(self, message: bytes, done: asyncio.Future[None]) -> None:
        post = wire.PostEntry(self.id, secrets.token_bytes(wire.POST_ID), message, None)
        waiting = self._waiting[post.id] = _Waiting(post, done)
        done.add_done_callback(lambda _: self._waiting.pop(post.id, None))
        self._say(waiting)

    # -------------------------------------------------------------------------------------------- for the connection

    def on_connected(self, connection: NewConnection) -> Iterator[wire.Message]:
        """The messages to send on a new connection: our proof, a request for missing entries, and posts without an
        acknowledgement."""
        self._is_connected = False
        if self.failure is not None:
            return
        if self._key is not None and self._terms is not None:
            yield self._proof(connection, self._terms, self._key)
        yield self._open()
        for waiting in self._waiting.values():
            yield self._again(waiting)
        self._is_connected = True

    def lose(self) -> None:
        """The connection is gone: posts wait for the next one."""
        self._is_connected = False

    def on_message(self, message: wire.FromRelay) -> bool:
        """Take in a message about this table; whether it was of use. An answer that was not asked for is ignored."""
        match message:
            case wire.Opened():
                is_awaited, self._is_opening = self._is_opening, False
                self._begin(message)
                return is_awaited
            case wire.Coming(_, entry):
                if self.on_coming is not None:
                    self.on_coming(entry)
                return False  # what counts is that it follows
            case wire.Entries():
                end = self._log.end
                self._take(message)
                return self._log.end > end
            case wire.Posted(_, id_, index) if waiting := self._waiting.get(id_):
                self._log.length = max(self._log.length, index + self._shift + 1)
                finish(waiting.done, None)
                return True
            case wire.RequestRefused():
                is_answer = message.id in self._waiting
                self._be_refused(message)
                return is_answer
        return False

    def _posting(self) -> Iterable[asyncio.Future[None]]:
        return (waiting.done for waiting in self._waiting.values())

    # -------------------------------------------------------------------------------------------------------- posting

    def _say(self, waiting: _Waiting) -> None:
        if self._is_connected:
            waiting.since = self._length_there
            self._send(waiting.post)

    def _again(self, waiting: _Waiting) -> wire.PostEntry:
        """The same bytes with the same id, and the first place where the log may have them."""
        post, since = waiting.post, waiting.since
        waiting.since = self._length_there if since is None else since
        return wire.PostEntry(post.table, post.id, post.entry, since)

    @property
    def _length_there(self) -> int:
        """The least length of the relay's log: our next post comes after that."""
        return min(max(0, self._log.length - self._shift), _LAST)

    def _proof(self, connection: NewConnection, terms: TableTerms, key: Key) -> wire.Prove:
        expiry = connection.now + _PROOF_SECONDS
        digest = proof_digest(connection.relay, self.id, key.address, expiry, connection.nonce)
        return wire.Prove(terms, key.address, connection.relay, expiry, key.sign(digest).compact)

    def _be_refused(self, refused: wire.RequestRefused) -> None:
        error = refusal(refused.about, refused.reason, refused.detail)
        if waiting := self._waiting.get(refused.id):
            finish(waiting.done, error)
        elif error.reason is Reason.OTHER_LOG and self._asked:
            self._restart()
        elif not refused.id:
            self.fail(error)

    # -------------------------------------------------------------------------------------------------------- reading

    def _open(self) -> wire.Open:
        """Ask for the entries that we lack. For the log's beginning there is no hash to compare."""
        self._asked = min(max(0, self._log.end - self._shift), _LAST)
        self._is_opening = True
        return wire.Open(self.id, self._asked, self._log.hash if self._asked else None)

    def _begin(self, opened: wire.Opened) -> None:
        """Where entries that we lack were dropped, a channel goes on after them and a game ends."""
        self._drops = opened.kind is TableKind.CHANNEL
        start = opened.start + self._shift
        if start < self._log.end:
            return
        if start > self._log.end:
            self._skip_to(start, opened.hash)
        self._log.length = max(self._log.length, opened.length + self._shift)
        self._is_open.set()

    def _skip_to(self, start: int, hash_: bytes | None) -> None:
        """The first read of a log may begin anywhere; later, a game's log may have no gap."""
        if self._drops or not self._is_open.is_set():
            self._log.restart(start, hash_)
        else:
            self.fail(LogReplaced(self.id, self._log.end))

    def _restart(self) -> None:
        """The relay's log is another one than that which we know. A channel reads it from its beginning: readers get
        one fault for the missing entries, and then the rest."""
        if not self._drops:
            self.fail(LogReplaced(self.id, self._log.end))
            return
        self._shift = self._log.end + 1
        for waiting in self._waiting.values():
            waiting.since = None if waiting.since is None else 0
        self._log.restart(self._shift, NOTHING_READ)
        self._send(self._open())

    def _take(self, message: wire.Entries) -> None:
        """Take in new entries. Entries after a gap were not asked for, unless the relay has dropped entries that a slow
        reader had not been sent yet."""
        first, end = message.first + self._shift, self._log.end
        if not self._is_open.is_set():
            return
        if first > end:
            self._skip_to(first, None)
            end = self._log.end
        if first <= end < first + len(message.entries):
            self._log.add(message.entries[end - first :])
