"""A player of Discard in a channel: it checks what no contract does, and lays cards that are hard to answer."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove import Level, Move, VariablePart
from forcemove_games.discard import moves
from forcemove_games.discard.hand import PlayerSide, objection
from forcemove_games.discard.moves import MadeMove
from forcemove_games.discard.position import PositionType, decode
from forcemove_games.discard.secrets import HandSecrets
from forcemove_games.discard.steps import indices
from forcemove_games.discard_sra.cards import SIZE, worth
from forcemove_games.randomness import Randomness, choose, system_randomness
from forcemove_games.two_player import can_afford, is_our_turn, require_our_turn, require_seat

_OVER = (PositionType.OVER, PositionType.TIED)


def is_between_hands(kind: PositionType) -> bool:
    """Whether a player who leaves after a position of this type loses nothing: no hand is dealt, or one has ended."""
    return kind < PositionType.DEALT_FIRST or kind in _OVER


class DiscardBot:
    """Plays either seat of one channel.

    `randomness` is the source of seeds, and of choices without thinking. `secrets` are those of an earlier bot for this
    seat, whose place this one takes.
    """

    def __init__(
        self,
        seat: int,
        randomness: Randomness = system_randomness,
        secrets: bytes = b"",
        level: Level = Level.HARD,
    ) -> None:
        """`level`: how often it thinks; else it lays or draws as it comes."""
        require_seat(seat)
        self._seat, self._randomness, self._level = seat, randomness, level
        self._secrets = HandSecrets.decode(secrets)

    def move(
        self,
        state: VariablePart,
        *,
        another_round: bool,
        between: Sequence[VariablePart] = (),  # noqa: ARG002  # the port's: two play
    ) -> Move | None:
        """See `forcemove.game.Bot.move`. It is None, too, where the other has sent a wrong shuffle, and where we have
        said that we can't move, and have to show that we could. Raises `HandSecretsLost`."""
        require_our_turn(state, self._seat)
        if state.is_final or not self._plays_on(state, another_round):
            return None
        side = PlayerSide(state, self._seat, self._secrets)
        found = None if objection(side) else self._answer(side)
        if found is None:
            return None
        self._secrets = found.secrets
        return found.move

    def is_lost(self, state: VariablePart) -> bool:
        """See `forcemove.game.Bot.is_lost`: when the other has laid its last card."""
        if state.is_final or not is_our_turn(state, self._seat):
            return False
        return decode(state.app_data).position_type is PositionType.OVER

    def secrets(self) -> bytes:
        """The seeds and decks of the last moves, see `HandSecrets`. Store before signing."""
        return self._secrets.encode()

    def _plays_on(self, state: VariablePart, another_round: bool) -> bool:
        position = decode(state.app_data)
        kind = position.position_type
        if not is_between_hands(kind):
            return True
        begins = kind in (*_OVER, PositionType.READY)
        return another_round and (not begins or can_afford(state.outcome, position.stake))

    def _answer(self, side: PlayerSide) -> MadeMove | None:
        kind = side.core.position_type
        if kind in _OVER:
            return moves.next_hand(side)
        if kind < PositionType.DEALT:
            return moves.set_up(side, self._randomness)
        if side.shows_next:
            return moves.show(side) if side.can_show else None
        lays = side.may_lay
        can_draw = side.core.drawn < SIZE
        if not lays:
            return moves.draw(side) if can_draw else moves.cannot_move(side)
        if not self._level.thinks(self._randomness):
            index = choose((*lays, *([SIZE] if can_draw else [])), self._randomness)
            return moves.draw(side) if index == SIZE else moves.lay(side, index)
        hand, gone = side.hand.values(), (side.core.top, *indices(side.core.denied[1 - self._seat]))
        return moves.lay(side, max(lays, key=lambda index: worth(lays[index], hand, gone)))
