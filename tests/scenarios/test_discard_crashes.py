"""Players of Discard whose processes end at every point of a hand, and come back with nothing but their journals."""

from __future__ import annotations

import pytest

from forcemove.protocol.machine.channel import Phase
from forcemove_games.discard import GAME
from forcemove_games.discard.position import PositionType, decode
from tests.scenarios.story import Player, Playground, Story

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
