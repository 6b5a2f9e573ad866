"""A person who plays: a channel, or a game without one by choosing among numbered options, both at the same screen."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence

from forcemove.cli.play.screen import person_output
from forcemove.cli.terminal import Terminal
from forcemove.game import Game, Names
from forcemove.node.managed_channel import ManagedChannel
from forcemove.sessions.playing.content import TableContent
from forcemove.sessions.playing.help import HELP, help_lines
from forcemove.sessions.playing.human_player import HumanPlayer
from forcemove.sessions.playing.patience import MoveClock
from forcemove.sessions.playing.played_channel import run_with_background
from forcemove.text.situation.moment import clock_text


class PersonSeat:
    """A person at a screen, or at a terminal without one."""

    def __init__(
        self,
        game: Game,
        aside: Callable[[], Exception],
        aside_text: str,
        terminal: Terminal,
        *,
        agrees: bool = False,
    ) -> None:
        """Make the person's screen.

        - `game`: the game that is played.
        - `aside`: makes the error that ends the game for a person who leaves the screen.
        - `aside_text`: says what leaving the screen does.
        - `terminal`: where lines are printed if there is no screen.
        - `agrees`: see `HumanPlayer`.
        """
        person = self.person = HumanPlayer(game, aside=aside_text, agrees=agrees)
        self.choose = person.choose
        self.output = person_output(person.take, lambda: person.options, lambda: person.is_asked, aside, terminal)
        self.run, self.join_chat = self.output.run, person.join_chat
        person.is_seen = lambda: True
        person.say, person.on_asked = self.output.say, self.output.ring

    def attach(self, played: ManagedChannel, names: Names, clock: MoveClock) -> None:
        """See `PlayerSeat`."""
        self.person.attach(played, names, clock)


_LEAVE = "leave"
_POLL_SECONDS = 0.25
_ENDS = (".", "?", "!", ":")
_NOTHING_LOST = "Nothing is at stake: nobody loses anything by leaving."


class Numbered:
    """A person who answers a game's questions by number. The game asks them by `ask`."""

    def __init__(
        self,
        other: str,
        patience: float,
        aside: Callable[[], Exception],
        aside_text: str,
        terminal: Terminal,
    ) -> None:
        """Show an empty table.

        - `other`: the name of the player that is waited for.
        - `patience`: seconds that each message of the other player is waited for.
        - `aside`: makes the error that ends the game for a person who presses Ctrl-C.
        - `aside_text`: says what leaving does.
        - `terminal`: where lines are printed if there is no screen.
        """
        self._other, self._patience, self._aside_text = other, patience, aside_text
        self._since, self._headline = time.monotonic(), ""
        self._board: Sequence[str] = ()
        self._options: Sequence[str] = ()
        self._chosen: asyncio.Future[int] | None = None
        self._is_leaving = False
        self.output = person_output(self.take, lambda: self.options, lambda: self.is_asked, aside, terminal)
        self._show()

    async def run(self) -> None:
        """Run until this is cancelled. Raises the error that `aside` makes."""
        await run_with_background(self.output.run(), self._keep_showing())

    def notify(self, line: str) -> None:
        """Print what has happened."""
        self._since = time.monotonic()
        self.output.say(line)

    async def ask(self, prompt: str, options: Sequence[str]) -> int:
        """See `forcemove.sessions.ports.Ask`. Raises `EOFError` where the person leaves."""
        self._headline, *self._board = prompt.splitlines()
        if self._is_leaving:
            raise EOFError
        self._options, self._chosen = options, asyncio.get_running_loop().create_future()
        self._show()
        self.output.ring()
        try:
            return await self._chosen
        finally:
            self._options, self._chosen, self._since = (), None, time.monotonic()
            self._show()

    # --------------------------------------------------------------------------------------------------------- showing

    @property
    def is_asked(self) -> bool:
        """Whether there is something to decide."""
        return self._chosen is not None and not self._chosen.done()

    @property
    def options(self) -> Sequence[tuple[str, str]]:
        """What can be typed now, and what it does."""
        numbered = [(str(number), option) for number, option in enumerate(self._options, 1)]
        leave = [] if self._is_leaving else [(_LEAVE, "end the game with your next turn")]
        return (*numbered, *leave, (HELP, "what can be done here"))

    def _show(self) -> None:
        self.output.show(self._content())

    async def _keep_showing(self) -> None:
        while True:
            self._show()
            await asyncio.sleep(_POLL_SECONDS)

    def _content(self) -> TableContent:
        if self.is_asked:
            headline = self._headline if self._headline.endswith(_ENDS) else f"{self._headline}."
            return TableContent(headline, self._board, outlook=f"{self._other} waits for you. {_NOTHING_LOST}")
        left = self._patience - (time.monotonic() - self._since)
        more = "" if left == math.inf else f", and is waited for {clock_text(left)} more"
        return TableContent(f"{self._other} is to move{more}.", self._board, outlook=_NOTHING_LOST)

    # ---------------------------------------------------------------------------------------------------------- typing

    def take(self, typed: str) -> str:
        """Do what was typed; what is wrong with it, empty where it was done."""
        typed = typed.strip().lower()
        if typed == HELP:
            for line in help_lines(self._aside_text, has_stake=False):
                self.output.say(line)
            return ""
        if typed and _LEAVE.startswith(typed):
            return self._leave()
        number = self._number(typed)
        if self._chosen is None or self._chosen.done():
            return f"There is nothing to decide now: {self._other} is to move."
        if number is None:
            return f"Type a number from 1 to {len(self._options)}, {_LEAVE} or {HELP}."
        self._chosen.set_result(number)
        return ""

    def _number(self, typed: str) -> int | None:
        """The index of an option that was typed by its number or its text; an empty line means the only option."""
        words = [option.strip().lower() for option in self._options]
        numbers = [str(number) for number in range(1, len(words) + 1)]
        if not typed and len(words) == 1:
            return 0
        return next((each.index(typed) for each in (numbers, words) if typed in each), None)

    def _leave(self) -> str:
        if self._chosen is not None and not self._chosen.done():
            self._is_leaving = True
            self._chosen.set_exception(EOFError())
        elif not self._is_leaving:
            self._is_leaving = True
            self.output.say("You leave with your next turn.")
        return ""
