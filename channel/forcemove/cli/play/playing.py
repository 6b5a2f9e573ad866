"""One game of `forcemove play`: its service, its table, and its page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forcemove.cli.games import find_table_game, load_game

if TYPE_CHECKING:
    from forcemove.browser.table_pages import TablePages
    from forcemove.cli.play.arguments import TableArguments
    from forcemove.cli.play.port import PlayerOptions
    from forcemove.cli.terminal import Terminal
    from forcemove.store.journal import Journal
    from forcemove.tables.meetings.venues import ChainVenue
    from forcemove.tables.options import TableOptions, Wallet
    from forcemove.tables.service import TableService
    from forcemove.tables.table import PlayTable

__all__ = ["Playing"]


@dataclass(frozen=True)
class Playing:
    """What one run plays with.

    - `arguments`: what was typed.
    - `journal`: where channels and meetings are stored.
    - `wallet`: our keys.
    - `terminal`: where lines are printed.
    - `has_page`: whether it is played on a page, too.
    """

    arguments: TableArguments
    journal: Journal
    wallet: Wallet
    terminal: Terminal
    has_page: bool

    async def play(self, name: str, venue: ChainVenue | None, options: TableOptions, player: PlayerOptions) -> None:
        """Play a game of the command's kind. Raises `click.UsageError` where the game has no contract, and a chain is
        named.

        - `name`: the game's.
        - `venue`: the chain that is played on; None for friendly games.
        - `options`: of the table.
        - `player`: what the player wants.
        """
        chains = venue.chains if venue else ()
        service = self.arguments.service(self.journal, self.wallet, chains, self.terminal)
        if not self.has_page:
            table = _table(name, service, venue, options, player, self.terminal, None)
            if not table.report_ends():
                await service.run(table.play())
            return
        from forcemove.cli.play.browsing import page_server, pages_of, play_with_page

        pages = pages_of(service)
        table = _table(name, service, venue, options, player, self.terminal, pages)
        if not table.report_ends():
            server = page_server(pages, self.arguments.port, service, venue.book if venue else None)
            opens = self.arguments.opens
            await play_with_page(lambda: service.run(table.play()), pages, server, self.terminal, opens=opens)


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
