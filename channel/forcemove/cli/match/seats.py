"""A person who plays a channel, at a screen."""

from __future__ import annotations

from collections.abc import Callable

from forcemove.cli.match.screen import Screen
from forcemove.cli.person.lines import Lines
from forcemove.cli.terminal import Terminal
from forcemove.game import Game, Names
from forcemove.node.managed_channel import ManagedChannel
from forcemove.tables.playing.person import Person
from forcemove.tables.ports import Chat

__all__ = ["PersonSeat"]


class PersonSeat:
    """A person at a screen, or at a terminal without one."""

    def __init__(
        self,
        game: Game,
        aside: Callable[[], Exception],
        aside_text: str,
        terminal: Terminal | None = None,
        *,
        agrees: bool = False,
    ) -> None:
        """Make the person's screen.

        - `game`: the game that is played.
        - `aside`: makes the error that ends the game for a person who leaves the screen.
        - `aside_text`: says what leaving the screen does.
        - `terminal`: where lines are printed if there is no screen; None for a screen.
        - `agrees`: see `Person`.
        """
        person = self.person = Person(game, aside=aside_text, agrees=agrees)
        self.choose = person.choose
        self.output: Screen | Lines
        if terminal is None:
            self.output = Screen(person.take, lambda: person.options, aside)
        else:
            self.output = Lines(person.take, lambda: person.options, lambda: person.is_asked, aside, terminal)
        self.run = self.output.run
        person.say = self.output.say

    def attach(self, played: ManagedChannel, names: Names) -> None:
        """See `PlayerSeat`."""
        self.person.attach(played, names)

    def join_chat(self, chat: Chat) -> None:
        """See `PlayerSeat`."""
        self.person.chat = chat
