"""Discard in the playground: the page shows the person's own hand, and whatever is pressed, the money is right."""

from __future__ import annotations

from random import Random

import pytest

from forcemove.browser.drawing.board import board_of
from forcemove.browser.view import ChannelView
from forcemove_games.discard import GAME
from forcemove_games.discard.board import own_cards
from tests.playground.games import TimedPlayground


def with_cards(seed: int = 0) -> TimedPlayground:
    made = TimedPlayground(Random(seed), games=(GAME,))
    made.wait(1)
    return made


def view_of(made: TimedPlayground) -> ChannelView:
    playground = made.playground
    history = playground.history(playground.channel.agreement.channel_id)
    seen = playground.overview()
    return ChannelView(
        GAME, playground.channel, history, seen, playground.now, 0, playground.names, playground.own, "/", None, "t" * 8
    )


def test_the_page_draws_our_hand_with_a_spot_for_each_move() -> None:
    made = with_cards()
    while not made.moves:
        made.wait(1)
    board, newest = board_of(view_of(made)), made.playground.channel.newest
    assert newest is not None
    own = own_cards(newest.state, made.playground.own)
    assert own is not None
    assert board.drawing is not None
    assert sum(board.drawing.markup.count(f">{sign}<") for sign in "♠♥♦♣") == 1 + len(own[1])
    spots = [placed.button for placed in board.drawing.spots]
    assert {each.word for each in spots if not each.reason} == set(made.moves)
    assert board.buttons == ()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 20))])
def test_whatever_is_pressed_and_laid_the_balances_are_as_expected(seed: int) -> None:
    made = with_cards(seed)
    for _ in range(40):
        if made.playground.match.checks is not None:
            break
        made.step()
    made.end()
    made.require_right()
