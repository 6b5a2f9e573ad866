"""The chat of a table: each line is shown once, and only if another player of this table has signed it."""

from __future__ import annotations

import asyncio

import pytest

from forcemove import ChannelMessenger, Key, MemoryTransport, TableKind, TableTerms, local_keys
from forcemove.sessions.chat import TableChat
from forcemove.transport.chat import CHAT_MARK, MAX_CHAT, ChatLine, SignedChat

ALICE, BOB, CAROL, MALLORY = local_keys()[1:5]
TABLE = TableTerms(TableKind.CHANNEL, (ALICE.address, BOB.address, CAROL.address), bytes(32))
OTHER = TableTerms(TableKind.CHANNEL, TABLE.participants, b"\x01" * 32)
NAMES = ("Alice", "Bob", "Carol")


class Side:
    """One player's chat. `shown`: its lines. `now`: its clock."""

    def __init__(self, key: Key, log: MemoryTransport) -> None:
        self.now = 0.0
        self.shown: list[str] = []
        self.messenger = ChannelMessenger(log)
        self.chat = TableChat(self.messenger, TABLE, key, NAMES, self.shown.append, lambda: self.now)


@pytest.fixture
def alice() -> Side:
    return Side(ALICE, MemoryTransport())


def line(key: Key, number: int = 1, text: str = "hello", table: TableTerms = TABLE) -> bytes:
    """The entry of a line."""
    return SignedChat.sign(ChatLine(table.id, number, text), key).encode()


def test_lines_go_over_the_log_and_are_no_messages_of_the_channel() -> None:
    async def story() -> None:
        log = MemoryTransport()
        alice, bob = Side(ALICE, log), Side(BOB, log)
        running = [asyncio.create_task(each.messenger.run()) for each in (alice, bob)]
        assert alice.chat.say("  Good luck!  ") == ""
        alice.messenger.send(b'{"a message": "of the channel"}')
        async with asyncio.timeout(60):
            while not (messages := bob.messenger.receive()):
                await asyncio.sleep(0.01)
        for each in running:
            each.cancel()

        assert alice.shown == ["You say: Good luck!"]
        assert bob.shown == ["Alice says: Good luck!"]
        assert messages == (b'{"a message": "of the channel"}',)

    asyncio.run(story())


def test_a_line_is_shown_once_and_none_after_a_later_one(alice: Side) -> None:
    for number in (5, 5, 4, 6):
        alice.chat.take_in(line(BOB, number, f"line {number}"))

    assert alice.shown == ["Bob says: line 5", "Bob says: line 6"]


@pytest.mark.parametrize(
    "entry",
    [line(MALLORY), line(ALICE), line(BOB, table=OTHER), CHAT_MARK, line(BOB)[:-1]],
    ids=["a stranger's", "as if it were ours", "of another table", "empty", "cut off"],
)
def test_what_no_other_player_has_said_here_is_not_shown(alice: Side, entry: bytes) -> None:
    alice.chat.take_in(entry)

    assert alice.shown == []


def test_nothing_in_a_line_moves_the_cursor(alice: Side) -> None:
    alice.chat.take_in(line(BOB, text="\x1b[2Jturn 9\n\u202eyou have won"))

    assert alice.shown == ["Bob says: \\x1b[2Jturn 9\\n\\u202eyou have won"]


def test_of_a_flood_a_few_lines_are_shown_and_later_ones_again(alice: Side) -> None:
    for number in range(1, 100):
        alice.chat.take_in(line(BOB, number))
    assert len(alice.shown) == 5
    alice.now += 2
    for number in range(100, 200):
        alice.chat.take_in(line(CAROL, number))

    assert len(alice.shown) == 6


def test_our_own_lines_have_a_rate_and_a_length(alice: Side) -> None:
    assert "200 characters" in alice.chat.say("x" * (MAX_CHAT + 1))
    assert "200 characters" in alice.chat.say(" ")
    assert "200 characters" in alice.chat.say("\udcff")
    refused = [alice.chat.say(f"line {number}") for number in range(7)]

    assert refused[:5] == [""] * 5
    assert all("few seconds" in each for each in refused[5:])
    assert len(alice.shown) == 5
    alice.now += 2
    assert alice.chat.say("again") == ""
