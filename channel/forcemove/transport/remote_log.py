"""What the views of a table's log have in common, whatever the protocol: reading, waiting for the first read, failing.
Knows no network."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.protocol.signing import Key
from forcemove.transport.limits import CHANNEL_BYTES, CHANNEL_ENTRIES, GAME_BYTES, GAME_ENTRIES, MAX_ENTRY
from forcemove.transport.log import TableLog, TableLogReader


class RemoteLog(ABC):
    """One client's view of the log of the table with the id `id`, see `flow.transport.Transport`. `failure`: the error
    that has ended the log, None for none. `on_coming`: is called with each entry that has no place in the log yet, as
    far as the log tells of such; the entry may be read later, or never. None where nobody wants them."""

    def __init__(self, table: bytes, key: Key | None, *, drops: bool) -> None:
        """`key`: None for a spectator, who may not post. `drops`: whether a full log drops its oldest entries, as a
        channel's does; a game's takes no more."""
        self.id, self._key, self._drops = table, key, drops
        self._log = TableLog(*((CHANNEL_ENTRIES, CHANNEL_BYTES) if drops else (GAME_ENTRIES, GAME_BYTES)))
        self.failure: ForcemoveError | None = None
        self._is_open = asyncio.Event()
        self.on_coming: Callable[[bytes], None] | None = None

    @property
    def participant(self) -> bytes | None:
        """The address under which we post."""
        return None if self._key is None else self._key.address

    async def post(self, message: bytes) -> None:
        """Post a message to everybody. Returns when the server has it.

        A post waits while there is no connection. Raises `InvalidValue` where the message is too large, `RelayRefused`
        where the server does not take it, and the log's failure. If the call is cancelled, the message may be in the
        log or not.
        """
        await self.begin_post(message)

    def begin_post(self, message: bytes) -> asyncio.Future[None]:
        """Post a message without waiting. The result is done when the server has the message, and has the error that
        `post` raises; cancelling it gives the post up."""
        done = asyncio.get_running_loop().create_future()
        done.add_done_callback(_retrieve)
        try:
            self._require_postable(message)
            self._begin_post(bytes(message), done)
        except ForcemoveError as error:
            done.set_exception(error)
        return done

    @abstractmethod
    def _begin_post(self, message: bytes, done: asyncio.Future[None]) -> None:
        """Send a message that may be posted, and finish `done` with its answer. Raises `RelayRefused`."""

    def reader(self, start: int = 0) -> TableLogReader:
        """Read from message `start` on. A reader raises `LogBegins` once where older entries were dropped, and a
        `TransportError` forever after when the log has failed."""
        return TableLogReader(self._log, start)

    def length(self) -> int:
        """How many messages the log is known to have, our acknowledged ones included."""
        return self._log.length

    async def opened(self) -> None:
        """Return when the log was read for the first time. Raises the log's failure, such as `RelayRefused`."""
        await self._is_open.wait()
        if self.failure is not None:
            raise self.failure

    def fail(self, failure: ForcemoveError) -> None:
        """End the log: pending calls get the failure."""
        self.failure = self.failure or failure
        self._log.fail(self.failure)
        self._is_open.set()
        for done in self._posting():
            finish(done, self.failure)

    @abstractmethod
    def _posting(self) -> Iterable[asyncio.Future[None]]:
        """The futures of all posts that are not acknowledged."""

    def _require_postable(self, message: bytes) -> None:
        """Raises `InvalidValue`, and the log's failure."""
        if self._key is None:
            raise InvalidValue("key", None, "that of a participant: others read only")
        if len(message) > MAX_ENTRY:
            raise InvalidValue("message", f"{len(message)} bytes", f"at most {MAX_ENTRY} bytes")
        if self.failure is not None:
            raise self.failure


def _retrieve(done: asyncio.Future[None]) -> None:
    """Ask for the error of a post, which nobody need ask for."""
    if not done.cancelled():
        done.exception()


def finish(done: asyncio.Future[None], error: ForcemoveError | None) -> None:
    """Set a future's result or error, unless its caller has gone away."""
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
