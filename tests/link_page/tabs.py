"""A tab without a browser: pages by their paths, and forms as a page sends them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

from forcemove.link_page.tab import PageTab, TabAnswer
from forcemove.transport import ending

SECONDS = 30


async def until(condition: Callable[[], object | Awaitable[object]]) -> None:
    """Wait until something holds; the condition may be asked by a coroutine."""
    async with asyncio.timeout(SECONDS):
        while True:
            found = condition()
            if await found if isinstance(found, Awaitable) else found:
                return
            await asyncio.sleep(0.01)


async def end(tab: PageTab) -> None:
    """End what the tab plays and shows, in order; a browser ends it as if it was killed."""
    await ending.end(task for task in (tab._playing, tab._stream) if task is not None)


async def html(tab: PageTab, path: str = "") -> str:
    """A page; the one to begin with where none is named."""
    answer = await tab.get(path or tab.path)
    return await html(tab, answer.path) if answer.path else answer.text


def shows(tab: PageTab, text: str, path: str = "") -> Callable[[], Awaitable[bool]]:
    """Whether a page shows a text."""

    async def look() -> bool:
        return text in await html(tab, path)

    return look


async def send(tab: PageTab, address: str, path: str = "", **fields: str) -> TabAnswer:
    """Send a form of the page at `path`."""
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', await html(tab, path)))
    return tab.post(address, {**hidden, **fields})


async def move(tab: PageTab, word: str, board: str = "") -> None:
    """Make a move, once it is ours. `board`: its path; the one to begin with where none is named."""
    await until(shows(tab, f'name="word" value="{word}"', board))
    assert (await send(tab, f"{board or tab.path}/act", board, do="move", word=word)).status == 204
