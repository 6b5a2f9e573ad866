"""What a participant does by itself and what it never does: agreeing, funding, playing, leaving."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import ETHER, Channel, InvalidValue, Phase, SignedState, VariablePart, address_destination
from forcemove.protocol.encoding import hash_state, word
from forcemove.protocol.errors import AlreadySigned, FinalStateSigned, OpeningMismatch, StateConflict
from forcemove.protocol.machine import inputs
from forcemove.protocol.machine.automatic_actions import next_due
from forcemove.protocol.machine.effects import SubmitCheckpoint, SubmitConclude, SubmitDeposit
from tests.expected import raising
from tests.protocol.builders import ALICE, BOB, MALLORY, players, proof
from tests.protocol.table import (
    DEPOSIT,
    DURATION,
    CountingGame,
    agreed_table,
    agreement_for,
    counting_table,
    open_table,
    seated,
    silent,
)

# ------------------------------------------------------------------------------------------------------------- agreeing


def test_threat_32_nothing_is_signed_before_the_contracts_are_known_to_be_genuine() -> None:
    table = counting_table()
    bob = table.seats[1]
    for input_ in (inputs.Tick(), inputs.HoldingsSeen(ETHER, 2 * DEPOSIT), inputs.Reconnected()):
        bob.feed(input_)
    bob.receive(table.signed(table.agreement.setup_state(0), 0))
    table.transact(ALICE, SubmitDeposit(ETHER, 0, DEPOSIT))
    bob.read_chain()
    bob.feed(inputs.ConcludeWanted())
    assert bob.signed == {}
    assert bob.submitted == []


CRAFTED = {
    "in the middle of the game": lambda state: replace(state, app_data=word(9)),
    "with no position": lambda state: replace(state, app_data=b""),
    "final at once": lambda state: replace(state, app_data=b"", is_final=True),
    "below the stake": lambda state: replace(state, outcome=tuple(replace(e, amount=1) for e in state.outcome)),
    "with the amounts exchanged": lambda state: replace(
        state, outcome=tuple(replace(e, amount=e.amount + d) for e, d in zip(state.outcome, (1, -1), strict=True))
    ),
    "with another destination": lambda state: replace(
        state,
        outcome=(state.outcome[0], replace(state.outcome[1], destination=address_destination(MALLORY.address))),
    ),
    "with the destinations exchanged": lambda state: replace(state, outcome=state.outcome[::-1]),
    "with a third entry": lambda state: replace(state, outcome=(*state.outcome, replace(state.outcome[0], amount=0))),
    "in another asset": lambda state: replace(
        state, outcome=tuple(replace(e, asset=b"\x01" * 20) for e in state.outcome)
    ),
}


@pytest.mark.parametrize("crafted", CRAFTED)
def test_threat_27_a_crafted_opening_is_not_signed(crafted: str) -> None:
    table = counting_table()
    bob = table.seats[1]
    bob.feed(inputs.ContractsGenuine())
    bob.receive(table.signed(CRAFTED[crafted](table.agreement.setup_state(0)), 0))
    assert bob.reasons == [OpeningMismatch(0)]
    assert bob.signed == {}
    bob.receive(table.signed(table.agreement.setup_state(0), 0))
    assert list(bob.signed) == [1]


def test_an_opening_for_another_nonce_is_another_channels() -> None:
    """The same states, signed for another channel id."""
    table = counting_table()
    bob = table.seats[1]
    bob.feed(inputs.ContractsGenuine())
    other = agreement_for(CountingGame(), nonce=1)
    signature = players(2)[0].sign(hash_state(other.channel_id, other.setup_state(0)).state)
    bob.receive(SignedState(table.agreement.setup_state(0), {0: signature}))
    assert type(bob.reasons[0]).__name__ == "WrongSigner"
    assert bob.signed == {}


def test_no_deposit_goes_into_a_channel_with_a_record() -> None:
    """Bob signs Alice's first state, too, and shows it to the chain: turn 0, but not nothing. She leaves."""
    table, alice, _ = seated(counting_table())
    alice.poll()
    first = table.agreement.setup_state(0)
    checkpoint = proof(first, fixed=table.agreement.fixed_part, pattern=(0, 0))
    table.transact(BOB, SubmitCheckpoint(checkpoint))
    alice.poll()
    alice.receive(table.signed(table.agreement.setup_state(1), 1))
    assert alice.submitted == []
    assert alice.newest.state.is_final


def test_whoever_leaves_while_agreeing_deposits_nothing() -> None:
    alice, bob = counting_table().seats
    alice.poll()
    alice.feed(inputs.ConcludeWanted())
    bob.poll()
    alice.poll()
    assert alice.submitted == []
    assert alice.newest.state.is_final


# -------------------------------------------------------------------------------------------------------------- funding


