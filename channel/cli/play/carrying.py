"""Carries a channel's messages for as long as its command runs: whatever the relay does costs nothing but time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from forcemove.channel.cli.explanations import headline
from forcemove.channel.cli.match.reach import telling_of_reach
from forcemove.channel.errors import ForcemoveError
from forcemove.channel.flow.transport import Transport
from forcemove.channel.line.channel_line import ChannelLine
from forcemove.channel.line.connect import connect
from forcemove.channel.line.links import public_url
from forcemove.channel.line.terms import Table
from forcemove.channel.protocol.signing import Key

__all__ = ["LateLine", "carry"]

_MOST_UNSENT = 64
"""Messages: of what waits for longer only the newest counts, and a greeting makes good what is lacking."""
_OPEN_SECONDS = 15.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


class LateLine:
    """A node's line (`node.ports.WakingLine`) that is there before its table is, and after it. `has_begun`: whether a
    table's log was read."""

    def __init__(self) -> None:
        self.has_begun = False
        self._line: ChannelLine | None = None
        self._unsent: deque[bytes] = deque(maxlen=_MOST_UNSENT)
        self._wake: Callable[[], None] = lambda: None

    def listen(self, wake: Callable[[], None]) -> None:
        """See `WakingLine`."""
        self._wake = wake
        if self._line is not None:
            self._line.listen(wake)

    def send(self, message: bytes) -> None:
        """To the table, or for it."""
        if self._line is None:
            self._unsent.append(message)
        else:
            self._line.send(message)

    def receive(self) -> Sequence[bytes]:
        """What others have posted since the last call."""
        return () if self._line is None else self._line.receive()

    async def run(self, transport: Transport, start: int) -> None:
        """Carry messages to and from a table, from this entry of its log on, until that fails or is cancelled. Raises
        what the transport raises."""
        line = ChannelLine(transport, start)
        line.listen(self._wake)
        while self._unsent:
            line.send(self._unsent.popleft())
        self._line, self.has_begun = line, True
        try:
            await line.run()
        finally:
            self._line = None


async def carry(line: LateLine, url: str, table: Table, key: Key, say: Callable[[str], None], *, is_new: bool) -> None:
    """Carry a channel's messages over the relay at `url` until cancelled. What fails is told once, and tried again with
    a new connection, later and later. `is_new`: others may have said something that we have not read."""
    told, pause, place = "", _FIRST_PAUSE, public_url(url)
    loop = asyncio.get_running_loop()
    while True:
        begun = loop.time()
        try:
            await _carry_once(line, url, table, key, say, is_new=is_new)
        except Exception as error:
            if loop.time() - begun > 2 * _LONGEST_PAUSE:
                told, pause = "", _FIRST_PAUSE
            text = _words(error, place)
            if text != told:
                told = text
                say(f"relay       {text} It is tried again; what is on the chain is defended meanwhile.")
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


async def _carry_once(
    line: LateLine, url: str, table: Table, key: Key, say: Callable[[str], None], *, is_new: bool
) -> None:
    async with connect(url) as connection, telling_of_reach(connection, say):
        async with asyncio.timeout(_OPEN_SECONDS):
            transport = await connection.join(table, key)
        # What was said before is made good by a greeting.
        await line.run(transport, 0 if is_new and not line.has_begun else transport.length())


def _words(error: BaseException, url: str) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"{url} does not open the table."
    if isinstance(error, ForcemoveError):
        return headline(error)
    return f"{url} fails: {type(error).__name__}."
