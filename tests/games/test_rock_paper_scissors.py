"""Rock-paper-scissors: positions, legal moves, and what must be refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from forcemove import UINT256_MAX, AppError, InvalidValue, VariablePart, keccak256
from forcemove_games import two_player
from forcemove_games.commitment import Opening
from forcemove_games.rock_paper_scissors import GAME, rules
from forcemove_games.rock_paper_scissors.openings import pre_commit_of
from forcemove_games.rock_paper_scissors.position import Position, PositionType, Weapon, decode, initial
from tests.expected import raising
from tests.games.states import BALANCE, ID, PLAYING, STAKE, amounts, final, outcome, state
from tests.protocol.builders import terms

SALT = b"\x5a" * 32
ROCK, PAPER, SCISSORS = Weapon
A_BEATS_B = {(ROCK, SCISSORS), (PAPER, ROCK), (SCISSORS, PAPER)}


def opening(weapon: Weapon = ROCK) -> Opening:
    return Opening(weapon, SALT)


def pre_commit(of: Opening) -> bytes:
    """What `proposed` commits to."""
    return pre_commit_of(ID, PLAYING + 1, of)


def start(round_num: int = 0) -> VariablePart:
    return state(Position(PositionType.START, STAKE, ID, round_num=round_num))


def proposed(weapon: Weapon = ROCK) -> VariablePart:
    return rules.propose(start(), opening(weapon)).after(start())


def accepted(a_play: Weapon = ROCK, b_play: Weapon = PAPER) -> VariablePart:
    return rules.accept(proposed(a_play), b_play).after(proposed(a_play))


def revealed(a_play: Weapon = ROCK, b_play: Weapon = PAPER) -> VariablePart:
    before = accepted(a_play, b_play)
    return rules.reveal(before, opening(a_play)).after(before)


def changed(of: VariablePart, **fields: Any) -> VariablePart:
    return replace(of, app_data=replace(decode(of.app_data), **fields).encode())


def with_word(of: VariablePart, index: int, value: int) -> VariablePart:
    app_data = of.app_data[: 32 * index] + value.to_bytes(32, "big") + of.app_data[32 * index + 32 :]
    return replace(of, app_data=app_data)


def refusal(from_: VariablePart, to: VariablePart, num_participants: int = 2) -> AppError:
    with pytest.raises(AppError) as caught:
        GAME.valid_transition(ID, from_, to, num_participants)
    return caught.value


# ---------------------------------------------------------------------------------------------------------- positions


def test_a_position_is_nine_words() -> None:
    position = Position(PositionType.REVEAL, 5, b"\x33" * 32, b"\x11" * 32, 7, 2, 1, b"\x22" * 32, 9)
    bytes32, numbers = (b"\x33" * 32, b"\x11" * 32, b"\x22" * 32), (3, 5, 7, 2, 1, 9)
    kind, stake, turn, b_play, a_play, round_num = (number.to_bytes(32, "big") for number in numbers)
    channel_id, pre_commit, salt = bytes32
    assert position.encode() == kind + stake + channel_id + pre_commit + turn + b_play + a_play + salt + round_num
    assert decode(position.encode()) == position


def test_a_commitment_is_the_hash_of_five_words() -> None:
    channel_id = bytes(range(32))
    words = channel_id + (15).to_bytes(32, "big") + (1).to_bytes(32, "big") + (2).to_bytes(32, "big") + SALT
    assert pre_commit_of(channel_id, 15, opening(SCISSORS)) == keccak256(words)


def test_a_channel_starts_before_the_first_round() -> None:
    channel_id = terms(STAKE).channel_id
    first = decode(GAME.initial_app_data(terms(STAKE)))
    assert first == initial(channel_id, STAKE) == Position(PositionType.START, STAKE, channel_id)
    assert GAME.stake_of(GAME.initial_app_data(terms(STAKE))) == STAKE


@pytest.mark.parametrize("length", [0, 256, 287, 289, 320])
def test_appdata_of_another_length_is_no_position(length: int) -> None:
    with raising(two_player.WrongPositionLength(288, length)):
        decode(bytes(length))


@pytest.mark.parametrize(
    ("kind", "word", "value"),
    [
        (4, 0, 4),
        (2**255, 0, 2**255),
        (0, 3, 1),
        (0, 4, 1),
        (0, 5, 1),
        (1, 5, 1),
        (2, 5, 3),
        (3, 5, 2**128),
        (0, 6, 1),
        (1, 6, 1),
        (2, 6, 1),
        (3, 6, 3),
        (0, 7, 1),
        (1, 7, 1),
        (2, 7, 1),
    ],
)
def test_a_word_out_of_its_range_is_named(kind: int, word: int, value: int) -> None:
    words = [kind, STAKE, 0, 0, 0, 0, 0, 0, 0]
    words[word] = value
    with raising(two_player.MalformedPosition(word, value)):
        decode(b"".join(number.to_bytes(32, "big") for number in words))


@pytest.mark.parametrize(
    "fields",
    [
        {"stake": -1},
        {"stake": 2**256},
        {"salt": b""},
        {"channel_id": b""},
        {"proposed_at": 2**256},
        {"b_play": -1},
        {"round_num": True},
    ],
)
def test_values_that_no_word_holds_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        replace(initial(ID, STAKE), **fields)


# ---------------------------------------------------------------------------------------------------------- the nine


@pytest.mark.parametrize(("a_play", "b_play"), list(product(Weapon, Weapon)))
def test_each_of_the_nine_pairs_pays_who_won_it(a_play: Weapon, b_play: Weapon) -> None:
    after = amounts(revealed(a_play, b_play))
    # Participant 1 is A here.
    if a_play == b_play:
        assert after == (BALANCE, BALANCE)
    elif (a_play, b_play) in A_BEATS_B:
        assert after == (BALANCE - STAKE, BALANCE + STAKE)
    else:
        assert after == (BALANCE + STAKE, BALANCE - STAKE)


@pytest.mark.parametrize(("a_play", "b_play"), list(product(Weapon, Weapon)))
def test_no_other_payment_is_accepted_for_any_of_the_nine(a_play: Weapon, b_play: Weapon) -> None:
    before, after = accepted(a_play, b_play), revealed(a_play, b_play)
    alice, bob = amounts(after)
    for moved in range(-alice, bob + 1):
        paid = outcome(alice + moved, bob - moved)
        if moved:
            assert isinstance(refusal(before, replace(after, outcome=paid)), two_player.WrongAmount)


# -------------------------------------------------------------------------------------------------------- legal moves


def test_a_whole_round_returns_to_start_with_the_next_number() -> None:
    before = revealed()
    after = rules.next_round(before).after(before)
    assert decode(after.app_data) == Position(PositionType.START, STAKE, ID, round_num=1)
    assert amounts(after) == amounts(before)


def test_accepting_takes_the_stake_into_safety() -> None:
    assert amounts(accepted()) == (BALANCE + STAKE, BALANCE - STAKE)


def test_a_rejected_round_costs_nothing_and_is_not_counted() -> None:
    after = rules.reject(proposed()).after(proposed())
    assert (after.outcome, after.app_data) == (start().outcome, start().app_data)


def test_a_friendly_game_is_played_for_nothing() -> None:
    before = state(initial(ID, 0), outcome(0, 0))
    for move in (
        lambda s: rules.propose(s, opening()),
        lambda s: rules.accept(s, PAPER),
        lambda s: rules.reveal(s, opening()),
        rules.next_round,
    ):
        before = move(before).after(before)
    assert amounts(before) == (0, 0)


def test_nothing_more_is_asked_in_the_middle_of_a_round() -> None:
    before = state(initial(ID, BALANCE))
    proposal = rules.propose(before, opening(SCISSORS)).after(before)
    reply = rules.accept(proposal, PAPER).after(proposal)
    assert amounts(reply) == (2 * BALANCE, 0)
    assert amounts(rules.reveal(reply, opening(SCISSORS))) == (0, 2 * BALANCE)


def test_every_reachable_position_has_a_legal_successor() -> None:
    """Threat 18: no poison move. The exceptions are the two tests below."""
    positions = [start(), *(proposed(a) for a in Weapon)]
    positions += [of(a, b) for of in (accepted, revealed) for a, b in product(Weapon, Weapon)]
    for position in positions:
        a_play = decode(position.app_data).a_play
        choices = [opening(weapon) for weapon in Weapon]
        assert any(rules.legal_moves(position, choice) for choice in choices), (position, a_play)


@pytest.mark.parametrize("balances", [(STAKE - 1, BALANCE), (BALANCE, STAKE - 1)])
def test_from_a_start_that_somebody_cannot_pay_for_only_concluding_is_left(balances: tuple[int, int]) -> None:
    assert rules.legal_moves(state(initial(ID, STAKE), outcome(*balances)), opening()) == []


def test_from_a_commitment_that_a_cannot_open_only_concluding_is_left() -> None:
    assert rules.legal_moves(accepted(), Opening(ROCK, b"\x01" * 32)) == []


def test_b_may_play_every_weapon_or_reject() -> None:
    kinds = [decode(move.app_data) for move in rules.legal_moves(proposed(), opening())]
    assert [kind.position_type for kind in kinds] == [PositionType.START] + [PositionType.ROUND_ACCEPTED] * 3
    assert [kind.b_play for kind in kinds[1:]] == [ROCK, PAPER, SCISSORS]


def test_the_table_names_every_pair_of_types_that_the_rules_let_pass() -> None:
    states = [start(), start(1), proposed(), accepted(), revealed()]
    legal = set()
    for before, after in product(states, states):
        for paid in (before.outcome, after.outcome):
            try:
                GAME.valid_transition(ID, before, replace(after, outcome=paid, turn_num=before.turn_num + 1), 2)
            except AppError as error:
                if isinstance(error, two_player.NoSuchTransition):
                    continue
            legal.add((decode(before.app_data).position_type, decode(after.app_data).position_type))
    assert legal == {(row.from_type, row.to_type) for row in GAME.table}


# --------------------------------------------------------------------------------------------- what must be refused


def test_three_participants_are_refused() -> None:
    assert refusal(start(), proposed(), 3) == two_player.NotTwoParticipants(3)


def test_a_third_allocation_is_refused() -> None:
    third = outcome()[:1] * 3
    assert refusal(replace(start(), outcome=third), proposed()) == two_player.NotTwoAllocations(3)
    assert refusal(start(), replace(proposed(), outcome=third)) == two_player.NotTwoAllocations(3)


def test_a_second_asset_is_refused() -> None:
    ether, token = outcome()[0], replace(outcome()[1], asset=b"\x70" * 20)
    assert refusal(replace(start(), outcome=(ether, token)), proposed()) == two_player.NotOneAsset(
        bytes(20), b"\x70" * 20
    )


@pytest.mark.parametrize("index", [0, 1])
def test_a_changed_destination_is_refused(index: int) -> None:
    paid = list(outcome())
    old = paid[index].destination
    paid[index] = replace(paid[index], destination=b"\x99" * 32)
    error = refusal(start(), replace(proposed(), outcome=tuple(paid)))
    assert error == two_player.DestinationChanged(index, old, b"\x99" * 32)


@pytest.mark.parametrize(
    ("from_", "to"),
    [
        (start(), proposed()),
        (proposed(), start()),
        (proposed(), accepted()),
        (accepted(), revealed()),
        (revealed(), start(1)),
    ],
)
def test_a_changed_stake_is_refused_on_every_transition(from_: VariablePart, to: VariablePart) -> None:
    assert refusal(from_, changed(to, stake=STAKE + 1)) == two_player.StakeChanged(STAKE, STAKE + 1)


def test_a_stake_whose_double_wraps_to_zero_is_refused() -> None:
    huge = 2**255
    won = changed(revealed(ROCK, SCISSORS), stake=huge)
    before = changed(accepted(ROCK, SCISSORS), stake=huge)
    assert refusal(before, replace(won, outcome=before.outcome)) == two_player.BalanceTooLow(
        0, BALANCE + STAKE, 2, huge
    )


@pytest.mark.parametrize("index", [0, 1])
def test_a_round_that_somebody_cannot_pay_for_does_not_start(index: int) -> None:
    balances = [BALANCE, BALANCE]
    balances[index] = STAKE - 1
    paid = outcome(*balances)
    error = refusal(replace(start(), outcome=paid), replace(proposed(), outcome=paid))
    assert error == two_player.BalanceTooLow(index, STAKE - 1, 1, STAKE)


def test_an_account_that_is_full_is_refused() -> None:
    before = replace(proposed(), outcome=outcome(UINT256_MAX, STAKE))
    assert refusal(before, accepted()) == two_player.BalanceOverflow(0, UINT256_MAX, STAKE)


def test_a_move_that_credits_the_wrong_side_is_refused() -> None:
    error = refusal(proposed(), replace(accepted(), outcome=outcome(BALANCE - STAKE, BALANCE + STAKE)))
    assert error == two_player.WrongAmount(0, BALANCE + STAKE, BALANCE - STAKE)


def test_a_payment_out_of_nothing_is_refused() -> None:
    error = refusal(proposed(), replace(accepted(), outcome=outcome(BALANCE + STAKE, BALANCE)))
    assert error == two_player.WrongAmount(1, BALANCE - STAKE, BALANCE)


def test_dirty_upper_bits_of_every_bounded_word_are_refused() -> None:
    for index in (0, 5, 6):
        value = int.from_bytes(revealed().app_data[32 * index : 32 * index + 32], "big") | 2**200
        assert refusal(accepted(), with_word(revealed(), index, value)) == two_player.MalformedPosition(index, value)
        assert refusal(with_word(revealed(), index, value), start(1)) == two_player.MalformedPosition(index, value)


def test_another_weapon_than_the_committed_one_is_refused() -> None:
    wrong = changed(revealed(ROCK, ROCK), a_play=int(PAPER))
    committed, shown = pre_commit(opening(ROCK)), pre_commit(opening(PAPER))
    assert refusal(accepted(ROCK, ROCK), wrong) == rules.WrongReveal(committed, shown)


def test_another_salt_than_the_committed_one_is_refused() -> None:
    wrong = changed(revealed(), salt=b"\x01" * 32)
    error = refusal(accepted(), wrong)
    assert error == rules.WrongReveal(pre_commit(opening()), pre_commit(Opening(ROCK, b"\x01" * 32)))


def test_a_replaced_commitment_is_refused() -> None:
    other = pre_commit(opening(SCISSORS))
    error = rules.PreCommitChanged(pre_commit(opening()), other)
    assert refusal(proposed(), changed(accepted(), pre_commit=other)) == error
    assert refusal(accepted(), changed(revealed(), pre_commit=other)) == error


def test_a_replaced_weapon_of_b_is_refused() -> None:
    assert refusal(accepted(ROCK, PAPER), changed(revealed(), b_play=int(ROCK))) == rules.BPlayChanged(PAPER, ROCK)


@pytest.mark.parametrize("round_num", [0, 2])
def test_the_round_after_a_reveal_has_the_next_number(round_num: int) -> None:
    assert refusal(revealed(), start(round_num)) == rules.WrongRound(1, round_num)


def test_the_round_number_stays_within_a_round() -> None:
    for from_, to in ((start(), proposed()), (proposed(), start()), (proposed(), accepted()), (accepted(), revealed())):
        assert refusal(from_, changed(to, round_num=1)) == rules.WrongRound(0, 1)


def test_no_round_follows_the_last_number() -> None:
    last = changed(revealed(), round_num=UINT256_MAX)
    assert refusal(last, start(0)) == rules.RoundNumberOverflow(UINT256_MAX)


def test_a_final_state_is_no_position() -> None:
    with pytest.raises(two_player.WrongPositionLength):
        rules.legal_moves(final(), opening())


@pytest.mark.parametrize("weapon", [3, 255])
def test_there_is_no_fourth_weapon(weapon: int) -> None:
    with pytest.raises(two_player.MalformedPosition):
        rules.accept(proposed(), weapon)


def test_moves_out_of_turn_raise_what_forbids_them() -> None:
    with pytest.raises(two_player.NoSuchTransition):
        rules.propose(proposed(), opening())
    with pytest.raises(two_player.NoSuchTransition):
        rules.accept(start(), ROCK)
    with pytest.raises(AppError):
        rules.reveal(start(), opening())
    with pytest.raises(AppError):
        rules.next_round(accepted())
