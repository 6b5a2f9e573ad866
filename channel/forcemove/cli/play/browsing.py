"""The page of `forcemove play --browser`: a server beside the game, and the person who decides on its page."""

from __future__ import annotations

import asyncio
import contextlib
import webbrowser
from collections.abc import Callable, Coroutine
from typing import Any

from forcemove.browser.server import BrowserServer
from forcemove.browser.table_pages import TablePages
from forcemove.cli.terminal import Terminal
from forcemove.errors import ForcemoveError
from forcemove.game import Game
from forcemove.tables.playing.person import Person
from forcemove.tables.ports import Output, Played
from forcemove.text.explanations import headline

__all__ = ["PageSeat", "open_page", "play_with_page"]


class PageSeat:
    """A person who decides on a page alone: there is no terminal to type at. `person`: decides."""

    def __init__(self, game: Game, output: Output) -> None:
        """`game`: the game that is played; `output`: where is printed what happens."""
        self.person, self.output = Person(game), output
        self.choose = self.person.choose

    def attach(self, played: Played) -> None:
        """See `PlayerSeat`."""
        self.person.played = played

    def join_chat(self, say: Callable[[str], str]) -> None:
        """See `PlayerSeat`."""
        self.person.chat = say

    async def run(self) -> None:
        """See `PlayerSeat`."""
        await asyncio.Event().wait()


async def play_with_page(
    game: Coroutine[Any, Any, None], pages: TablePages, port: int, terminal: Terminal, *, opens: bool
) -> None:
    """Play a game while its page is served; then serve the page until this is cancelled. The page's address is printed
    when the players have met. A server that fails later is reported, and the game goes on without a page. Raises
    `AddressUnusable` before the game begins, and what the game raises.

    - `game`: plays it to its end.
    - `pages`: what is served.
    - `port`: where to listen, 0 for any that is free.
    - `terminal`: where the address is printed.
    - `opens`: whether to open the page in the user's browser, where there is one.
    """
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(BrowserServer(pages, port).run(ready.set_result))
    try:
        either: list[asyncio.Future[Any]] = [serving, ready]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            game.close()
            await serving  # raises why
        pages.on_seated = lambda: _show(ready.result(), terminal, opens=opens)
        serving.add_done_callback(lambda done: _report(done, terminal))
        await game
        if not serving.done():
            terminal.say("The page stays, with how the game has ended. Ctrl-C closes it.")
            await asyncio.wait([serving])
    finally:
        serving.cancel()
        await asyncio.wait([serving])


def _show(address: str, terminal: Terminal, *, opens: bool) -> None:
    terminal.say("Open this address in a browser on this machine; it works once. Your keys stay here.")
    terminal.say_whole(address)
    if opens:
        open_page(address)


def _report(served: asyncio.Task[None], terminal: Terminal) -> None:
    """Report why the page is served no more."""
    if served.cancelled() or (error := served.exception()) is None:
        return
    text = headline(error) if isinstance(error, ForcemoveError) else f"{type(error).__name__}: {error}."
    terminal.note(f"page        {text} The game goes on without its page.")


def open_page(address: str) -> None:
    """Open an address in the user's browser; a machine without one has the address to type."""
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(address)
