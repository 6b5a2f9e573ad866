"""What a line, an endpoint, a store or the owner's own functions raise in the middle: nothing is lost by it, nothing is
done twice, and the rest is done all the same. Row 47 of the list of attacks among it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest

from forcemove import Adjudicator, Chain, ChooseMove, MemoryMessenger, Phase
from forcemove.chain.asking import Asking, Steps
from forcemove.chain.errors import Unreachable
from forcemove.node.events import CounterpartyFault, Event, Mined, Sent
from forcemove.protocol.codec.wire import decode_message, encode_greeting, encode_message
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.store.errors import JournalUnwritable
from forcemove.store.opening import MEMORY
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.expected import known
from tests.process import wrap_commits
from tests.scenarios.story import Playground, Story


class BrokenError(Exception):
    """What none of our libraries raises."""


class DownLine:
    """A line that carries nothing while it is down."""

    def __init__(self, line: MemoryMessenger) -> None:
        self.line, self.is_down = line, False

    def send(self, message: bytes) -> None:
        if self.is_down:
            raise BrokenError("the line is down")
        self.line.send(message)

    def receive(self) -> Any:
        return self.line.receive()


class SlowLine(DownLine):
    """A line that takes two seconds to deliver, once it is slow; meanwhile these calls to the chain begin to fail."""

    def __init__(self, story: Story, failing: set[str]) -> None:
        super().__init__(story.lines[0])
        self.story, self.failing, self.is_slow = story, failing, False

    def receive(self) -> Any:
        messages = self.line.receive()
        if messages and self.is_slow:
            self.story.seconds += 2
            self.failing.add("block")
        return messages


class FlakyChain:
    """A chain that fails on demand; `fails` is asked before every call, by its name."""

    def __init__(self, chain: Chain, fails: Callable[[str], bool]) -> None:
        self._chain, self._fails = chain, fails

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._chain, name)
        if isinstance(found, Asking):
            return Asking(self._chain.rpc, partial(self._asks, name, found))
        if not callable(found):
            return found

        def call(*arguments: Any, **options: Any) -> Any:
            if self._fails(name):
                raise Unreachable("http://node", "the connection was refused")
            return found(*arguments, **options)

        return call

    def _asks(self, name: str, found: Any, *arguments: Any, **options: Any) -> Steps[Any]:
        if self._fails(name):
            raise Unreachable("http://node", "the connection was refused")
        return (yield from found.steps(*arguments, **options))


def over_flaky_chain(story: Story, fails: Callable[[str], bool], start: Callable[[], None] | None = None) -> None:
    """Alice's client, or the one that is started, sees the chain through an endpoint that fails."""
    flaky: Any = FlakyChain(story.chain, fails)
    healthy = story.assembly
    story.assembly = replace(healthy, adjudicator=Adjudicator(flaky, healthy.adjudicator.address))
    start() if start else story.start(story.alice)
    story.assembly = healthy


def poll_all(story: Story) -> bool:
    """Everybody looks; whether anybody was busy or failed."""
    busy = False
    for player in story.players:
        try:
            busy = player.client.poll() or busy
        except Exception:
            busy = True
    return busy


def play_to_the_end(story: Story) -> None:
    for _ in range(400):
        if not poll_all(story):
            if {player.phase for player in story.players} == {Phase.CLOSED}:
                return
            story.seconds += 10
    raise AssertionError("it never ends")


# ------------------------------------------------------------------------------------------------------------ the line


def test_threat_47_an_answer_is_submitted_although_the_line_is_down(story: Story) -> None:
    """The response is signed, and cannot be told; the chain hears of it all the same, and the line later."""
    line = DownLine(story.lines[0])
    story.start(story.alice, line)
    story.play_until(5)
    story.alice.stops_at = None
    line.is_down = True
    story.challenge(1, *story.bob.states[-2:])
    with pytest.raises(BrokenError):
        story.alice.client.poll()
    assert story.alice.mined[-1] == "SubmitRespond"
    assert story.record == (6, False)
    line.is_down = False
    story.alice.client.poll()
    assert encode_message(story.agreement.channel_id, story.alice.newest) in story.lines[1].receive()


def test_a_line_that_was_down_loses_nothing_and_repeats_nothing(story: Story) -> None:
    line = DownLine(story.lines[0])
    story.start(story.alice, line)
    story.play_until(5)
    line.is_down = True
    story.alice.stops_at = None
    with pytest.raises(BrokenError):
        story.alice.decide_at_last()
    assert story.alice.newest.state.turn_num == 6
    for _ in range(3):
        with pytest.raises(BrokenError):
            story.alice.client.poll()
    line.is_down = False
    story.alice.client.poll()
    assert story.lines[1].receive() == (encode_message(story.agreement.channel_id, story.alice.newest),)
    sent = [event.signed.state.turn_num for event in story.alice.events if isinstance(event, Sent)]
    assert sent == [0, 2, 4, 6]


