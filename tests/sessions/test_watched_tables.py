"""Anyone who watches tables leaves nothing running."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from forcemove.sessions.watching.watched_tables import WatchedTables
from forcemove_games.tic_tac_toe import GAME
from tests.sessions.test_spectator import LINK

NOBODY = replace(LINK, relay="ws://127.0.0.1:9")
"""A table of a relay that is not there: it is asked for again and again."""


def test_at_the_end_no_log_is_followed_any_more() -> None:
    """A table that gave way to a newer one is not, either."""
    links = [replace(NOBODY, relay=f"{NOBODY.relay}{number}") for number in range(6)]

    async def main() -> None:
        tables = WatchedTables((GAME,))
        running = asyncio.create_task(tables.run())
        for link in links:
            tables.watch(link, GAME)
        await asyncio.sleep(0)
        assert [tables.find(each) is not None for each in links] == [False, False, True, True, True, True]
        assert len(asyncio.all_tasks()) > 2 + 3
        running.cancel()
        await asyncio.wait([running])
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert not any(map(tables.find, links))

    asyncio.run(main())
