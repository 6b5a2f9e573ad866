"""Challenges: what is answered, with what and when; what the chain says beyond what was said at the table."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import ETHER, Phase, word
from forcemove.protocol.errors import StateConflict
from forcemove.protocol.machine import effects, inputs
from forcemove.protocol.machine.automatic_actions import answer_margin, next_due
from forcemove.protocol.types import SupportProof, VariablePart
from tests.protocol.builders import ALICE, players, proof
from tests.protocol.table import DEPOSIT, DURATION, Seat, agreed_table, counting_table, open_table, seated


def states(seat: Seat, count: int = 2) -> tuple[VariablePart, ...]:
    """The newest that this seat has, oldest first."""
    return tuple(each.state for each in seat.channel.accepted[-count:])


def sent(seat: Seat) -> list[str]:
    """The seat's transactions after its deposit."""
    return [type(each).__name__ for each in seat.submitted[1:]]


# ----------------------------------------------------------------------------------------------------------- answering


@pytest.mark.parametrize("old", [1, 2, 3, 4, 5, 6, 7])
def test_a_challenge_with_a_superseded_state_is_answered_with_the_newest(old: int) -> None:
    table, alice, _ = seated(open_table(until=9))
    setup = table.setup_states()
    played = [VariablePart(table.agreement.outcome, word(turn), turn) for turn in range(4, 9)]
    table.challenge(*(setup + played)[old - 1 : old + 1])
    alice.poll()
    assert sent(alice) == ["SubmitCheckpoint"]
    assert table.record == (9, False)


def test_a_challenge_with_the_state_before_is_answered_with_the_move_already_made() -> None:
    """One signature is enough for that."""
    table, alice, _ = seated(open_table(until=6))
    table.challenge(*states(alice, 3)[:2])
    alice.poll()
    assert sent(alice) == ["SubmitRespond"]
    assert table.record == (6, False)


def test_a_challenge_that_waits_for_our_move_asks_for_it_in_time() -> None:
    table, alice, _ = seated(open_table(until=5))
    table.challenge(*states(alice))
    alice.poll()
    asked = alice.asked[-1]
    ends = table.now + DURATION
    assert (asked.state.turn_num, asked.answer_by) == (5, ends - answer_margin(DURATION))
    alice.feed(alice.next_move(60))
    assert sent(alice) == ["SubmitRespond"]
    assert table.record == (6, False)


def test_threat_51_no_further_round_with_somebody_who_challenges_without_need() -> None:
    """The answer was sent already: it costs us gas for nothing."""
    table, alice, bob = seated(open_table(until=6))
    assert not alice.asked[-1].is_last_round
    table.challenge(*states(alice, 3)[:2])
    alice.poll()
    bob.poll()
    bob.feed(bob.next_move(60))
    alice.poll()
    assert (alice.asked[-1].state.turn_num, alice.asked[-1].is_last_round) == (7, True)


def test_a_challenge_that_waits_for_our_move_is_no_reason_to_leave() -> None:
    table, alice, bob = seated(open_table(until=5))
    table.challenge(*states(alice))
    alice.poll()
    alice.feed(alice.next_move(60))
    bob.poll()
    bob.feed(bob.next_move(60))
    alice.poll()
    assert (alice.asked[-1].state.turn_num, alice.asked[-1].is_last_round) == (7, False)


@pytest.mark.parametrize(("duration", "margin"), [(60, 20), (1_799, 599), (1_800, 600), (31_536_000, 600)])
def test_answers_are_sent_well_before_the_end(duration: int, margin: int) -> None:
    assert answer_margin(duration) == margin


def test_whoever_does_not_choose_in_time_concludes() -> None:
    """Any state may be followed by the final one with its outcome: better than to lose by silence."""
    table, alice, _ = seated(open_table(until=5))
    table.challenge(*states(alice))
    alice.poll()
    table.travel(DURATION - answer_margin(DURATION) - 1)
    alice.poll()
    assert sent(alice) == []
    table.travel(1)
    alice.poll()
    assert sent(alice) == ["SubmitRespond"]
    assert alice.newest.state.is_final
    assert table.record == (6, False)


