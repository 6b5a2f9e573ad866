"""When others were heard from: by what they sign, not by what is replayed or held back, and through loss and sleep."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from forcemove import ChannelMessenger, Key, MemoryTransport, TableKind, TableTerms, local_keys
from forcemove.sessions.chat import TableChat
from forcemove.sessions.presence import seconds_asleep_too
from forcemove.text.situation.presence import ABSENT, presence_text
from forcemove.transport.chat import CHAT_MARK, SignedChat

ALICE, BOB, MALLORY = local_keys()[1:4]
TABLE = TableTerms(TableKind.CHANNEL, (ALICE.address, BOB.address), bytes(32))
HOUR = 3_600.0


class Mailbox(ChannelMessenger):
    """A messenger whose messages stay. `sent`: those; `is_there`: whether there is a relay."""

    is_there = True

    def __init__(self) -> None:
        super().__init__(MemoryTransport())
        self.sent: list[bytes] = []

    def send(self, message: bytes) -> None:
        self.sent.append(message)

    @property
    def is_connected(self) -> bool:
        return self.is_there


class Side:
    """One player, whose clocks are moved by hand. `wall`: Unix seconds of its own machine."""

    def __init__(self, key: Key, wall: float = 1_800_000_000.0) -> None:
        self.now, self.wall, self.box = 0.0, wall, Mailbox()
        self.lines: list[str] = []
        self.sit(key)

    def sit(self, key: Key) -> None:
        """A new process."""
        names = ("Alice", "Bob")
        self.chat = TableChat(
            self.box, TABLE, key, names, self.lines.append, clock=lambda: self.now, wall=lambda: self.wall
        )
        self.chat.is_seen = lambda: True

    def go(self, seconds: float) -> None:
        self.now += seconds
        self.wall += seconds

    def signs(self) -> list[bytes]:
        """What it sends now."""
        self.chat.show_presence()
        sent, self.box.sent = self.box.sent, []
        return sent

    @property
    def silence(self) -> float | None:
        """How long Bob was not heard."""
        return self.chat.presence.silences()[1]


@pytest.fixture
def alice() -> Side:
    return Side(ALICE)


@pytest.fixture
def bob() -> Side:
    return Side(BOB, wall=1_800_000_000.0 - 500)  # his clock is late


def pass_on(alice: Side, bob: Side, seconds: float = 15.0) -> bytes:
    """Time goes on, and what Bob then sends comes in."""
    for each in (alice, bob):
        each.go(seconds)
    [entry] = bob.signs()
    alice.chat.take_in(entry)
    return entry


def meet(alice: Side, bob: Side) -> None:
    """Bob's clock has come past the time at which Alice sat down."""
    for each in (alice, bob):
        each.go(600)


def test_who_is_there_says_so_each_15_seconds_and_no_more(bob: Side) -> None:
    count = 0
    for _ in range(240):
        count += len(bob.signs())
        bob.go(0.25)
    assert count == 4


def test_nothing_is_sent_without_a_screen_or_a_relay_nor_from_one_that_was_left_alone(bob: Side) -> None:
    bob.chat.is_seen = lambda: False
    assert bob.signs() == []
    bob.chat.is_seen, bob.box.is_there = lambda: True, False
    assert bob.signs() == []
    bob.box.is_there = True
    bob.go(HOUR + 1)
    assert bob.signs() == []
    bob.chat.note_state(0)
    assert len(bob.signs()) == 1


def test_who_says_so_is_there_and_shows_no_line(alice: Side, bob: Side) -> None:
    meet(alice, bob)
    pass_on(alice, bob)
    alice.go(3)
    assert alice.silence == 3
    assert alice.lines == []
    alice.chat.note_state(1)
    assert alice.silence == 0


def test_before_anything_was_heard_nothing_is_said_and_then_that_it_was_not(alice: Side) -> None:
    assert alice.silence is None
    alice.go(ABSENT)
    assert alice.silence == ABSENT


def test_a_sign_that_is_replayed_says_nothing(alice: Side, bob: Side) -> None:
    meet(alice, bob)
    old = pass_on(alice, bob)
    alice.go(100)
    alice.chat.take_in(old)
    assert alice.silence == 100


