"""The player of a channel who decides on a page alone: there is no terminal to type at."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from forcemove.game import Game, Names
from forcemove.node.managed_channel import ManagedChannel
from forcemove.sessions.playing.human_player import HumanPlayer
from forcemove.sessions.playing.patience import MoveClock
from forcemove.sessions.ports import Output


class PageSeat:
    """A `PlayerSeat` of a person at a page. `person`: decides."""

    def __init__(self, game: Game, output: Output, on_driven: Callable[[], None] = lambda: None) -> None:
        """`game`: the game that is played; `output`: where is shown what happens; `on_driven`: is called when the
        channel is driven."""
        self.person, self.output, self._on_driven = HumanPlayer(game), output, on_driven
        self.choose, self.join_chat = self.person.choose, self.person.join_chat

    def attach(self, played: ManagedChannel, names: Names, clock: MoveClock) -> None:
        """See `PlayerSeat`."""
        self.person.attach(played, names, clock)
        self._on_driven()

    async def run(self) -> None:
        """See `PlayerSeat`."""
        await asyncio.Event().wait()
