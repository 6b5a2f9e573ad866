"""What is waited for beside an event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from forcemove.chain.threads import aside


def test_a_run_that_ends_does_not_wait_for_what_is_asked_aside() -> None:
    has_ended, is_asked, has_waited = threading.Event(), threading.Event(), threading.Event()

    def hang() -> None:
        is_asked.set()
        if not has_ended.wait(10.0):  # so that this test ends where it fails
            has_waited.set()

    async def main() -> None:
        asked = asyncio.ensure_future(aside(hang))
        while not is_asked.is_set():
            await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    asyncio.run(main())
    assert not has_waited.is_set()
    has_ended.set()


def test_what_is_asked_aside_is_returned_or_raised() -> None:
    async def main() -> None:
        assert await aside(lambda: "answer") == "answer"
        with pytest.raises(ZeroDivisionError):
            await aside(lambda: 1 / 0)

    asyncio.run(main())
