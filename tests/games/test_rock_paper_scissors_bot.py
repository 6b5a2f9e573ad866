"""The player of rock-paper-scissors: fair weapons, fresh salts, and secrets that outlive a crash."""

from __future__ import annotations

from collections import Counter

import pytest

from forcemove import Bot, InvalidValue, MalformedBytes, NotOurTurn, VariablePart
from forcemove_games.rock_paper_scissors import GAME
from forcemove_games.rock_paper_scissors.openings import UnknownCommitment
from forcemove_games.rock_paper_scissors.position import PositionType, Weapon, decode, initial
from tests.games.states import ID, STAKE, always, amounts, final, outcome, state

A, B = 1, 0
START = state(initial(ID, STAKE))


def kind(of: VariablePart) -> PositionType:
    return decode(of.app_data).position_type


def answer(bot: Bot, at: VariablePart, *, another_round: bool = True) -> VariablePart:
    move = bot.move(at, another_round=another_round)
    assert move is not None
    return move.after(at)


def test_two_bots_play_until_a_round_cannot_be_paid_for() -> None:
    bots, at, kinds = (GAME.bot(B), GAME.bot(A)), START, []
    while (move := bots[(at.turn_num + 1) % 2].move(at, another_round=True)) is not None:
        assert GAME.valid_transition(ID, at, move.after(at), 2)
        at = move.after(at)
        kinds.append(kind(at))
    cycle = [PositionType.ROUND_PROPOSED, PositionType.ROUND_ACCEPTED, PositionType.REVEAL, PositionType.START]
    assert kinds == (cycle * len(kinds))[: len(kinds)]
    assert kind(at) is PositionType.REVEAL
    assert min(amounts(at)) < STAKE


@pytest.mark.parametrize("seat", [A, B])
def test_a_reveal_or_a_start_is_left_by_concluding_when_no_round_is_wanted(seat: int) -> None:
    bots = {A: GAME.bot(A), B: GAME.bot(B)}
    at = START if seat == A else answer(bots[A], answer(bots[B], answer(bots[A], START)))
    assert kind(at) is (PositionType.START if seat == A else PositionType.REVEAL)
    assert bots[seat].move(at, another_round=False) is None


def test_a_round_that_has_begun_is_played_out() -> None:
    a, b = GAME.bot(A), GAME.bot(B)
    accepted = answer(b, answer(a, START), another_round=False)
    assert kind(accepted) is PositionType.ROUND_ACCEPTED
    assert kind(answer(a, accepted, another_round=False)) is PositionType.REVEAL


def test_a_round_that_somebody_cannot_pay_for_is_not_proposed() -> None:
    assert GAME.bot(A).move(state(initial(ID, STAKE), outcome(STAKE - 1)), another_round=True) is None


def test_a_final_state_is_answered_by_a_final_state() -> None:
    assert GAME.bot(A).move(final(), another_round=True) is None


def test_every_proposal_hides_behind_a_fresh_salt() -> None:
    bot = GAME.bot(A)
    assert len({decode(answer(bot, START).app_data).pre_commit for _ in range(300)}) == 300


def test_b_plays_all_weapons_equally_often() -> None:
    """Over every byte that a source can give, which is what a uniform one gives on average."""
    drawn = iter(range(255))
    bot, proposed = GAME.bot(B, lambda _: bytes((next(drawn),))), answer(GAME.bot(A), START)
    plays = Counter(decode(answer(bot, proposed).app_data).b_play for _ in range(255))
    assert plays == {0: 85, 1: 85, 2: 85}


def test_a_plays_all_weapons_equally_often() -> None:
    plays: Counter[int] = Counter()
    for drawn in range(255):
        a = GAME.bot(A, always(drawn))
        accepted = answer(GAME.bot(B), answer(a, START))
        plays[decode(answer(a, accepted).app_data).a_play] += 1
    assert plays == {int(weapon): 85 for weapon in Weapon}


def test_after_a_crash_another_bot_opens_the_commitment() -> None:
    crashed = GAME.bot(A)
    accepted = answer(GAME.bot(B), answer(crashed, START))
    restored = GAME.bot(A, secrets=crashed.secrets())
    assert kind(answer(restored, accepted)) is PositionType.REVEAL


def test_a_proposal_that_was_asked_for_again_does_not_lose_the_first_one() -> None:
    a = GAME.bot(A)
    first = answer(a, START)
    answer(a, START)
    assert kind(answer(a, answer(GAME.bot(B), first))) is PositionType.REVEAL


def test_a_reveal_can_be_asked_for_again() -> None:
    a = GAME.bot(A)
    accepted = answer(GAME.bot(B), answer(a, START))
    assert answer(a, accepted) == answer(a, accepted)


def test_secrets_do_not_pile_up_over_the_rounds() -> None:
    bots, at = (GAME.bot(B), GAME.bot(A)), state(initial(ID, 0))
    for _ in range(40):
        at = answer(bots[(at.turn_num + 1) % 2], at)
    assert len(bots[A].secrets()) == 64
    assert bots[B].secrets() == b""


def test_a_commitment_of_somebody_else_is_not_opened() -> None:
    accepted = answer(GAME.bot(B), answer(GAME.bot(A), START))
    with pytest.raises(UnknownCommitment) as caught:
        GAME.bot(A).move(accepted, another_round=True)
    assert caught.value.pre_commit == decode(accepted.app_data).pre_commit


def test_the_other_seats_turn_is_not_ours() -> None:
    with pytest.raises(NotOurTurn):
        GAME.bot(B).move(START, another_round=True)


@pytest.mark.parametrize("seat", [-1, 2])
def test_there_are_two_seats(seat: int) -> None:
    with pytest.raises(InvalidValue):
        GAME.bot(seat)


@pytest.mark.parametrize("secrets", [b"\x00", bytes(63)])
def test_bytes_that_are_no_secrets_are_refused(secrets: bytes) -> None:
    with pytest.raises(MalformedBytes):
        GAME.bot(A, secrets=secrets)
