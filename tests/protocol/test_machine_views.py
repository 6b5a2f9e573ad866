"""Endpoints that show different things: what any of them shows is defended against, what one denies is not built on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest
from msgspec.structs import replace

from forcemove import ETHER, Channel, ForcemoveError, Phase, VariablePart
from forcemove.flow.channel import is_stuck
from forcemove.protocol.encoding import fingerprint, hash_state, word
from forcemove.protocol.errors import EndpointsDiffer, NotSupported
from forcemove.protocol.logs import ChallengeRegistered, Checkpointed
from forcemove.protocol.machine import inputs
from forcemove.protocol.machine.automatic_actions import answer_margin, next_due
from forcemove.protocol.machine.effects import (
    Submission,
    SubmitChallenge,
    SubmitDeposit,
    SubmitTransfer,
)
from forcemove.protocol.machine.machine import step
from forcemove.protocol.machine.record import Owed, Recorded, fold_all
from forcemove.protocol.machine.responses import clears, concluding_answer
from forcemove.protocol.machine.view_differences import acts_first
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.words import Status
from tests.protocol.builders import ALICE, BOB, DOMAIN, players, sign
from tests.protocol.table import DEPOSIT, DURATION, Seat, Table, agreed_table, open_table, seated
from tests.protocol.test_machine import INPUTS, SITUATIONS

DENIED = inputs.ViewsDiffer(is_denied=True)


def sent(seat: Seat) -> list[str]:
    """The seat's transactions after its deposit."""
    return [type(each).__name__ for each in seat.submitted[1:]]


def states(seat: Seat, count: int = 2) -> tuple[VariablePart, ...]:
    """The newest that this seat has, oldest first."""
    return tuple(each.state for each in seat.channel.accepted[-count:])


def clock(table: Table, *challenged: VariablePart, by: int = 1) -> inputs.Clock:
    """A challenge with these states, on a chain whose log is left out of what all endpoints show."""
    before = list(table.logs)
    table.challenge(*challenged, by=by)
    recorded = fold_all(table.logs, DOMAIN, table.now).recorded
    table.logs[:] = before
    return inputs.Clock(table.chain.status_of(table.agreement.channel_id), recorded)


def status_only(shown: inputs.Clock) -> inputs.Clock:
    return replace(shown, recorded=None)


# ----------------------------------------------------------------------------------------------------------- answering


@pytest.mark.parametrize("denied", [False, True])
@pytest.mark.parametrize("old", [1, 2, 3, 4, 5, 6, 7])
def test_threat_54_a_clock_that_one_endpoint_shows_is_answered(old: int, denied: bool) -> None:
    table, alice, _ = seated(open_table(until=9))
    played = [VariablePart(table.agreement.outcome, word(turn), turn) for turn in range(4, 9)]
    shown = clock(table, *(table.setup_states() + played)[old - 1 : old + 1])
    alice.feed(inputs.ViewsDiffer(denied, (shown,)))
    assert sent(alice) == ["SubmitCheckpoint"]
    assert table.record == (9, False)


@pytest.mark.parametrize("committed", ["that of a state that we hold", "another"])
@pytest.mark.parametrize("old", [3, 7, 8])
def test_threat_56_a_clock_that_only_a_status_shows_is_answered(old: int, committed: str) -> None:
    table, alice, _ = seated(open_table(until=9))
    held = [each.state for each in alice.channel.accepted]
    before = VariablePart(table.agreement.outcome, word(old), old)
    shown = status_only(clock(table, replace(before, turn_num=old - 1, app_data=word(max(old - 1, 3))), before))
    if committed == "another":
        shown = inputs.Clock(replace(shown.status, fingerprint=7))
    alice.feed(inputs.ViewsDiffer(True, (shown,)))
    is_next = before in held and old == 8 and committed != "another"
    assert sent(alice) == ["SubmitRespond" if is_next else "SubmitCheckpoint"]
    assert table.record == (9, False)