def test_in_a_challenge_the_answer_is_due_and_then_the_end() -> None:
    table, alice, _ = seated(open_table(until=5))
    table.challenge(*states(alice))
    alice.poll()
    ends = table.now + DURATION
    answer_by = ends - answer_margin(DURATION)
    times = [table.now, answer_by - 1, answer_by, ends - 1, ends]
    assert [next_due(alice.channel, time) for time in times] == [answer_by, answer_by, ends, ends, None]


def test_whoever_wakes_up_too_late_signs_nothing() -> None:
    table, alice, _ = seated(open_table(until=5))
    table.challenge(*states(alice))
    table.wait_for_expiry()
    alice.poll()
    assert max(alice.signed) == 4
    assert sent(alice) == ["SubmitTransfer"]


def test_leaving_while_a_challenge_runs_answers_it_with_the_final_state() -> None:
    table, alice, _ = seated(open_table(until=5))
    table.challenge(*states(alice))
    alice.poll()
    alice.feed(inputs.ConcludeWanted())
    assert sent(alice) == ["SubmitRespond"]
    table.run()
    assert alice.phase is Phase.CLOSED
    assert sent(alice) == ["SubmitRespond", "SubmitConclude"]


@pytest.mark.parametrize("challenged", [1, 3, 5])
def test_threat_29_what_all_have_signed_concludes_against_an_older_challenge(challenged: int) -> None:
    """Bob has countersigned; while Alice cannot reach the chain, he challenges with something older."""
    table, alice, bob = seated(open_table(until=5))
    older = table.setup_states() + list(states(alice))
    alice.feed(inputs.ConcludeWanted())
    bob.take(bob.inbox.popleft())
    table.is_down = True
    alice.poll()
    table.is_down = False
    table.challenge(*older[challenged - 1 : challenged + 1])
    table.run()
    assert sent(alice) == ["SubmitConclude"] * 2
    assert alice.phase is bob.phase is Phase.CLOSED


def test_threat_29_a_countersignature_that_comes_during_the_challenge_is_enough() -> None:
    table, alice, bob = seated(open_table(until=5))
    alice.feed(inputs.ConcludeWanted())
    bob.take(bob.inbox.popleft())
    table.challenge(*states(alice, 3)[:2])
    final = alice.inbox.popleft()
    alice.read_chain()
    assert sent(alice) == ["SubmitRespond"]
    alice.take(final)
    table.run()
    assert alice.phase is Phase.CLOSED
    assert sent(alice) == ["SubmitRespond", "SubmitConclude"]


def test_the_others_final_state_answers_its_own_challenge() -> None:
    """Bob signs a final state, says so, and challenges with the state before."""
    table, alice, _ = seated(open_table(until=4))
    before = alice.newest.state
    table.challenge(*states(alice))
    alice.receive(table.signed(VariablePart(before.outcome, b"", 5, True), 1))
    alice.poll()
    assert sent(alice) == ["SubmitConclude"]
    assert table.held == 0


def test_a_running_challenge_is_cleared_on_chain_even_where_play_goes_on() -> None:
    """Bob answers at the table only. The clock would run on."""
    table, alice, bob = seated(open_table(until=4))
    alice.feed(inputs.ChallengeWanted())
    alice.read_chain()
    bob.feed(bob.next_move())
    alice.poll()
    assert sent(alice) == ["SubmitChallenge", "SubmitRespond"]
    assert table.record == (5, False)
    table.run()
    assert alice.phase is bob.phase is Phase.PLAYING


def test_one_answer_is_enough_until_it_fails() -> None:
    table, alice, _ = seated(open_table(until=5))
    table.challenge(*states(alice))
    alice.poll()
    table.is_down = True
    alice.feed(alice.next_move())
    answer = alice.submitted[-1]
    alice.receive(table.signed(alice.next_state(), 1))
    alice.feed(inputs.Tick())
    assert sent(alice) == ["SubmitRespond"]
    table.is_down = False
    alice.feed(inputs.SubmissionFailed(answer))
    assert sent(alice) == ["SubmitRespond", "SubmitCheckpoint"]
    assert table.record == (7, False)


