"""Two players of Discard around a state, with what each of them has stored: as a client drives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from forcemove import Move, VariablePart
from forcemove.game import Level
from forcemove.testing.calls import ID
from forcemove_games.discard.bot import DiscardBot
from forcemove_games.discard.position import PositionType, decode
from forcemove_games.discard.rules import require_legal
from tests.games.cards.dealt import stream
from tests.games.discard.dealer import begin

__all__ = ["Pair", "amounts", "kind_of"]


def kind_of(state: VariablePart) -> PositionType:
    return decode(state.app_data).position_type


def amounts(state: VariablePart) -> tuple[int, int]:
    first, second = (entry.amount for entry in state.outcome)
    return first, second


@dataclass
class Pair:
    """`stored`: by seat, the secrets as a client has them: what came with each player's last move. `careless`: the
    seats that play without thinking. `states`: all so far."""

    label: str = "pair"
    careless: tuple[int, ...] = ()
    hands: int = 1
    stored: list[bytes] = field(default_factory=lambda: [b"", b""])
    states: list[VariablePart] = field(default_factory=lambda: [begin(ID)])
    _draws: int = 0

    @property
    def newest(self) -> VariablePart:
        return self.states[-1]

    @property
    def mover(self) -> int:
        return (self.newest.turn_num + 1) % 2

    def bot(self, seat: int) -> DiscardBot:
        """A new process of this player, which has nothing but what was stored."""
        self._draws += 1
        random = stream(f"{self.label} {seat} {self._draws}")
        level = Level.EASY if seat in self.careless else Level.HARD
        return DiscardBot(seat, random, self.stored[seat], level)

    def asked(self) -> tuple[Move | None, bytes]:
        """The mover's answer, by a new process, and the secrets that come with it."""
        bot = self.bot(self.mover)
        move = bot.move(self.newest, another_round=decode(self.newest.app_data).core.hand < self.hands)
        return move, bot.secrets()

    def take(self, move: Move, secrets: bytes) -> VariablePart:
        """Store, then sign: the move is the newest state, if the rules allow it."""
        state = move.after(self.newest)
        require_legal(ID, self.newest, state, 2)
        self.stored[self.mover] = secrets
        self.states.append(state)
        return state

    def step(self) -> bool:
        """One move; False where the mover leaves."""
        move, secrets = self.asked()
        if move is None:
            return False
        self.take(move, secrets)
        return True

    def play(self, until: Callable[[VariablePart], bool] = lambda _: False) -> Iterator[VariablePart]:
        """Move after move, until somebody leaves or `until` holds of the newest state, which comes last."""
        yield self.newest
        while not until(self.newest) and self.step():
            yield self.newest

    def play_to_next(self) -> VariablePart:
        """One move, which must be there."""
        assert self.step()
        return self.newest

    def play_to(self, kind: PositionType) -> VariablePart:
        """Play to the first state of this type."""
        for _ in self.play(lambda state: kind_of(state) is kind):
            pass
        assert kind_of(self.newest) is kind
        return self.newest
