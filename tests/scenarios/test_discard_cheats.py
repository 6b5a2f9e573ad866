"""Wrong shuffles in a live channel: the honest client leaves, and has its deposit back, whatever the cheat does with
the chain."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forcemove.game import FalseMove
from forcemove.protocol.machine.channel import Phase
from forcemove.protocol.machine.inputs import MoveChosen
from forcemove_games.discard import GAME
from forcemove_games.discard.game import Discard
from tests.games.cards.dealt import stream
from tests.scenarios.story import DEPOSIT, Player, Playground, Story

SECOND_KEY, FIRST_SHUFFLE = 5, 6
TURNS = [SECOND_KEY, FIRST_SHUFFLE]
DISCARD = Discard()


def cheating(playground: Playground, turn: int) -> Iterator[tuple[Story, Player, Player, FalseMove]]:
    """A new channel for each false shuffle after this turn: the honest player, the cheat, and what it does."""
    count, number = 1, 0
    while number < count:
        made = playground.story(GAME)
        made.play_until(turn)
        cheat, honest = made.players[(turn + 1) % 2], made.players[turn % 2]
        found = DISCARD.false_moves(cheat.newest.state, stream("cheat"), cheat.client.channel.secrets)
        count = len(found)
        yield made, honest, cheat, found[number]
        number += 1


@pytest.mark.parametrize("turn", TURNS)
def test_who_is_sent_a_wrong_shuffle_leaves_and_has_its_deposit(playground: Playground, turn: int) -> None:
    tried = []
    for made, honest, cheat, false in cheating(playground, turn):
        honest.stops_at = None
        cheat.client.feed(MoveChosen(*false.move, false.secrets))
        made.play()
        made.ends_with(honest.newest.state.outcome)
        assert honest.newest.state.is_final
        assert honest.newest.state.turn_num == turn + 2
        assert [entry.amount for entry in honest.newest.state.outcome] == [DEPOSIT, DEPOSIT]
        assert honest.faults == [], "by the rules it is a legal state"
        tried.append(false.label)
    assert len(set(tried)) == len(tried) >= 3


@pytest.mark.parametrize("turn", TURNS)
def test_a_wrong_shuffle_that_is_taken_to_the_chain_is_answered_with_the_end(playground: Playground, turn: int) -> None:
    """The adjudicator takes it for legal, so the clock runs; the honest client ends it with a final state."""
    for made, honest, cheat, false in cheating(playground, turn):
        honest.stops_at, cheat.is_silent = None, True
        before = cheat.newest
        wrong = made.sign(false.move.after(before.state), cheat.seat)
        made.challenge(cheat.seat, before, wrong)
        made.play(honest)
        assert honest.client.channel.status.turn_num_record >= turn + 1
        made.chain.travel_to(made.chain.now() + 2 * made.agreement.fixed_part.challenge_duration)
        made.play(honest)
        made.play()
        assert honest.phase is Phase.CLOSED
        assert (made.gains[honest.seat], made.held) == (0, 0)
