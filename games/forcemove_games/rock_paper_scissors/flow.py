"""A round of rock-paper-scissors in a channel, in steps."""

from __future__ import annotations

from forcemove import Bot
from forcemove.flow.channel import Seat, moves_of, turn
from forcemove.flow.steps import Step, sequence


def one_round(player: Bot) -> Step[Seat]:
    """Four turns. A player that does not want a round, or cannot pay for it, signs a final state instead; then the rest
    of the turns are passed over."""
    next_turn = turn(moves_of(player))
    a_commits = b_answers = a_reveals = b_opens_the_next_round = next_turn
    return sequence(a_commits, b_answers, a_reveals, b_opens_the_next_round)
