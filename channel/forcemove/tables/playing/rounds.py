"""A bot that plays a number of rounds and leaves, also when it is stopped and made again in between. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forcemove.errors import MalformedBytes
from forcemove.flow.channel import Choose, Player, moves_of_new
from forcemove.game import Bot, Game, Move
from forcemove.protocol.state import VariablePart

__all__ = ["Rounds", "choose_rounds", "with_counts"]

_NUMBER = 8
"""Bytes of a number among the secrets."""


class Rounds:
    """A bot whose rounds are counted: how many are over, and up to which turn they were counted. Both numbers are kept
    with the bot's secrets."""

    def __init__(self, game: Game, make: Callable[[bytes], Bot], most: int, opening: int, secrets: bytes) -> None:
        """Go on with the bot that has left `secrets`. Raises `MalformedBytes` on secrets that no `Rounds` has left.

        - `game`: the game that is played.
        - `make`: makes the bot from its own secrets.
        - `most`: rounds until the bot leaves.
        - `opening`: the number of turns before the first round.
        - `secrets`: what `secrets()` returned before; empty for a new bot.
        """
        if 0 < len(secrets) < 2 * _NUMBER:
            raise MalformedBytes("secrets", f"{len(secrets)} bytes are too few")
        self._game, self._most = game, most
        self._begin = game.table[0].from_type.label
        self.over = int.from_bytes(secrets[:_NUMBER])
        self._seen = int.from_bytes(secrets[_NUMBER : 2 * _NUMBER]) or opening - 1
        self._bot = make(secrets[2 * _NUMBER :])

    def move(self, state: VariablePart, *, another_round: bool, between: Sequence[VariablePart] = ()) -> Move | None:
        """See `forcemove.game.Bot.move`."""
        self._count(state)
        move = self._bot.move(state, another_round=another_round and self.over < self._most, between=between)
        if move is not None:
            self._count(move.after(state))
        return move

    def secrets(self) -> bytes:
        """The counts, and then the bot's own secrets."""
        return self.over.to_bytes(_NUMBER) + self._seen.to_bytes(_NUMBER) + self._bot.secrets()

    def _count(self, state: VariablePart) -> None:
        """Count a round at its end, where a game is in its first position again. A state may come twice."""
        if state.turn_num <= self._seen:
            return
        self._seen = state.turn_num
        self.over += self._game.position(state)["type"] == self._begin


def with_counts(secrets: bytes) -> tuple[bytes, bytes]:
    """The counts among the secrets, zeros where there are none, and the bot's own part."""
    return secrets[: 2 * _NUMBER] or bytes(2 * _NUMBER), secrets[2 * _NUMBER :]


def choose_rounds(game: Game, seat: int, most: int, seats: int) -> Choose:
    """The moves of the game's bot in a seat, for a number of rounds; after a restart the bot goes on where it was."""
    return moves_of_new(lambda secrets: _rounds(game, seat, most, seats, secrets))


def _rounds(game: Game, seat: int, most: int, seats: int, secrets: bytes) -> Player:
    return Rounds(game, lambda left: game.bot(seat, secrets=left), most, 2 * seats, secrets)
