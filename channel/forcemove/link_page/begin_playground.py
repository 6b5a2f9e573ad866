"""How the worker of the playground's page begins."""

from __future__ import annotations

from collections.abc import Callable

from forcemove.arena.twin_chain import TwinChain
from forcemove.browser.playground.playground_pages import PlaygroundPages
from forcemove.link_page.tab import PageTab, games_for_two
from forcemove.playground.playground import Playground


def begin(say_over: Callable[[str], object]) -> PageTab:
    """A playground with all games for two, which plays on by itself. `say_over`: see `PageTab.play`."""
    games = sorted(games_for_two(), key=lambda game: game.name, reverse=True)
    tab = PageTab(PlaygroundPages(Playground(games, chain=TwinChain)))
    tab.play(say_over)
    return tab
