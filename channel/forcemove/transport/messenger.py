"""A channel's messages over a table's log, as a node wants them: messages that are sent are posted, others' posts are
received.

A messenger needs no network to be made, and no fault of a network ends it: it reports the fault and tries again.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import NoReturn

from forcemove.backoff import Backoff
from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.flow.transport import TRANSPORT_FAULTS, Reader, Transport
from forcemove.transport.chat import CHAT_MARK
from forcemove.transport.errors import LogBegins, Reason, RelayRefused, RelayUnreachable
from forcemove.transport.limits import CHANNEL_ENTRIES, MAX_ENTRY
from forcemove.transport.log import TableLogReader
from forcemove.transport.reconnecting import answered, keep_trying
from forcemove.transport.remote_log import RemoteLog

_LOG = logging.getLogger(__name__)
_AT_ONCE = 64
"""Messages that the node is given at once, and that are read before other tasks of this event loop get their turns."""
_MAX_RECEIVED, _MAX_RECEIVED_BYTES = 1_000, 16 * MAX_ENTRY
"""Messages that wait for the node, and their bytes; then reading stops, and the log keeps the rest."""
_MAX_UNSENT, _MAX_UNSENT_BYTES = CHANNEL_ENTRIES, 64 * MAX_ENTRY
"""Messages that wait for the log, and their bytes; then the oldest is dropped: only the newest states count, and others
ask for the states that they lack by a greeting."""
_MAX_BEGUN = 16
"""Posts that are on their way to a relay at once; later messages wait for their answers."""
_MAX_OWN = CHANNEL_ENTRIES
_MAX_COMING = _MAX_RECEIVED
"""Messages that were taken before they had a place in the log, and still have none; then only those with one are."""
_FAULT_SECONDS = 0.01
_SHORTEST, _LONGEST = 1.0, 60.0
"""Seconds between two attempts."""
_BEARABLE = (Reason.TABLE_FULL, Reason.BUSY)
"""Refusals of a post that leave the rest of the table as it is."""


class LogSource(ABC):
    """The source of a messenger's log, with the state of its connection."""

    @property
    @abstractmethod
    def url(self) -> str:
        """The log's address, as it may be shown."""

    @property
    @abstractmethod
    def is_connected(self) -> bool:
        """Whether there is a connection now, so that an answer may be expected."""

    @property
    @abstractmethod
    def error(self) -> ForcemoveError | None:
        """Why there is no connection, None where there is one."""

    @abstractmethod
    def opened(self) -> AbstractAsyncContextManager[Transport]:
        """The log, for as long as the block lasts. Entering the block waits for a connection, and raises the error that
        keeps the log from being opened."""


class _OpenLog(LogSource):
    """A log that is open: its owner cares for the connection."""

    url, is_connected, error = "", False, None

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Transport]:
        yield self._transport


