"""A player of rock-paper-scissors whose moves nobody can predict: all weapons are equally likely in every round."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove import Move, VariablePart
from forcemove_games.commitment import Opening
from forcemove_games.randomness import Randomness, choose, system_randomness
from forcemove_games.rock_paper_scissors import rules
from forcemove_games.rock_paper_scissors.openings import decode_openings, encode_openings, find_opening, opening_of
from forcemove_games.rock_paper_scissors.position import Position, PositionType, Weapon, decode
from forcemove_games.two_player import can_afford, is_our_turn, require_our_turn, require_seat


class RockPaperScissorsBot:
    """Plays either side of one channel, and keeps the openings of its commitments.

    `randomness` is the source of weapons and salts. `secrets` are those of an earlier bot for this seat, whose place
    this one takes.
    """

    def __init__(self, seat: int, randomness: Randomness = system_randomness, secrets: bytes = b"") -> None:
        require_seat(seat)
        self._seat = seat
        self._randomness = randomness
        self._openings = decode_openings(secrets)

    def move(
        self,
        state: VariablePart,
        *,
        another_round: bool,
        between: Sequence[VariablePart] = (),  # noqa: ARG002  # the port's: two play
    ) -> Move | None:
        """See `forcemove.game.Bot.move`. Raises `UnknownCommitment` where the opening is not among our secrets."""
        require_our_turn(state, self._seat)
        if state.is_final:
            return None
        position = decode(state.app_data)
        match position.position_type:
            case PositionType.START:
                return self._propose(state) if _plays_on(state, position, another_round) else None
            case PositionType.ROUND_PROPOSED:
                return rules.accept(state, self._draw())
            case PositionType.ROUND_ACCEPTED:
                return self._reveal(state, position)
            case PositionType.REVEAL:
                return rules.next_round(state) if _plays_on(state, position, another_round) else None

    def is_lost(self, state: VariablePart) -> bool:
        """See `forcemove.game.Bot.is_lost`: before we have to reveal a beaten weapon, and after the other has won."""
        if state.is_final or not is_our_turn(state, self._seat):
            return False
        position = decode(state.app_data)
        if position.position_type is PositionType.REVEAL:
            return Weapon(position.a_play).beats(Weapon(position.b_play))
        opening = find_opening(self._openings, position)
        if position.position_type is not PositionType.ROUND_ACCEPTED or opening is None:
            return False
        return Weapon(position.b_play).beats(Weapon(opening.choice))

    def secrets(self) -> bytes:
        """The openings that may still be needed, 64 bytes each (see `Opening.encode`). Store before signing."""
        return encode_openings(self._openings)

    def _draw(self) -> Weapon:
        return choose(tuple(Weapon), self._randomness)

    def _propose(self, state: VariablePart) -> Move:
        opening = Opening.fresh(self._draw(), self._randomness)
        move = rules.propose(state, opening)
        # Earlier ones stay: a proposal that was asked for twice may have been signed the first time.
        self._openings = (*self._openings, opening)
        return move

    def _reveal(self, state: VariablePart, position: Position) -> Move:
        opening = opening_of(self._openings, position)
        move = rules.reveal(state, opening)
        self._openings = (opening,)
        return move


def _plays_on(state: VariablePart, position: Position, another_round: bool) -> bool:
    return another_round and can_afford(state.outcome, position.stake)
