"""Games as flows over channels: what is common to all of them."""

from __future__ import annotations

from collections.abc import Callable

from channel.flow.channel import Choose, ConcludeWanted, MoveChosen, Seat, playing
from channel.flow.steps import Step
from channel.protocol.state import VariablePart
from games.game import Bot

__all__ = ["moves_of", "rounds"]


def _always(_: VariablePart) -> bool:
    return True


def moves_of(player: Bot, *, another_round: Callable[[VariablePart], bool] = _always) -> Choose:
    """A player's answers as a flow wants them: a move, or the wish to conclude where the player has none."""

    def choose(state: VariablePart) -> MoveChosen | ConcludeWanted:
        move = player.move(state, another_round=another_round(state))
        return ConcludeWanted() if move is None else MoveChosen(*move)

    return choose


def rounds(player: Bot, *, another: Callable[[VariablePart], bool] = _always) -> Step[Seat]:
    """Round after round, while `another` holds between two of them and both can pay, until somebody's final state."""
    return playing(moves_of(player, another_round=another), until=lambda _: False)
