"""What a client does not sign, and what it does not miss: rows 21, 22, 23, 25 to 29 and 32 of the list of attacks,
against the channel's machine. Whole clients, with stores, sockets and chains, stand in `tests/scenarios`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest

from channel.errors import (
    AlreadySigned,
    CounterpartyError,
    FinalStateSigned,
    ForcemoveError,
    MalformedBytes,
    OpeningMismatch,
    StateConflict,
)
from channel.protocol.agreement import Agreement
from channel.protocol.channel import Channel, Phase
from channel.protocol.effects import (
    ChooseMove,
    Effect,
    SendState,
    SubmitCheckpoint,
    SubmitConclude,
    SubmitDeposit,
    SubmitRespond,
)
from channel.protocol.encoding import channel_id, word
from channel.protocol.inputs import (
    ChainRead,
    ConcludeWanted,
    ContractsGenuine,
    HoldingsSeen,
    Input,
    LogSeen,
    MoveChosen,
    StateReceived,
    SubmissionFailed,
    Tick,
)
from channel.protocol.logs import ChallengeRegistered, Checkpointed, Responded
from channel.protocol.machine import step
from channel.protocol.signing import Key
from channel.protocol.state import SignedState, VariablePart
from channel.protocol.types import ETHER
from channel.protocol.wire import MAX_MESSAGE, decode_message, encode_message
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
    sign_all,
    signed,
    state,
)

NOW = 1_800_000_000
FIXED = fixed_part()
ID = channel_id(FIXED, DOMAIN)
AGREED = Agreement(DOMAIN, FIXED, tuple(map(destination, PLAYERS)), ((ETHER, (10, 10)),), word(3))
_Effect = TypeVar("_Effect", bound=Effect)


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

    def all_asked(self, kind: type[_Effect]) -> list[_Effect]:
        return [effect for effect in self.asked if isinstance(effect, kind)]

    def signed_turns(self) -> list[int]:
        """The turns of the states that it has sent."""
        return [effect.signed.state.turn_num for effect in self.all_asked(SendState)]


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


def bob_invited() -> Player:
    """He has signed what Alice has begun."""
    bob = Player(BOB)
    bob.feed(ContractsGenuine())
    bob.receive(made_by(ALICE, 0))
    return bob


def alice_in_turn(turn_num: int) -> Player:
    """After she and Bob have counted up to this turn."""
    alice = alice_playing()
    for turn in range(4, turn_num):
        if turn % 2 == 0:
            alice.feed(MoveChosen(outcome(), word(turn)))
        else:
            alice.receive(made_by(BOB, turn))
    return alice


# --------------------------------------------------------------------------------------------------------------- 21


def test_threat_21_no_second_state_is_signed_for_a_turn_whatever_was_forgotten() -> None:
    """What was signed is remembered by itself: here everything accepted since has gone."""
    alice = alice_in_turn(5)
    for kept in range(len(alice.channel.accepted)):
        crashed = replace(alice.channel, accepted=alice.channel.accepted[: kept + 1])
        if crashed.is_our_turn and crashed.next_turn == 4:
            with pytest.raises(AlreadySigned):
                step(crashed, MoveChosen(outcome(11, 9), word(4)), NOW, ALICE, COUNTING)
            _, effects = step(crashed, MoveChosen(outcome(), word(4)), NOW, ALICE, COUNTING)
            assert effects[0] == SendState(made_by(ALICE, 4))
            break
    else:
        raise AssertionError("Alice has not been in the place that this is about")


def test_threat_21_after_a_final_state_only_its_outcome_is_signed() -> None:
    alice = alice_playing()
    alice.feed(ConcludeWanted())
    assert alice.signed_turns() == [0, 2, 4]
    crashed = replace(alice.channel, accepted=alice.channel.accepted[:-1], leaving=False, last_signed=None)
    with pytest.raises(FinalStateSigned):
        step(crashed, MoveChosen(outcome(), word(4)), NOW, ALICE, COUNTING)


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
    effects = alice.feed(ChainRead((HoldingsSeen(ETHER, 20), challenge_of(challenged)), anew=True))
    assert len(answers(effects)) == 1


def test_threat_22_an_answer_that_a_reorganisation_took_away_is_given_again() -> None:
    """The chain is read anew, and with it the challenge: what was asked of the lost blocks does not count."""
    alice = alice_in_turn(7)
    first = alice.feed(challenge_of(5))
    assert answers(first) == [SubmitRespond]
    assert answers(alice.feed(Tick())) == []
    again = alice.feed(ChainRead((HoldingsSeen(ETHER, 20), challenge_of(5)), anew=True))
    assert answers(again) == [SubmitRespond]


def test_threat_22_a_deposit_that_a_reorganisation_took_away_is_made_again() -> None:
    alice = alice_with(StateReceived(made_by(BOB, 1)), HoldingsSeen(ETHER, 10))
    effects = alice.feed(ChainRead((HoldingsSeen(ETHER, 0),), anew=True))
    assert effects == (SubmitDeposit(ETHER, 0, 10),)


def test_threat_22_a_challenge_that_a_reorganisation_took_away_is_forgotten() -> None:
    alice = alice_in_turn(5)
    alice.feed(challenge_of(4))
    assert alice.channel.phase(NOW) is Phase.CHALLENGED
    alice.feed(ChainRead((HoldingsSeen(ETHER, 20),), anew=True))
    assert alice.channel.phase(NOW + DAY) is Phase.PLAYING


def test_threat_22_a_challenge_whose_answer_was_lost_on_the_way_is_answered_again() -> None:
    alice = alice_in_turn(7)
    (answer,) = [effect for effect in alice.feed(challenge_of(5)) if isinstance(effect, SubmitRespond)]
    assert answers(alice.feed(SubmissionFailed(answer))) == [SubmitRespond]


# --------------------------------------------------------------------------------------------------------------- 23


def test_threat_23_nobody_deposits_before_the_opening_is_signed_by_all() -> None:
    alice = alice_with(HoldingsSeen(ETHER, 0), Tick())
    assert alice.all_asked(SubmitDeposit) == []
    alice.receive(made_by(BOB, 1))
    assert alice.all_asked(SubmitDeposit) == [SubmitDeposit(ETHER, 0, 10)]


def test_threat_23_nobody_deposits_into_a_channel_with_a_record() -> None:
    """Alice challenges with the prefund state as soon as her own deposit stands: Bob's would be hers to wait for."""
    bob = bob_invited()
    bob.feed(LogSeen(Checkpointed(ID, state(1), sign_all(state(1)))))
    bob.feed(HoldingsSeen(ETHER, 10))
    assert bob.all_asked(SubmitDeposit) == []


