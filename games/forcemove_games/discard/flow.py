"""A hand of Discard in a channel, in steps."""

from __future__ import annotations

from forcemove import Bot, VariablePart
from forcemove.flow.channel import Seat, moves_of, playing, turn
from forcemove.flow.steps import Step, sequence
from forcemove_games.discard.position import PositionType, decode


def one_round(player: Bot) -> Step[Seat]:
    """Setting up, moves until somebody has won or nobody can move and all is shown, and the turn that makes ready for
    the next hand. A final state ends it early."""
    choose = moves_of(player)
    return sequence(playing(choose, until=_is_over), turn(choose))


def _is_over(state: VariablePart) -> bool:
    return not state.is_final and decode(state.app_data).position_type in (PositionType.OVER, PositionType.TIED)
