"""Among three: one has signed an end, and the other two have the chain record other moves instead. She can sign nothing
that follows those, and has her share all the same. And what may take the place of the newest state: itself, with more
signatures."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import InvalidValue, Outcome, Phase, word
from forcemove.flow.channel import is_stuck
from forcemove.protocol.errors import FinalStateSigned
from forcemove.protocol.machine import automatic_actions, effects, inputs
from forcemove.protocol.types import SupportProof, VariablePart
from tests.protocol.builders import players, proof
from tests.protocol.table import DEPOSIT, DURATION, Seat, open_table

ALICE, BOB, CAROL = range(3)


def carol_after_an_end(*, is_challenged: bool = False, is_final: bool = False, moved: int = 5) -> Seat:
    """Carol has signed Alice's end of turn 9. The chain has recorded another move of that turn, which pays Alice less
    by `moved` and Carol more, and after it a move of turn 10, or an end."""
    table = open_table(3, until=8)
    carol = table.seats[CAROL]
    for other in table.seats[:CAROL]:
        other.is_away = True
    before, asked = carol.newest.state, len(carol.asked)
    carol.receive(table.signed(VariablePart(before.outcome, b"", 9, True), ALICE))
    move = VariablePart(_shifted(before.outcome, moved), word(9), 9)
    last = VariablePart(move.outcome, b"" if is_final else word(10), 10, is_final)
    proved = proof(before, move, last, keys=players(3), fixed=table.agreement.fixed_part)
    table.transact(players(3)[BOB], (effects.SubmitChallenge if is_challenged else effects.SubmitCheckpoint)(proved))
    assert table.record == (10, is_challenged)
    carol.poll()
    assert (sorted(carol.signed)[:4], len(carol.asked)) == ([2, 5, 8, 9], asked)
    return carol


def _shifted(outcome: Outcome, amount: int) -> Outcome:
    first, *rest, last = outcome
    return (replace(first, amount=first.amount - amount), *rest, replace(last, amount=last.amount + amount))


def require_paid_as_recorded(carol: Seat) -> None:
    due = carol.newest.state.outcome[CAROL].amount
    carol.table.wait_for_expiry()
    carol.table.run()
    assert carol.phase is Phase.CLOSED
    assert carol.table.balances[carol.key.address] == due - DEPOSIT


@pytest.mark.parametrize("leaves", [False, True])
def test_threat_103_who_has_signed_an_end_challenges_with_what_is_recorded_instead(*, leaves: bool) -> None:
    carol = carol_after_an_end()
    if leaves:
        carol.feed(inputs.ConcludeWanted())
    assert is_stuck(carol.channel, carol.phase)
    carol.feed(inputs.ChallengeWanted())
    assert carol.submitted[1:] == [effects.SubmitChallenge(SupportProof((carol.newest.state,), (), 0))]
    require_paid_as_recorded(carol)
    assert sorted(carol.signed) == [2, 5, 8, 9]


def test_threat_103_after_an_end_no_clock_waits_for_a_move_of_ours() -> None:
    carol = carol_after_an_end(is_challenged=True)
    for seconds in (0, DURATION - automatic_actions.answer_margin(DURATION)):
        carol.table.travel(seconds)
        carol.feed(inputs.Tick())
        assert not carol.channel.must_move
        assert not carol.channel.is_our_turn_after(carol.newest.state)
        assert not carol.channel.waits_for_message(carol.table.now)
        assert carol.channel.reason_to_wait(carol.phase) == FinalStateSigned(11)
        assert carol.try_to(carol.next_move()) == FinalStateSigned(11)
    require_paid_as_recorded(carol)


@pytest.mark.parametrize("is_challenged", [False, True])
def test_threat_103_other_moves_that_pay_the_same_are_ended_by_us(*, is_challenged: bool) -> None:
    carol = carol_after_an_end(is_challenged=is_challenged, moved=0)
    assert carol.signed[11] == VariablePart(carol.table.agreement.outcome, b"", 11, True)
    assert carol.table.record == ((11, False) if is_challenged else (10, False))


def test_threat_103_an_end_that_pays_otherwise_is_not_signed_and_challenged() -> None:
    carol = carol_after_an_end(is_final=True)
    assert (carol.phase, sorted(carol.signed)) == (Phase.CONCLUDING, [2, 5, 8, 9])
    carol.feed(inputs.ChallengeWanted())
    assert carol.table.record == (10, True)
    require_paid_as_recorded(carol)


@pytest.mark.parametrize("moved", [0, 5])
def test_threat_103_an_end_instead_of_the_move_before_our_end_is_answered(moved: int) -> None:
    """Alice moves to Carol's gain, and Bob ends the game; together they challenge with an end before that move."""
    table = open_table(3, until=8)
    carol, before = table.seats[CAROL], table.seats[CAROL].newest.state
    for other in table.seats[:CAROL]:
        other.is_away = True
    move = VariablePart(_shifted(before.outcome, moved), word(9), 9)
    carol.receive(table.signed(move, ALICE))
    carol.receive(table.signed(VariablePart(move.outcome, b"", 10, True), BOB))
    table.challenge(before, *(VariablePart(before.outcome, b"", turn, True) for turn in (9, 10)), by=BOB)
    carol.poll()
    assert table.record == ((11, False) if moved else (10, True))
    if moved:
        carol.poll()
        carol.feed(inputs.ChallengeWanted())
        require_paid_as_recorded(carol)


# ---------------------------------------------------------------------------------------------- the newest state stands


def test_threat_103_an_older_state_of_ours_with_one_more_signature_changes_nothing() -> None:
    table = open_table(until=6)
    alice = table.seats[ALICE]
    before = alice.channel
    for older in before.accepted[:-1]:
        alice.receive(table.signed(older.state, ALICE, BOB))
    assert (alice.channel, alice.faults) == (before, [])


def test_threat_103_only_the_newest_state_is_replaced_by_itself() -> None:
    channel = open_table(until=6).seats[ALICE].channel
    *older, newest = channel.accepted
    for each in older:
        with pytest.raises(InvalidValue):
            channel.replace_newest(each)
    assert channel.replace_newest(newest) == channel