def test_threat_23_nobody_deposits_before_all_have_signed() -> None:
    table = counting_table()
    table.run(table.seats[:1])
    assert table.seats[0].submitted == []
    assert table.seats[0].phase is Phase.PREFUND


def test_participants_deposit_in_turn_and_rely_on_those_before_them() -> None:
    table = counting_table(3)
    table.run()
    deposits = [each for seat in table.seats for each in seat.submitted if isinstance(each, SubmitDeposit)]
    assert deposits == [SubmitDeposit(ETHER, DEPOSIT * index, DEPOSIT) for index in range(3)]


@pytest.mark.parametrize("held", [0, 1, DEPOSIT - 1])
def test_the_second_does_not_deposit_before_the_first_has(held: int) -> None:
    bob = agreed_table().seats[1]
    bob.feed(inputs.HoldingsSeen(ETHER, held))
    assert bob.submitted == []
    bob.feed(inputs.HoldingsSeen(ETHER, DEPOSIT))
    assert bob.submitted == [SubmitDeposit(ETHER, DEPOSIT, DEPOSIT)]


def test_threat_11_a_deposit_relies_on_what_was_agreed_not_on_what_was_read() -> None:
    """Dust on top of the first deposit changes nothing of what Bob asks for; without the first he does not ask."""
    table = agreed_table()
    bob = table.seats[1]
    table.reorganise()
    bob.feed(inputs.HoldingsSeen(ETHER, DEPOSIT + 1))
    assert bob.submitted == [SubmitDeposit(ETHER, DEPOSIT, DEPOSIT)]
    assert type(table.refused[0]).__name__ == "HoldingsBelowExpected"
    bob.feed(inputs.HoldingsSeen(ETHER, 0))
    bob.feed(inputs.SubmissionFailed(bob.submitted[0]))
    assert len(bob.submitted) == 1
    bob.feed(inputs.HoldingsSeen(ETHER, DEPOSIT))
    assert bob.submitted == [SubmitDeposit(ETHER, DEPOSIT, DEPOSIT)] * 2


@pytest.mark.parametrize("dust", [1, DEPOSIT - 1, DEPOSIT, DEPOSIT + 1, 2 * DEPOSIT - 1, 2 * DEPOSIT, 3 * DEPOSIT])
def test_threat_12_whatever_a_stranger_pays_in_the_channel_gets_funded(dust: int) -> None:
    table = counting_table()
    table.transact(MALLORY, SubmitDeposit(ETHER, 0, dust))
    table.run()
    assert table.seats[0].phase is table.seats[1].phase is Phase.CLOSED
    paid = [table.balances[key.address] for key in (ALICE, BOB)]
    bobs = max(0, min(DEPOSIT, 2 * DEPOSIT - dust))
    surplus = max(0, dust - 2 * DEPOSIT)  # which goes with the last payment
    assert paid == [DEPOSIT - max(0, DEPOSIT - dust), DEPOSIT - bobs + surplus]


def test_a_deposit_is_asked_for_once() -> None:
    alice = agreed_table().seats[0]
    for _ in range(3):
        alice.feed(inputs.Tick())
        alice.feed(inputs.HoldingsSeen(ETHER, 0))
    assert alice.submitted == [SubmitDeposit(ETHER, 0, DEPOSIT)]


@pytest.mark.parametrize("held", [0, DEPOSIT, 2 * DEPOSIT - 1])
def test_threat_28_no_postfund_state_before_everything_is_there(held: int) -> None:
    alice = agreed_table().seats[0]
    alice.feed(inputs.HoldingsSeen(ETHER, held))
    assert list(alice.signed) == [0]
    alice.feed(inputs.HoldingsSeen(ETHER, 2 * DEPOSIT))
    assert list(alice.signed) == [0, 2]


def test_threat_28_the_others_postfund_state_is_no_proof_of_money() -> None:
    alice, bob = agreed_table().seats
    alice.feed(inputs.HoldingsSeen(ETHER, 2 * DEPOSIT))  # she is wrong, or lies
    bob.take(bob.inbox.popleft())
    assert bob.channel.next_turn == 3
    assert list(bob.signed) == [1]


def test_no_move_before_every_postfund_state_is_signed() -> None:
    """Bob's state 3 is missing, and Alice gets a first move all the same."""
    table, alice, bob = seated(agreed_table())
    alice.feed(inputs.HoldingsSeen(ETHER, 2 * DEPOSIT))
    assert type(alice.try_to(alice.next_move())).__name__ == "WrongPhase"
    bob.receive(table.signed(alice.next_state(), 0))
    assert list(bob.signed) == [1]


# -------------------------------------------------------------------------------------------------------------- playing


