"""A round of tic-tac-toe in a channel, in steps."""

from __future__ import annotations

from forcemove import Bot, VariablePart
from forcemove.flow.channel import Seat, moves_of, playing, turn
from forcemove.flow.steps import Step, sequence
from forcemove_games.tic_tac_toe.position import PositionType, decode


def one_round(player: Bot) -> Step[Seat]:
    """Marks until there is a line or the board is full, then the two turns in which both agree on the next round. A
    final state ends it early."""
    choose = moves_of(player)
    loser_offers_another = winner_agrees = turn(choose)
    return sequence(playing(choose, until=_is_over), loser_offers_another, winner_agrees)


def _is_over(state: VariablePart) -> bool:
    return not state.is_final and decode(state.app_data).position_type in (PositionType.VICTORY, PositionType.DRAW)
