"""What a machine does not miss and does not take: rows 22 and 25 of the list of attacks, beyond what `tests/protocol`
says of it. Whole clients, with stores and chains, are in `tests/scenarios`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from forcemove import ETHER, Agreement, Channel, Key, Phase, SignedState, channel_id, word
from forcemove.protocol.errors import MessageRefused
from forcemove.protocol.logs import ChallengeRegistered
from forcemove.protocol.machine.effects import (
    Effect,
    SendGreeting,
    SubmitCheckpoint,
    SubmitConclude,
    SubmitDeposit,
    SubmitRespond,
)
from forcemove.protocol.machine.inputs import (
    ChainUpdate,
    ContractsGenuine,
    HoldingsSeen,
    Input,
    LogSeen,
    MoveChosen,
    StateReceived,
    SubmissionFailed,
    Tick,
)
from forcemove.protocol.machine.machine import step
from tests.protocol.builders import (
    ALICE,
    BOB,
    COUNTING,
    DAY,
    DOMAIN,
    MALLORY,
    PLAYERS,
    chain,
    destination,
    final,
    fixed_part,
    outcome,
    proof,
    sign,
    signed,
    state,
)

NOW = 1_800_000_000
FIXED = fixed_part()
ID = channel_id(FIXED, DOMAIN)
AGREED = Agreement(DOMAIN, FIXED, tuple(map(destination, PLAYERS)), ((ETHER, (10, 10)),), word(3))


class Player:
    """A participant's machine, and all that it has asked for."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.channel = Channel(AGREED, PLAYERS.index(key))
        self.asked: list[Effect] = []

    def feed(self, input_: Input, now: int = NOW) -> tuple[Effect, ...]:
        """Apply one input; what it asks for because of it."""
        self.channel, effects = step(self.channel, input_, now, self.key, COUNTING)
        self.asked += effects
        return effects

    def receive(self, *states: SignedState) -> None:
        for each in states:
            self.feed(StateReceived(each))


def made_by(key: Key, turn_num: int) -> SignedState:
    return signed(state(turn_num), key)


def alice_with(*inputs: Input) -> Player:
    """Alice, who knows that the contracts are genuine, after these inputs."""
    alice = Player(ALICE)
    for input_ in (ContractsGenuine(), *inputs):
        alice.feed(input_)
    return alice


def alice_playing() -> Player:
    """Funded and set up: it is her turn, 4."""
    return alice_with(StateReceived(made_by(BOB, 1)), HoldingsSeen(ETHER, 20), StateReceived(made_by(BOB, 3)))


def alice_in_turn(turn_num: int) -> Player:
    """After she and Bob have counted up to this turn."""
    alice = alice_playing()
    for turn in range(4, turn_num):
        if turn % 2 == 0:
            alice.feed(MoveChosen(outcome(), word(turn)))
        else:
            alice.receive(made_by(BOB, turn))
    return alice


# --------------------------------------------------------------------------------------------------------------- 22


def challenge_of(turn_num: int, now: int = NOW) -> LogSeen:
    """Bob challenges with what he and Alice have signed."""
    given = proof(*chain(turn_num - 1, turn_num))
    return LogSeen(ChallengeRegistered(ID, now + DAY, given.last, given.signatures))


def answers(effects: Sequence[Effect]) -> list[type]:
    kinds = (SubmitConclude, SubmitCheckpoint, SubmitRespond)
    return [type(effect) for effect in effects if isinstance(effect, kinds)]


@pytest.mark.parametrize("challenged", [3, 4, 5])
def test_threat_22_a_challenge_that_was_missed_is_answered_after_a_restart(challenged: int) -> None:
    """With the later states that Alice holds: she was asleep when it was logged."""
    alice = alice_in_turn(7)
    effects = alice.feed(ChainUpdate((HoldingsSeen(ETHER, 20), challenge_of(challenged)), from_scratch=True))
    assert len(answers(effects)) == 1