def test_greetings_do_not_pile_up_on_a_line_that_is_down(story: Story) -> None:
    line = DownLine(story.lines[0])
    story.start(story.alice, line)
    story.play_until(6)
    line.is_down = True
    failures = 0
    for _ in range(50):
        story.seconds += 60
        try:
            story.alice.client.poll()
        except BrokenError:
            failures += 1
    assert failures > 10
    line.is_down = False
    story.lines[1].receive()
    story.alice.client.poll()
    assert story.lines[1].receive() == ()


# -------------------------------------------------------------------------------------------------------- the endpoint


def test_a_message_is_not_lost_where_the_clock_cannot_be_read(story: Story) -> None:
    """The line takes so long that the time is read anew, and by then the endpoint is away."""
    failing: set[str] = set()
    line = SlowLine(story, failing)
    over_flaky_chain(story, lambda name: name in failing, lambda: story.start(story.alice, line))
    story.play_until(6)
    line.is_slow = True
    story.bob.decide_at_last()
    for _ in range(3):
        with pytest.raises(Unreachable):
            story.alice.client.poll()
        assert story.alice.phase is Phase.PLAYING
    failing.clear()
    story.alice.client.poll()
    assert story.alice.newest.state.turn_num == 7


def test_a_message_that_takes_long_to_read_is_not_lost_with_the_clock(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is known when the message is opened, and could be read no second time."""
    failing: set[str] = set()
    over_flaky_chain(story, lambda name: name in failing)
    story.play_until(6)
    story.bob.decide_at_last()

    def slow(message: bytes) -> Any:
        story.seconds += 2
        failing.add("block")
        return decode_message(message)

    monkeypatch.setattr("forcemove.node.client.decode_message", slow)
    with suppress(Unreachable):
        story.alice.client.poll()
    monkeypatch.undo()
    failing.clear()
    story.alice.client.poll()
    assert story.alice.newest.state.turn_num >= 7


@pytest.mark.parametrize("seed", range(8))
def test_a_channel_ends_well_over_an_endpoint_that_often_fails(playground: Playground, seed: int) -> None:
    story = playground.story(TIC_TAC_TOE)
    chance = Random(seed)
    over_flaky_chain(story, lambda _: chance.random() < 0.08)
    play_to_the_end(story)
    assert not story.alice.faults + story.bob.faults
    story.ends_with(story.alice.newest.state.outcome)


def test_a_challenge_is_answered_after_the_endpoint_was_away(story: Story) -> None:
    failing = False
    over_flaky_chain(story, lambda _: failing)
    story.play_until(9)
    story.challenge(1, *story.opening()[2:])
    failing = True
    for _ in range(20):
        with pytest.raises(Unreachable):
            story.alice.client.poll()
    failing = False
    story.alice.client.poll()
    assert story.record == (9, False)


# ---------------------------------------------------------------------------------------------------- owner's functions


def test_a_player_who_fails_is_asked_again_and_the_rest_is_done(story: Story) -> None:
    story.play_until(5)
    alice, failures = story.alice, [BrokenError(), BrokenError()]
    choose = alice.choose

    def failing(question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        if failures:
            raise failures.pop()
        return choose(question)

    alice.choose = failing  # type: ignore[method-assign]
    alice.stops_at = None
    story.start(alice)
    story.lines[1].send(b"rubbish")
    for _ in range(2):
        with pytest.raises(BrokenError):
            alice.client.poll()
    assert alice.newest.state.turn_num == 5
    assert len(alice.faults) == 1
    alice.client.poll()
    assert alice.newest.state.turn_num == 6


def test_a_question_that_is_out_of_date_is_not_asked_again(story: Story) -> None:
    """Alice fails to answer, then moves by herself."""
    story.play_until(5)
    alice, asked = story.alice, []

    def failing(question: ChooseMove) -> None:
        asked.append(question)
        raise BrokenError

    alice.choose = failing  # type: ignore[method-assign]
    story.start(alice)
    with pytest.raises(BrokenError):
        alice.client.poll()
    alice.question = asked[0]
    alice.decide_at_last()
    assert alice.newest.state.turn_num == 6
    before = len(asked)
    alice.client.poll()
    assert len(asked) == before


def test_what_a_report_raises_undoes_and_repeats_nothing(story: Story) -> None:
    events: list[Event] = []

    def report(event: Event) -> None:
        events.append(event)
        raise BrokenError

    story.start(story.alice)
    story.alice.client.managed.executor.on_event = report
    play_to_the_end(story)
    assert story.alice.phase is Phase.CLOSED
    sent = [event.signed.state.turn_num for event in events if isinstance(event, Sent)]
    assert len(set(sent[:-1])) == len(sent[:-1])
    assert 1 <= len([event for event in events if isinstance(event, Mined)]) <= 2


def test_nothing_leaves_while_the_disk_is_full_and_nothing_is_lost(story: Story) -> None:
    """Bob's move arrives, and Alice's reply is signed; neither is saved, so nobody hears of it."""
    is_full = False

    def on_disk(commit: Callable[[], frozenset[bytes]]) -> frozenset[bytes]:
        if is_full:
            raise JournalUnwritable(MEMORY, "no space is left")
        return commit()

    wrap_commits(story.alice.journal, on_disk)
    story.play_until(6)
    story.lines[1].receive()
    is_full, story.alice.stops_at = True, None
    story.bob.decide_at_last()
    for _ in range(3):
        with pytest.raises(JournalUnwritable):
            story.alice.client.poll()
        assert story.lines[1].receive() == ()
    kept = known(story.alice.stored)
    assert kept.next_turn == 7
    is_full = False
    story.alice.client.poll()
    kept = known(story.alice.stored)
    assert kept.next_turn == 9
    assert story.lines[1].receive() == (encode_message(story.agreement.channel_id, story.alice.newest),)


def test_what_a_counterparty_asks_for_while_the_disk_is_full_is_sent_once(story: Story) -> None:
    """Bob greets once a second for as long as Alice can save nothing."""
    is_full = False

    def on_disk(commit: Callable[[], frozenset[bytes]]) -> frozenset[bytes]:
        if is_full:
            raise JournalUnwritable(MEMORY, "no space is left")
        return commit()

    wrap_commits(story.alice.journal, on_disk)
    story.play_until(6)
    story.lines[1].receive()
    is_full, story.alice.stops_at = True, None
    story.bob.decide_at_last()
    for _ in range(50):
        story.seconds += 2
        story.lines[1].send(encode_greeting(story.agreement.channel_id, 1, 5))
        with suppress(JournalUnwritable):
            story.alice.client.poll()
    is_full = False
    story.alice.client.poll()
    sent = story.lines[1].receive()
    assert encode_message(story.agreement.channel_id, story.alice.newest) in sent
    assert len(sent) < 10


# ------------------------------------------------------------------------------------------------------------ evidence


def test_evidence_is_bounded_and_a_flood_of_one_kind_drowns_no_other(story: Story) -> None:
    story.play_until(6)
    other = story.bob.newest.state
    story.say(1, story.sign(type(other)(other.outcome, b"another", 5), 1))
    assert len(story.alice.evidence) == 1
    for number in range(100):
        story.lines[1].send(b"rubbish %d" % number)
    story.alice.client.poll()
    assert len(story.alice.evidence) == 11
    assert story.alice.evidence[0].startswith("MessageRefused")
    assert all(error.__traceback__ is None and error.__context__ is None for error in story.alice.faults)


def test_a_flow_that_starts_again_records_no_honest_message_as_a_fault(story: Story) -> None:
    """The whole log is heard once more."""
    said: list[bytes] = []
    story.play_until(4)
    for _ in range(5):
        said.append(encode_message(story.agreement.channel_id, story.bob.newest))
        mover = story.players[story.alice.client.channel.next_turn % 2]
        mover.decide_at_last()
        for player in story.players:
            player.client.poll()
    story.start(story.alice)
    for message in said:
        story.lines[1].send(message)
    story.alice.client.poll()
    assert not [event for event in story.alice.events if isinstance(event, CounterpartyFault)]
    assert story.alice.evidence == []


def test_a_game_that_fails_on_a_message_is_not_given_it_again(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game of somebody else's may raise anything; the client must get past it."""
    story.play_until(6)

    class Breaking:
        def __getattr__(self, name: str) -> Any:
            return getattr(story.game, name)

        def valid_transition(self, *_: object) -> bool:
            raise BrokenError

    breaking: Any = Breaking()
    monkeypatch.setattr(story.alice.client.managed.client, "_app", breaking)
    story.bob.decide_at_last()
    with pytest.raises(BrokenError):
        story.alice.client.poll()
    monkeypatch.undo()
    story.alice.client.poll()
    assert story.alice.newest.state.turn_num == 6
    story.bob.client.feed(ChallengeWanted())
    story.alice.client.poll()
    assert story.alice.newest.state.turn_num >= 7


def test_a_transaction_whose_answer_was_lost_is_not_sent_as_another(story: Story) -> None:
    """The node has taken Alice's deposit, and hangs up before it says so."""
    calls: list[str] = []

    def fails(name: str) -> bool:
        calls.append(name)
        return name == "receipt" and calls.count("receipt") <= 2

    over_flaky_chain(story, fails)
    play_to_the_end(story)
    assert calls.count("receipt") > 2
    assert story.alice.mined[0] == "SubmitDeposit"
    assert story.alice.refused == []
    story.ends_with(story.alice.newest.state.outcome)
