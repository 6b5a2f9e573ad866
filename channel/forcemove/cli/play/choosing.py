"""A person chooses among the open offers of a lobby, in a list that is kept up to date. Signs nothing.

Offers come and go: each keeps its number, and no other one ever gets it, so that a typed number means the offer that
was shown with it.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import itemgetter

from forcemove.chain.addresses import show_address
from forcemove.cli.play.screen import PutAside, person_output
from forcemove.cli.terminal import Terminal
from forcemove.protocol.types import ETHER
from forcemove.sessions.meetings.lobby import open_offers, seats_text
from forcemove.sessions.playing.connectivity import reporting_connectivity
from forcemove.sessions.playing.content import TableContent
from forcemove.sessions.playing.played_channel import run_with_background
from forcemove.text.amounts import format_amount
from forcemove.text.durations import duration_text
from forcemove.text.harmless import harmless
from forcemove.text.names import full_name
from forcemove.transport.connect import Connection
from forcemove.transport.joins import OfferStatus
from forcemove.transport.offers import Offer

_MOST = 10_000
"""Offers that are remembered after they are gone."""


class Numbers:
    """The numbers of offers. `open`: the offers that are open now, by number."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._given = 0
        self.open: Sequence[tuple[int, OfferStatus]] = ()

    def take(self, shown: Sequence[OfferStatus]) -> None:
        """Number the offers that are open now; all others are gone."""
        for hash_ in (each.offer.hash for each in shown):
            if hash_ not in self._numbers:
                self._given += 1
                self._numbers[hash_] = self._given
        self.open = sorted(((self._numbers[each.offer.hash], each) for each in shown), key=itemgetter(0))
        self._forget()

    def find(self, typed: str) -> tuple[Offer | None, str]:
        """The open offer with the number that was typed; or None, and what is wrong."""
        if not (typed.isascii() and typed.isdecimal() and len(typed) < 10):
            return None, "Type the number of a game."
        number = int(typed)
        found = next((shown.offer for each, shown in self.open if each == number), None)
        if found is None and 0 < number <= self._given:
            return None, f"Game {number} is no longer open."
        return found, "" if found else f"There is no game {number}."

    def _forget(self) -> None:
        """Forget the oldest of the offers that are gone. An offer that comes back after that gets a new number."""
        gone = set(self._numbers) - {shown.offer.hash for _, shown in self.open}
        for hash_ in [each for each in self._numbers if each in gone][: max(0, len(gone) - _MOST)]:
            del self._numbers[hash_]


_HEADS = ("No.", "Game", "Stake", "Seats", "Chain", "Answer in", "Open for", "Host")
_WAITING = "Waiting"
_GAP = "  "


def rows(numbered: Iterable[tuple[int, OfferStatus]], now: float) -> list[str]:
    """A line for each offer, under a line of headings; columns are as wide as their values. Where guests wait, there is
    a column with them. `now`: Unix seconds."""
    listed = list(numbered)
    has_guests = any(shown.joins for _, shown in listed)
    heads = (*_HEADS, _WAITING) if has_guests else _HEADS
    cells = [heads, *(_cells(number, shown, now)[: len(heads)] for number, shown in listed)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [_GAP.join(map(str.ljust, row, widths)).rstrip() for row in cells]


def _cells(number: int, shown: OfferStatus, now: float) -> Sequence[str]:
    offer = shown.offer
    return (
        str(number),
        harmless(offer.game),
        _stake(offer),
        seats_text(shown),
        "none" if offer.is_friendly else str(offer.chain_id),
        "-" if offer.is_friendly else duration_text(offer.duration),
        duration_text(max(0, int(offer.expires - now))),
        full_name(offer.name, offer.host),
        ", ".join(full_name(each.join.name, each.join.guest) for each in shown.joins),
    )


def _stake(offer: Offer) -> str:
    if offer.is_friendly:
        return "nothing"
    if offer.asset == ETHER:
        return format_amount(offer.stake)
    return f"{offer.stake} of token {show_address(offer.asset)}"


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
        aside = partial(PutAside, "You have left the lobby.")
        self.screen = person_output(self._take, self._options, lambda: self._is_listed, aside, Terminal())
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
            return f"There are no {self._what} at {url} yet. New ones appear here.", ()
        more = [f"Only {len(open_)} are shown."] if self._has_more else []
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