# ---------------------------------------------------------------------------------------------------------- challenging


@pytest.mark.parametrize("count", [2, 3])
def test_we_do_not_answer_our_own_challenge(count: int) -> None:
    table = open_table(count, until=2 * count)
    alice = table.seats[0]
    alice.feed(inputs.ChallengeWanted())
    for _ in range(3):
        alice.poll()
        table.travel(DURATION // 4)
    assert sent(alice) == ["SubmitChallenge"]
    assert not alice.newest.state.is_final
    table.wait_for_expiry()
    alice.poll()
    alice.poll()
    assert alice.phase is Phase.CLOSED


def test_a_state_that_the_chain_has_recorded_needs_no_proof_to_be_challenged_again() -> None:
    table, alice, bob = seated(open_table(until=5))
    table.challenge(*states(alice))
    alice.poll()
    alice.feed(alice.next_move())
    alice.poll()
    alice.feed(inputs.ChallengeWanted())
    assert alice.submitted[-1] == effects.SubmitChallenge(SupportProof((alice.newest.state,), (), 0))
    assert table.record == (6, True)
    assert bob.submitted[1:] == []


def test_a_challenge_where_all_have_signed_the_end_concludes_instead() -> None:
    alice, bob = open_table(until=5).seats
    alice.feed(inputs.ConcludeWanted())
    bob.poll()
    bob.feed(inputs.ChallengeWanted())
    assert sent(bob) == ["SubmitConclude"]


def test_who_was_let_down_by_the_final_signature_challenges_with_what_it_has() -> None:
    table, alice, _ = seated(open_table(until=5))
    alice.feed(inputs.ConcludeWanted())
    alice.feed(inputs.ChallengeWanted())
    alice.poll()
    assert sent(alice) == ["SubmitChallenge"]
    table.wait_for_expiry()
    table.run()
    assert alice.phase is Phase.CLOSED
    assert sent(alice) == ["SubmitChallenge", "SubmitTransfer"]


# ------------------------------------------------------------------------------------------------- before play begins


def test_threat_23_who_deposits_alone_gets_it_back() -> None:
    """The challenge needs one transaction, and is not answered by its own sender."""
    table, alice, bob = seated(agreed_table())
    bob.is_away = True
    table.run()
    assert table.balances[ALICE.address] == -DEPOSIT
    alice.feed(inputs.ChallengeWanted())
    table.run()
    assert alice.newest.state.is_final
    table.wait_for_expiry()
    table.run()
    assert table.balances[ALICE.address] == 0
    assert sent(alice) == ["SubmitChallenge", "SubmitTransfer"]


def test_a_challenge_before_play_ends_the_opening() -> None:
    """Whatever is held: no deposit, no postfund state, a final state instead."""
    table, alice, _ = seated(agreed_table())
    alice.submitted.clear()
    table.challenge(*table.setup_states()[:2])
    alice.channel = replace(alice.channel, requested=())
    alice.read_chain()
    alice.feed(inputs.HoldingsSeen(ETHER, 2 * DEPOSIT))
    alice.poll()
    assert [each for each in alice.submitted if isinstance(each, effects.SubmitDeposit)] == []
    assert alice.newest.state == VariablePart(table.agreement.outcome, b"", 2, True)
    assert table.record == (2, False)


def test_who_comes_later_does_not_deposit_into_a_challenged_channel() -> None:
    table, alice, bob = seated(agreed_table())
    alice.feed(inputs.Tick())
    table.transact(ALICE, effects.SubmitChallenge(proof(*states(alice), fixed=table.agreement.fixed_part)))
    bob.poll()
    assert bob.submitted == []


def test_who_wants_to_leave_does_not_deposit_any_more() -> None:
    table = agreed_table()
    bob = table.seats[1]
    bob.feed(inputs.ConcludeWanted())
    bob.feed(inputs.HoldingsSeen(ETHER, DEPOSIT))
    assert bob.submitted == []


def test_a_postfund_state_of_the_other_clears_a_challenge_and_the_opening_is_over_all_the_same() -> None:
    table = agreed_table()
    bob = table.seats[1]
    table.challenge(*states(bob), by=0)
    bob.read_chain()
    bob.receive(table.signed(table.agreement.setup_state(2), 0))
    assert [type(each) for each in bob.submitted] == [effects.SubmitRespond]
    bob.poll()
    bob.feed(inputs.HoldingsSeen(ETHER, 2 * DEPOSIT))
    assert bob.signed[3].is_final


# -------------------------------------------------------------------------------------------- what the chain says first


def test_threat_26_a_move_made_on_chain_and_withheld_is_adopted_and_answered() -> None:
    table, alice, bob = seated(open_table(until=4))
    bob.feed(bob.next_move(70))
    alice.inbox.clear()
    table.challenge(*states(bob))
    alice.poll()
    assert alice.newest.state == bob.newest.state
    alice.feed(alice.next_move())
    assert sent(alice) == ["SubmitRespond"]
    table.run()
    assert alice.newest == bob.newest


def test_a_move_that_contradicts_the_first_is_not_built_upon_although_the_chain_has_it() -> None:
    """Bob says one thing to Alice and another to the chain. What she answers with follows what he said first."""
    table, alice, _ = seated(open_table(until=4))
    first, second = alice.next_state(), alice.next_state(1)
    alice.receive(table.signed(first, 1))
    table.challenge(alice.channel.accepted[-2].state, second)
    alice.poll()
    assert alice.newest.state == first
    alice.feed(alice.next_move())
    assert sent(alice) == ["SubmitCheckpoint"]
    assert table.record == (6, False)
    assert alice.channel.accepted[-2].state == first


def test_equivocation_against_an_answer_already_made_loses() -> None:
    table, alice, _ = seated(open_table(until=4))
    second = alice.next_state(1)
    alice.receive(table.signed(alice.next_state(), 1))
    alice.feed(alice.next_move())
    table.challenge(alice.channel.accepted[-3].state, second)
    alice.receive(table.signed(second, 1))
    assert alice.reasons == [StateConflict(5)]
    alice.poll()
    assert table.record == (6, False)


def test_what_is_known_of_the_chain_is_its_status_word() -> None:
    table, alice, _ = seated(open_table(until=5))
    table.challenge(*states(alice))
    alice.read_chain()
    assert alice.channel.status == table.chain.status_of(table.agreement.channel_id)
    alice.feed(alice.next_move())
    alice.poll()
    assert alice.channel.status == table.chain.status_of(table.agreement.channel_id)


def test_an_expired_challenge_is_paid_out() -> None:
    table, alice, bob = seated(open_table(until=4))
    alice.feed(inputs.ChallengeWanted())
    bob.is_away = True
    table.wait_for_expiry()
    table.run()
    assert sent(alice) == ["SubmitChallenge", "SubmitTransfer"]
    assert alice.phase is Phase.CLOSED


def test_what_stays_owed_is_paid_when_something_comes_in() -> None:
    """Another channel pays in later; until then nothing more is asked of the chain."""
    table, alice, bob = seated(agreed_table())
    table.run([alice])
    bob.is_away = True
    alice.feed(inputs.ChallengeWanted())
    table.wait_for_expiry()
    table.run()
    assert alice.phase is Phase.FINALIZED
    assert sent(alice) == ["SubmitChallenge", "SubmitTransfer"]
    alice.feed(inputs.HoldingsSeen(ETHER, DEPOSIT))
    assert sent(alice)[2:] == ["SubmitTransfer"]
    left = alice.submitted[-1]
    assert isinstance(left, effects.SubmitTransfer)
    assert [entry.amount for entry in left.outcome] == [0, DEPOSIT]


# ------------------------------------------------------------------------------------------------ more than two of them


def test_three_play_on_after_a_challenge_was_answered_by_its_mover() -> None:
    table = open_table(3, until=9)
    alice, bob, carol = table.seats
    alice.feed(inputs.ChallengeWanted())
    table.run()
    assert (bob.asked[-1].state.turn_num, bob.asked[-1].answer_by is None) == (9, False)
    bob.feed(bob.next_move())
    table.run()
    assert [seat.phase for seat in table.seats] == [Phase.PLAYING] * 3
    assert table.record == (10, False)
    assert sent(carol) == []


def test_threat_41_of_three_nobody_countersigns_a_final_state_before_all_have_agreed() -> None:
    """Two of them end on the chain what Alice has only proposed."""
    table = counting_table(3)
    alice = table.seats[0]
    alice.feed(inputs.ContractsGenuine())
    assert list(alice.signed) == [0]
    finals = [VariablePart(table.agreement.outcome, b"", turn, True) for turn in (1, 2)]
    table.challenge(table.setup_states()[0], *finals)
    assert table.record == (2, True)
    alice.poll()
    assert alice.newest.state == finals[-1]
    assert list(alice.signed) == [0]


# ------------------------------------------------------------------------------------- a record beyond what we know


def carol_after_a_hidden_record() -> Seat:
    """Alice and Bob make two moves that Carol never hears of, and have the chain record the second one."""
    table = open_table(3, until=8)
    alice, bob, carol = table.seats
    alice.feed(alice.next_move())
    bob.poll()
    bob.feed(bob.next_move())
    table.transact(
        ALICE, effects.SubmitCheckpoint(proof(*states(bob, 3), keys=players(3), fixed=table.agreement.fixed_part))
    )
    carol.inbox.clear()
    carol.poll()
    assert table.record == (10, False)
    assert carol.newest.state.turn_num == 10
    return carol


def test_who_is_let_down_after_a_hidden_record_challenges_with_it() -> None:
    """Nobody but Carol can prove her next move: with what is recorded before it, and her signature alone."""
    carol = carol_after_a_hidden_record()
    table = carol.table
    for seat in table.seats[:2]:
        seat.is_away = True
    carol.feed(carol.next_move())
    carol.feed(inputs.ChallengeWanted())
    carol.poll()
    assert sent(carol) == ["SubmitChallenge"]
    assert table.record == (11, True)
    table.wait_for_expiry()
    table.run()
    assert carol.phase is Phase.CLOSED
    assert table.balances[carol.key.address] == carol.newest.state.outcome[2].amount - DEPOSIT


def test_the_recorded_state_itself_is_challenged_where_nothing_follows_it() -> None:
    """Nobody has signed it but Carol, and it needs no proof."""
    carol = carol_after_a_hidden_record()
    table, recorded = carol.table, carol.newest.state
    carol.feed(carol.next_move())
    mine = carol.newest
    alone = SupportProof((recorded, mine.state), (mine.signatures[2],), 0)
    table.transact(carol.key, effects.SubmitCheckpoint(alone))
    carol.poll()
    assert table.record == (11, False)
    carol.feed(inputs.ChallengeWanted())
    assert carol.submitted[-1] == effects.SubmitChallenge(SupportProof((mine.state,), (), 0))
    assert table.record == (11, True)


def test_what_a_hidden_record_left_behind_still_beats_an_older_state() -> None:
    """Another chain wins, on which the record never was; the others challenge with a state that Carol can refute."""
    carol = carol_after_a_hidden_record()
    table = carol.table
    held = table.held
    setup = table.setup_states()
    table.reorganise()
    for key in players(3):
        table.transact(key, effects.SubmitDeposit(ETHER, table.held, DEPOSIT))
    assert table.held == held
    table.challenge(setup[3], setup[4], setup[5])
    carol.restart()
    carol.poll()
    carol.poll()
    assert table.record == (8, False)
    assert sent(carol)[-1] == "SubmitCheckpoint"
