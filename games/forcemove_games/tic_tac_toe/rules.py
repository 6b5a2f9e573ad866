"""The rules of tic-tac-toe: the table, the twin of `TicTacToe.sol`, and the legal moves.

The functions that make moves return what the mover signs next; a move that they return is legal, and where there is
none they raise an `InvalidValue` or the `AppError` that forbids it.
"""

from __future__ import annotations

from forcemove import AppError, InvalidValue, Move, TransitionRow, VariablePart
from forcemove_games import two_player
from forcemove_games.tic_tac_toe.position import (
    FULL_BOARD,
    BoardFull,
    LineMissing,
    MarksOverlap,
    Position,
    PositionType,
    UnexpectedLine,
    WrongMarkCount,
    decode,
    has_line,
    mark_of,
)

_X_PLAYING, _O_PLAYING, _VICTORY, _DRAW, _ME_FIRST, _ME_SECOND = PositionType

TABLE: tuple[TransitionRow, ...] = (
    TransitionRow(_ME_SECOND, _X_PLAYING, "X", "first mark", "+1", ("one cross", "both can pay the stake")),
    TransitionRow(_X_PLAYING, _O_PLAYING, "O", "mark", "+2", ("one new nought",)),
    TransitionRow(_O_PLAYING, _X_PLAYING, "X", "mark", "+2", ("one new cross", "a cell is left")),
    TransitionRow(_X_PLAYING, _VICTORY, "O", "win", "+2", ("one new nought completes a line",)),
    TransitionRow(_O_PLAYING, _VICTORY, "X", "win", "+2", ("one new cross completes a line",)),
    TransitionRow(_O_PLAYING, _DRAW, "X", "fill the board", "+1", ("one new cross", "no cell is left", "no line")),
    TransitionRow(_VICTORY, _ME_FIRST, "the loser", "play again", "0", ("the board is cleared",)),
    TransitionRow(_DRAW, _ME_FIRST, "O", "play again", "0", ("the board is cleared",)),
    TransitionRow(_ME_FIRST, _ME_SECOND, "the other", "agree", "0"),
)
"""Every kind of move. `stakes` is what the signer takes from the other; nothing but the named marks changes."""

_STAKES = {(row.from_type, row.to_type): int(row.stakes) for row in TABLE}


class NotOneNewMark(AppError):
    """A move adds exactly one mark to the mover's."""

    from_: int
    to: int


class OtherMarksChanged(AppError):
    """A move leaves the other's marks as they are."""

    from_: int
    to: int


ERRORS: dict[str, type[AppError]] = {
    error.__name__: error
    for error in (
        *two_player.SHARED_ERRORS,
        two_player.UnwantedEvidence,
        MarksOverlap,
        WrongMarkCount,
        BoardFull,
        UnexpectedLine,
        LineMissing,
        NotOneNewMark,
        OtherMarksChanged,
    )
}
"""The twins of the contract's custom errors, by name."""

# -------------------------------------------------------------------------------------------- the twin of the contract


def valid_transition(_channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
    """Whether `to` may follow `from_`: True, or an `AppError`. The twin of `TicTacToe.validTransition`."""
    require_legal(from_, to, num_participants)
    return True


def require_legal(from_: VariablePart, to: VariablePart, num_participants: int) -> None:
    """Refuse, with an `AppError`, a state that may not follow `from_`. The channel does not matter: no rule depends on
    it."""
    two_player.require_two_players(from_.outcome, to.outcome, num_participants)
    two_player.require_no_evidence(to.evidence)
    old, next_ = decode(from_.app_data), decode(to.app_data)
    two_player.require_same_stake(old.stake, next_.stake)
    stakes = _require_move(old, next_)
    if old.position_type is _ME_SECOND:
        two_player.require_both_afford(from_.outcome, old.stake)
    two_player.require_paid(from_.outcome, to.outcome, to.turn_num % two_player.PLAYERS, stakes, old.stake)


def _require_move(old: Position, next_: Position) -> int:
    """Check the rows of the table; returns how many stakes the mover takes from the other."""
    stakes = _STAKES.get((old.position_type, next_.position_type))
    if stakes is None:
        raise two_player.NoSuchTransition(int(old.position_type), int(next_.position_type))
    if crosses_to_move(old):
        _require_mark(old.crosses, next_.crosses, old.noughts, next_.noughts)
    elif old.position_type is _X_PLAYING:
        _require_mark(old.noughts, next_.noughts, old.crosses, next_.crosses)
    return stakes


def crosses_to_move(position: Position) -> bool:
    """Whether the next mark is a cross."""
    return position.position_type in (_O_PLAYING, _ME_SECOND)


def _require_mark(mine: int, mine_after: int, others: int, others_after: int) -> None:
    if others_after != others:
        raise OtherMarksChanged(others, others_after)
    # The numbers of marks fit the types, so the difference is one mark more, and not one fewer.
    if (mine ^ mine_after).bit_count() != 1:
        raise NotOneNewMark(mine, mine_after)


# -------------------------------------------------------------------------------------------------------- legal moves


def mark(state: VariablePart, cell: int) -> Move:
    """The mover marks a cell; a line is declared Victory, a full board Draw."""
    old = decode(state.app_data)
    if cell not in old.free_cells or old.position_type not in (_X_PLAYING, _O_PLAYING, _ME_SECOND):
        raise InvalidValue("cell", cell, "a free cell of a round in play")
    return _legal(state, _marked(old, cell))


def _marked(old: Position, cell: int) -> Position:
    is_cross = crosses_to_move(old)
    noughts, crosses = old.noughts, old.crosses
    if is_cross:
        crosses |= mark_of(cell)
    else:
        noughts |= mark_of(cell)
    if has_line(crosses if is_cross else noughts):
        kind = _VICTORY
    elif noughts | crosses == FULL_BOARD:
        kind = _DRAW
    else:
        kind = _X_PLAYING if is_cross else _O_PLAYING
    return Position(kind, old.stake, noughts, crosses)


def play_again(state: VariablePart) -> Move:
    """Between two rounds: the loser (O after a draw) offers to start another, or the other agrees to be second."""
    old = decode(state.app_data)
    kind = _ME_SECOND if old.position_type is _ME_FIRST else _ME_FIRST
    return _legal(state, Position(kind, old.stake))


def _legal(state: VariablePart, next_: Position) -> Move:
    stakes = _require_move(decode(state.app_data), next_)
    outcome = two_player.take_stakes(state.outcome, (state.turn_num + 1) % two_player.PLAYERS, stakes, next_.stake)
    move = Move(outcome, next_.encode())
    require_legal(state, move.after(state), two_player.PLAYERS)
    return move


def legal_moves(state: VariablePart) -> list[Move]:
    """Every move of the game from a state, marks by rising cell."""
    position = decode(state.app_data)
    if position.position_type in (_VICTORY, _DRAW, _ME_FIRST):
        return [play_again(state)]
    if position.position_type is _ME_SECOND and not two_player.can_afford(state.outcome, position.stake):
        return []
    return [mark(state, cell) for cell in position.free_cells]
