"""Tic-tac-toe: positions, legal moves, the whole space, and what must be refused."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from forcemove import UINT256_MAX, AppError, InvalidValue, VariablePart
from forcemove_games import two_player
from forcemove_games.tic_tac_toe import GAME, rules
from forcemove_games.tic_tac_toe.position import (
    LINES,
    BoardFull,
    LineMissing,
    MarksOverlap,
    Position,
    PositionType,
    UnexpectedLine,
    WrongMarkCount,
    decode,
    has_line,
    initial,
    mark_of,
)
from tests.expected import raising
from tests.games.states import BALANCE, ID, STAKE, amounts, cells, final, outcome, state
from tests.parity.tic_tac_toe_space import boards, marks, moves
from tests.protocol.builders import terms

X_PLAYING, O_PLAYING, VICTORY, DRAW, ME_FIRST, ME_SECOND = PositionType

#  X | O | X       X | X | O
#  O | X | X       O | O | X
#  O | O | -       X | O | -     both with X to move
TO_WIN = (cells(1, 3, 6, 7), cells(0, 2, 4, 5))
O_FILLED = (cells(2, 3, 4, 7), cells(0, 1, 5, 6))


def board(kind: PositionType, noughts: int, crosses: int, *, turn_num: int = 10) -> VariablePart:
    """A state with the given marks, whatever they are; the outcome is that of equal balances."""
    return state(two_player.encode_words(kind, STAKE, noughts, crosses), turn_num=turn_num)


def after(before: VariablePart, kind: PositionType, noughts: int, crosses: int, stakes: int) -> VariablePart:
    """A successor with any marks, in which the mover has taken this many stakes."""
    mover = (before.turn_num + 1) % 2
    change = stakes * STAKE if mover == 0 else -stakes * STAKE
    alice, bob = amounts(before)
    app_data = two_player.encode_words(kind, STAKE, noughts, crosses)
    return state(app_data, outcome(alice + change, bob - change), before.turn_num + 1)


def refusal(from_: VariablePart, to: VariablePart, num_participants: int = 2) -> AppError:
    with pytest.raises(AppError) as caught:
        GAME.valid_transition(ID, from_, to, num_participants)
    return caught.value


START = state(initial(STAKE))
FIRST = rules.mark(START, 4).after(START)
SECOND = rules.mark(FIRST, 0).after(FIRST)


# ---------------------------------------------------------------------------------------------------------- positions


def test_a_position_is_four_words() -> None:
    position = Position(O_PLAYING, 5, cells(8), cells(0))
    assert position.encode() == b"".join(word.to_bytes(32, "big") for word in (1, 5, 1, 256))
    assert decode(position.encode()) == position


def test_a_channel_starts_with_an_agreement_on_an_empty_board() -> None:
    assert decode(GAME.initial_app_data(terms(STAKE))) == initial(STAKE) == Position(ME_SECOND, STAKE)
    assert GAME.stake_of(GAME.initial_app_data(terms(STAKE))) == STAKE


def test_the_cell_in_a_corner_is_the_highest_bit() -> None:
    assert [mark_of(cell) for cell in range(9)] == [256, 128, 64, 32, 16, 8, 4, 2, 1]


@pytest.mark.parametrize("cell", [-1, 9, True])
def test_there_are_nine_cells(cell: int) -> None:
    with pytest.raises(InvalidValue):
        mark_of(cell)


def test_the_lines_are_rows_columns_and_diagonals() -> None:
    rows = [cells(i, i + 1, i + 2) for i in (0, 3, 6)]
    columns = [cells(i, i + 3, i + 6) for i in (0, 1, 2)]
    assert list(LINES) == [*rows, *columns, cells(0, 4, 8), cells(2, 4, 6)]
    assert [marks for marks in range(512) if has_line(marks)] == [
        marks for marks in range(512) if any(marks | line == marks for line in LINES)
    ]


@pytest.mark.parametrize("length", [0, 96, 127, 129, 160])
def test_appdata_of_another_length_is_no_position(length: int) -> None:
    with raising(two_player.WrongPositionLength(128, length)):
        decode(bytes(length))


@pytest.mark.parametrize(("word", "value"), [(0, 6), (0, 2**255), (2, 512), (2, 2**128), (3, 512), (3, 2**255)])
def test_a_word_out_of_its_range_is_named(word: int, value: int) -> None:
    words = [int(O_PLAYING), STAKE, 0, 0]
    words[word] = value
    with raising(two_player.MalformedPosition(word, value)):
        decode(two_player.encode_words(*words))


def test_every_board_of_every_type_is_a_position_only_if_it_is_well_formed() -> None:
    """All 6 * 2**18 of them, against the rules as the page has them."""
    counts, lines = [marks.bit_count() for marks in range(512)], [has_line(marks) for marks in range(512)]

    def fits(kind: PositionType, noughts: int, crosses: int) -> bool:
        more = counts[crosses] - counts[noughts]
        if kind is X_PLAYING:
            return more == 1 and not lines[noughts] and not lines[crosses] and noughts | crosses != 511
        if kind is O_PLAYING:
            return more == 0 and not lines[noughts] and not lines[crosses]
        if kind is VICTORY:
            return (more == 1 and lines[crosses] and not lines[noughts]) or (
                more == 0 and lines[noughts] and not lines[crosses]
            )
        if kind is DRAW:
            return counts[crosses] == 5 and counts[noughts] == 4 and not lines[noughts] and not lines[crosses]
        return noughts == crosses == 0

    for kind, noughts in product(PositionType, range(512)):
        disjoint = [crosses for crosses in range(512) if not crosses & noughts]
        assert _accepted(kind, noughts, range(512)) == [c for c in disjoint if fits(kind, noughts, c)]


def _accepted(kind: PositionType, noughts: int, candidates: range) -> list[int]:
    accepted = []
    for crosses in candidates:
        try:
            Position(kind, STAKE, noughts, crosses)
        except AppError:
            continue
        accepted.append(crosses)
    return accepted


@pytest.mark.parametrize("fields", [{"stake": -1}, {"stake": 2**256}, {"noughts": -1}, {"crosses": True}])
def test_values_that_no_word_holds_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        replace(initial(STAKE), **fields)


# ---------------------------------------------------------------------------------------------------------- the space


def test_play_reaches_the_known_numbers_of_boards_moves_and_draws() -> None:
    reached = boards()
    kinds = Counter(decode(reached_state.app_data).position_type for reached_state in reached.values())
    assert len(reached) == 5_478
    assert sum(len(marks(reached_state)) for reached_state in reached.values()) == 16_167
    assert kinds[DRAW] == 16
    assert kinds[VICTORY] == 626 + 316


def test_every_reachable_position_has_a_legal_successor() -> None:
    """Threat 18: no poison move. The exception is the test below."""
    positions = {state.app_data: state for pair in moves() for state in pair}
    assert len(positions) == 5_478 + 1
    assert all(rules.legal_moves(position) for position in positions.values())


@pytest.mark.parametrize("balances", [(STAKE - 1, BALANCE), (BALANCE, STAKE - 1)])
def test_from_an_agreement_that_somebody_cannot_pay_for_only_concluding_is_left(balances: tuple[int, int]) -> None:
    assert rules.legal_moves(state(initial(STAKE), outcome(*balances))) == []


# -------------------------------------------------------------------------------------------------------- legal moves


def test_each_mark_takes_the_stake() -> None:
    # Participant 1 is X.
    assert amounts(FIRST) == (BALANCE - STAKE, BALANCE + STAKE)
    assert amounts(SECOND) == (BALANCE + STAKE, BALANCE - STAKE)


def test_nothing_more_is_asked_in_the_middle_of_a_round() -> None:
    before = state(initial(BALANCE))
    first = rules.mark(before, 4).after(before)
    assert amounts(first) == (0, 2 * BALANCE)
    assert amounts(rules.mark(first, 0)) == (2 * BALANCE, 0)


def test_a_friendly_game_is_played_for_nothing() -> None:
    before = state(initial(0), outcome(0, 0))
    assert amounts(rules.mark(before, 4)) == (0, 0)


def test_a_mark_that_completes_a_line_is_a_victory() -> None:
    won = rules.mark(board(O_PLAYING, *TO_WIN), 8)
    assert decode(won.app_data) == Position(VICTORY, STAKE, TO_WIN[0], TO_WIN[1] | mark_of(8))


def test_the_ninth_mark_without_a_line_is_a_draw_and_returns_the_stake() -> None:
    before = board(O_PLAYING, *O_FILLED)
    drawn = rules.mark(before, 8)
    assert decode(drawn.app_data).position_type is DRAW
    assert amounts(drawn) == (BALANCE - STAKE, BALANCE + STAKE)


def test_the_loser_starts_the_next_round() -> None:
    before = board(O_PLAYING, *TO_WIN)
    for _ in range(3):
        move = rules.mark(before, 8) if decode(before.app_data).position_type is O_PLAYING else rules.play_again(before)
        before = move.after(before)
    assert decode(before.app_data) == initial(STAKE)
    winner, starter = 1, (before.turn_num + 1) % 2
    assert starter != winner


@pytest.mark.parametrize("cell", [4, 9, -1])
def test_a_cell_that_is_taken_or_outside_cannot_be_marked(cell: int) -> None:
    with pytest.raises(InvalidValue):
        rules.mark(FIRST, cell)


def test_between_rounds_nothing_is_marked() -> None:
    with pytest.raises(InvalidValue):
        rules.mark(state(Position(ME_FIRST, STAKE)), 0)


def test_in_a_round_nobody_plays_again() -> None:
    with pytest.raises(two_player.NoSuchTransition):
        rules.play_again(FIRST)


def test_a_final_state_is_no_position() -> None:
    with pytest.raises(two_player.WrongPositionLength):
        rules.legal_moves(final())


def test_the_table_names_every_pair_of_types_that_the_rules_let_pass() -> None:
    legal = {(decode(a.app_data).position_type, decode(b.app_data).position_type) for a, b in moves()}
    assert legal == {(row.from_type, row.to_type) for row in GAME.table}


def test_what_no_row_of_the_table_allows_is_refused() -> None:
    samples = {decode(a.app_data).position_type: a for a, _ in moves()}
    rows = {(row.from_type, row.to_type) for row in GAME.table}
    for from_type, to_type in product(PositionType, PositionType):
        if (from_type, to_type) not in rows:
            error = refusal(samples[from_type], samples[to_type])
            assert error == two_player.NoSuchTransition(int(from_type), int(to_type))


# ---------------------------------------------------------------------------------------------- what must be refused


def test_three_participants_are_refused() -> None:
    assert refusal(START, FIRST, 3) == two_player.NotTwoParticipants(3)


def test_a_third_allocation_is_refused() -> None:
    third = outcome()[:1] * 3
    assert refusal(replace(START, outcome=third), FIRST) == two_player.NotTwoAllocations(3)
    assert refusal(START, replace(FIRST, outcome=third)) == two_player.NotTwoAllocations(3)


def test_a_second_asset_is_refused() -> None:
    ether, token = outcome()[0], replace(outcome()[1], asset=b"\x70" * 20)
    assert refusal(replace(START, outcome=(ether, token)), FIRST) == two_player.NotOneAsset(bytes(20), b"\x70" * 20)


@pytest.mark.parametrize("index", [0, 1])
def test_a_changed_destination_is_refused(index: int) -> None:
    paid = list(FIRST.outcome)
    old = paid[index].destination
    paid[index] = replace(paid[index], destination=b"\x99" * 32)
    assert refusal(START, replace(FIRST, outcome=tuple(paid))) == two_player.DestinationChanged(
        index, old, b"\x99" * 32
    )


def test_marks_above_bit_8_are_no_free_pass() -> None:
    """Counting 512 as one mark lets a mover pass."""
    noughts, crosses = TO_WIN
    before = board(O_PLAYING, noughts, crosses)
    assert refusal(before, after(before, X_PLAYING, noughts, crosses | 512, 2)) == two_player.MalformedPosition(
        3, crosses | 512
    )
    before = FIRST
    passing = after(before, O_PLAYING, 512, cells(4), 2)
    assert refusal(before, passing) == two_player.MalformedPosition(2, 512)


def test_playing_on_an_occupied_cell_is_refused() -> None:
    assert refusal(FIRST, after(FIRST, O_PLAYING, cells(4), cells(4), 2)) == MarksOverlap(cells(4), cells(4))


def test_winning_on_an_occupied_cell_is_refused() -> None:
    noughts, crosses = cells(0, 1), cells(2, 4)
    before = board(O_PLAYING, noughts, crosses)
    stolen = after(before, VICTORY, noughts, cells(2, 4) | cells(0), 2)
    assert refusal(before, stolen) == MarksOverlap(noughts, cells(0, 2, 4))


def test_marking_the_own_cell_again_is_refused() -> None:
    again = after(SECOND, X_PLAYING, cells(0), cells(4), 2)
    assert refusal(SECOND, again) == WrongMarkCount(int(X_PLAYING), cells(0), cells(4))


def test_the_ninth_mark_declared_x_playing_is_refused() -> None:
    before = board(O_PLAYING, *O_FILLED)
    noughts, crosses = O_FILLED[0], O_FILLED[1] | cells(8)
    assert refusal(before, after(before, X_PLAYING, noughts, crosses, 2)) == BoardFull(noughts, crosses)


def test_a_win_that_is_not_claimed_is_refused() -> None:
    before = board(X_PLAYING, cells(0, 1), cells(3, 4, 8))
    unclaimed = after(before, O_PLAYING, cells(0, 1, 2), cells(3, 4, 8), 2)
    assert refusal(before, unclaimed) == UnexpectedLine(int(O_PLAYING), cells(0, 1, 2))


def test_a_victory_without_a_line_is_refused() -> None:
    assert refusal(SECOND, after(SECOND, VICTORY, cells(0), cells(4, 8), 2)) == LineMissing(cells(4, 8))


def test_a_victory_over_somebody_with_a_line_is_refused() -> None:
    both = after(SECOND, VICTORY, cells(0, 1, 2), cells(3, 4, 5), 2)
    assert refusal(SECOND, both) == UnexpectedLine(int(VICTORY), cells(3, 4, 5))


def test_a_win_over_the_whole_board_declared_a_draw_is_refused() -> None:
    noughts, crosses = cells(1, 3, 5, 6), cells(0, 2, 4, 7)
    before = board(O_PLAYING, noughts, crosses)
    full = after(before, DRAW, noughts, crosses | cells(8), 1)
    assert refusal(before, full) == UnexpectedLine(int(DRAW), crosses | cells(8))


@pytest.mark.parametrize(
    ("kind", "noughts", "crosses"),
    [
        (X_PLAYING, 0, 0),
        (X_PLAYING, cells(0), cells(1)),
        (X_PLAYING, 0, cells(0, 1)),
        (O_PLAYING, 0, cells(0)),
        (O_PLAYING, cells(0), 0),
        (VICTORY, 0, cells(0, 1, 2)),
        (DRAW, cells(0), cells(1)),
        (ME_FIRST, cells(0), 0),
        (ME_SECOND, 0, cells(0)),
    ],
)
def test_counts_that_do_not_fit_the_type_are_refused_on_both_sides(
    kind: PositionType, noughts: int, crosses: int
) -> None:
    error = WrongMarkCount(int(kind), noughts, crosses)
    assert refusal(board(kind, noughts, crosses), FIRST) == error
    assert refusal(START, board(kind, noughts, crosses)) == error


def test_two_marks_at_once_are_refused() -> None:
    both = after(FIRST, O_PLAYING, cells(0), cells(4), 2)
    moved = replace(both, app_data=two_player.encode_words(O_PLAYING, STAKE, cells(0, 1), cells(4, 5)))
    assert refusal(FIRST, moved) == rules.OtherMarksChanged(cells(4), cells(4, 5))


def test_moving_ones_own_mark_is_refused() -> None:
    third = rules.mark(SECOND, 8).after(SECOND)
    moved = after(third, O_PLAYING, cells(1, 2), cells(4, 8), 2)
    assert refusal(third, moved) == rules.NotOneNewMark(cells(0), cells(1, 2))


def test_a_changed_stake_is_refused_on_every_transition() -> None:
    samples = {(decode(a.app_data).position_type, decode(b.app_data).position_type): (a, b) for a, b in moves()}
    assert len(samples) == len(GAME.table)
    for before, then in samples.values():
        changed = replace(decode(then.app_data), stake=STAKE + 1)
        assert refusal(before, replace(then, app_data=changed.encode())) == two_player.StakeChanged(STAKE, STAKE + 1)


def test_a_stake_whose_double_wraps_to_zero_is_refused() -> None:
    huge = 2**255
    before = replace(FIRST, app_data=Position(X_PLAYING, huge, 0, cells(4)).encode())
    free = state(Position(O_PLAYING, huge, cells(0), cells(4)), before.outcome, before.turn_num + 1)
    assert refusal(before, free) == two_player.BalanceTooLow(1, BALANCE + STAKE, 2, huge)


@pytest.mark.parametrize("index", [0, 1])
def test_a_round_that_somebody_cannot_pay_for_does_not_start(index: int) -> None:
    balances = [BALANCE, BALANCE]
    balances[index] = STAKE - 1
    error = refusal(replace(START, outcome=outcome(*balances)), FIRST)
    assert error == two_player.BalanceTooLow(index, STAKE - 1, 1, STAKE)


def test_an_account_that_is_full_is_refused() -> None:
    error = refusal(replace(START, outcome=outcome(STAKE, UINT256_MAX)), FIRST)
    assert error == two_player.BalanceOverflow(1, UINT256_MAX, STAKE)


def test_a_move_that_credits_the_wrong_side_is_refused() -> None:
    error = refusal(START, replace(FIRST, outcome=outcome(BALANCE + STAKE, BALANCE - STAKE)))
    assert error == two_player.WrongAmount(1, BALANCE + STAKE, BALANCE - STAKE)


def test_a_payment_out_of_nothing_is_refused() -> None:
    error = refusal(START, replace(FIRST, outcome=outcome(BALANCE, BALANCE + STAKE)))
    assert error == two_player.WrongAmount(0, BALANCE - STAKE, BALANCE)


def test_dirty_upper_bits_of_every_bounded_word_are_refused() -> None:
    for index in (0, 2, 3):
        words = [int(X_PLAYING), STAKE, 0, cells(4)]
        words[index] |= 2**200
        error = two_player.MalformedPosition(index, words[index])
        assert refusal(START, replace(FIRST, app_data=two_player.encode_words(*words))) == error
        assert refusal(replace(FIRST, app_data=two_player.encode_words(*words)), SECOND) == error