class ChannelMessenger:
    """One participant's end of a channel's log. `run` carries messages, in the event loop in which the node is driven;
    before it runs, and while there is no connection, messages wait to be sent, and none is received.

    `connect.messenger_to` and `connect.messenger_on` make one that finds its log itself. `on_chat`: is called with each
    entry of others that is chat (`chat.CHAT_MARK`), which is none of the channel's messages; it raises nothing.
    """

    def __init__(
        self,
        source: LogSource | Transport,
        start: int | None = 0,
        *,
        on_error: Callable[[ForcemoveError], None] = lambda _: None,
    ) -> None:
        """A messenger on the log of `source`, or on a log itself.

        `start`: the first entry of the log to receive; None for the log's end as it is when it is first opened: a
        greeting then asks for the states before it. `on_error`: is called with each error, after which the messenger
        tries again: after seconds, and at last each minute.
        """
        self._source = source if isinstance(source, LogSource) else _OpenLog(source)
        self._next, self._on_error = start, on_error
        self._pauses = Backoff(_SHORTEST, _LONGEST)
        self._refusals = Backoff(_SHORTEST, _LONGEST)
        self._unsent: dict[bytes, None] = {}
        self._received: deque[bytes] = deque()
        self._received_bytes = 0
        self._own: dict[bytes, None] = {}
        self._coming: dict[bytes, None] = {}
        self._begin: Callable[[bytes], asyncio.Future[None]] | None = None
        self._begun: deque[tuple[bytes, asyncio.Future[None]]] = deque()
        self._max_begun = 1
        self._error: ForcemoveError | None = None
        self._has_mail, self._has_room = asyncio.Event(), asyncio.Event()
        self._has_room.set()
        self._wake: Callable[[], None] = lambda: None

        self.on_chat: Callable[[bytes], None] = lambda _: None

    def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` whenever a message has come in. A messenger has one listener: the last one."""
        self._wake = wake

    def send(self, message: bytes) -> None:
        """Post a message as soon as that is possible; one that waits already is not posted twice. At most 4,096
        messages wait, and as many bytes as 64 of the largest have; the oldest ones beyond that are dropped."""
        self._unsent[message] = None
        while len(self._unsent) > _MAX_UNSENT or _size(self._unsent) > _MAX_UNSENT_BYTES:
            del self._unsent[next(iter(self._unsent))]
        self._begin_posts()
        self._has_mail.set()

    def receive(self) -> Sequence[bytes]:
        """The messages of others since the last call, up to 64; where there are more, the listener is called at
        once."""
        messages = tuple(self._received.popleft() for _ in range(min(_AT_ONCE, len(self._received))))
        self._received_bytes -= sum(map(len, messages))
        if self._received:
            self._wake()
        self._has_room.set()
        return messages

    @property
    def is_idle(self) -> bool:
        """Whether every message that was sent is in the log."""
        return not self._unsent

    @property
    def url(self) -> str:
        """The log's address, as it may be shown."""
        return self._source.url

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return self._source.is_connected

    @property
    def error(self) -> ForcemoveError | None:
        """The error that keeps messages from being carried, None for none. The messenger tries again."""
        return self._error or self._source.error

    async def run(self) -> None:
        """Carry messages until this is cancelled. An error, such as of a relay that refuses or is of another version,
        is reported and tried again; it is never raised."""
        await keep_trying(self._carry_once, self._pauses)

    async def _carry_once(self) -> None:
        try:
            async with self._source.opened() as transport:
                if not self._unsent:
                    self._error = None
                await self._carry(transport)
        except Exception as error:
            self._report_error(error)

    async def _carry(self, transport: Transport) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._post(transport))
            group.create_task(self._read(transport))

    def _report_error(self, error: Exception) -> None:
        """Reports an error to the owner, whose own failure in taking it is logged and no more."""
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        if not isinstance(error, ForcemoveError):
            error = RelayUnreachable(self.url, f"{type(error).__name__}: {error}"[:200])
        self._error = error
        try:
            self._on_error(error)
        except Exception:
            _LOG.exception("an error of %s could not be reported", self.url)

    # --------------------------------------------------------------------------------------------------------- posting

    async def _post(self, transport: Transport) -> None:
        """Post messages in their order. A post that is cut off stays unsent."""
        if isinstance(transport, RemoteLog):
            self._begin, self._max_begun = transport.begin_post, _MAX_BEGUN
        else:
            self._begin, self._max_begun = lambda message: asyncio.ensure_future(transport.post(message)), 1
        try:
            while True:
                self._begin_posts()
                if self._begun:
                    await self._finish_post()
                else:
                    self._has_mail.clear()
                    await self._has_mail.wait()
        finally:
            self._begin = None
            for _, posting in self._begun:
                posting.cancel()
            self._begun.clear()

    def _begin_posts(self) -> None:
        """Post the oldest messages without waiting for each other, as many as may be on their way."""
        if self._begin is not None:
            for message in tuple(islice(self._unsent, len(self._begun), self._max_begun)):
                self._remember(message)
                self._begun.append((message, self._begin(message)))

    async def _finish_post(self) -> None:
        """Wait for the answer to the oldest post that is on its way."""
        message, posting = self._begun[0]
        try:
            try:
                await answered(posting, self.url, "to keep a message", lambda: self.is_connected)
            finally:
                self._begun.popleft()
        except InvalidValue as error:  # the message will never be valid
            self._unsent.pop(message, None)
            self._report_error(error)
        except RelayRefused as error:
            if error.reason not in _BEARABLE:
                raise
            await self._postpone(message, error)
        else:
            self._unsent.pop(message, None)
            self._error = None
            self._refusals.reset()

    async def _postpone(self, message: bytes, refused: RelayRefused) -> None:
        """Puts a message that was refused behind the others, so that one that is never taken holds nothing up, and
        begins no post for a while."""
        if message in self._unsent:
            del self._unsent[message]
            self._unsent[message] = None
        self._report_error(refused)
        begin, self._begin = self._begin, None
        await asyncio.sleep(self._refusals.next_pause())
        self._begin = begin

    def _remember(self, message: bytes) -> None:
        """Remembers the newest of our own messages, so that they are not received as if they were another's."""
        own = _digest(message)
        self._own.pop(own, None)
        self._own[own] = None
        if len(self._own) > _MAX_OWN:
            del self._own[next(iter(self._own))]

    # --------------------------------------------------------------------------------------------------------- reading

    async def _read(self, transport: Transport) -> None:
        """Read entries, and what is coming as long as they are read."""
        self._next = _next_entry(self._next, transport.length())
        if not isinstance(transport, RemoteLog):
            await self._read_on(transport.reader(self._next))
        reader = transport.reader(self._next)
        transport.on_coming = partial(self._take_coming, transport, reader)
        try:
            await self._read_on(reader)
        finally:
            transport.on_coming = None

    async def _read_on(self, reader: Reader) -> NoReturn:
        """Read entry after entry. However fast a log grows, other tasks of this event loop get their turns."""
        count = 0
        while True:
            await self._has_room.wait()
            try:
                message = await reader.read()
            except TRANSPORT_FAULTS as fault:  # the next greeting asks for the missing states
                self._next = fault.first if isinstance(fault, LogBegins) else (self._next or 0) + 1
                await asyncio.sleep(_FAULT_SECONDS)
                continue
            self._take_entry(message)
            count += 1
            if count % _AT_ONCE == 0:
                await asyncio.sleep(0)

    def _take_entry(self, message: bytes) -> None:
        self._next = (self._next or 0) + 1
        digest = _digest(message)
        if digest in self._coming:
            del self._coming[digest]
        elif digest not in self._own:
            self._take(message)

    def _take_coming(self, log: RemoteLog, reader: TableLogReader, message: bytes) -> None:
        """Take a message before it has its place in the log, if all that come before it were taken; it is not taken
        again once it has. Nothing is lost where it is not taken here."""
        while self._has_room.is_set() and (entry := reader.read_now()) is not None:
            self._take_entry(entry)
        digest = _digest(message)
        is_next = self._next == log.length() and self._has_room.is_set() and len(self._coming) < _MAX_COMING
        if is_next and digest not in self._own and digest not in self._coming:
            self._coming[digest] = None
            self._take(message)

    def _take(self, message: bytes) -> None:
        if message.startswith(CHAT_MARK):
            self.on_chat(message)
        else:
            self._receive_one(message)

    def _receive_one(self, message: bytes) -> None:
        self._received.append(message)
        self._received_bytes += len(message)
        self._wake()
        if len(self._received) >= _MAX_RECEIVED or self._received_bytes >= _MAX_RECEIVED_BYTES:
            self._has_room.clear()


def _size(messages: Collection[bytes]) -> int:
    """The bytes of messages; 0 for so few that they cannot exceed the limit, since none is larger than the largest
    entry."""
    return 0 if len(messages) <= _MAX_UNSENT_BYTES // MAX_ENTRY else sum(map(len, messages))


def _digest(message: bytes) -> bytes:
    return blake2b(message, digest_size=16).digest()


def _next_entry(next_: int | None, length: int) -> int:
    """Where to read on in a log that was opened: where we have stopped, unless the log is another and shorter one by
    now."""
    if next_ is None:
        return length
    return next_ if next_ <= length else 0