def test_threat_54_an_answer_to_one_clock_does_not_prevent_another() -> None:
    """The one is of the state before our newest; the other of one that we have never seen."""
    table, alice, _ = seated(open_table(until=6))
    first = clock(table, *states(alice, 3)[:2])
    second = inputs.Clock(Status(5, first.status.finalizes_at, 7))
    table.is_down = True
    alice.feed(inputs.ViewsDiffer(True, (first,)))
    alice.feed(inputs.ViewsDiffer(True, (first, second)))
    alice.feed(inputs.ViewsDiffer(True, (second, first)))
    assert sent(alice) == ["SubmitRespond", "SubmitCheckpoint"]
    respond, checkpoint = alice.submitted[1:]
    alice.feed(inputs.SubmissionFailed(checkpoint))
    alice.feed(inputs.SubmissionFailed(respond))
    assert sent(alice)[2:] == ["SubmitCheckpoint"]  # which clears both


def test_threat_29_what_all_have_signed_concludes_against_a_clock_that_only_a_status_shows() -> None:
    table, alice, bob = seated(open_table(until=5))
    older = states(alice)
    table.is_down = True
    alice.feed(inputs.ConcludeWanted())
    bob.take(bob.inbox.popleft())
    alice.take(alice.inbox.popleft())
    table.is_down = False
    alice.feed(inputs.SubmissionFailed(alice.submitted[-1]))
    alice.submitted.clear()
    alice.channel = replace(alice.channel, requested=())
    alice.feed(inputs.ViewsDiffer(True, (inputs.Clock(Status(5, table.now + DURATION, 7)),)))
    assert [type(each).__name__ for each in alice.submitted] == ["SubmitConclude"]
    assert older[-1].turn_num == 5


@pytest.mark.parametrize("is_logged", [True, False])
def test_threat_54_our_player_is_asked_for_the_move_that_stops_a_clock_that_is_denied(is_logged: bool) -> None:
    """By when, only a record that all agree on can say."""
    table, alice, bob = seated(open_table(until=4))
    alice.feed(DENIED)
    asked = len(alice.asked)
    bob.feed(bob.next_move(70))
    alice.poll()
    assert len(alice.asked) == asked
    assert alice.try_to(alice.next_move()) == EndpointsDiffer(table.agreement.channel_id)
    shown = clock(table, *states(alice))
    alice.feed(inputs.ViewsDiffer(True, (shown if is_logged else status_only(shown),)))
    assert [each.answer_by for each in alice.asked[asked:]] == [None]
    assert alice.try_to(alice.next_move()) is None
    assert sent(alice) == ["SubmitRespond"]
    assert table.record == (6, False)


def test_nobody_is_asked_for_a_move_after_the_end() -> None:
    """Alice has challenged with her final state; all have signed it meanwhile."""
    table, alice, bob = seated(open_table(until=5))
    alice.feed(inputs.ConcludeWanted())
    alice.feed(inputs.ChallengeWanted())
    table.is_down = True
    bob.poll()
    asked = len(bob.asked)
    bob.feed(inputs.ViewsDiffer(True, (inputs.Clock(table.chain.status_of(table.agreement.channel_id)),)))
    assert bob.phase is Phase.CHALLENGED
    assert bob.channel.is_our_turn
    assert len(bob.asked) == asked
    assert not bob.channel.must_move


def test_once_all_endpoints_show_the_clock_our_player_is_told_by_when() -> None:
    table, alice, _ = seated(open_table(until=5))
    alice.feed(inputs.ViewsDiffer(True, (status_only(clock(table, *states(alice))),)))
    asked = len(alice.asked)
    table.logs.append(ChallengeRegistered(table.agreement.channel_id, table.now + DURATION, alice.newest.state, ()))
    alice.feed(inputs.ViewsDiffer())
    alice.poll()
    assert [each.answer_by for each in alice.asked[asked:]] == [table.now + DURATION - answer_margin(DURATION)]


def test_threat_54_nobody_gives_up_a_game_on_the_word_of_one_endpoint() -> None:
    """The final state at the margin: not for a clock that one endpoint shows alone, nor while one denies anything."""
    table, alice, _ = seated(open_table(until=5))
    shown = clock(table, *states(alice))
    table.travel(DURATION - 1)
    alice.feed(inputs.ViewsDiffer(False, (shown,)))
    assert max(alice.signed) == 4
    table.logs.append(
        ChallengeRegistered(table.agreement.channel_id, shown.status.finalizes_at, alice.newest.state, ())
    )
    alice.feed(DENIED)
    alice.poll()
    assert alice.phase is Phase.CHALLENGED
    assert max(alice.signed) == 4
    alice.feed(inputs.ViewsDiffer())
    assert alice.signed[6].is_final