def test_threat_11_the_second_to_deposit_relies_on_its_own_expectation() -> None:
    """And waits until it is met, whatever else lies there."""
    bob = bob_invited()
    for held in (0, 1, 9):
        bob.feed(HoldingsSeen(ETHER, held))
    assert bob.all_asked(SubmitDeposit) == []
    bob.feed(HoldingsSeen(ETHER, 11))
    assert bob.all_asked(SubmitDeposit) == [SubmitDeposit(ETHER, 10, 10)]


# --------------------------------------------------------------------------------------------------------------- 25


def changed_message(**changes: object) -> bytes:
    content = json.loads(encode_message(ID, made_by(BOB, 5)))
    return json.dumps(content | changes).encode()


MALFORMED = {
    "nothing": b"",
    "noise": bytes(range(256)),
    "no object": b"[]",
    "no end": encode_message(ID, made_by(BOB, 5))[:-1],
    "too large": encode_message(ID, made_by(BOB, 5)) + b" " * MAX_MESSAGE,
    "too deep": b"[" * 50_000,
    "a name twice": encode_message(ID, made_by(BOB, 5))[:-1] + b',"state":"0x"}',
    "one name more": changed_message(more=1),
    "a short id": changed_message(channelId="0x00"),
    "no hex": changed_message(state="0xzz"),
    "no state": changed_message(state="0x" + "00" * 64),
    "a short signature": changed_message(signatures={"1": "0x" + "00" * 63}),
    "nobody's signature": changed_message(signatures={"32": "0x" + "00" * 64}),
}


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED)
def test_threat_25_malformed_bytes_are_a_typed_error(message: bytes) -> None:
    with pytest.raises(MalformedBytes):
        decode_message(message)


