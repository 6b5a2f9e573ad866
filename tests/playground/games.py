"""Playgrounds in virtual time, and a person who plays and presses at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from forcemove.arena.chain import ArenaChain
from forcemove.arena.evm_chain import EvmChain
from forcemove.game import Game, Level
from forcemove.node.nonces import draw_nonce
from forcemove.playground.buttons import groups_of, press
from forcemove.playground.playground import Playground
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE

__all__ = ["ROCK_PAPER_SCISSORS", "TIC_TAC_TOE", "TimedPlayground"]

_PAUSES = (0.1, 1.0, 5.0, 20.0)
_PRESSES, _ACTS, _LEAVES = 0.45, 0.85, 0.15
_PATIENCE = 200
"""Steps of twenty seconds within which a game ends that everybody lets end."""


class TimedPlayground:
    """A playground whose clock is moved by hand. `pressed`: what was done in it, for anyone who reads a failure."""

    def __init__(
        self,
        random: Random | None = None,
        level: Level = Level.MEDIUM,
        *,
        games: Sequence[Game] = (TIC_TAC_TOE, ROCK_PAPER_SCISSORS),
        chain: Callable[[Callable[[], float]], ArenaChain] = EvmChain,
        nonces: Callable[[], int] = draw_nonce,
    ) -> None:
        self.now = 100.0
        self.random = random or Random(0)
        self.pressed: list[str] = []
        self.playground = Playground(
            games,
            chain=chain,
            clock=lambda: self.now,
            randomness=self.random.randbytes,
            level=level,
            nonces=nonces,
        )
        self.playground.poll()

    def wait(self, seconds: float) -> None:
        """Let time pass, in which everybody acts."""
        self.now += seconds
        self.playground.poll()

    def press(self, name: str) -> None:
        """Press a button that is open."""
        self.pressed.append(name)
        assert press(self.playground, name) == "", self.pressed
        self.playground.poll()

    @property
    def open_buttons(self) -> list[str]:
        """Those that can be pressed, but for new games."""
        controls = [each for group in groups_of(self.playground) for each in group.controls]
        return [each.name for each in controls if not each.reason and not each.name.startswith(("new-", "tour-"))]

    def act(self, word: str) -> None:
        """Decide something that is possible now."""
        self.pressed.append(word)
        refused = self.playground.act(word, self.playground.channel.next_turn)
        assert refused == "", (refused, self.pressed)

    @property
    def moves(self) -> list[str]:
        """The words of the moves that are possible now."""
        return [each.word for each in self.playground.match.person.choices]

    def move(self) -> None:
        """Make the first move that is possible."""
        self.act(self.moves[0])

    def step(self) -> None:
        """Do something at random."""
        chance = self.random.random()
        if chance < _PRESSES:
            self.press(self.random.choice(self.open_buttons))
        elif chance < _ACTS:
            words = [word for word, _ in self.playground.match.person.options if word != "help"]
            if self.random.random() > _LEAVES:
                words = [word for word in words if word != "leave"]
            if words:
                self.act(self.random.choice(words))
        self.wait(self.random.choice(_PAUSES))

    def end(self) -> None:
        """Let everything be as it should, leave, and wait for the end."""
        for name in ("back", "fair", "mend", "cheap", "endpoint"):
            if name in self.open_buttons:
                self.press(name)
        for _ in range(_PATIENCE):
            if self.playground.match.checks is not None:
                return
            if "leave" in [word for word, _ in self.playground.match.person.options]:
                self.act("leave")
            self.wait(20)
        raise AssertionError(f"the game does not end after {self.pressed}")

    def require_right(self) -> None:
        """The balances are as expected, and nothing has gone wrong that no button has caused."""
        checks = self.playground.match.checks
        assert checks is not None, self.pressed
        assert [each for each in checks if not each.is_right] == [], self.pressed
        assert self.playground.errors == [], self.pressed
