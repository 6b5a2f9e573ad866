"""The server of the playground's pages."""

from __future__ import annotations

from forcemove.browser.inspecting.inspecting import Inspecting
from forcemove.browser.inspecting.routes import InspectSection
from forcemove.browser.playground.playground_pages import PlaygroundPages
from forcemove.browser.server import BrowserServer
from forcemove.playground.playground import Playground


def playground_server(playground: Playground, port: int = 0) -> BrowserServer:
    """A server that shows a playground, and the pages that inspect. `port`: where to listen, 0 for any that is free."""
    inspecting = Inspecting(playground.games, (playground.chain,), playground.book)
    # A playground is driven in one thread: see docs/decisions/0040.
    return BrowserServer(PlaygroundPages(playground), port, [InspectSection(inspecting, has_threads=False)])
