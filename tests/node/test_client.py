"""The client's loop: what it takes in and in which order, what it tells its owner, and what cannot stop it."""

from __future__ import annotations

import pytest

from forcemove import UINT48_MAX, Channel, ChannelSetup, ChooseMove, Key, MemoryMessenger, Phase, agree
from forcemove.errors import InvalidValue, LocalError, MalformedBytes
from forcemove.node.client import Client
from forcemove.node.events import CounterpartyFault, Mined, Sent
from forcemove.protocol.codec.limits import MAX_MESSAGE
from forcemove.protocol.codec.wire import decode_message, encode_greeting, encode_message
from forcemove.protocol.errors import OutOfTurn, WrongPhase
from forcemove.protocol.machine import inputs
from forcemove.store.journal import Journal
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from forcemove_games.two_player import WrongPositionLength
from tests.process import Process, remembering
from tests.scenarios.story import ALICE, BOB, DEPOSIT, MALLORY, STAKE, Playground, Story


def client(story: Story, key: Key = ALICE, journal: Journal | None = None) -> Process:
    return Process(ChannelSetup(story.assembly, key, story.lines[0], lambda _: None), journal)


# --------------------------------------------------------------------------------------------------------- beginning


def test_only_participants_take_part(story: Story) -> None:
    with pytest.raises(InvalidValue):
        client(story, MALLORY)