def test_the_first_state_of_a_turn_stands_and_the_second_is_evidence() -> None:
    table, alice, _ = seated(open_table(until=4))
    first, second = alice.next_state(), alice.next_state(70)
    alice.receive(table.signed(first, 1))
    alice.receive(table.signed(second, 1))
    assert alice.reasons == [StateConflict(5)]
    assert alice.faults[0].evidence == table.signed(second, 1)
    assert alice.newest.state == first
    alice.feed(alice.next_move())
    alice.receive(table.signed(second, 1))
    assert alice.reasons[1:] == [StateConflict(5)]
    assert alice.channel.accepted[-2].state == first


def test_a_final_state_instead_of_what_we_have_signed_is_evidence() -> None:
    table, alice, _ = seated(open_table(until=4))
    before = table.agreement.outcome
    alice.receive(table.signed(VariablePart(before, b"", 4, True), 1))
    assert type(alice.reasons[0]).__name__ == "SignatureMissing"
    alice.receive(table.signed(VariablePart(before, b"", 3, True), 1))
    assert alice.reasons[1:] == [StateConflict(3)]
    assert alice.newest.state.turn_num == 4


def test_an_unsigned_contradiction_is_no_evidence() -> None:
    alice = open_table(until=5).seats[0]
    alice.receive(SignedState(replace(alice.newest.state, app_data=word(7))))
    assert type(alice.reasons[0]).__name__ == "SignatureMissing"


def test_a_signature_of_somebody_who_does_not_take_part_is_refused() -> None:
    table, alice, _ = seated(open_table(until=4))
    good = table.signed(alice.next_state(), 1)
    alice.receive(good.with_signature(2, good.signatures[1]))
    assert type(alice.reasons[0]) is InvalidValue
    alice.receive(good)
    assert alice.newest == good


def test_old_states_are_not_looked_at() -> None:
    table, alice, _ = seated(open_table(until=9))
    alice.receive(table.signed(table.agreement.setup_state(3), 1))
    assert alice.faults == []
    assert alice.newest.state.turn_num == 9


def test_what_was_lost_is_said_again() -> None:
    """Bob's answer is lost; Alice says where she is, and gets it."""
    table, alice, bob = seated(open_table(until=4))
    bob.feed(bob.next_move())
    alice.inbox.clear()
    table.travel(1)
    alice.feed(inputs.Reconnected())
    table.run()
    assert alice.newest == bob.newest
    assert alice.newest.state.turn_num == 5
    assert alice.faults == bob.faults == []


def test_a_countersignature_that_was_lost_is_said_again() -> None:
    table, alice, bob = seated(open_table(until=5))
    alice.feed(inputs.ConcludeWanted())
    bob.poll()
    alice.inbox.clear()
    table.travel(1)
    alice.feed(inputs.Reconnected())
    table.run()
    assert alice.phase is bob.phase is Phase.CLOSED


def test_who_has_missed_several_states_hears_them_from_those_who_made_them() -> None:
    table = open_table(3, until=6)
    alice, bob, carol = table.seats
    bob.feed(bob.next_move())
    carol.take(carol.inbox.popleft())
    carol.feed(carol.next_move())
    bob.poll()
    alice.inbox.clear()
    table.travel(1)
    alice.feed(inputs.Reconnected())
    table.run()
    assert alice.newest.state.turn_num == 8
    assert [seat.faults for seat in table.seats] == [[], [], []]


@pytest.mark.parametrize("count", [2, 3, 8])
def test_repeating_comes_to_an_end(count: int) -> None:
    """Everybody says where it is, after having missed a different number of states."""
    table = open_table(count, until=2 * count - 1)
    said = len(table.messages)
    for mover in range(count):
        seat = table.seats[mover]
        seat.feed(seat.next_move())
        for other in table.seats[mover + 1 :]:
            other.take(other.inbox.popleft())
    for seat in table.seats:
        seat.inbox.clear()
    for _ in range(2):
        table.travel(1)
        for seat in table.seats:
            seat.feed(inputs.Reconnected())
        table.run()
    assert {seat.newest.state.turn_num for seat in table.seats} == {3 * count - 1}
    assert [seat.faults for seat in table.seats] == [[]] * count
    assert len(table.messages) - said < 2 * count * (count + 1)


def test_our_move_is_asked_for_once() -> None:
    alice = open_table(until=5).seats[0]
    asked = len(alice.asked)
    for input_ in (inputs.Tick(), inputs.HoldingsSeen(ETHER, 2 * DEPOSIT), inputs.Reconnected()):
        alice.feed(input_)
    assert len(alice.asked) == asked


def test_after_a_restart_our_move_is_asked_for_again() -> None:
    alice = open_table(until=5).seats[0]
    asked = len(alice.asked)
    alice.restart()
    alice.poll()
    assert len(alice.asked) == asked + 1


