"""Who reports whether a relay is in reach, and what that may not do."""

from __future__ import annotations

import asyncio

import pytest

from forcemove.sessions.playing.connectivity import reporting_connectivity


class Relay:
    """That is in reach."""

    url, is_connected = "ws://relay", True


async def test_who_is_cancelled_while_the_reporting_ends_is_cancelled() -> None:
    went_on: list[str] = []

    async def play() -> None:
        async with reporting_connectivity(Relay(), went_on.append):
            asyncio.get_running_loop().call_soon(playing.cancel)
        went_on.append("the game")

    playing = asyncio.create_task(play())
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert went_on == []
