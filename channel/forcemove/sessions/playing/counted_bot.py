"""A bot that plays a number of rounds and leaves, also when it is stopped and made again in between. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from forcemove.flow.channel import Choose, moves_of_new
from forcemove.game import Bot, Game, Move
from forcemove.protocol.state import VariablePart

__all__ = ["CountedBot", "choose_rounds"]


class CountedBot:
    """A bot whose rounds are counted. `over`: those that are over, by the states that it has seen."""

    def __init__(self, game: Game, bot: Bot, most: int, opening: int, before: Iterable[VariablePart] = ()) -> None:
        """Count the rounds of `bot`.

        - `game`: the game that is played.
        - `bot`: makes the moves.
        - `most`: rounds until the bot leaves.
        - `opening`: the number of turns before the first round.
        - `before`: the channel's states so far, in the order of turns.
        """
        self._game, self._bot, self._most = game, bot, most
        self._begin = game.table[0].from_type.label
        self.over, self._seen = 0, opening - 1
        self._count(*before)

    def move(self, state: VariablePart, *, another_round: bool, between: Sequence[VariablePart] = ()) -> Move | None:
        """See `forcemove.game.Bot.move`."""
        self._count(*between, state)
        move = self._bot.move(state, another_round=another_round and self.over < self._most, between=between)
        if move is not None:
            self._count(move.after(state))
        return move

    def secrets(self) -> bytes:
        """The bot's own secrets: the rounds are counted again."""
        return self._bot.secrets()

    def _count(self, *states: VariablePart) -> None:
        """Count a round at its end, where a game is in its first position again. A state may come twice."""
        for state in states:
            if state.turn_num > self._seen:
                self._seen = state.turn_num
                self.over += self._game.position(state)["type"] == self._begin


def choose_rounds(
    game: Game, seat: int, most: int, seats: int, before: Callable[[], Iterable[VariablePart]] = tuple
) -> Choose:
    """The moves of the game's bot.

    - `game`: the game that is played.
    - `seat`: the bot's.
    - `most`: rounds until it leaves.
    - `seats`: the number of players.
    - `before`: gives the channel's states so far; with them the bot continues after a restart where it was.
    """
    return moves_of_new(lambda secrets: CountedBot(game, game.bot(seat, secrets=secrets), most, 2 * seats, before()))
