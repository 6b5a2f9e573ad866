"""What lines do to messages, and what clients make of it: rows 25, 40 and 47 of the list of attacks."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from forcemove import ChallengeWanted, Phase, UnknownVersion
from forcemove.node.events import Sent
from forcemove.node.resync import ResyncTimer
from forcemove.protocol.codec.wire import encode_greeting, encode_message
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.installed import GAMES_FOR_TWO
from tests.sampled import with_sample
from tests.scenarios.story import Playground, Story
from tests.scenarios.weather import MOST_SENT, Weather

MOST_SENDS = 3
"""Sends for each turn that a line may cause which repeats everything."""


def start(story: Story, weather: Weather) -> None:
    for player, line in zip(story.players, weather.lines, strict=True):
        story.start(player, line)


def play_on(story: Story, weather: Weather, *, looks: int = 2_000) -> None:
    """Both look around, a second apart, until the channel is closed."""
    for _ in range(looks):
        assert len(weather.sent) <= MOST_SENT
        for player in story.players:
            player.client.poll()
        if {player.phase for player in story.players} == {Phase.CLOSED}:
            return
        story.seconds += 1
    raise AssertionError(f"it never ends: {[player.phase for player in story.players]}")


# ---------------------------------------------------------------------------------------------------------- repeating


@pytest.mark.parametrize("copies", [2, 5])
def test_threat_40_a_line_that_repeats_everything_gets_no_echo(playground: Playground, copies: int) -> None:
    """It used to double with every turn: 8,194 sends of 13 turns."""
    story, weather = playground.story(ROCK_PAPER_SCISSORS), Weather(repeats=1, copies=copies)
    start(story, weather)
    play_on(story, weather)
    turns = story.alice.newest.state.turn_num + 1
    assert turns > 12
    assert len(weather.sent) <= MOST_SENDS * turns
    assert not story.alice.faults + story.bob.faults


def test_threat_40_a_repeated_state_is_not_answered(playground: Playground) -> None:
    story = playground.story(TIC_TAC_TOE)
    story.play_until(6)
    for line in story.lines:
        line.receive()
    for state in story.bob.states:
        story.say(1, state)
        story.say(1, state)
    assert story.lines[1].receive() == ()
    assert not story.alice.faults


def test_threat_40_after_a_withheld_move_and_a_challenge_every_state_is_sent_once(playground: Playground) -> None:
    """Bob's move is lost, Alice finds it in the chain's log; from then on every turn used to be sent twice."""
    story, weather = playground.story(ROCK_PAPER_SCISSORS), Weather()
    start(story, weather)
    story.play_until(6)
    weather.is_lost = lambda seat, _: seat == 1
    story.bob.decide_at_last()
    weather.is_lost = lambda _seat, _: False
    story.bob.client.feed(ChallengeWanted())
    for player in story.players:
        player.stops_at = None
    play_on(story, weather)
    counted = Counter(weather.states)
    assert counted.pop(max(counted)) == 2  # the final state: signed by one, then by both
    assert set(counted.values()) == {1}


def test_threat_40_a_greeting_is_answered_once_a_second(playground: Playground) -> None:
    story = playground.story(TIC_TAC_TOE)
    story.play_until(6)
    greeting = encode_greeting(story.agreement.channel_id, 1, 6)
    for line in story.lines:
        line.receive()
    answered = []
    for _ in range(3):
        for _ in range(50):
            story.lines[1].send(greeting)
        story.alice.client.poll()
        answered.append(story.lines[1].receive())
        story.seconds += 1
    assert answered == [(encode_message(story.agreement.channel_id, story.alice.newest),)] * 3


def test_threat_40_a_greeting_of_nobody_is_a_fault_and_one_of_another_channel_too(playground: Playground) -> None:
    story, other = playground.story(TIC_TAC_TOE), playground.story(TIC_TAC_TOE)
    story.play_until(6)
    for line in story.lines:
        line.receive()
    story.lines[1].send(encode_greeting(story.agreement.channel_id, 2, 0))
    story.lines[1].send(encode_greeting(story.agreement.channel_id, 0, 0))  # ours, which a log may give back
    story.lines[1].send(encode_greeting(other.agreement.channel_id, 1, 0))
    story.alice.client.poll()
    assert len(story.alice.faults) == 2
    assert story.lines[1].receive() == ()


def test_threat_25_what_a_newer_program_says_is_told_as_that_and_play_goes_on(playground: Playground) -> None:
    story = playground.story(TIC_TAC_TOE)
    story.play_until(6)
    said = encode_message(story.agreement.channel_id, story.bob.newest)
    story.lines[1].send(said.replace(b'"version":1', b'"version":2'))
    story.lines[1].send(said.replace(b'"version":1', b'"new":[],"version":2'))
    story.alice.client.poll()
    assert story.alice.faults == [UnknownVersion("message", 2, 1)] * 2
    story.ends_as_agreed()


# -------------------------------------------------------------------------------------------------------- bad weather


@pytest.mark.parametrize("first", [0, 1])
def test_a_lost_first_message_stops_nobody_for_ever(playground: Playground, first: int) -> None:
    story, weather = playground.story(TIC_TAC_TOE), Weather()
    lost: set[int] = set()

    def is_lost(seat: int, _: bytes) -> bool:
        is_first = seat >= first and seat not in lost
        lost.add(seat)
        return is_first

    weather.is_lost = is_lost
    start(story, weather)
    play_on(story, weather)
    assert lost == {0, 1}
    story.ends_with(story.alice.newest.state.outcome)


@pytest.mark.parametrize("seed", with_sample(range(12), range(3)))
@pytest.mark.parametrize(
    "kind",
    [{"loses": 0.4}, {"repeats": 0.8, "copies": 4}, {"delays": 0.8}, {"loses": 0.3, "repeats": 0.4, "delays": 0.6}],
    ids=["loses", "repeats", "delays and reorders", "all of it"],
)
def test_in_any_weather_the_channel_ends_and_sends_stay_few(
    playground: Playground, kind: dict[str, float], seed: int
) -> None:
    story = playground.story(GAMES_FOR_TWO[seed % len(GAMES_FOR_TWO)])
    weather = Weather(seed, **kind)  # type: ignore[arg-type]  # copies is a whole number
    start(story, weather)
    play_on(story, weather)
    turns = story.alice.newest.state.turn_num + 1
    assert len(weather.sent) <= 8 * turns
    assert not story.alice.faults + story.bob.faults
    story.ends_with(story.alice.newest.state.outcome)


@pytest.mark.parametrize("seed", range(6))
def test_in_any_weather_a_restarted_client_goes_on(playground: Playground, seed: int) -> None:
    """Alice's process ends every few looks, and remembers what it has stored."""
    story, weather = playground.story(TIC_TAC_TOE), Weather(seed, loses=0.2, repeats=0.3, delays=0.4)
    start(story, weather)
    for look in range(2_000):
        for player in story.players:
            player.client.poll()
        if {player.phase for player in story.players} == {Phase.CLOSED}:
            break
        if look % 7 == seed:
            story.start(story.alice, weather.lines[0])
        story.seconds += 1
    assert not story.alice.faults + story.bob.faults
    story.ends_with(story.alice.newest.state.outcome)