def test_a_channel_that_is_remembered_otherwise_is_not_played(story: Story) -> None:
    """Other amounts under the same id: somebody has used a nonce twice."""
    old = agree(
        story.agreement.domain,
        story.agreement.fixed_part,
        story.game,
        STAKE,
        ((story.asset, (DEPOSIT // 2, DEPOSIT * 3 // 2)),),
        story.agreement.destinations,
    )
    with pytest.raises(InvalidValue):
        client(story, ALICE, remembering(Channel(old, 0)))


def test_nobody_goes_on_in_anothers_place(story: Story) -> None:
    journal = remembering(Channel(story.agreement, 1))
    with pytest.raises(InvalidValue):
        client(story, ALICE, journal)
    assert client(story, BOB, journal).channel.index == 1


def test_nothing_is_signed_before_the_chain_was_looked_at(playground: Playground) -> None:
    """With more confirmations than there are blocks there is nothing to see yet."""
    story = playground.story(TIC_TAC_TOE, confirmations=playground.chain.block_number() + 2)
    story.alice.client.poll()
    assert story.alice.client.phase is Phase.CHECKING
    assert story.lines[1].receive() == ()


def test_polling_tells_whether_there_was_anything_to_do(story: Story) -> None:
    assert [story.alice.client.poll() for _ in range(3)] == [True, False, False]
    assert story.bob.client.poll()
    assert story.alice.client.poll()


# ------------------------------------------------------------------------------------------------------------ saving


def test_threat_21_what_is_signed_is_saved_before_it_is_sent(story: Story) -> None:
    """When Alice sends a state, her journal has the signature that is in it; also where she has to repeat a state
    before she is asked for the next one."""
    sent, saved = list[int](), list[int]()

    class Observed(MemoryMessenger):
        def send(self, message: bytes) -> None:
            _, content = decode_message(message)
            if self is story.lines[0] and isinstance(content, inputs.StateReceived):
                channel = story.alice.stored
                sent.append(content.signed.state.turn_num)
                saved.append(channel.last_signed[0] if channel and channel.last_signed else -1)
            super().send(message)

    story.lines = Observed.table(2)
    for player in story.players:
        story.start(player)
    story.play_until(4)
    for player in story.players:
        player.stops_at = None
    story.lines[1].send(encode_greeting(story.agreement.channel_id, 1, 4))
    story.bob.decide_at_last()
    story.play()
    assert len(set(sent)) > 5
    assert all(turn <= known for turn, known in zip(sent, saved, strict=True)), (sent, saved)


# ------------------------------------------------------------------------------------------------------ what comes in

RUBBISH = {
    "nothing": b"",
    "no JSON": b"\x00\xff" * 20,
    "deep": b"[" * 60_000,
    "oversized": b" " * (MAX_MESSAGE + 1),
    "of another type": b'{"channelId":1,"state":2,"signatures":3}',
}


@pytest.mark.parametrize("kind", RUBBISH)
def test_threat_25_rubbish_is_kept_and_changes_nothing(story: Story, kind: str) -> None:
    story.play_until(6)
    before = story.alice.client.channel
    story.lines[1].send(RUBBISH[kind])
    story.alice.client.poll()
    (fault,) = story.alice.faults
    assert isinstance(fault, MalformedBytes)
    assert story.alice.evidence == ["MalformedBytes"]
    assert story.alice.client.channel == before
    story.ends_as_agreed()


def test_threat_25_a_message_of_another_channel_changes_nothing(story: Story, playground: Playground) -> None:
    other = playground.story(TIC_TAC_TOE)
    story.alice.client.poll()
    story.lines[1].send(encode_message(other.agreement.channel_id, other.sign(other.agreement.setup_state(1), 1)))
    story.alice.client.poll()
    assert [type(fault) for fault in story.alice.faults] == [MalformedBytes]
    assert story.alice.newest.state.turn_num == 0


def test_threat_25_messages_come_twice_late_and_in_any_order(story: Story) -> None:
    """Everything that Bob says is said again, and again backwards: no fault of his, and the game goes on."""
    said: list[bytes] = []
    for turn in range(4, 12):
        story.play_until(turn)
        newest = story.bob.newest
        said.append(encode_message(story.agreement.channel_id, newest))
        for message in (*said[-2:], *reversed(said[-2:])):
            story.lines[1].send(message)
        story.play()
        story.players[(turn + 1) % 2].decide_at_last()
    assert story.alice.faults == []
    story.play()
    story.ends_as_agreed()


@pytest.mark.parametrize("turn", [9, 12, UINT48_MAX])
def test_threat_25_a_state_of_the_future_makes_us_say_where_we_are(story: Story, turn: int) -> None:
    story.play_until(6)
    state = story.alice.newest.state
    story.lines[0].receive()
    story.lines[1].receive()
    future = type(state)(state.outcome, state.app_data, turn)
    story.say(1, story.sign(future, turn % 2))
    assert story.alice.faults == []
    assert story.alice.newest.state == state
    assert story.lines[1].receive() == (encode_greeting(story.agreement.channel_id, 0, 7),)


def test_a_lost_message_is_repeated_on_a_new_connection(story: Story) -> None:
    story.play_until(6)
    story.bob.decide_at_last()
    story.lines[0].receive()
    story.alice.client.feed(inputs.Reconnected())
    story.play()
    assert story.alice.newest.state.turn_num == 7


def test_a_restarted_client_says_where_it_is(story: Story) -> None:
    """What it had signed and saved, but not sent, is not lost."""
    story.play_until(6)
    story.bob.decide_at_last()
    story.lines[0].receive()
    story.start(story.bob)
    story.play()
    assert story.alice.newest.state.turn_num == 7


# ------------------------------------------------------------------------------------------------------- what goes out


def test_the_owner_is_told_what_was_sent_and_mined(story: Story) -> None:
    story.play()
    events = [event for player in story.players for event in player.events]
    sent = sorted(event.signed.state.turn_num for event in events if isinstance(event, Sent))
    last = story.alice.newest.state.turn_num
    assert sent == sorted([*range(last + 1), last])
    assert len([event for event in events if isinstance(event, Mined)]) == 3
    assert not [event for event in events if isinstance(event, CounterpartyFault)]


def test_a_bad_choice_is_the_players_mistake_and_stops_nothing_else(story: Story) -> None:
    """The player makes an illegal move: its owner hears of it, nothing is signed, and what came with it is not lost."""
    story.play_until(5)
    alice = story.alice
    legal = alice.decide()
    alice.mistakes.append(inputs.MoveChosen(story.agreement.outcome, b"nonsense"))
    story.start(alice)
    story.lines[1].send(b"rubbish")
    with pytest.raises(WrongPositionLength):
        alice.client.poll()
    assert alice.newest.state.turn_num == 5
    alice.client.poll()
    assert [type(fault) for fault in alice.faults] == [MalformedBytes]
    alice.client.feed(legal)
    assert alice.newest.state.turn_num == 6


def test_what_the_owner_may_not_do_is_said_at_once(story: Story) -> None:
    story.play_until(6)
    move = story.bob.decide()
    with pytest.raises(OutOfTurn):
        story.alice.client.feed(move)
    story.go_on()
    for wish in (move, inputs.ConcludeWanted()):
        with pytest.raises(WrongPhase):
            story.alice.client.feed(wish)
    assert issubclass(WrongPhase, LocalError)


def test_a_player_may_answer_later(story: Story) -> None:
    story.play_until(6)
    story.bob.is_silent = True
    story.start(story.bob)
    asked = story.bob.questions
    story.play(story.bob)
    assert story.bob.questions == asked + 1
    assert story.bob.newest.state.turn_num == 6
    story.bob.decide_at_last()
    assert story.bob.newest.state.turn_num == 7


def test_what_a_dead_process_had_asked_for_is_asked_again(story: Story) -> None:
    """The next one is told only what is new on the chain, and the player's answer died with the question."""
    story.play_until(5)
    remembered = story.alice.client.channel
    assert remembered.asked is not None
    again = Client(remembered, ALICE, TIC_TAC_TOE)
    now = story.chain.now()
    again.on_chain_update(inputs.ChainUpdate(()), now, is_new_block=True, differences=inputs.ViewsDiffer())
    due = []
    while (effect := again.take_due()) is not None:
        due.append(type(effect))
    assert ChooseMove in due
