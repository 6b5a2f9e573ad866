"""A table's log on JetStream, as flows want it: the messages that are delivered and acknowledged of this table; no
connection.

JetStream numbers the messages of a whole stream. Entries of a table are counted as they are delivered: a game's stream
drops none, so that all clients count alike. After a lost connection reading begins with the entry that was read last:
if the server has another one there, or none, the log is not the one that we know.

A post has an id of 16 random bytes. It is done when the server has acknowledged it and we have read it. After a lost
connection, a post without an acknowledgement is looked for in the log, and posted again, with the same id, if it is not
there.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from forcemove.protocol.signing import Key
from forcemove.transport.errors import LogReplaced, Reason, RelayRefused
from forcemove.transport.jetstream.feed import LAST_SEQ, POST_ID, Delivered, From
from forcemove.transport.jetstream.session import NOT_FIRST, Ack, PendingPublish, PublishError
from forcemove.transport.jetstream.streams import STREAMS, subject_of
from forcemove.transport.limits import CHANNEL_BYTES, CHANNEL_ENTRIES, GAME_BYTES
from forcemove.transport.remote_log import RemoteLog, finish
from forcemove.transport.terms import TableKind

_ID_BYTES = 16
_ACK_SECONDS = 5.0
"""Seconds after which a post that was not answered is sent again."""
_FULL = "per subject"
"""A part of the server's text for a full log, which shares its error code with a full disk."""


@dataclass(eq=False)
class _Waiting:
    """A post that is not done. `seq`: its number in the stream, once that is known. `said`: when it was sent last, by
    the monotonic clock."""

    message: bytes
    done: asyncio.Future[None]
    said: float = 0.0
    is_acknowledged: bool = False
    seq: int | None = None


