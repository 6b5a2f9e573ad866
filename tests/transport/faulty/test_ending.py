"""Tasks end together, and their errors are told."""

from __future__ import annotations

import asyncio

import pytest

from forcemove.transport.ending import end


async def _failing_at_its_end() -> None:
    try:
        await asyncio.Event().wait()
    finally:
        raise ValueError("at its end")


def test_all_have_ended_and_each_error_is_returned() -> None:
    async def run() -> None:
        waiting = [asyncio.create_task(each) for each in (asyncio.Event().wait(), _failing_at_its_end())]
        await asyncio.sleep(0)
        (error,) = await end(waiting)
        assert str(error) == "at its end"
        assert all(each.done() for each in waiting)
        assert await end([]) == []

    asyncio.run(run())


def test_who_is_cancelled_meanwhile_has_waited_all_the_same() -> None:
    async def run() -> None:
        is_ending = asyncio.Event()
        slow = asyncio.create_task(_ending_slowly(is_ending))
        await asyncio.sleep(0)
        ending = asyncio.create_task(end([slow]))
        await is_ending.wait()
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        assert slow.done()

    asyncio.run(run())


async def _ending_slowly(is_ending: asyncio.Event) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        is_ending.set()
        await asyncio.sleep(3_600)