# ----------------------------------------------------------------------------------------------------------- the clock


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_silence_is_broken_ever_more_seldom_until_something_happens() -> None:
    clock = Clock()
    greetings, said = ResyncTimer(clock, 5), []
    for second in range(300):
        clock.now = float(second)
        if greetings.is_silent("a turn"):
            said.append(second)
    assert said == [5, 15, 35, 75, 135, 195, 255]
    assert not greetings.is_silent("the next turn")
    clock.now += 5
    assert greetings.is_silent("the next turn")
    assert not greetings.is_silent(None)


def test_who_has_waited_for_hours_greets_each_ten_minutes() -> None:
    clock = Clock()
    greetings, said = ResyncTimer(clock, 5), []
    for second in range(20_000):
        clock.now = float(second)
        if greetings.is_silent("a turn"):
            said.append(second)
    pauses = [later - earlier for earlier, later in pairwise(said)]
    assert all(pause <= max(60, 0.1 * later + 1) for pause, later in zip(pauses, said[1:], strict=True))
    assert pauses[-5:] == [600] * 5
    assert not greetings.is_silent("the next turn")
    clock.now += 5
    assert greetings.is_silent("the next turn")


def test_a_clock_that_jumps_back_silences_nobody() -> None:
    clock = Clock()
    greetings = ResyncTimer(clock, 5)
    clock.now = 1_000_000.0
    assert greetings.may_greet()
    assert greetings.may_answer(1)
    assert not greetings.is_silent("a turn")
    clock.now = 0.0
    assert greetings.may_greet()
    assert greetings.may_answer(1)
    assert greetings.is_silent("a turn")


def test_of_a_line_in_order_nothing_is_sent_again(playground: Playground) -> None:
    """Greetings cost an undisturbed channel nothing."""
    story, weather = playground.story(TIC_TAC_TOE), Weather()
    start(story, weather)
    story.play()
    assert weather.greetings == 0
    counted = Counter(weather.states)
    assert counted.pop(max(counted)) == 2
    assert set(counted.values()) == {1}


def test_a_state_that_is_sent_again_is_not_told_again(playground: Playground) -> None:
    """Bob says that he has lost what Alice has signed: she sends it, and her owner hears nothing new."""
    story = playground.story(TIC_TAC_TOE)
    story.play_until(6)
    told = [event for event in story.alice.events if isinstance(event, Sent)]
    story.lines[1].send(encode_greeting(story.agreement.channel_id, 1, 0))
    story.alice.client.poll()
    assert story.lines[1].receive()
    assert [event for event in story.alice.events if isinstance(event, Sent)] == told
