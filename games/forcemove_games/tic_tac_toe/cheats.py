"""The moves that a cheat at tic-tac-toe could try in each position."""

from __future__ import annotations

from collections.abc import Iterator

from forcemove import UINT256_MAX, Move, VariablePart
from forcemove_games.cheats import Labelled, wrong_payments
from forcemove_games.tic_tac_toe.position import FULL_BOARD, Position, PositionType, decode
from forcemove_games.tic_tac_toe.rules import crosses_to_move, legal_moves
from forcemove_games.two_player import encode_words

_OUTSIDE = FULL_BOARD + 1
"""The lowest bit that is not a cell."""

_Forged = tuple[str, PositionType, int, int]
"""A label for the cheat; the position type and the two sets of marks that it signs."""


def cheats(state: VariablePart) -> Iterator[Labelled]:
    """Moves to try after a reachable state, most of them illegal."""
    position = decode(state.app_data)
    moves = legal_moves(state)
    outcome = state.outcome
    if moves:
        legal = moves[-1]
        # What is forged below pays what the legal move would.
        outcome = legal.outcome
        yield from wrong_payments(state, legal, position.stake)
        yield "changes the stake", Move(outcome, _with_another_stake(decode(legal.app_data)))
    for label, kind, noughts, crosses in _forged(position):
        yield label, Move(outcome, encode_words(kind, position.stake, noughts, crosses))
    yield "repeats the position", Move(state.outcome, state.app_data)
    yield "sends half a position", Move(outcome, state.app_data[:64])


def _with_another_stake(position: Position) -> bytes:
    stake = position.stake + 1 if position.stake < UINT256_MAX else 0
    return encode_words(position.position_type, stake, position.noughts, position.crosses)


def _forged(position: Position) -> Iterator[_Forged]:
    if position.position_type in (PositionType.X_PLAYING, PositionType.O_PLAYING, PositionType.PLAY_AGAIN_ME_SECOND):
        yield from _forged_marks(position)
    else:
        yield "keeps the board", PositionType.PLAY_AGAIN_ME_FIRST, position.noughts, position.crosses | 1
        yield "starts without an agreement", PositionType.X_PLAYING, 0, 1
    yield "leaves the table's order", PositionType.PLAY_AGAIN_ME_SECOND, 0, 0


def _forged_marks(position: Position) -> Iterator[_Forged]:
    is_cross = crosses_to_move(position)
    playing = PositionType.X_PLAYING if is_cross else PositionType.O_PLAYING
    mine, others = position.noughts, position.crosses
    if is_cross:
        mine, others = others, mine
    free = FULL_BOARD & ~(mine | others)
    new = _lowest(free)
    boards: tuple[_Forged, ...] = (
        ("makes no mark", playing, mine, others),
        ("marks two cells", playing, mine | new | _lowest(free & ~new), others),
        ("marks outside the board", playing, mine | _OUTSIDE, others),
        ("declares XPlaying or OPlaying falsely", playing, mine | new, others),
        ("declares Victory falsely", PositionType.VICTORY, mine | new, others),
        ("declares Draw falsely", PositionType.DRAW, mine | new, others),
    )
    if others:
        boards += (
            ("marks an occupied cell", playing, mine | _lowest(others), others),
            ("takes a mark of the other's away", playing, mine | new, others & (others - 1)),
        )
    for label, kind, own, their in boards:
        yield label, kind, *((their, own) if is_cross else (own, their))


def _lowest(marks: int) -> int:
    return marks & -marks