class JetStreamTransport(RemoteLog):
    """One client's view of a table's log, see `flow.transport.Transport`; `connection.JetStreamConnection` makes
    them."""

    def __init__(
        self,
        kind: TableKind,
        table: bytes,
        key: Key | None,
        send: Callable[[PendingPublish], None],
        forget: Callable[[str], None],
    ) -> None:
        """Make the view of a log, as yet empty.

        - `kind`: what the table is for.
        - `table`: 32 bytes, the table's id.
        - `key`: of the participant; None for a spectator.
        - `send`: publishes a message if there is a connection.
        - `forget`: is called with the id of a post whose answer nobody waits for any more.
        """
        super().__init__(table, key, drops=kind is TableKind.CHANNEL)
        self.kind, self._send, self._forget = kind, send, forget
        self.stream, self.subject = STREAMS[kind], subject_of(kind, table)
        self._log.restart(0, None)
        self._size = 0
        self._last: Delivered | None = None
        self._new: list[Delivered] = []
        self._new_size, self._has_missed = 0, False
        self._is_resuming, self._is_caught_up = False, False
        self._waiting: dict[str, _Waiting] = {}

    # ------------------------------------------------------------------------------------------------- for flows

    def _begin_post(self, message: bytes, done: asyncio.Future[None]) -> None:
        if not self._drops and self._size + len(message) > GAME_BYTES:
            raise RelayRefused(self.id, Reason.TABLE_FULL, f"a game's log has {GAME_BYTES} bytes at most")
        id_ = secrets.token_hex(_ID_BYTES)
        waiting = self._waiting[id_] = _Waiting(message, done)
        done.add_done_callback(lambda _: self._forget_post(id_))
        self._say(id_, waiting)

    # -------------------------------------------------------------------------------------------- for the connection

    def resume(self) -> From:
        """Where reading begins on a new connection: with the last entry that we know, if there is one."""
        self._is_caught_up, self._is_resuming = False, self._last is not None
        self._forget_new(has_missed=False)
        return From(None if self._last is None else self._last.seq)

    def lose(self) -> None:
        """The connection is gone: posts wait for the next one."""
        self._is_caught_up = False

    def on_new_message(self, found: Delivered) -> None:
        """A message that was stored after we subscribed. The stored ones are read first."""
        if not self._is_caught_up:
            self._keep(found)
        elif self._last is None or found.seq > self._last.seq:
            self._add(found)

    def _keep(self, found: Delivered) -> None:
        """Keep a new message until all before it are read. Where more come meanwhile than are kept of a log, reading
        goes on from the first that is not kept."""
        if self._has_missed:
            return
        self._new.append(found)
        self._new_size += len(found.entry)
        if len(self._new) > CHANNEL_ENTRIES or self._new_size > CHANNEL_BYTES:
            self._forget_new(has_missed=True)

    def _forget_new(self, *, has_missed: bool) -> None:
        self._new.clear()
        self._new_size, self._has_missed = 0, has_missed

    def on_message(self, found: Delivered) -> bool:
        """The next of the stored messages. False where the log has failed."""
        if self._is_resuming:
            self._is_resuming = False
            if self._is_last(found):
                return True
            self._miss()
        if self.failure is None:
            self._add(found)
        return self.failure is None

    def _add(self, found: Delivered) -> None:
        if self._last is None and not found.is_first and not self._log.end:
            self._log.restart(1, None)  # the log's oldest entries were dropped
        self._last = found
        self._size += len(found.entry)
        self._log.add((found.entry,))
        if self._waiting:
            self._recognise(found)

    def catch_up(self) -> bool:
        """All entries are read that the log had when this connection came; posts that are neither acknowledged nor in
        the log are posted again. False where more is to be read: from the log's beginning, if it is another one; from
        where we have stopped, if more messages came meanwhile than were kept."""
        if self._is_resuming:
            self._last = None
            self._miss()
            return False
        if self._has_missed:
            return False
        self._is_caught_up = True
        for found in self._new:
            self.on_new_message(found)
        self._forget_new(has_missed=False)
        self._is_open.set()
        for id_, waiting in self._waiting.items():
            if self._has_read(waiting):
                finish(waiting.done, None)
            else:
                self._say(id_, waiting)
        return True

    def say_again(self) -> None:
        """Send the posts again that were not answered for some time."""
        now = time.monotonic()
        for id_, waiting in self._waiting.items():
            if self._is_caught_up and now - waiting.said > _ACK_SECONDS:
                self._say(id_, waiting)

    def _forget_post(self, id_: str) -> None:
        del self._waiting[id_]
        self._forget(id_)

    def _posting(self) -> Iterable[asyncio.Future[None]]:
        return (waiting.done for waiting in self._waiting.values())

    # -------------------------------------------------------------------------------------------------------- posting

    def _say(self, id_: str, waiting: _Waiting) -> None:
        """Send a post. The first entry of a log is marked by its header, so that a reader sees that no entry before it
        is missing."""
        if not self._is_caught_up:
            return
        waiting.said = time.monotonic()
        headers = {POST_ID: id_} | ({} if self._log.end else {LAST_SEQ: "0"})
        self._send(PendingPublish(self.subject, waiting.message, headers, id_, lambda ack: self._on_ack(id_, ack)))

    def _on_ack(self, id_: str, ack: Ack) -> None:
        waiting = self._waiting.get(id_)
        if waiting is None:
            return
        if ack.error is None:
            waiting.seq, waiting.is_acknowledged = ack.seq, True
            if self._has_read(waiting):
                finish(waiting.done, None)
        elif ack.error.err_code == NOT_FIRST:
            waiting.said = 0.0  # another client's post was the first: ours follows as soon as we have read that
            if self._log.end:
                self._say(id_, waiting)
        else:
            finish(waiting.done, self._refusal(ack.error))

    def _refusal(self, error: PublishError) -> RelayRefused:
        reason = Reason.TABLE_FULL if _FULL in error.description else Reason.BUSY
        return RelayRefused(self.id, reason, f"{error.description} ({error.err_code})"[:200])

    def _has_read(self, waiting: _Waiting) -> bool:
        return waiting.seq is not None and self._last is not None and waiting.seq <= self._last.seq

    def _recognise(self, found: Delivered) -> None:
        """Match an entry with our posts. Before the log is caught up it may be one whose acknowledgement was lost."""
        waiting = self._waiting.get(found.id)
        if waiting is not None and waiting.message == found.entry:
            waiting.seq = found.seq
            if waiting.is_acknowledged:
                finish(waiting.done, None)
        if self._log.end == 1:
            self._say_rest()

    def _say_rest(self) -> None:
        """The log has its first entry: send the posts that waited for it."""
        for id_, waiting in self._waiting.items():
            if waiting.said == 0.0 and waiting.seq is None:
                self._say(id_, waiting)

    # -------------------------------------------------------------------------------------------------------- reading

    def _is_last(self, found: Delivered) -> bool:
        last = self._last
        return last is not None and (found.seq, found.at, found.entry) == (last.seq, last.at, last.entry)

    def _miss(self) -> None:
        """The log is not the one that we know, or has dropped the entry that we had read last. A channel goes on, and
        its readers get one fault for the missing entries; a game ends."""
        if self._drops:
            self._log.restart(self._log.end + 1, None)
        else:
            self.fail(LogReplaced(self.id, self._log.end))
