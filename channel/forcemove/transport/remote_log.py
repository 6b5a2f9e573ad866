"""What the views of a table's log have in common, whatever carries it: reading, waiting for the first look, failing.
Knows no network."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable

from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.flow.transport import Reader
from forcemove.protocol.signing import Key
from forcemove.transport.limits import CHANNEL_BYTES, CHANNEL_ENTRIES, GAME_BYTES, GAME_ENTRIES, MAX_ENTRY
from forcemove.transport.log import TableLog, TableLogReader

__all__ = ["RemoteLog", "finish"]


class RemoteLog(ABC):
    """One client's view of the log of the table with the id `id`, see `flow.transport.Transport`. `failure`: what has
    made the log fail, if anything has."""

    def __init__(self, table: bytes, key: Key | None, *, drops: bool) -> None:
        """`key`: None for a spectator, who may not post. `drops`: whether a log that is full drops its oldest entries,
        as a channel's does; a game's takes no more."""
        self.id, self._key, self._drops = table, key, drops
        self._log = TableLog(*((CHANNEL_ENTRIES, CHANNEL_BYTES) if drops else (GAME_ENTRIES, GAME_BYTES)))
        self.failure: ForcemoveError | None = None
        self._is_open = asyncio.Event()

    @property
    def participant(self) -> bytes | None:
        """The address under which we post."""
        return None if self._key is None else self._key.address

    def reader(self, start: int = 0) -> Reader:
        """Read from message `start` on. A reader raises `LogBegins` once where older entries were dropped, and a
        `LineError` for ever after when the log has failed."""
        return TableLogReader(self._log, start)

    def length(self) -> int:
        """How many messages the log is known to have, ours that were acknowledged among them."""
        return self._log.length

    async def opened(self) -> None:
        """Done when the first look at the log is over. Raises what makes the log fail, such as `RelayRefused`."""
        await self._is_open.wait()
        if self.failure is not None:
            raise self.failure

    def fail(self, failure: ForcemoveError) -> None:
        """Nothing can come of this table any more: who waits is given the failure."""
        self.failure = self.failure or failure
        self._log.fail(self.failure)
        self._is_open.set()
        for done in self._posting():
            finish(done, self.failure)

    @abstractmethod
    def _posting(self) -> Iterable[asyncio.Future[None]]:
        """Of all that is posted, and not acknowledged."""

    def _require_postable(self, message: bytes) -> None:
        """Raises `InvalidValue`, and what has made the log fail."""
        if self._key is None:
            raise InvalidValue("key", None, "that of a participant: others read only")
        if len(message) > MAX_ENTRY:
            raise InvalidValue("message", f"{len(message)} bytes", f"at most {MAX_ENTRY} bytes")
        if self.failure is not None:
            raise self.failure


def finish(done: asyncio.Future[None], error: ForcemoveError | None) -> None:
    """Let who waits go on, unless that has gone away."""
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