def test_after_a_restart_the_log_of_before_says_nothing(alice: Side, bob: Side) -> None:
    meet(alice, bob)
    log = [pass_on(alice, bob) for _ in range(5)]
    alice.go(HOUR)
    alice.sit(ALICE)
    for each in log:
        alice.chat.take_in(each)
    assert alice.silence is None
    alice.go(130)
    assert alice.silence == 130


def test_signs_that_a_relay_holds_back_are_as_old_as_they_are(alice: Side, bob: Side) -> None:
    meet(alice, bob)
    pass_on(alice, bob)
    held = []
    for _ in range(8):
        for each in (alice, bob):
            each.go(15)
        held += bob.signs()
    for late, entry in enumerate(held):  # Bob is gone; one is let go every 15 seconds
        alice.go(15)
        alice.chat.take_in(entry)
        assert alice.silence == 15 * 8 - 15 * late + 15 * late
    assert alice.silence == 120


def test_after_our_machine_has_slept_a_log_of_an_hour_ago_is_an_hour_old(alice: Side, bob: Side) -> None:
    meet(alice, bob)
    pass_on(alice, bob)
    bob.go(15)
    entry = bob.signs()[0]
    alice.go(15 + 2 * HOUR)
    assert alice.silence == 15 + 2 * HOUR
    alice.chat.take_in(entry)
    assert alice.silence == 2 * HOUR


def test_loss_costs_nothing_but_time(alice: Side, bob: Side) -> None:
    meet(alice, bob)
    pass_on(alice, bob)
    for each in (alice, bob):
        each.go(130)
    bob.signs()  # lost
    assert alice.silence == 130
    pass_on(alice, bob)
    assert alice.silence == 0


def entries() -> Iterator[bytes]:
    mallory, other = Side(MALLORY, wall=1_900_000_000.0), Side(ALICE, wall=1_900_000_000.0)
    yield from (mallory.signs()[0], other.signs()[0], CHAT_MARK)


@pytest.mark.parametrize("entry", list(entries()), ids=["a stranger's", "our own", "nothing"])
def test_only_the_others_are_heard(alice: Side, entry: bytes) -> None:
    alice.chat.take_in(entry)
    assert alice.silence is None


def test_a_log_full_of_signs_takes_no_line_away(alice: Side, bob: Side) -> None:
    meet(alice, bob)
    for _ in range(100):
        bob.go(15)
        alice.chat.take_in(bob.signs()[0])
    bob.chat.say("Are you there?")
    alice.chat.take_in(bob.box.sent.pop())
    assert alice.lines == ["Bob says: Are you there?"]


def test_a_line_with_nothing_in_it_is_refused_as_before(bob: Side) -> None:
    assert bob.chat.say("") == bob.chat.say("  ") == "A line has 1 to 200 characters."
    assert bob.box.sent == []


def test_signs_go_over_a_real_log() -> None:
    async def story() -> None:
        log = MemoryTransport()
        sides = [TableChat(ChannelMessenger(log), TABLE, key, ("Alice", "Bob"), print) for key in (ALICE, BOB)]
        for each in sides:
            each.is_seen = lambda: True
            each._messenger._source.is_connected = True  # type: ignore[misc]
        running = [asyncio.create_task(each._messenger.run()) for each in sides]
        async with asyncio.timeout(60):
            while sides[0].presence.silences()[1] is None or sides[1].presence.silences()[0] is None:
                for each in sides:
                    each.show_presence()
                await asyncio.sleep(0.01)
        for task in running:
            task.cancel()

    asyncio.run(story())


def test_the_words() -> None:
    assert presence_text(3.9, "Bob") == presence_text(19.9, "Bob") == "heard from Bob just now"
    assert presence_text(29.9, "Bob") == "heard from Bob 20 s ago"
    assert presence_text(139, "Bob") == "Bob not heard for 2:10"
    assert presence_text(3, "{}") == "heard from {} just now"
    assert presence_text(7_325, "Bob") == "Bob not heard for 2:02:00"


def test_the_clock_does_not_go_back() -> None:
    before = seconds_asleep_too()
    assert seconds_asleep_too() >= before
    assert SignedChat.decode(Side(BOB).signs()[0]).line.text == ""
