"""The player of a channel who decides on a page alone: there is no terminal to type at."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from forcemove.browser.table_pages import TablePages
from forcemove.game import Game, Names
from forcemove.node.managed_channel import ManagedChannel
from forcemove.protocol.agreement import Agreement
from forcemove.tables.playing.person import Person
from forcemove.tables.ports import Chat, Output, PlayerSeat

__all__ = ["PageSeat", "PageSeats"]


class PageSeat:
    """A `PlayerSeat` of a person at a page. `person`: decides."""

    def __init__(self, game: Game, output: Output, on_driven: Callable[[], None] = lambda: None) -> None:
        """`game`: the game that is played; `output`: where is shown what happens; `on_driven`: see `SeatSource`."""
        self.person, self.output, self._on_driven = Person(game), output, on_driven
        self.choose = self.person.choose

    def attach(self, played: ManagedChannel, names: Names) -> None:
        """See `PlayerSeat`."""
        self.person.attach(played, names)
        self._on_driven()

    def join_chat(self, chat: Chat) -> None:
        """See `PlayerSeat`."""
        self.person.chat = chat

    async def run(self) -> None:
        """See `PlayerSeat`."""
        await asyncio.Event().wait()


class PageSeats:
    """The `SeatSource` of a person who plays at any number of tables, each on the page of its channel."""

    def __init__(self, pages: TablePages) -> None:
        """`pages`: where the person decides."""
        self._pages = pages

    def sit(self, game: Game, agreement: Agreement, output: Output, on_driven: Callable[[], None]) -> PlayerSeat:
        """See `SeatSource`."""
        seat = PageSeat(game, output, on_driven)
        self._pages.seat(game, agreement, seat.person)
        return seat

    def leave(self, channel_id: bytes) -> None:
        """See `SeatSource`."""
        self._pages.leave_seat(channel_id)
