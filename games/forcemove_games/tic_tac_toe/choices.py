"""What a person may do in tic-tac-toe, by its words. Pure."""

from __future__ import annotations

from forcemove import Choice, VariablePart
from forcemove_games.tic_tac_toe import rules
from forcemove_games.tic_tac_toe.position import PositionType, decode
from forcemove_games.two_player import can_afford

CELL_NAMES = (
    "in the upper left corner",
    "on the upper edge",
    "in the upper right corner",
    "on the left edge",
    "in the middle",
    "on the right edge",
    "in the lower left corner",
    "on the lower edge",
    "in the lower right corner",
)


def choices(state: VariablePart) -> tuple[Choice, ...]:
    """See `forcemove.game.Game.choices`; `state` is not final."""
    position = decode(state.app_data)
    if position.position_type in (PositionType.X_PLAYING, PositionType.O_PLAYING):
        return _marks(state, position.free_cells)
    if not can_afford(state.outcome, position.stake):
        return ()
    if position.position_type is PositionType.PLAY_AGAIN_ME_SECOND:
        return _marks(state, position.free_cells)
    return (Choice("again", "play another round", rules.play_again(state)),)


def _marks(state: VariablePart, cells: tuple[int, ...]) -> tuple[Choice, ...]:
    mark = "an X" if rules.crosses_to_move(decode(state.app_data)) else "an O"
    return tuple(Choice(str(cell), f"place {mark} {CELL_NAMES[cell]}", rules.mark(state, cell)) for cell in cells)
