"""What is delivered and acknowledged, step by step: servers that have an older log, and messages that are lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from forcemove.transport.errors import LogBegins, LogReplaced, Reason, RelayRefused
from forcemove.transport.jetstream.feed import Delivered, Feed
from forcemove.transport.jetstream.session import Ack, PendingPublish, PublishError
from forcemove.transport.jetstream.transport import JetStreamTransport
from forcemove.transport.limits import CHANNEL_BYTES, CHANNEL_ENTRIES, GAME_BYTES, MAX_ENTRY
from forcemove.transport.terms import TableKind
from tests.transport.people import ALICE, read

ID = b"\x07" * 32


class Seat:
    """Alice's view of a table, and what she says to the server: the test says what the server does."""

    def __init__(self, kind: TableKind = TableKind.GAME) -> None:
        self.said: list[PendingPublish] = []
        self.log = JetStreamTransport(kind, ID, ALICE, self.said.append, lambda _: None)
        self.connected()

    def connected(self, *found: Delivered) -> bool:
        """A new connection, and what the log has on it from the last entry on that is known."""
        self.log.lose()
        self.log.resume()
        return all(self.log.on_message(each) for each in found) and self.log.catch_up()

    async def post(self, message: bytes) -> tuple[asyncio.Task[None], PendingPublish]:
        posting = asyncio.create_task(self.log.post(message))
        await asyncio.sleep(0)
        return posting, self.said.pop()


def entry(seq: int, message: bytes = b"", id_: str = "", *, at: int = 0) -> Delivered:
    return Delivered(seq, at or seq, "subject", message or b"%d" % seq, id_, seq == 1)


# ------------------------------------------------------------------------------------------------------------- posting


async def test_a_post_is_done_when_it_was_acknowledged_and_read() -> None:
    for is_acknowledged_first in (True, False):
        seat = Seat()
        posting, post = await seat.post(b"ours")
        steps: list[Callable[[], object]] = [
            lambda post=post: post.on_message(Ack(1)),  # type: ignore[misc]
            lambda seat=seat, post=post: seat.log.on_new_message(entry(1, b"ours", post.id)),  # type: ignore[misc]
        ]
        for step in steps if is_acknowledged_first else reversed(steps):
            assert not posting.done()
            step()
            await asyncio.sleep(0)
        await posting
        assert seat.log.length() == 1


async def test_what_is_in_the_log_is_not_posted_again() -> None:
    """However long ago it was posted: the server has forgotten its id by then."""

    seat = Seat()
    posting, post = await seat.post(b"ours")
    seat.connected(entry(1, b"ours", post.id))
    await posting
    assert seat.said == []


async def test_what_is_not_in_the_log_is_posted_again_with_the_same_id() -> None:
    seat = Seat()
    posting, post = await seat.post(b"ours")
    seat.connected(entry(1, b"another's"), entry(2, b"another's under our id", post.id))
    (again,) = seat.said
    assert (again.id, again.message) == (post.id, b"ours")
    assert not posting.done()
    posting.cancel()


async def test_a_post_without_an_answer_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seat = Seat()
    posting, post = await seat.post(b"ours")
    seat.log.say_again()
    assert seat.said == []
    monkeypatch.setattr("forcemove.transport.jetstream.transport._ACK_SECONDS", -1.0)
    seat.log.say_again()
    assert [each.id for each in seat.said] == [post.id]
    posting.cancel()


@pytest.mark.parametrize(
    ("words", "reason"),
    [("maximum messages per subject exceeded", Reason.TABLE_FULL), ("insufficient resources", Reason.BUSY)],
)
async def test_what_the_server_does_not_take_is_an_error(words: str, reason: Reason) -> None:
    seat = Seat()
    posting, post = await seat.post(b"ours")
    post.on_message(Ack(error=PublishError(503, 10_077, words)))
    with pytest.raises(RelayRefused) as refused:
        await posting
    assert refused.value.reason is reason
    assert words in refused.value.detail