def test_threat_54_nothing_is_signed_against_a_clock_that_no_endpoint_shows_now() -> None:
    """The record of it may be from before a start. Alice wants to leave."""
    table, alice, _ = seated(open_table(until=5))
    shown = clock(table, *states(alice))
    table.logs.append(
        ChallengeRegistered(table.agreement.channel_id, shown.status.finalizes_at, alice.newest.state, ())
    )
    alice.feed(DENIED)
    alice.poll()
    assert alice.phase is Phase.CHALLENGED
    assert alice.try_to(alice.next_move()) == EndpointsDiffer(table.agreement.channel_id)
    alice.feed(inputs.ConcludeWanted())
    assert max(alice.signed) == 4
    alice.feed(inputs.ViewsDiffer(True, (shown,)))
    assert alice.signed[6].is_final


def test_threat_54_at_time_0_nobody_moves_or_signs_an_end_to_challenge_and_nothing_is_planned() -> None:
    """Before all endpoints have answered."""
    table, alice, bob = seated(agreed_table())
    assert alice.channel.is_our_turn
    for now in (0, table.now):
        try:
            after, _ = step(alice.channel, inputs.ChallengeWanted(), now, ALICE, table.app)
        except EndpointsDiffer:
            assert not now
        else:
            assert now
            assert after.final_outcome is not None
    ended, alice, bob = seated(open_table(until=5))
    alice.feed(inputs.ConcludeWanted())
    bob.poll()
    bob.feed(inputs.SubmissionFailed(SubmitDeposit(ETHER, 0, 0)))
    assert bob.phase is Phase.CONCLUDING
    unplanned = replace(bob.channel, conclude_at=None)
    assert step(unplanned, inputs.Tick(), 0, BOB, ended.app)[0].conclude_at is None
    assert step(unplanned, inputs.Tick(), ended.now, BOB, ended.app)[0].conclude_at == ended.now + DURATION
    assert next_due(unplanned, 0) == 1
    playing = open_table(until=5).seats[0]
    with pytest.raises(EndpointsDiffer):
        step(playing.channel, playing.next_move(), 0, ALICE, playing.table.app)
    assert playing.try_to(playing.next_move()) is None


@pytest.mark.parametrize("amount", [0, 30, 50, 100])
@pytest.mark.parametrize("seat", [0, 1])
def test_the_final_state_at_the_margin_pays_what_the_challenged_state_pays(seat: int, amount: int) -> None:
    """So nothing is lost where it is not signed."""
    table = open_table(until=4 + seat)
    mover, other = table.seats[seat], table.seats[1 - seat]
    other.feed(other.next_move(amount))
    mover.poll()
    table.challenge(*states(mover), by=1 - seat)
    challenged = mover.newest.state
    table.travel(DURATION - answer_margin(DURATION))
    mover.poll()
    assert mover.newest.state.is_final
    assert mover.newest.state.outcome == challenged.outcome


def test_threat_54_what_one_endpoint_shows_as_final_is_collected_once() -> None:
    table, alice, _ = seated(open_table(until=5))
    table.is_down = True
    newest = alice.channel.newest
    assert newest is not None
    owed = Owed(newest.hashes.state, newest.state.outcome)
    payouts = (inputs.Payout(owed, ((ETHER, 0),)), inputs.Payout(owed, ((ETHER, 2 * DEPOSIT),)))
    for _ in range(2):
        alice.feed(inputs.ViewsDiffer(True, (), payouts))
    transfer = SubmitTransfer(owed.state_hash, owed.outcome, ((ETHER, 2 * DEPOSIT),))
    assert alice.submitted[1:] == [transfer]
    alice.feed(inputs.SubmissionFailed(transfer))
    assert alice.submitted[1:] == [transfer] * 2


