"""A person chooses among the open offers of a lobby, in a list that is kept up to date. Signs nothing."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable, Sequence
from functools import partial

from forcemove.cli.lobby.numbers import Numbers
from forcemove.cli.lobby.rows import rows
from forcemove.cli.match.screen import PutAside, Screen
from forcemove.tables.meetings.listing import open_offers
from forcemove.tables.playing.connectivity import reporting_connectivity
from forcemove.tables.playing.content import TableContent
from forcemove.tables.playing.match import run_with_background
from forcemove.transport.connect import Connection
from forcemove.transport.offers import Offer

__all__ = ["choose"]

_NEW = "new"
_OTHER_ROWS, _FEWEST = 11, 3
"""Lines of the screen that show no offers; offers that are shown on the smallest screen."""
_LOOK_AGAIN = 1.0


async def choose(
    connection: Connection, wanted: Callable[[Offer], bool], what: str, *, may_offer: bool
) -> Offer | None:
    """The offer that a person chooses, None for an offer of their own, if `may_offer`. `what`: the title of the list.
    Raises what the lobby raises, and `PutAside` where the person leaves."""
    choosing = _Choosing(connection, wanted, what, may_offer=may_offer)
    async with reporting_connectivity(connection, choosing.screen.say):
        await run_with_background(choosing.until_chosen(), choosing.screen.run(), choosing.follow(), choosing.tick())
    return choosing.chosen


class _Choosing:
    def __init__(self, connection: Connection, wanted: Callable[[Offer], bool], what: str, *, may_offer: bool) -> None:
        self._connection, self._wanted, self._what, self._may_offer = connection, wanted, what, may_offer
        self._most = max(_FEWEST, shutil.get_terminal_size().lines - _OTHER_ROWS)
        self._numbers = Numbers()
        self._is_listed, self._has_more = False, False
        self._is_done = asyncio.Event()
        self.chosen: Offer | None = None
        self.screen = Screen(self._take, self._options, partial(PutAside, "You have left the lobby."))
        self._show()

    async def until_chosen(self) -> None:
        await self._is_done.wait()

    async def follow(self) -> None:
        """Show offers as they come and go. One more is asked for than the screen has room for, to know whether there
        are more."""
        async for found in open_offers(self._connection.lobby, self._wanted, self._most + 1):
            self._has_more = len(found) > self._most
            self._numbers.take(found[: self._most])
            self._is_listed = True
            self._show()

    async def tick(self) -> None:
        """Update the times that the list shows."""
        while True:
            await asyncio.sleep(_LOOK_AGAIN)
            self._show()

    def _show(self) -> None:
        self.screen.show(TableContent(*self._content()))

    def _content(self) -> tuple[str, Sequence[str]]:
        url = self._connection.url
        if not self._is_listed:
            return f"Asking {url} for {self._what}.", ()
        open_ = self._numbers.open
        if not open_:
            return f"There are no {self._what} at {url} just now. New ones appear here.", ()
        more = [f"There are more than these {len(open_)}."] if self._has_more else []
        return f"{self._what.capitalize()} at {url}:", [*rows(open_, time.time()), *more]

    def _options(self) -> Sequence[tuple[str, str]]:
        join = [("NUMBER", "join that game; its terms are shown first")] if self._numbers.open else []
        offer = [(_NEW, "offer a game yourself")] if self._may_offer else []
        return [*join, *offer, ("Ctrl-C", "leave the lobby")]

    def _take(self, typed: str) -> str:
        typed = typed.strip().lower()
        if self._may_offer and typed and _NEW.startswith(typed):
            self._is_done.set()
            return ""
        offer, problem = self._numbers.find(typed)
        if offer is not None:
            self.chosen = offer
            self._is_done.set()
        return problem