async def test_a_game_that_fills_the_memory_of_its_players_takes_no_more() -> None:
    seat, large = Seat(), bytes(MAX_ENTRY)
    for number in range(GAME_BYTES // MAX_ENTRY):
        seat.log.on_new_message(entry(number + 1, large))
    with pytest.raises(RelayRefused) as refused:
        await seat.log.post(large)
    assert refused.value.reason is Reason.TABLE_FULL


# -------------------------------------------------------------------------------------------------------- another log


@pytest.mark.parametrize("kind", TableKind)
@pytest.mark.parametrize(
    "found",
    [
        [],
        [entry(3, b"3", at=99)],
        [entry(3, b"another's", at=3)],
        [entry(4)],
    ],
    ids=["nothing", "stored at another time", "with other bytes", "a later one"],
)
async def test_a_server_with_another_log_is_found_out(kind: TableKind, found: list[Delivered]) -> None:
    seat = Seat(kind)
    for number in (1, 2, 3):
        seat.log.on_new_message(entry(number))
    reader = seat.log.reader(3)
    is_known = seat.connected(*found)
    if kind is TableKind.GAME:
        assert not is_known
        with pytest.raises(LogReplaced) as replaced:
            await reader.read()
        assert replaced.value.position == 3
        return
    assert is_known is bool(found)
    seat.connected(*found, entry(7, b"greeting"))
    with pytest.raises(LogBegins) as begins:
        await reader.read()
    assert begins.value.first >= 4


async def test_the_same_log_is_read_on() -> None:
    seat = Seat()
    for number in (1, 2, 3):
        seat.log.on_new_message(entry(number))
    assert seat.connected(entry(3), entry(9))
    assert await read(seat.log.reader(), 4) == [b"1", b"2", b"3", b"9"]


async def test_what_is_new_while_the_rest_is_read_comes_after_it_and_once() -> None:
    seat = Seat()
    seat.log.on_new_message(entry(1))
    seat.log.lose()
    seat.log.resume()
    for number in (4, 5):
        seat.log.on_new_message(entry(number))
    for number in (1, 2, 3, 4):
        seat.log.on_message(entry(number))
    assert seat.log.catch_up()
    for number in (5, 6):
        seat.log.on_new_message(entry(number))
    assert await read(seat.log.reader(), 6) == [b"%d" % number for number in range(1, 7)]


@pytest.mark.parametrize("message", [b"x", bytes(MAX_ENTRY)], ids=["many", "large ones"])
async def test_threat_46_what_comes_while_a_log_is_caught_up_is_bounded_and_read_again(message: bytes) -> None:
    seat = Seat(TableKind.CHANNEL)
    seat.log.on_new_message(entry(1))
    seat.log.lose()
    seat.log.resume()
    seat.log.on_message(entry(1))
    kept = 0
    for number in range(2, 3 * CHANNEL_ENTRIES):
        seat.log.on_new_message(entry(number, message))
        kept = max(kept, len(seat.log._new))
    assert kept <= min(CHANNEL_ENTRIES, CHANNEL_BYTES // len(message))
    assert not seat.log.catch_up()
    assert seat.log.resume().seq == 1
    assert seat.connected(entry(1), entry(2, message), entry(3))
    seat.log.on_new_message(entry(4))
    assert await read(seat.log.reader(), 4) == [b"1", message, b"3", b"4"]


# --------------------------------------------------------------------------------------------------------------- feeds


def _feed(heard: list[Delivered], heartbeat: float = 20.0) -> Feed:
    def on_message(found: Delivered) -> bool:
        heard.append(found)
        return True

    client = Client()
    return Feed(client, client.jetstream(), "STREAM", ["subject"], on_message, heartbeat)


def _message(reply: str, headers: dict[str, str] | None = None) -> Msg:
    return Msg(Client(), subject="subject", reply=reply, data=b"entry", headers=headers)


@pytest.mark.parametrize("form", ["$JS.ACK.S.c.1.{seq}.{number}.77.0", "$JS.ACK.hub.hash.S.c.1.{seq}.{number}.77.0.x"])
async def test_a_feed_with_a_gap_ends(form: str) -> None:
    heard: list[Delivered] = []
    feed = _feed(heard)
    for number, seq in ((1, 5), (2, 9), (4, 11), (3, 10)):
        await feed._take(_message(form.format(number=number, seq=seq)))
    assert [(each.seq, each.at) for each in heard] == [(5, 77), (9, 77)]
    assert feed.ended.is_set()


async def test_a_heartbeat_shows_that_the_last_message_was_lost() -> None:
    feed = _feed([])
    await feed._take(_message("$JS.ACK.S.c.1.5.1.77.0"))
    await feed._take(_message("", {"Status": "100", "Nats-Last-Consumer": "1"}))
    assert not feed.ended.is_set()
    await feed._take(_message("", {"Status": "100", "Nats-Last-Consumer": "2"}))
    assert feed.ended.is_set()


async def test_a_feed_that_has_fallen_silent_ends() -> None:
    alive, silent = _feed([], 20.0), _feed([], -1.0)
    for each in (alive, silent):
        each.end_if_silent()
    assert (alive.ended.is_set(), silent.ended.is_set()) == (False, True)
