"""Discard in live channels: processes that end at every point of a hand and come back with their journals, and wrong
shuffles, after which the honest client leaves and has its deposit back, on real chains, too."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from forcemove import FalseMove, MoveChosen, Phase
from forcemove_games.discard.game import Discard
from forcemove_games.discard.position import PositionType, decode
from tests.games.cards.dealt import stream
from tests.sampled import with_sample
from tests.scenarios.conftest import PLACES
from tests.scenarios.story import DEPOSIT, Player, Playground, Story

GAME = Discard()
OPENED = 3
LAST = 80
ENDS = (PositionType.OVER, PositionType.TIED)


def come_back(made: Story, player: Player) -> None:
    """Another process, with a bot that knows what was stored."""
    stored = player.stored
    made.start(player)
    player.bot = GAME.bot(player.seat, secrets=b"" if stored is None else stored.secrets)


@pytest.mark.parametrize("dying", [(0,), (1,), (0, 1)], ids=["Alice dies", "Bob dies", "both die"])
def test_play_goes_on_after_a_crash_at_every_turn_of_a_hand(playground: Playground, dying: tuple[int, ...]) -> None:
    """Nobody signs a turn twice, and the hand comes to an end by the rules."""
    made = playground.story(GAME)
    made.play_until(OPENED)
    signed: dict[int, bytes] = {}
    for turn in range(OPENED, LAST):
        for player in made.players:
            player.stops_at = turn + 1
        for seat in dying:
            come_back(made, made.players[seat])
        mover = made.players[(turn + 1) % 2]
        if mover.seat not in dying:
            mover.decide_at_last()
        made.play()
        assert [player.newest.state.turn_num for player in made.players] == [turn + 1] * 2
        for state in (each.state for player in made.players for each in player.states):
            known = signed.setdefault(state.turn_num, state.app_data)
            assert known == state.app_data, f"turn {state.turn_num} was signed twice"
        if decode(made.alice.newest.state.app_data).core.position_type in ENDS:
            break
    made.go_on(leave_after=0)
    assert [player.phase for player in made.players] == [Phase.CLOSED, Phase.CLOSED]
    assert max(signed) > 12


# ------------------------------------------------------------------------------------------------------- wrong shuffles

SECOND_KEY, FIRST_SHUFFLE = 5, 6
TURNS = [SECOND_KEY, FIRST_SHUFFLE]


def cheating(playground: Playground, turn: int) -> Iterator[tuple[Story, Player, Player, FalseMove]]:
    """A new channel for each false shuffle after this turn: the honest player, the cheat, and what it does."""
    count, number = 1, 0
    while number < count:
        made = playground.story(GAME)
        made.play_until(turn)
        cheat, honest = made.players[(turn + 1) % 2], made.players[turn % 2]
        found = GAME.false_moves(cheat.newest.state, stream("cheat"), cheat.client.channel.secrets)
        count = len(found)
        yield made, honest, cheat, found[number]
        number += 1


EVERYWHERE = list(product(["memory", *PLACES], TURNS))
SOMEWHERE = pytest.mark.parametrize(
    ("place", "turn"),
    with_sample(EVERYWHERE, [("memory", SECOND_KEY), ("anvil", SECOND_KEY), ("eth-tester", FIRST_SHUFFLE)]),
    indirect=["place"],
)


@SOMEWHERE
def test_who_is_sent_a_wrong_shuffle_leaves_and_has_its_deposit(place: Playground, turn: int) -> None:
    tried = []
    for made, honest, cheat, false in cheating(place, turn):
        honest.stops_at = None
        cheat.client.feed(MoveChosen(*false.move, secrets=false.secrets))
        made.play()
        made.ends_with(honest.newest.state.outcome)
        assert honest.newest.state.is_final
        assert honest.newest.state.turn_num == turn + 2
        assert [entry.amount for entry in honest.newest.state.outcome] == [DEPOSIT, DEPOSIT]
        assert honest.faults == [], "by the rules it is a legal state"
        tried.append(false.label)
    assert len(set(tried)) == len(tried) >= 3


@SOMEWHERE
def test_a_wrong_shuffle_that_is_taken_to_the_chain_is_answered_with_the_end(place: Playground, turn: int) -> None:
    """The adjudicator takes it for legal, so the clock runs; the honest client ends it with a final state."""
    for made, honest, cheat, false in cheating(place, turn):
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
