"""A channel's messenger posts at once what it is given, and loses none of it."""

from __future__ import annotations

import asyncio

from forcemove.errors import InvalidValue
from forcemove.transport import errors, limits, wire
from tests.transport.faulty.seat import Seat, running, seated, settle


def _entries(seat: Seat) -> list[bytes]:
    return [each.entry for each in seat.posts]


async def test_a_message_leaves_at_once_though_the_one_before_it_is_not_acknowledged() -> None:
    async with seated() as seat:
        seat.messenger.send(b"a")
        seat.messenger.send(b"b")
        assert _entries(seat) == [b"a", b"b"]
        await settle()
        seat.messenger.send(b"c")
        seat.messenger.send(b"b")  # it is on its way already
        assert _entries(seat) == [b"a", b"b", b"c"]
        for index, post in enumerate(seat.posts):
            assert not seat.messenger.is_idle
            seat.is_told(wire.Posted(seat.id, post.id, index))
            await settle()
        assert seat.messenger.is_idle
        assert _entries(seat) == [b"a", b"b", b"c"]


async def test_few_posts_are_on_their_way_at_once_and_the_rest_follows_in_order() -> None:
    async with seated() as seat:
        messages = [b"%d" % number for number in range(40)]
        for message in messages:
            seat.messenger.send(message)
        assert _entries(seat) == messages[:16]
        for index in range(40):
            await settle()
            seat.is_told(wire.Posted(seat.id, seat.posts[index].id, index))
        await settle()
        assert _entries(seat) == messages
        assert seat.messenger.is_idle


async def test_a_refused_post_is_posted_again_behind_those_that_followed_it() -> None:
    async with seated() as seat:
        seat.messenger.send(b"a")
        seat.messenger.send(b"b")
        first, second = seat.posts
        seat.is_told(wire.RequestRefused(seat.id, first.id, errors.Reason.TABLE_FULL.value, "it is full"))
        seat.is_told(wire.Posted(seat.id, second.id, 0))
        await settle()
        seat.messenger.send(b"c")
        assert _entries(seat) == [b"a", b"b"]  # a pause follows a refusal
        while len(seat.posts) < 3:
            await asyncio.sleep(0.01)
        for index in (2, 3):
            seat.is_told(wire.Posted(seat.id, seat.posts[index].id, index))
            await settle()
        assert _entries(seat) == [b"a", b"b", b"a", b"c"]
        assert seat.messenger.is_idle
        assert len(seat.errors) == 1


async def test_a_message_that_is_too_large_holds_nothing_up() -> None:
    async with seated() as seat:
        seat.messenger.send(bytes(limits.MAX_ENTRY + 1))
        seat.messenger.send(b"a")
        await settle()
        assert _entries(seat) == [b"a"]
        assert [type(each) for each in seat.errors] == [InvalidValue]


async def test_posts_that_a_stopped_messenger_had_begun_are_posted_by_the_next_run() -> None:
    seat = Seat()
    for _ in range(2):
        async with running(seat):
            seat.messenger.send(b"a")
            seat.messenger.send(b"b")
        assert not seat.messenger.is_idle
        seat.log.lose()
        seat.said.clear()
        seat.connect()
        assert _entries(seat) == []  # the log has given them up
    async with running(seat):
        assert _entries(seat) == [b"a", b"b"]
        seat.is_told(*(wire.Posted(seat.id, post.id, index) for index, post in enumerate(seat.posts)))
        await settle()
        assert seat.messenger.is_idle


async def test_posts_on_their_way_are_posted_again_by_the_log_after_a_lost_connection() -> None:
    async with seated() as seat:
        seat.messenger.send(b"a")
        seat.messenger.send(b"b")
        sent = [each.id for each in seat.posts]
        seat.log.lose()
        seat.messenger.send(b"c")
        seat.said.clear()
        seat.connect()
        assert _entries(seat) == [b"a", b"b", b"c"]
        assert [each.id for each in seat.posts[:2]] == sent
        assert [each.since for each in seat.posts] == [0, 0, None]  # the log may have the first two