FOREIGN: dict[str, Callable[[], SignedState]] = {
    "unsigned": lambda: SignedState(state(5)),
    "by somebody else": lambda: SignedState(
        state(5), {1: signed(state(5), MALLORY, keys=(ALICE, MALLORY)).signatures[1]}
    ),
    "by us": lambda: made_by(ALICE, 5),
    "of another channel": lambda: signed(state(5), BOB, fixed=fixed_part(nonce=1)),
    "too early": lambda: made_by(BOB, 7),
    "far ahead": lambda: made_by(BOB, 2**48 - 1),
    "of long ago": lambda: made_by(BOB, 1),
    "an illegal move": lambda: signed(state(5, app_data=word(9)), BOB),
    "another total": lambda: signed(state(5, outcome(11, 10)), BOB),
    "a final state with another outcome": lambda: signed(final(5, outcome(0, 20)), BOB),
    "from a third seat": lambda: SignedState(
        state(5), {1: made_by(BOB, 5).signatures[1], 2: made_by(BOB, 5).signatures[1]}
    ),
}


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN)
def test_threat_25_what_does_not_fit_changes_nothing(make: Callable[[], SignedState]) -> None:
    """And keeps the evidence. Play goes on afterwards."""
    alice = alice_in_turn(5)
    before, asked = alice.channel, list(alice.asked)
    with pytest.raises(CounterpartyError) as caught:
        alice.receive(make())
    assert caught.value.evidence == make()
    assert (alice.channel, alice.asked) == (before, asked)
    alice.receive(made_by(BOB, 5))
    assert alice.channel.next_turn == 6


def test_threat_25_a_message_delivered_twice_is_no_second_move() -> None:
    alice = alice_in_turn(5)
    alice.receive(made_by(BOB, 5))
    after = alice.channel
    alice.receive(made_by(BOB, 5))
    alice.receive(made_by(BOB, 3))
    assert alice.channel == after
    assert alice.signed_turns()[:3] == [0, 2, 4]


# --------------------------------------------------------------------------------------------------------------- 26


@pytest.mark.parametrize("kind", ["respond", "checkpoint"])
def test_threat_26_a_move_made_on_chain_is_taken_from_its_log(kind: str) -> None:
    """Bob withholds state 5, makes it on chain, and hopes that Alice, who has to answer it, has nothing to answer."""
    alice = alice_in_turn(5)
    alice.feed(LogSeen(ChallengeRegistered(ID, NOW + DAY, state(4), sign_all(state(4)))))
    (signature,) = made_by(BOB, 5).signatures.values()
    log = Responded(ID, state(5), signature) if kind == "respond" else Checkpointed(ID, state(5), sign_all(state(5)))
    effects = alice.feed(LogSeen(log))
    assert ChooseMove(state(5), None) in effects
    alice.feed(MoveChosen(outcome(), word(6)))
    assert alice.signed_turns()[-1] == 6


def test_threat_26_the_first_state_of_a_turn_stands_and_the_second_is_evidence() -> None:
    alice = alice_in_turn(5)
    alice.receive(made_by(BOB, 5))
    other = signed(state(5, outcome(5, 15)), BOB)
    before = alice.channel
    with pytest.raises(CounterpartyError) as caught:
        alice.receive(other)
    assert caught.value.reason == StateConflict(5)
    assert caught.value.evidence == other
    assert alice.channel == before


# --------------------------------------------------------------------------------------------------------------- 27

OPENINGS: dict[str, VariablePart] = {
    "in the middle of a game": state(0, app_data=word(7)),
    "no position at all": state(0, app_data=b""),
    "to another destination": state(0, outcome(10, 10, to=(ALICE, MALLORY))),
    "the other way round": state(0, outcome(10, 10, to=(BOB, ALICE))),
    "below the stake": state(0, outcome(10, 0)),
    "unequal": state(0, outcome(15, 5)),
    "in another asset": state(0, outcome(10, 10, asset=b"\x01" * 20)),
    "with another entry": state(0, outcome(10, 10, 0)),
    "final": final(0),
}


