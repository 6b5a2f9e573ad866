"""Follows the logs of a few tables that others play at."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from forcemove.errors import ForcemoveError
from forcemove.flow.transport import TRANSPORT_FAULTS, Transport
from forcemove.game import Game
from forcemove.sessions.standby import relay_pauses
from forcemove.sessions.watching.spectator import ChannelSpectator
from forcemove.sessions.watching.watch_link import WatchLink
from forcemove.text.explanations import headline
from forcemove.transport.chat import CHAT_MARK
from forcemove.transport.connect import connect_relay
from forcemove.transport.ending import end
from forcemove.transport.errors import LogBegins
from forcemove.transport.faults import FAULT_SECONDS

_MOST = 4
_AT_ONCE = 16
"""Entries that are checked before other tasks of this event loop get their turns."""


class WatchedTable:
    """A table that is watched. `spectator`: what its log has proved; `problem`: why the log cannot be read now, empty
    where it can."""

    def __init__(self, spectator: ChannelSpectator, on_change: Callable[[], None]) -> None:
        """`spectator`: checks; `on_change`: is called when anything has changed."""
        self.spectator, self._on_change = spectator, on_change
        self.problem = f"Asking {spectator.link.relay}."
        self._next = 0

    async def run(self) -> None:
        """Follow the log until this is cancelled, whatever becomes of the relay."""
        link, pauses = self.spectator.link, relay_pauses()
        while True:
            try:
                async with connect_relay(link.relay, fault_seconds=FAULT_SECONDS) as connection:
                    log = await connection.watch(link.table)
                    self._report("")
                    pauses.reset()
                    await self._follow(log)
            except ForcemoveError as error:
                self._report(headline(error))
            except Exception as error:  # whatever a relay makes of it: nothing else of this process ends
                self._report(f"Watching has failed: {type(error).__name__}.")
            await asyncio.sleep(pauses.next_pause())

    async def _follow(self, log: Transport) -> None:
        reader = log.reader(self._next)
        while True:
            try:
                entry = await reader.read()
            except LogBegins as fault:
                self._next = fault.first
                continue
            except TRANSPORT_FAULTS:
                self._next += 1
                continue
            self._next += 1
            if not entry.startswith(CHAT_MARK) and self.spectator.take(entry):
                self._on_change()
            if self._next % _AT_ONCE == 0:
                await asyncio.sleep(0)

    def _report(self, problem: str) -> None:
        if problem != self.problem:
            self.problem = problem
            self._on_change()


class WatchedTables:
    """The tables that are watched by one process, at most four: the newest. Anyone who watches tables has `run` run.
    `on_change`: is called when anything of them has changed."""

    def __init__(self, games: Sequence[Game]) -> None:
        """`games`: those that are installed."""
        self._games = tuple(games)
        self._watched: dict[WatchLink, tuple[WatchedTable, asyncio.Task[None]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.on_change: Callable[[], None] = lambda: None

    def find_game(self, link: WatchLink) -> Game | None:
        """The game of a link; None where it is not installed."""
        return next((each for each in self._games if each.name == link.game), None)

    def find(self, link: WatchLink) -> WatchedTable | None:
        """The table of a link, if it is watched."""
        found = self._watched.get(link)
        return None if found is None else found[0]

    def watch(self, link: WatchLink, game: Game) -> WatchedTable:
        """Watch a table, and no more the one that has been watched for longest, where there are too many. `game`: the
        link's."""
        found = self.find(link)
        if found is not None:
            return found
        while len(self._watched) >= _MOST:
            _, task = self._watched.pop(next(iter(self._watched)))
            task.cancel()
        watched = WatchedTable(ChannelSpectator(link, game), self._notify)
        task = asyncio.create_task(watched.run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._watched[link] = watched, task
        return watched

    async def run(self) -> None:
        """Wait until this is cancelled; then follow no log any more."""
        try:
            await asyncio.Event().wait()
        finally:
            self._watched.clear()
            await end(self._tasks)

    def _notify(self) -> None:
        self.on_change()