# ------------------------------------------------------------------------------------------- what was withheld from us


def test_threat_26_a_withheld_move_that_one_endpoint_shows_is_taken_in() -> None:
    table, alice, bob = seated(open_table(until=4))
    bob.feed(bob.next_move(70))
    alice.inbox.clear()
    alice.feed(inputs.ViewsDiffer(True, (clock(table, *states(bob)),)))
    assert alice.newest.state == bob.newest.state
    assert alice.asked[-1].state == bob.newest.state
    alice.feed(alice.next_move())
    assert sent(alice) == ["SubmitRespond"]


def invented(table: Table, state: VariablePart, *by: int) -> Recorded:
    """As if the chain had recorded it with the signatures of these participants."""
    keys = players(table.agreement.count)
    signed = [(keys[each].address, sign(keys[each], state, table.agreement.fixed_part)) for each in by]
    return Recorded(state, hash_state(table.agreement.channel_id, state), tuple(signed))


def test_threat_54_what_one_endpoint_shows_is_taken_in_only_where_every_rule_holds() -> None:
    table, alice, _ = seated(open_table(until=4))
    good = alice.next_state()
    lies = [
        invented(table, good),
        invented(table, good, 0),
        invented(table, replace(good, app_data=word(99)), 1),
        invented(table, replace(good, app_data=b"x"), 1),
        invented(table, replace(good, turn_num=7, app_data=word(7)), 1),
        replace(invented(table, good, 1), signatures=((BOB.address, sign(ALICE, good, table.agreement.fixed_part)),)),
        replace(invented(table, good, 1), state=replace(good, outcome=good.outcome[:1])),
    ]
    for lie in lies:
        alice.feed(inputs.ViewsDiffer(False, (inputs.Clock(Status(5, table.now + 60, 7), lie),)))
        assert alice.channel.next_turn == 5
    alice.feed(inputs.ViewsDiffer(False, (inputs.Clock(Status(5, table.now + 60, 7), invented(table, good, 1)),)))
    assert alice.newest.state == good


# ------------------------------------------------------------------------------------------------- what is recorded


def say_recorded(seat: Seat, state: VariablePart, *by: int, is_challenge: bool = False) -> None:
    """All endpoints lie."""
    table = seat.table
    signatures = tuple(each for _, each in invented(table, state, *by).signatures)
    id_ = table.agreement.channel_id
    ends = table.now + DURATION
    log = ChallengeRegistered(id_, ends, state, signatures) if is_challenge else Checkpointed(id_, state, signatures)
    seat.feed(inputs.LogSeen(log))


@pytest.mark.parametrize("turn", [5, 101])
def test_threat_54_a_record_that_its_mover_has_not_signed_is_not_adopted(turn: int) -> None:
    """But it runs a clock, which is answered by what is known of it."""
    alice = open_table(until=4).seats[0]
    before = alice.newest
    say_recorded(alice, VariablePart(before.state.outcome, word(turn), turn), 0, is_challenge=True)
    assert alice.newest == before
    assert alice.phase is Phase.CHALLENGED


@pytest.mark.parametrize("is_challenge", [True, False])
@pytest.mark.parametrize("is_final", [True, False])
def test_threat_54_nothing_is_signed_on_top_of_an_invented_record(is_final: bool, is_challenge: bool) -> None:
    """Bob and every endpoint lie: he has won, they say, and it is Alice's turn. With a state of hers on top of that it
    would be supported."""
    table, alice, _ = seated(open_table(until=4))
    ours = replace(alice.newest.state.outcome[0], amount=0)
    theirs = replace(alice.newest.state.outcome[1], amount=2 * DEPOSIT)
    lie = VariablePart((ours, theirs), b"" if is_final else word(101), 101, is_final)
    signed = alice.channel.last_signed
    say_recorded(alice, lie, 1, is_challenge=is_challenge)
    assert alice.newest.state == lie
    if not is_final:
        assert alice.try_to(alice.next_move()) == NotSupported(101)
    alice.feed(inputs.ConcludeWanted())
    table.travel(DURATION - 1)
    alice.feed(inputs.Tick())
    if not is_challenge:
        assert alice.try_to(inputs.ChallengeWanted()) is None
        assert isinstance(alice.submitted[-1], SubmitChallenge)
    assert alice.channel.last_signed == signed