@pytest.mark.parametrize("opening", OPENINGS.values(), ids=OPENINGS)
def test_threat_27_a_crafted_opening_is_not_signed(opening: VariablePart) -> None:
    """Bob is second: he signs what Alice has begun, if it is what they have agreed."""
    bob = Player(BOB)
    bob.feed(ContractsGenuine())
    with pytest.raises(CounterpartyError) as caught:
        bob.receive(signed(opening, ALICE))
    assert caught.value.reason == OpeningMismatch(0)
    assert bob.asked == []
    bob.receive(made_by(ALICE, 0))
    assert bob.signed_turns() == [1]


def test_threat_27_a_channel_of_other_participants_or_another_app_has_other_signatures() -> None:
    bob = Player(BOB)
    bob.feed(ContractsGenuine())
    for other in (fixed_part(app=b"\x66" * 20), fixed_part(duration=60), fixed_part((ALICE, MALLORY))):
        with pytest.raises(CounterpartyError):
            bob.receive(signed(state(0), ALICE, fixed=other))
    assert bob.asked == []


# --------------------------------------------------------------------------------------------------------------- 28


def test_threat_28_no_postfund_state_is_signed_before_everything_is_there() -> None:
    alice = alice_with(StateReceived(made_by(BOB, 1)))
    for held in (0, 10, 19):
        alice.feed(HoldingsSeen(ETHER, held))
        assert alice.signed_turns() == [0]
    alice.feed(HoldingsSeen(ETHER, 20))
    assert alice.signed_turns() == [0, 2]


def test_threat_28_no_postfund_state_is_signed_once_something_is_recorded() -> None:
    """The prefund state is challenged while the deposits arrive."""
    alice = alice_with(
        StateReceived(made_by(BOB, 1)),
        LogSeen(Checkpointed(ID, state(1), sign_all(state(1)))),
        HoldingsSeen(ETHER, 20),
    )
    turns = [effect.signed.state for effect in alice.all_asked(SendState)]
    assert [each.turn_num for each in turns if not each.is_final] == [0]


def test_threat_28_nobody_plays_before_every_postfund_state_is_signed() -> None:
    alice = alice_with(StateReceived(made_by(BOB, 1)), HoldingsSeen(ETHER, 20))
    assert alice.channel.phase(NOW) is Phase.FUNDING
    with pytest.raises(ForcemoveError):
        alice.feed(MoveChosen(outcome(), word(4)))
    assert alice.all_asked(ChooseMove) == []
    alice.receive(made_by(BOB, 3))
    assert alice.all_asked(ChooseMove) == [ChooseMove(state(3), None)]


# --------------------------------------------------------------------------------------------------------------- 29


@pytest.mark.parametrize("challenged", [3, 4, 5, 6])
def test_threat_29_an_older_challenge_is_answered_by_concluding(challenged: int) -> None:
    """All have signed the final state 7; Bob challenges with what came before it."""
    alice = alice_in_turn(7)
    alice.receive(signed(final(7), BOB))
    effects = alice.feed(challenge_of(challenged))
    assert answers(alice.asked) == [SubmitConclude]
    (concluded,) = alice.all_asked(SubmitConclude)
    assert concluded == SubmitConclude(outcome(), 7, sign_all(final(7)))
    assert answers(effects) == [SubmitConclude]


# --------------------------------------------------------------------------------------------------------------- 32


def test_threat_32_nothing_is_signed_before_the_contracts_are_known_to_be_genuine() -> None:
    alice = Player(ALICE)
    for input_ in (Tick(), HoldingsSeen(ETHER, 20), StateReceived(made_by(BOB, 1))):
        try:
            alice.feed(input_)
        except ForcemoveError:
            continue
    assert alice.asked == []
    alice.feed(ContractsGenuine())
    assert alice.signed_turns() == [0]