# --------------------------------------------------------------------------------------------- signing, never twice


def test_threat_21_no_second_state_of_a_turn_is_signed() -> None:
    table, alice, _ = seated(open_table(until=5))
    before = alice.channel
    alice.feed(alice.next_move())
    forgetful = replace(alice.channel, accepted=before.accepted)
    state = alice.next_state(90)
    hashes = hash_state(table.agreement.channel_id, replace(state, turn_num=6))
    with raising(AlreadySigned(6)):
        forgetful.sign_next(replace(state, turn_num=6), hashes, ALICE)


def test_threat_21_the_same_state_may_be_signed_again() -> None:
    """After a crash the same decision leads to the same bytes."""
    alice = open_table(until=5).seats[0]
    before, move = alice.channel, alice.next_move()
    alice.feed(move)
    once = alice.newest
    alice.channel = replace(alice.channel, accepted=before.accepted)
    alice.feed(move)
    assert alice.newest == once


@pytest.mark.parametrize("amount", [None, 60])
def test_after_a_final_state_only_final_states_with_its_outcome_are_signed(amount: int | None) -> None:
    table, alice, _ = seated(open_table(until=5))
    alice.feed(inputs.ConcludeWanted())
    assert alice.newest.state.is_final
    other = VariablePart(alice.next_move(amount or DEPOSIT).outcome, b"" if amount else word(7), 7, bool(amount))
    with pytest.raises(FinalStateSigned):
        alice.channel.sign_next(other, hash_state(table.agreement.channel_id, other), ALICE)
    same = VariablePart(alice.newest.state.outcome, b"", 7, True)
    assert alice.channel.sign_next(same, hash_state(table.agreement.channel_id, same), ALICE).next_turn == 8


# -------------------------------------------------------------------------------------------------------------- leaving


def test_whoever_leaves_out_of_turn_signs_the_final_state_when_it_can() -> None:
    alice, bob = open_table(until=4).seats
    alice.feed(inputs.ConcludeWanted())
    assert not alice.newest.state.is_final
    bob.feed(bob.next_move(70))
    alice.poll()
    assert alice.newest.state == VariablePart(bob.channel.accepted[-1].state.outcome, b"", 6, True)


def test_whoever_did_not_make_the_final_state_concludes_if_the_other_does_not() -> None:
    table, alice, bob = seated(open_table(until=5))
    alice.feed(inputs.ConcludeWanted())
    alice.is_away = True
    table.run()
    table.travel(DURATION - 1)
    table.run()
    assert bob.submitted[1:] == []
    table.travel(1)
    table.run()
    assert [type(each) for each in bob.submitted[1:]] == [SubmitConclude]
    assert bob.phase is Phase.CLOSED


def test_a_conclusion_that_is_left_to_another_is_due_after_a_challenge_duration() -> None:
    table, alice, bob = seated(open_table(until=5))
    assert next_due(bob.channel, table.now) is None
    alice.feed(inputs.ConcludeWanted())
    alice.is_away = True
    table.run()
    assert next_due(bob.channel, table.now) == table.now + DURATION
    assert next_due(bob.channel, table.now + DURATION) is None


def test_a_conclusion_that_failed_is_tried_again() -> None:
    table, alice, bob = seated(open_table(until=5))
    table.is_down = True
    alice.feed(inputs.ConcludeWanted())
    bob.poll()
    alice.poll()
    table.is_down = False
    assert [type(each) for each in alice.submitted[1:]] == [SubmitConclude]
    table.run()
    assert [type(each) for each in alice.submitted[1:]] == [SubmitConclude] * 2
    assert alice.phase is Phase.CLOSED


def test_a_channel_that_could_not_be_opened_is_left() -> None:
    """Alice has paid in and leaves; Bob signs the end instead of paying in, and she gets it back."""
    table, alice, bob = seated(agreed_table())
    alice.feed(inputs.ConcludeWanted())
    bob.take(bob.inbox.popleft())
    assert bob.submitted == []
    table.run()
    assert alice.newest.signatures.keys() == {0, 1}
    assert table.balances[ALICE.address] == table.balances[BOB.address] == 0


def test_states_that_come_after_the_end_change_nothing() -> None:
    table = counting_table()
    table.run()
    alice = table.seats[0]
    before = alice.channel
    for state in (alice.next_state(), VariablePart(before.agreement.outcome, b"", before.next_turn, True)):
        alice.receive(table.signed(state, 1))
    assert alice.channel == before
    assert alice.faults == []


def test_a_silent_player_can_still_be_fed_the_move() -> None:
    alice = open_table(until=5).seats[0]
    alice.choose = silent
    assert alice.try_to(alice.next_move()) is None
    assert isinstance(alice.channel, Channel)
    assert alice.newest.state.turn_num == 6