def test_a_record_that_we_have_signed_ourselves_is_gone_on_from() -> None:
    """As by another process with our key, before it moved the channel to this one."""
    alice = open_table(until=4).seats[0]
    say_recorded(alice, VariablePart(alice.newest.state.outcome, word(101), 101), 0, 1)
    assert alice.try_to(alice.next_move()) is None
    assert alice.newest.state.turn_num == 102


# ------------------------------------------------------------------------------------------------ every small situation


def differences(alice: Seat) -> Iterator[inputs.ViewsDiffer]:
    """With and without a denial: all pairs of clocks of small turns, known by log, by status or not at all."""
    channel, ends = alice.channel, alice.table.now + DURATION
    clocks = [inputs.Clock(Status(turn, ends, 7)) for turn in (0, 2, channel.next_turn, 99)]
    for each in channel.accepted[-2:]:
        status = Status(each.state.turn_num, ends, fingerprint(each.hashes.state, each.hashes.outcome))
        clocks += [inputs.Clock(status), inputs.Clock(status, Recorded(each.state, each.hashes, ()))]
    for first, second in combinations(clocks, 2):
        yield from (inputs.ViewsDiffer(denied, (first, second)) for denied in (True, False))
    yield from (inputs.ViewsDiffer(True), inputs.ViewsDiffer())


def is_answerable(channel: Channel, shown: inputs.Clock) -> bool:
    """Whether what we hold, proved by signatures alone, clears it."""
    fixed, newest = channel.agreement.fixed_part, channel.newest
    if newest is None:
        return False
    proof = build_support_proof(fixed, channel.signed_states)
    is_later = proof is not None and proof.last.turn_num > shown.status.turn_num_record
    return is_later or concluding_answer(fixed, newest.signed) is not None


@pytest.mark.parametrize("situation", SITUATIONS)
def test_threat_54_nothing_is_committed_to_that_an_endpoint_denies(situation: str) -> None:
    """And no clock is met with silence that something we hold answers."""
    alice = SITUATIONS[situation][0]().seats[0]
    for views in differences(alice):
        before = step(alice.channel, views, alice.table.now, alice.key, alice.table.app)[0]
        for shown in views.clocks:
            answered = any(clears(each, before.agreement.channel_id, shown.status) for each in before.requested)
            assert answered or not is_answerable(before, shown)
        for name, make_input in INPUTS.items():
            if not views.is_denied or name in ("conclude", "challenge"):
                continue
            try:
                after = step(before, make_input(alice), alice.table.now, alice.key, alice.table.app)[0]
            except ForcemoveError:
                continue
            assert {each for each in after.requested if isinstance(each, SubmitDeposit)} <= set(before.requested)
            if not before.must_move and not before.leaving and not after.leaving:
                assert after.last_signed == before.last_signed, (name, views)


def test_threat_54_no_end_is_countersigned_while_an_endpoint_denies_something() -> None:
    table, alice, _ = seated(open_table(until=4))
    final = VariablePart(alice.newest.state.outcome, b"", 5, True)
    alice.feed(DENIED)
    alice.receive(table.signed(final, 1))
    alice.feed(inputs.Tick())
    assert alice.newest.signatures.keys() == {1}
    alice.feed(inputs.ViewsDiffer())
    assert alice.newest.signatures.keys() == {0, 1}


# ------------------------------------------------------------------------------------------------------ missing money


@pytest.mark.parametrize("amount", [0, 20, 50, 80, 100])
def test_threat_58_challenging_leads_out_whoever_is_to_move(amount: int) -> None:
    """A reorganisation has taken Bob's deposit, who is gone, on Alice's turn. What is left of hers is hers."""
    table, alice, bob = seated(open_table(until=4))
    bob.feed(bob.next_move(amount))
    alice.poll()
    table.reorganise()
    table.transact(ALICE, SubmitDeposit(ETHER, 0, DEPOSIT))
    bob.is_away = True
    alice.restart()
    alice.poll()
    assert alice.channel.lacks_money
    assert alice.channel.is_our_turn
    assert is_stuck(alice.channel, Phase.PLAYING)
    assert alice.try_to(inputs.ChallengeWanted()) is None
    alice.feed(inputs.Tick())
    table.wait_for_expiry()
    table.run([alice])
    assert table.payouts[ALICE.address] == min(amount, DEPOSIT)
    assert alice.submitted.count(SubmitDeposit(ETHER, 0, DEPOSIT)) == 1


