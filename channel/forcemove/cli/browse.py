"""`forcemove browse`: a lobby and any number of tables on a page, over one relay, and on one chain or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from forcemove.cli.play.arguments import TableArguments
from forcemove.cli.play.options import ACCOUNTS, ALLOW_MAINNET, ASSET, OWN_NAME, STORING, WAITING
from forcemove.cli.play.signals import run_until_terminated
from forcemove.cli.terminal import waiting

if TYPE_CHECKING:
    from forcemove.browser.server import PageSection
    from forcemove.chain.book import AddressBook
    from forcemove.cli.terminal import Terminal
    from forcemove.history.tokens import TokenFacts
    from forcemove.sessions.service import TableService


@click.command()
@click.option(
    "--relay",
    required=True,
    metavar="URL",
    help="The relay: ws:// or wss://, as its operator names it; or a NATS server: nats:// or tls://.",
)
@click.option(
    "--chain",
    "endpoints",
    multiple=True,
    metavar="URL",
    help="The node: http(s)://, ws(s)://, or an IPC path; given several times, other nodes of the same chain. Without "
    "it there are friendly games alone.",
)
@ACCOUNTS
@OWN_NAME
@STORING
@WAITING
@ASSET
@ALLOW_MAINNET
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Where to listen.  [default: any free one]")
@click.option("--open/--no-open", "opens", default=True, help="Whether to open the page.  [default: --open]")
def browse(**given: Any) -> None:
    """Offer, join and play games on a page in a browser on this machine.

    The page shows the relay's open games. You join one there once you have read its terms and costs, or offer one; any
    number of them can be played at once. What the journal (--store) has open is continued. The keys stay in this
    process, and the page decides nothing. The address that is printed works once.

    With --chain games are played for a stake, too; this needs the address book of the contracts. While this command
    runs, all channels that the journal has on the chain are defended. If it is interrupted, or the machine dies, the
    same command goes on. Do so in time: anyone who stays away from a challenge until its end can lose all that was paid
    in. A watchtower (--tower) answers challenges while you are away.
    """
    arguments = TableArguments(**given)
    arguments.require_accounts()
    from forcemove.cli.channel.stores import open_store
    from forcemove.transport.connect import connect_relay

    connect_relay(str(arguments.relay))  # checks the relay's address before anything is begun
    chains, book = arguments.open_chains()
    token = arguments.open_token(chains)
    wallet = arguments.open_wallet()
    with open_store(arguments.store, may_be_new=True) as journal, waiting("Opening the journal") as terminal:

        async def main() -> None:
            service = arguments.service(journal, wallet, chains, terminal)
            await _browse(arguments, service, book, token, terminal)

        run_until_terminated(main())


async def _browse(
    arguments: TableArguments,
    service: TableService,
    book: AddressBook | None,
    token: TokenFacts | None,
    terminal: Terminal,
) -> None:
    """Serve the page and play until this is cancelled. Raises `AddressUnusable`."""
    from forcemove.browser.lobby.lobby_pages import LobbyPages
    from forcemove.browser.lobby.lobby_site import LobbySite
    from forcemove.browser.site_section import SiteSection
    from forcemove.browser.watching.watch_site import WatchSite
    from forcemove.cli.play.browsing import page_server, pages_of, serve_while, show_address
    from forcemove.cli.terminal import TerminalOutput
    from forcemove.sessions.options import TableOptions
    from forcemove.sessions.running.lobby_follower import LobbyFollower
    from forcemove.sessions.running.open_tables import OpenTables
    from forcemove.sessions.running.playable import playable_games
    from forcemove.sessions.watching.watched_tables import WatchedTables

    options = TableOptions(str(arguments.relay), patience=arguments.patience, name=arguments.own_name)
    playable = playable_games(service.games, service.chains, book, token)
    pages = pages_of(service, home="/lobby")
    tables = OpenTables(service, playable, options, pages.sit, pages.leave_seat, TerminalOutput(terminal))
    follower, watched = LobbyFollower(options.relay, playable, service.wallet.key.address), WatchedTables(service.games)

    def on_ready(address: str) -> None:
        terminal.close()
        show_address(address, terminal, opens=arguments.opens)

    lobby = LobbyPages(follower, tables)
    sections: list[PageSection] = [SiteSection(LobbySite(lobby)), SiteSection(WatchSite(watched))]
    server = page_server(pages, arguments.port, service, book, sections)
    await serve_while(lambda: lobby.run(watched.run()), server, terminal, on_ready, lambda: None)
