"""The players of a channel: the game's bot, or a person at a screen."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

from forcemove.cli.match.match import Played
from forcemove.cli.match.output import Output, TerminalOutput
from forcemove.cli.match.person import Person
from forcemove.cli.match.rounds import choose_rounds
from forcemove.cli.match.screen import Screen
from forcemove.cli.person.lines import Lines
from forcemove.cli.terminal import Terminal
from forcemove.errors import ForcemoveError
from forcemove.game import Game
from forcemove.protocol.machine.effects import ChooseMove
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen

__all__ = ["BotSeat", "PersonSeat", "PlayerSeat"]


class PlayerSeat(Protocol):
    """The player of a seat: decides on moves, and is shown what happens."""

    @property
    def output(self) -> Output:
        """Where the player is shown what happens."""
        ...

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        """See `forcemove.node.effect_executor.MoveChooser`."""
        ...

    def attach(self, played: Played) -> None:
        """Take the channel. Called once, before `run`."""
        ...

    async def run(self) -> None:
        """Run until this is cancelled. Raises the error that ends the game for this player."""
        ...


class BotSeat:
    """The game's bot, for a number of rounds."""

    def __init__(self, game: Game, seat: int, rounds: int, seats: int, terminal: Terminal, pace: float = 0) -> None:
        """Make the bot.

        - `game`: the game that is played.
        - `seat`: the bot's index in the channel.
        - `rounds`: after how many rounds the bot leaves.
        - `seats`: the number of players.
        - `terminal`: where the match is printed.
        - `pace`: seconds that the bot takes for a move.
        """
        self._choose, self._pace = choose_rounds(game, seat, rounds, seats), pace
        self.output = TerminalOutput(terminal)
        self._played: Played | None = None
        self._questions: asyncio.Queue[ChooseMove] = asyncio.Queue()

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        """See `PlayerSeat`."""
        if not self._pace:
            return self._choose(question)
        self._questions.put_nowait(question)
        return None

    def attach(self, played: Played) -> None:
        """See `PlayerSeat`."""
        self._played = played

    async def run(self) -> None:
        """Answer the questions that were not answered at once."""
        while True:
            question = await self._questions.get()
            await asyncio.sleep(self._pace)
            if self._played is not None and self._played.channel.is_our_turn_after(question.state):
                with contextlib.suppress(ForcemoveError):  # it is asked again if that is still wanted
                    self._played.feed(self._choose(question))


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
        person = self._person = Person(game, aside=aside_text, agrees=agrees)
        self.choose = person.choose
        self.output: Screen | Lines
        if terminal is None:
            self.output = Screen(person.take, lambda: person.options, aside)
        else:
            self.output = Lines(person.take, lambda: person.options, lambda: person.is_asked, aside, terminal)
        self.run = self.output.run
        person.say = self.output.say

    def attach(self, played: Played) -> None:
        """See `PlayerSeat`."""
        self._person.played = played
