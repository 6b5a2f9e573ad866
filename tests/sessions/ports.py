"""Players at tables without any screen: the game's bot plays, and what was said is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from forcemove import Agreement, Game
from forcemove.sessions.options import Intent
from forcemove.sessions.playing.bot import BotSeat
from forcemove.sessions.playing.content import TableContent
from forcemove.transport.connect import Connection
from forcemove.transport.links import Link
from forcemove.transport.offers import Offer

PACE = 0.05


class BotPort:
    """A `TablePort`. `lines`: what was said. `link`: of our offer, once there is one."""

    def __init__(self, intent: Intent, rounds: int) -> None:
        self._intent, self._rounds = intent, rounds
        self.lines: list[str] = []
        self.agreed: list[Offer] = []
        self.link: asyncio.Future[Link] = asyncio.get_running_loop().create_future()

    def say(self, text: str) -> None:
        self.lines.append(text)

    def note(self, text: str) -> None:
        self.lines.append(text)

    def show(self, content: TableContent) -> None:
        """Nobody looks."""

    def status(self, text: str) -> None:
        """Nobody looks."""

    async def find(self, connection: Connection, is_wanted: Callable[[Offer], bool]) -> Intent:
        return self._intent

    def invite(self, offer: Offer, link: Link, page: str) -> None:  # nobody looks
        self.link.set_result(link)

    async def agree(self, offer: Offer) -> None:
        self.agreed.append(offer)

    def take_seat(self, game: Game, agreement: Agreement, index: int) -> BotSeat:
        return BotSeat(game, index, self._rounds, self, PACE)

    def take_log_seat(self, other: str) -> None:
        """A bot."""

    def leave_seat(self) -> None:
        """There is no screen."""

    async def reach(self, text: str) -> None:
        """Until this was said."""
        async with asyncio.timeout(240):
            while not any(text in line for line in self.lines):
                await asyncio.sleep(0.02)
