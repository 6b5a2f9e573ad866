"""How the page's worker begins."""

from __future__ import annotations

import asyncio

from forcemove.link_page.tab import PlaygroundTab
from forcemove.registry import installed_games

__all__ = ["begin"]

_running: set[asyncio.Task[None]] = set()
"""A task that nobody has would be collected."""


def begin() -> PlaygroundTab:
    """A playground with all games for two, which plays on by itself."""
    games = [each.game for each in installed_games().usable if 2 in each.game.seats]
    tab = PlaygroundTab(sorted(games, key=lambda game: game.name, reverse=True))
    _running.add(asyncio.get_event_loop().create_task(tab.run()))
    return tab
