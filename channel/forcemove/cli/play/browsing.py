"""The page of `forcemove play --browser` and of `forcemove browse`: a server beside what is played."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import tempfile
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from forcemove.browser.inspecting.inspecting import Inspecting
from forcemove.browser.inspecting.routes import InspectSection
from forcemove.browser.server import BrowserServer, PageSection
from forcemove.browser.table_pages import TablePages
from forcemove.browser.wallet.routes import WalletSection
from forcemove.browser.wallet.wallet_pages import wallet_of
from forcemove.chain.book import AddressBook
from forcemove.cli.terminal import Terminal
from forcemove.errors import ForcemoveError
from forcemove.sessions.service import TableService
from forcemove.text.explanations import headline


def pages_of(service: TableService, home: str = "/") -> TablePages:
    """The pages of a service's channels. `home`: the page that is shown first while nothing is played."""
    pages = TablePages(service.journal, service.games, home=home)
    pages.warning = service.warning
    service.on_committed(pages.on_committed)
    return pages


def page_server(
    pages: TablePages,
    port: int,
    service: TableService,
    book: AddressBook | None,
    sections: Sequence[PageSection] = (),
) -> BrowserServer:
    """What serves the pages of a run: the channels', and those that inspect, and the one of a wallet that pays.

    - `pages`: of the channels.
    - `port`: where to listen, 0 for any.
    - `service`: drives the channels.
    - `book`: the chain's address book; None without a chain.
    - `sections`: other pages, which come first.
    """
    inspecting, wallet = InspectSection(Inspecting(service.games, service.chains, book)), wallet_of(service, pages)
    of_wallet = () if wallet is None else (WalletSection(wallet),)
    return BrowserServer(pages, port, [*sections, inspecting, *of_wallet])


async def play_with_page(
    game: Callable[[], Awaitable[object]], pages: TablePages, server: BrowserServer, terminal: Terminal, *, opens: bool
) -> None:
    """Play a game while its page is served; then serve the page until this is cancelled. The page's address is printed
    when the players have met and the channel is driven: before that it has no page. Raises as `serve_while`.

    - `game`: begins it, and plays it to its end.
    - `pages`: what is served.
    - `server`: serves it.
    - `terminal`: where the address is printed.
    - `opens`: whether to open the page in the user's browser, where there is one.
    """

    def on_ready(address: str) -> None:
        pages.on_driven = lambda: show_address(address, terminal, opens=opens)

    def on_end() -> None:
        terminal.say("The page stays, with how the game has ended. Ctrl-C closes it.")

    await serve_while(game, server, terminal, on_ready, on_end)


async def serve_while(
    main: Callable[[], Awaitable[object]],
    server: BrowserServer,
    terminal: Terminal,
    on_ready: Callable[[str], None],
    on_end: Callable[[], None],
) -> None:
    """Run `main` while a server runs; then serve until this is cancelled. A server that fails later is reported, and
    `main` goes on without it. Raises `AddressUnusable` before `main` begins, and what `main` raises.

    - `main`: begins to play: is not called where the server cannot listen.
    - `server`: serves the page.
    - `terminal`: where is printed that the server has failed.
    - `on_ready`: is called with the address that works once, before `main` begins.
    - `on_end`: is called when `main` has ended and the server goes on.
    """
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(server.run(ready.set_result))
    try:
        either: list[asyncio.Future[Any]] = [serving, ready]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            await serving  # raises why
        serving.add_done_callback(lambda done: _report(done, terminal))
        on_ready(ready.result())
        await main()
        if not serving.done():
            on_end()
            await asyncio.wait([serving])
    finally:
        serving.cancel()
        await asyncio.wait([serving])


def show_address(address: str, terminal: Terminal, *, opens: bool) -> None:
    """Print the address that works once. `opens`: whether to open it in the user's browser, too."""
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
    """Open an address in the user's browser, and do not wait for it: some begin slowly, and some run until they are
    closed. A machine without one has the address to type.

    The browser is given a file of this user's alone that leads there: every user of the machine can read what stands on
    a command line."""
    threading.Thread(target=_open_page, args=(address,), daemon=True).start()


def _open_page(address: str) -> None:
    with contextlib.suppress(webbrowser.Error, OSError):
        browser = webbrowser.get()
        takes_terminal = type(browser) is webbrowser.GenericBrowser and "BROWSER" not in os.environ
        if not takes_terminal:
            number, file = tempfile.mkstemp(".html", "forcemove-")
            atexit.register(Path(file).unlink, missing_ok=True)
            with os.fdopen(number, "w") as page:
                page.write(f'<meta http-equiv="refresh" content="0;url={address}">')
            browser.open(Path(file).as_uri())
