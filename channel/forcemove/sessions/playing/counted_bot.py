"""A bot that plays a number of rounds and leaves, also when it is stopped and made again in between. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from forcemove.flow.channel import Choose, moves_of_new
from forcemove.game import Bot, Game, Level, Move
from forcemove.protocol.types import VariablePart
from forcemove.rounds import RoundCount


class CountedBot:
    """A bot whose rounds are counted, by the states that it has seen."""

    def __init__(self, game: Game, bot: Bot, most: int, before: Iterable[VariablePart] = ()) -> None:
        """Count the rounds of `bot`.

        - `game`: the game that is played.
        - `bot`: makes the moves.
        - `most`: rounds until the bot leaves.
        - `before`: the channel's states so far, in the order of turns.
        """
        self._bot, self._most, self._rounds = bot, most, RoundCount(game, before)

    def move(self, state: VariablePart, *, another_round: bool, between: Sequence[VariablePart] = ()) -> Move | None:
        """See `forcemove.game.Bot.move`."""
        for each in (*between, state):
            self._rounds.add(each)
        wants_more = another_round and len(self._rounds.results) < self._most
        move = self._bot.move(state, another_round=wants_more, between=between)
        if move is not None:
            self._rounds.add(move.after(state))
        return move

    def secrets(self) -> bytes:
        """The bot's own secrets: the rounds are counted again."""
        return self._bot.secrets()


def choose_rounds(
    game: Game,
    seat: int,
    most: int,
    before: Callable[[], Iterable[VariablePart]] = tuple,
    level: Callable[[], Level] = lambda: Level.HARD,
) -> Choose:
    """The moves of the game's bot.

    - `game`: the game that is played.
    - `seat`: the bot's.
    - `most`: rounds until it leaves.
    - `before`: gives the channel's states so far; with them the bot continues after a restart where it was.
    - `level`: how well it plays, asked before each move.
    """
    return moves_of_new(
        lambda secrets: CountedBot(game, game.bot(seat, secrets=secrets, level=level()), most, before())
    )