def test_threat_58_who_has_challenged_pays_nothing_in() -> None:
    table, alice, _ = seated(open_table(until=4))
    table.is_down = True
    alice.channel = replace(alice.channel, requested=())  # as after a reorganisation
    alice.feed(inputs.ChallengeWanted())
    alice.feed(inputs.HoldingsSeen(ETHER, 0))
    assert sent(alice) == ["SubmitChallenge"]


def test_threat_58_who_leaves_while_its_own_deposit_lacks_pays_nothing_in() -> None:
    """It waits for Alice's; once only its own lacks, nothing of what is held is its own, and it signs the end."""
    table = open_table(until=4)
    bob = table.seats[1]
    bob.channel = replace(bob.channel, requested=())  # as after a reorganisation
    bob.feed(inputs.HoldingsSeen(ETHER, 0))
    bob.feed(inputs.ConcludeWanted())
    assert max(bob.signed) == 3
    bob.feed(inputs.HoldingsSeen(ETHER, DEPOSIT))
    assert bob.signed[5].is_final
    assert sent(bob) == []


# --------------------------------------------------------------------------------------------------- who answers first


def first_to_act(table: Table, answers: Sequence[Submission], now: int, challenger: int | None = None) -> list[bool]:
    return [
        acts_first(seat.channel, answer, now, has_challenged=index == challenger)
        for index, (seat, answer) in enumerate(zip(table.seats, answers, strict=True))
    ]


def test_who_has_challenged_lets_the_other_of_two_answer_first() -> None:
    """Both have the move that clears it; but not when half of the time is gone."""
    table, alice, bob = seated(open_table(until=4))
    alice.feed(inputs.ChallengeWanted())
    table.run()
    table.is_down = True
    bob.feed(bob.next_move())
    alice.take(alice.inbox.popleft())
    answer = alice.submitted[-1]
    assert answer == bob.submitted[-1]
    half = table.now + DURATION - DURATION // 2
    assert first_to_act(table, [answer] * 2, half, challenger=0) == [False, True]
    assert first_to_act(table, [answer] * 2, half, challenger=1) == [True, False]
    assert first_to_act(table, [answer] * 2, half + 1, challenger=0) == [True, True]


def test_who_was_challenged_with_an_old_state_waits_for_nobody() -> None:
    """The mover after it: the challenger is the other one, who will not answer it."""
    for turn in (2, 3):
        table = open_table(until=6)
        shown = inputs.Clock(Status(turn, table.now + DURATION, 7))
        for seat in table.seats:
            table.is_down = True
            seat.feed(inputs.ViewsDiffer(False, (shown,)))
        answers = [seat.submitted[-1] for seat in table.seats]
        assert first_to_act(table, answers, table.now) == [True, True]


def test_where_no_clock_runs_everybody_acts() -> None:
    table, alice, bob = seated(open_table(until=5))
    table.is_down = True
    alice.feed(inputs.ConcludeWanted())
    bob.take(bob.inbox.popleft())
    alice.take(alice.inbox.popleft())
    assert first_to_act(table, [alice.submitted[-1]] * 2, table.now, challenger=1) == [True, True]


def test_of_three_who_is_to_move_on_an_old_challenged_state_answers_it_first() -> None:
    table = open_table(3, until=9)
    shown = inputs.Clock(Status(6, table.now + DURATION, 7))
    for seat in table.seats:
        table.is_down = True
        seat.feed(inputs.ViewsDiffer(False, (shown,)))
        assert sent(seat) == ["SubmitCheckpoint"]
    answers = [seat.submitted[-1] for seat in table.seats]
    assert first_to_act(table, answers, table.now, challenger=0) == [False, True, False]
