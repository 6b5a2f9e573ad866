"""`forcemove browse`: a lobby and any number of tables on a page, over one relay, and on one chain or none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forcemove.cli.channel.options import STORE
from forcemove.cli.deploy import open_book, require_not_mainnet
from forcemove.cli.endpoints import chain_ids_of_books, open_nodes
from forcemove.cli.games import usable_games
from forcemove.cli.play.accounts import (
    ACCOUNT,
    LEASE,
    PAYOUT,
    TOWERS,
    WALLET,
    open_wallet,
    require_no_account,
    tower_at,
)
from forcemove.cli.play.names import NAME
from forcemove.cli.play.signals import run_until_terminated
from forcemove.cli.play.stakes import ASSET, open_token, require_no_asset
from forcemove.cli.progress import waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forcemove.browser.server import BrowserServer
    from forcemove.chain.book import AddressBook
    from forcemove.chain.chain import Chain
    from forcemove.cli.terminal import Terminal
    from forcemove.tables.meetings.tokens import TokenFacts
    from forcemove.tables.options import TableOptions
    from forcemove.tables.service import TableService

__all__ = ["browse"]

_FILE = click.Path(dir_okay=False, path_type=Path)


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
@click.option(
    "--key",
    "key_file",
    required=True,
    type=_FILE,
    help="The key file of the player, which signs (see `forcemove key`).",
)
@ACCOUNT
@WALLET
@PAYOUT
@click.option("--name", "own_name", type=NAME, default="", metavar="NAME", help="What the others are to call you.")
@STORE
@click.option(
    "--book", "book_file", type=_FILE, help="The address book with the contracts.  [default: forcemove-CHAINID.json]"
)
@TOWERS
@click.option(
    "--patience",
    type=click.FloatRange(1),
    default=600.0,
    show_default=True,
    help="Seconds that another may be silent; then it is challenged, or a friendly game given up.",
)
@LEASE
@ASSET
@click.option("--allow-mainnet", is_flag=True, help="Play even on Ethereum's main network, for real money.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Where to listen.  [default: any free one]")
@click.option("--open/--no-open", "opens", default=True, help="Whether to open the page.  [default: --open]")
def browse(
    relay: str,
    endpoints: tuple[str, ...],
    key_file: Path,
    account_file: Path | None,
    wallet_address: bytes | None,
    payout: bytes | None,
    own_name: str,
    store: str,
    book_file: Path | None,
    towers: tuple[tuple[str, bytes], ...],
    patience: float,
    lease: float,
    asset: bytes | None,
    allow_mainnet: bool,
    port: int,
    opens: bool,
) -> None:
    """Offer, join and play games on a page in a browser on this machine.

    The page shows the relay's open games. You join one there once you have read its terms and costs, or offer one; any
    number of them can be played at once. What the journal (--store) has open is gone on with. The keys stay in this
    process, and the page decides nothing. The address that is printed works once.

    With --chain games are played for a stake, too; this needs the address book of the contracts. While this command
    runs, all channels that the journal has on the chain are defended. If it is interrupted, or the machine dies, the
    same command goes on. Do so in time: whoever stays away from a challenge until its end can lose all that was paid
    in. A watchtower (--tower) answers challenges while you are away.
    """
    if not endpoints:
        require_no_account(account_file, wallet_address, payout)
        require_no_asset(asset)
    from forcemove.cli.channel.stores import open_store
    from forcemove.cli.match.output import TerminalOutput
    from forcemove.tables.options import TableOptions
    from forcemove.tables.service import TableService
    from forcemove.transport.connect import connect

    connect(relay)  # checks the relay's address before anything is begun
    chains, book = _chain(endpoints, book_file, allow_mainnet)
    token = open_token(chains, asset)
    wallet = open_wallet(key_file, account_file, payout, wallet_address)
    options = TableOptions(relay, patience=patience, name=own_name)
    watchtowers = [tower_at(*each) for each in towers]
    with open_store(store, may_be_new=True) as journal, waiting("Opening the journal") as terminal:

        async def main() -> None:
            service = TableService(
                journal,
                wallet,
                TerminalOutput(terminal),
                chains=chains,
                games=usable_games(),
                towers=watchtowers,
                lease=lease,
            )
            await _Browsing(service, book, token, options, terminal).run(port, opens=opens)

        run_until_terminated(main())


def _chain(
    endpoints: Sequence[str], book_file: Path | None, allow_mainnet: bool
) -> tuple[tuple[Chain, ...], AddressBook | None]:
    """The chain through each endpoint, and its address book; none of both for friendly games alone. Raises `WrongChain`
    where the book is of another chain than the nodes."""
    if not endpoints:
        return (), None
    chains = open_nodes(endpoints, expected=chain_ids_of_books(book_file))
    require_not_mainnet(chains[0], allow_mainnet)
    return chains, open_book(book_file, chains[0])


class _Browsing:
    """The tables, the lobby and the page of one run."""

    def __init__(
        self,
        service: TableService,
        book: AddressBook | None,
        token: TokenFacts | None,
        options: TableOptions,
        terminal: Terminal,
    ) -> None:
        from forcemove.browser.page_seat import PageSeats
        from forcemove.browser.table_pages import TablePages
        from forcemove.cli.match.output import TerminalOutput
        from forcemove.tables.running.lobby_follower import LobbyFollower
        from forcemove.tables.running.open_tables import OpenTables
        from forcemove.tables.running.playable import playable_games

        self._service, self._terminal, self._book = service, terminal, book
        playable = playable_games(service.games, service.chains, book, token)
        self._pages = TablePages(service.journal, service.games, home="/lobby")
        service.on_committed(self._pages.on_committed)
        seats = PageSeats(self._pages)
        self._tables = OpenTables(service, playable, options, seats, TerminalOutput(terminal))
        self._follower = LobbyFollower(options.relay, playable)

    async def run(self, port: int, *, opens: bool) -> None:
        """Serve the page and play until this is cancelled. Raises `AddressUnusable`."""
        from forcemove.cli.play.browsing import serve_while, show_address
        from forcemove.tables.playing.match import run_with_background

        def on_ready(address: str) -> None:
            self._terminal.close()
            show_address(address, self._terminal, opens=opens)

        playing = run_with_background(self._service.run(self._tables.run()), self._follower.run())
        await serve_while(playing, self._server(port), self._terminal, on_ready, lambda: None)

    def _server(self, port: int) -> BrowserServer:
        from forcemove.browser.inspecting.inspecting import Inspecting
        from forcemove.browser.inspecting.routes import InspectSection
        from forcemove.browser.lobby.lobby_pages import LobbyPages
        from forcemove.browser.lobby.routes import LobbySection
        from forcemove.browser.server import BrowserServer
        from forcemove.browser.watching.routes import WatchSection
        from forcemove.cli.play.browsing import wallet_sections
        from forcemove.tables.watching.watched_tables import WatchedTables

        lobby = LobbySection(LobbyPages(self._follower, self._tables))
        inspecting = InspectSection(Inspecting(self._service.games, self._service.chains, self._book))
        watching = WatchSection(WatchedTables(self._service.games))
        return BrowserServer(self._pages, port, [lobby, watching, inspecting, *wallet_sections(self._service)])
