"""A channel's messenger takes what is on its way to the relay's disk: once, in order, and without counting on it."""

from __future__ import annotations

from forcemove.transport.chat import CHAT_MARK
from forcemove.transport.wire import Coming, Entries
from tests.transport.faulty.seat import running, seated


async def test_what_is_coming_is_received_at_once_and_only_once() -> None:
    async with seated() as seat:
        for message in (Coming(seat.id, b"a"), Coming(seat.id, b"a"), Coming(seat.id, b"b")):
            seat.is_told(message)
        assert list(seat.messenger.receive()) == [b"a", b"b"]
        seat.is_told(Entries(seat.id, 0, (b"b", b"a", b"c")))
        assert await seat.received() == [b"c"]
        seat.is_told(Entries(seat.id, 3, (b"a",)))  # said again, as a greeting may be
        assert await seat.received() == [b"a"]


async def test_a_line_of_chat_that_is_coming_is_shown_once() -> None:
    async with seated() as seat:
        line = CHAT_MARK + b"good luck"
        seat.is_told(Coming(seat.id, line), Entries(seat.id, 0, (line,)))
        assert await seat.received() == []
        assert seat.chat == [line]


async def test_what_is_coming_does_not_overtake_what_is_there() -> None:
    async with seated() as seat:
        seat.is_told(Entries(seat.id, 0, (b"a",)), Coming(seat.id, b"b"))
        assert list(seat.messenger.receive()) == [b"a", b"b"]
        seat.is_told(Entries(seat.id, 1, (b"b", b"c")))
        assert await seat.received() == [b"c"]


async def test_what_is_coming_is_left_to_the_log_while_nobody_reads() -> None:
    async with seated() as seat:
        pass  # it runs no more
    seat.is_told(Coming(seat.id, b"a"))
    assert await seat.received() == []
    seat.is_told(Entries(seat.id, 0, (b"a",)))
    async with running(seat):
        assert await seat.received() == [b"a"]


async def test_our_own_message_that_is_coming_is_not_received() -> None:
    async with seated() as seat:
        seat.messenger.send(b"ours")
        assert await seat.received() == []
        assert [each.entry for each in seat.posts] == [b"ours"]
        seat.is_told(Coming(seat.id, b"ours"))
        assert await seat.received() == []


async def test_threat_46_what_is_said_to_be_coming_and_never_comes_is_bounded() -> None:
    async with seated() as seat:
        taken = 0
        for number in range(3_000):
            assert seat.is_told(Coming(seat.id, b"%d" % number)) == [False]  # of use is what has a place
            taken += len(await seat.received()) if number % 64 == 63 else 0
        assert taken + len(await seat.received()) == 1_000
        seat.is_told(Entries(seat.id, 0, (b"2999", b"new")))
        assert await seat.received() == [b"2999", b"new"]