def test_threat_22_an_answer_that_a_reorganisation_took_away_is_given_again() -> None:
    """The chain is read anew, and with it the challenge: what was asked of the lost blocks does not count."""
    alice = alice_in_turn(7)
    first = alice.feed(challenge_of(5))
    assert answers(first) == [SubmitRespond]
    assert answers(alice.feed(Tick())) == []
    again = alice.feed(ChainUpdate((HoldingsSeen(ETHER, 20), challenge_of(5)), from_scratch=True))
    assert answers(again) == [SubmitRespond]


def test_threat_22_a_deposit_that_a_reorganisation_took_away_is_made_again() -> None:
    alice = alice_with(StateReceived(made_by(BOB, 1)), HoldingsSeen(ETHER, 10))
    effects = alice.feed(ChainUpdate((HoldingsSeen(ETHER, 0),), from_scratch=True))
    assert effects == (SubmitDeposit(ETHER, 0, 10),)


def test_threat_22_a_challenge_that_a_reorganisation_took_away_is_forgotten() -> None:
    alice = alice_in_turn(5)
    alice.feed(challenge_of(4))
    assert alice.channel.phase(NOW) is Phase.CHALLENGED
    alice.feed(ChainUpdate((HoldingsSeen(ETHER, 20),), from_scratch=True))
    assert alice.channel.phase(NOW + DAY) is Phase.PLAYING


def test_threat_22_a_challenge_whose_answer_was_lost_on_the_way_is_answered_again() -> None:
    alice = alice_in_turn(7)
    (answer,) = [effect for effect in alice.feed(challenge_of(5)) if isinstance(effect, SubmitRespond)]
    assert answers(alice.feed(SubmissionFailed(answer))) == [SubmitRespond]


# --------------------------------------------------------------------------------------------------------------- 25


FOREIGN: dict[str, Callable[[], SignedState]] = {
    "unsigned": lambda: SignedState(state(5)),
    "by somebody else": lambda: SignedState(state(5), {1: sign(MALLORY, state(5))}),
    "by us": lambda: made_by(ALICE, 5),
    "of another channel": lambda: signed(state(5), BOB, fixed=fixed_part(nonce=1)),
    "an illegal move": lambda: signed(state(5, app_data=word(9)), BOB),
    "another total": lambda: signed(state(5, outcome(11, 10)), BOB),
    "a final state with another outcome": lambda: signed(final(5, outcome(0, 20)), BOB),
    "from a third seat": lambda: SignedState(state(5), {1: sign(BOB, state(5)), 2: sign(BOB, state(5))}),
}


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN)
def test_threat_25_what_does_not_fit_changes_nothing(make: Callable[[], SignedState]) -> None:
    """And keeps the evidence. Play goes on afterwards."""
    alice = alice_in_turn(5)
    before, asked = alice.channel, list(alice.asked)
    with pytest.raises(MessageRefused) as caught:
        alice.receive(make())
    assert caught.value.evidence == make()
    assert (alice.channel, alice.asked) == (before, asked)
    alice.receive(made_by(BOB, 5))
    assert alice.channel.next_turn == 6


@pytest.mark.parametrize("turn", [1, 7, 2**48 - 1], ids=["of long ago", "too early", "far ahead"])
def test_threat_25_what_comes_at_another_time_changes_nothing(turn: int) -> None:
    """Lines lose and reorder: that is nobody's fault, and is not looked at. Where we missed something, we say so."""
    alice = alice_in_turn(5)
    before, asked = alice.channel, list(alice.asked)
    alice.receive(made_by(BOB, turn))
    assert alice.channel == before
    assert alice.asked == ([*asked, SendGreeting(5)] if turn > 5 else asked)
    alice.receive(made_by(BOB, 5))
    assert alice.channel.next_turn == 6


def test_threat_25_a_message_delivered_twice_is_no_second_move() -> None:
    alice = alice_in_turn(5)
    alice.receive(made_by(BOB, 5))
    after = alice.channel
    alice.receive(made_by(BOB, 5))
    alice.receive(made_by(BOB, 3))
    assert alice.channel == after
