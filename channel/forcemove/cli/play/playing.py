"""One game of `forcemove play`: its service, its table, and its page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forcemove.cli.games import find_table_game, load_game, usable_games

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forcemove.browser.server import BrowserServer
    from forcemove.browser.table_pages import TablePages
    from forcemove.cli.play.port import PlayerOptions
    from forcemove.cli.terminal import Terminal
    from forcemove.store.journal import Journal
    from forcemove.tables.meetings.venues import ChainVenue
    from forcemove.tables.options import TableOptions, Wallet
    from forcemove.tables.service import TableService
    from forcemove.tables.table import PlayTable
    from forcemove.watchtower.client import TowerClient

__all__ = ["PageOptions", "Playing"]


@dataclass(frozen=True)
class PageOptions:
    """Of the page of `--browser`. `port`: where to listen, 0 for any; `opens`: whether to open it in a browser."""

    port: int
    opens: bool


@dataclass(frozen=True)
class Playing:
    """What one run plays with.

    - `journal`: where channels and meetings are stored.
    - `wallet`: our keys.
    - `terminal`: where lines are printed.
    - `towers`: the watchtowers that are given an appointment for each channel.
    - `lease`: seconds, see `Node`.
    - `page`: of the browser; None for no page.
    """

    journal: Journal
    wallet: Wallet
    terminal: Terminal
    towers: Sequence[TowerClient]
    lease: float
    page: PageOptions | None

    async def play(self, name: str, venue: ChainVenue | None, options: TableOptions, player: PlayerOptions) -> None:
        """Play a game of the command's kind. Raises `click.UsageError` where the game has no contract, and a chain is
        named.

        - `name`: the game's.
        - `venue`: the chain that is played on; None for friendly games.
        - `options`: of the table.
        - `player`: what the player wants.
        """
        from forcemove.cli.match.output import TerminalOutput
        from forcemove.tables.service import TableService

        service = TableService(
            self.journal,
            self.wallet,
            TerminalOutput(self.terminal),
            chains=venue.chains if venue else (),
            games=usable_games(),
            towers=self.towers,
            lease=self.lease,
        )
        pages = None if self.page is None else _pages(service)
        table = _table(name, service, venue, options, player, self.terminal, pages)
        if table.report_ends():
            return
        game = service.run(table.play())
        if self.page is None or pages is None:
            await game
        else:
            from forcemove.cli.play.browsing import play_with_page

            server = _server(pages, self.page.port, service, venue)
            await play_with_page(game, pages, server, self.terminal, opens=self.page.opens)


def _pages(service: TableService) -> TablePages:
    from forcemove.browser.table_pages import TablePages

    pages = TablePages(service.journal, service.games)
    service.on_committed(pages.on_committed)
    return pages


def _server(pages: TablePages, port: int, service: TableService, venue: ChainVenue | None) -> BrowserServer:
    from forcemove.browser.inspecting.inspecting import Inspecting
    from forcemove.browser.inspecting.routes import InspectSection
    from forcemove.browser.server import BrowserServer
    from forcemove.cli.play.browsing import wallet_sections

    inspecting = InspectSection(Inspecting(service.games, service.chains, venue.book if venue else None))
    return BrowserServer(pages, port, [inspecting, *wallet_sections(service)])


def _table(
    name: str,
    service: TableService,
    venue: ChainVenue | None,
    options: TableOptions,
    player: PlayerOptions,
    terminal: Terminal,
    pages: TablePages | None,
) -> PlayTable:
    from forcemove.cli.play.port import TerminalPort
    from forcemove.tables.channel_game import ChannelGameRunner
    from forcemove.tables.log_game import LogGameRunner
    from forcemove.tables.meetings.venues import FriendlyVenue
    from forcemove.tables.table import PlayTable

    table_game = None if venue else find_table_game(name)
    if table_game is not None:
        friendly = FriendlyVenue(table_game.name, table_game.title)
        port = TerminalPort(player, friendly, terminal)
        return PlayTable(service, friendly, options, port, LogGameRunner(service, table_game, options, port))
    game = venue.game if venue else load_game(name)
    on = venue or FriendlyVenue(game.name, game.title, game.seats)
    port = TerminalPort(player, on, terminal, pages)
    return PlayTable(service, on, options, port, ChannelGameRunner(service, game, venue, options, port))
