"""The player of tic-tac-toe: never loses, wins as soon as it can."""

from __future__ import annotations

from functools import cache

import pytest

from forcemove import InvalidValue, MalformedBytes, NotOurTurn
from forcemove_games.tic_tac_toe import GAME, rules
from forcemove_games.tic_tac_toe.bot import best_cells
from forcemove_games.tic_tac_toe.position import Position, PositionType, decode, initial
from tests.expected import known
from tests.games.states import STAKE, always, amounts, cells, final, outcome, state
from tests.parity.tic_tac_toe_space import boards

X_PLAYING, O_PLAYING, VICTORY, DRAW, ME_FIRST, ME_SECOND = PositionType
START = state(initial(STAKE))


@pytest.mark.parametrize("bot_is_x", [True, False])
def test_whatever_the_opponent_does_the_bot_never_loses(bot_is_x: bool) -> None:
    """All replies of the opponent, after each of the cells that the bot finds equally good."""
    seen: set[bytes] = set()
    waiting = [START]
    lost = []
    while waiting:
        at = waiting.pop()
        if at.app_data in seen:
            continue
        seen.add(at.app_data)
        position = decode(at.app_data)
        bot_moves = rules.crosses_to_move(position) == bot_is_x
        x_has_won = position.crosses.bit_count() > position.noughts.bit_count()
        if position.position_type is VICTORY and x_has_won != bot_is_x:
            lost.append(position)
        if position.position_type not in (VICTORY, DRAW):
            choices = best_cells(position) if bot_moves else position.free_cells
            waiting += [rules.mark(at, cell).after(at) for cell in choices]
    assert lost == []
    assert len(seen) > 100


def test_in_every_reachable_position_the_bot_gets_all_that_can_be_got() -> None:
    """Against a reference that knows nothing of quick and slow wins."""
    for at in boards().values():
        position = decode(at.app_data)
        if position.position_type not in (VICTORY, DRAW):
            results = {cell: -_result(decode(rules.mark(at, cell).app_data)) for cell in position.free_cells}
            assert {results[cell] for cell in best_cells(position)} == {max(results.values())}


@cache
def _result(position: Position) -> int:
    """1 where the next mover wins, 0 where a draw is the best, -1 where the last mark has won or must win."""
    if position.position_type is VICTORY:
        return -1
    if position.position_type is DRAW:
        return 0
    at = state(position)
    return max(-_result(decode(rules.mark(at, cell).app_data)) for cell in position.free_cells)


def test_a_win_at_hand_is_taken_in_every_reachable_position() -> None:
    for at in boards().values():
        position = decode(at.app_data)
        if position.position_type not in (VICTORY, DRAW):
            wins = {
                cell for cell in position.free_cells if decode(rules.mark(at, cell).app_data).position_type is VICTORY
            }
            assert not wins or set(best_cells(position)) == wins


def test_two_bots_draw_and_play_on_with_seats_exchanged() -> None:
    bots, at = (GAME.bot(0), GAME.bot(1)), START
    kinds = []
    for _ in range(12):
        move = known(bots[(at.turn_num + 1) % 2].move(at, another_round=True))
        at = move.after(at)
        kinds.append(decode(at.app_data).position_type)
    assert kinds[8:] == [DRAW, ME_FIRST, ME_SECOND, X_PLAYING]
    assert kinds[:8] == [X_PLAYING, O_PLAYING] * 4


def test_chance_picks_among_equally_good_cells() -> None:
    firsts = {GAME.bot(1, always(drawn)).move(START, another_round=True) for drawn in range(9)}
    assert {cell for cell in range(9) if rules.mark(START, cell) in firsts} == set(best_cells(initial(STAKE)))


@pytest.mark.parametrize(
    "position",
    [Position(VICTORY, STAKE, cells(3, 4), cells(0, 1, 2)), Position(ME_FIRST, STAKE), Position(ME_SECOND, STAKE)],
    ids=["victory", "offer", "agreement"],
)
def test_between_rounds_the_bot_concludes_when_no_round_is_wanted_or_affordable(position: Position) -> None:
    assert GAME.bot(1).move(state(position), another_round=True) is not None
    assert GAME.bot(1).move(state(position), another_round=False) is None
    assert GAME.bot(1).move(state(position, outcome(STAKE - 1)), another_round=True) is None


def test_a_round_that_has_begun_is_played_out() -> None:
    first = rules.mark(START, 4).after(START)
    move = known(GAME.bot(0).move(first, another_round=False))
    assert amounts(move)[0] > amounts(first)[0]


def test_a_round_is_lost_for_its_loser_from_the_first_hopeless_turn_to_the_last() -> None:
    """The careless lose without having been hopeless on a turn of their own: then it is the other's last mark."""
    corner = rules.mark(START, 0).after(START)
    edge = rules.mark(corner, 1).after(corner)
    fork = rules.mark(edge, 4).after(edge)
    won = state(Position(VICTORY, STAKE, cells(3, 4), cells(0, 1, 2)), turn_num=fork.turn_num)
    bots = (GAME.bot(0), GAME.bot(1))
    loser = (fork.turn_num + 1) % 2
    found = [bots[(at.turn_num + 1) % 2].is_lost(at) for at in (START, corner, edge, fork, won)]
    assert found == [False, False, False, True, True]
    assert not bots[1 - loser].is_lost(fork)
    assert not bots[1 - loser].is_lost(won)


def test_a_final_state_is_answered_by_a_final_state() -> None:
    assert GAME.bot(1).move(final(), another_round=True) is None


def test_the_other_seats_turn_is_not_ours() -> None:
    with pytest.raises(NotOurTurn):
        GAME.bot(0).move(START, another_round=True)


@pytest.mark.parametrize("seat", [-1, 2])
def test_there_are_two_seats(seat: int) -> None:
    with pytest.raises(InvalidValue):
        GAME.bot(seat)


def test_this_game_has_no_secrets() -> None:
    assert GAME.bot(0).secrets() == b""
    with pytest.raises(MalformedBytes):
        GAME.bot(0, secrets=b"\x00")
