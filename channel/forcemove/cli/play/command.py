"""`forcemove play`: the command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forcemove.cli.amounts import AMOUNT
from forcemove.cli.channel.options import STORE
from forcemove.cli.deploy import open_book, require_not_mainnet
from forcemove.cli.endpoints import chain_ids_of_books, open_nodes
from forcemove.cli.games import find_table_game, load_game, usable_games
from forcemove.cli.play.accounts import ACCOUNT, LEASE, PAYOUT, TOWERS, WALLET, open_wallet, tower_at
from forcemove.cli.play.names import NAME
from forcemove.cli.play.signals import run_until_terminated
from forcemove.cli.progress import waiting

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
    from forcemove.transport.links import Link
    from forcemove.watchtower.client import TowerClient

__all__ = ["play"]

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("name", metavar="GAME")
@click.option(
    "--relay",
    metavar="URL",
    help="The relay: ws:// or wss://, as its operator names it; or a NATS server: nats:// or tls://.  "
    "[default: that of the link]",
)
@click.option(
    "--chain",
    "endpoints",
    multiple=True,
    metavar="URL",
    help="The node: http(s)://, ws(s)://, or an IPC path; given several times, other nodes of the same chain, of which "
    "one honest one is enough to lose nothing. A friendly game has none.",
)
@click.option(
    "--key",
    "key_file",
    required=True,
    type=_FILE,
    help="The key file of the player, which signs states (see `forcemove key`).",
)
@ACCOUNT
@WALLET
@PAYOUT
@click.option("--create", "creates", is_flag=True, help="Offer a game, and wait for somebody to join.")
@click.option(
    "--stake",
    type=AMOUNT,
    metavar="AMOUNT",
    help="Of a round, such as '0.1 ether'; each player pays in five. 0 is a friendly game, without a chain. With "
    "--join: join only for this stake.",
)
@click.option(
    "--seats",
    type=click.IntRange(2, 8),
    metavar="N",
    help="Players of the game that you offer, you among them.  [default: as few as the game takes]",
)
@click.option("--name", "own_name", type=NAME, default="", metavar="NAME", help="What the others are to call you.")
@click.option("--join", "join_text", metavar="LINK", help="Join the offer of this link, which --create has printed.")
@click.option("--bot", is_flag=True, help="Let the game's bot play, and not you.")
@click.option(
    "--rounds", type=click.IntRange(1), default=3, show_default=True, help="Rounds after which the bot leaves."
)
@click.option(
    "--pace",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="Seconds that the bot takes for a move, so that people can follow it.",
)
@STORE
@click.option(
    "--book",
    "book_file",
    type=_FILE,
    help="The address book with the contracts.  [default: forcemove-CHAINID.json]",
)
@TOWERS
@click.option(
    "--duration", type=click.IntRange(1), default=3600, show_default=True, help="Seconds of a challenge that we offer."
)
@click.option(
    "--patience",
    type=click.FloatRange(1),
    default=600.0,
    show_default=True,
    help="Seconds that the other may be silent; then it is challenged, or a friendly game given up.",
)
@LEASE
@click.option("--yes", "agrees", is_flag=True, help="Join on the terms of the offer without being asked.")
@click.option("--anew", "from_scratch", is_flag=True, help="Do not go on with games into which nobody has paid yet.")
@click.option("--allow-mainnet", is_flag=True, help="Play even on Ethereum's main network, for real money.")
@click.option("--browser", "in_browser", is_flag=True, help="Play on a page in a browser on this machine, too.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    help="With --browser: where to listen.  [default: any free one]",
)
@click.option(
    "--open/--no-open", "opens", default=True, help="With --browser: whether to open the page.  [default: --open]"
)
def play(
    name: str,
    relay: str | None,
    endpoints: tuple[str, ...],
    key_file: Path,
    account_file: Path | None,
    wallet_address: bytes | None,
    payout: bytes | None,
    creates: bool,
    stake: int | None,
    seats: int | None,
    own_name: str,
    join_text: str | None,
    bot: bool,
    rounds: int,
    pace: float,
    store: str,
    book_file: Path | None,
    towers: tuple[tuple[str, bytes], ...],
    duration: int,
    patience: float,
    lease: float,
    agrees: bool,
    from_scratch: bool,
    allow_mainnet: bool,
    in_browser: bool,
    port: int,
    opens: bool,
) -> None:
    """Play GAME with somebody on another machine: you at this terminal, or a bot.

    One player offers a game with --relay URL --create --stake AMOUNT, and hands the link that is printed to the other,
    who joins with --join LINK; the link names the relay. Both need a node of the same chain (--chain), and the address
    book of the contracts. With --stake 0 there is no chain, and nothing to win or lose; it needs a key and the relay
    alone. Where a game takes more than two players, --seats says how many are to play, and each of them joins with the
    link.

    The key of --key only signs. --account pays in five stakes and the gas, and is paid at the end, unless --payout
    names another; so does --wallet, which signs in your browser. What was signed is kept in the journal (--store). If
    this is interrupted, or the machine dies, the same command goes on with the open game. Do so in time: whoever stays
    away from a challenge until its end can lose all that was paid in. A watchtower (--tower) answers challenges while
    you are away.
    """
    _require_sense(creates, join_text, stake, bool(endpoints), account_file, payout)
    _require_seats(name, seats, creates, bool(endpoints))
    from forcemove.cli.play.port import PlayerOptions, has_terminal

    if in_browser and (bot or (not endpoints and find_table_game(name) is not None)):
        raise click.UsageError("--browser is for a person who plays a game in a channel.")
    if wallet_address is not None and (not in_browser or not endpoints):
        raise click.UsageError("--wallet is for a game with a --chain, and signs on the page of --browser.")
    if not bot and not in_browser and not has_terminal():
        raise click.UsageError(
            "There is no terminal to play at: say --bot or --browser, or type the command in a terminal."
        )
    from forcemove.cli.channel.stores import open_store
    from forcemove.tables.options import TableOptions
    from forcemove.transport.connect import connect

    link = _link(join_text, relay)
    where, wanted = _place(relay, link), stake if creates or link else None
    player = PlayerOptions(where, wanted, link, rounds if bot else None, pace, patience, agrees)
    options = TableOptions(where, wanted, duration, patience, from_scratch, seats, own_name)
    connect(where)  # checks the relay's address before anything is begun
    venue = _venue(name, endpoints, book_file, allow_mainnet) if endpoints else None
    wallet = open_wallet(key_file, account_file, payout, wallet_address)
    watchtowers = [tower_at(*each) for each in towers]
    with open_store(store, may_be_new=True) as journal, waiting("Asking the relay") as terminal:
        service = _Serving(journal, wallet, terminal, watchtowers, lease)
        page = PageOptions(port, opens) if in_browser else None
        run_until_terminated(service.play(name, venue, options, player, page))


def _require_seats(name: str, seats: int | None, creates: bool, has_chain: bool) -> None:
    """Raise `click.UsageError` where a number of players makes no sense, or the game does not take so many."""
    if seats is None:
        return
    if not creates:
        raise click.UsageError("--seats is of a game that you offer: say --create.")
    table_game = None if has_chain else find_table_game(name)
    taken = [2] if table_game is not None else list(load_game(name).seats)
    if seats not in taken:
        raise click.UsageError(f"{name} takes {' or '.join(map(str, taken))} players, not {seats}.")


def _link(text: str | None, relay: str | None) -> Link | None:
    """The link in a text. Raises `MalformedBytes`, `UnknownVersion` and `LinkCut`, and `click.UsageError` where the
    link is for another relay."""
    from forcemove.transport.links import parse_link, public_url

    link = None if text is None else parse_link(text)
    if link is not None and relay is not None and link.relay != public_url(relay):
        raise click.UsageError(f"The link is for the relay {link.relay}: leave --relay out.")
    return link


def _place(relay: str | None, link: Link | None) -> str:
    """The relay's address. Our own address of it may have a password, which a link never has."""
    if relay is not None:
        return relay
    if link is None:
        raise click.UsageError("Name the relay with --relay URL, or join with --join LINK, which names it.")
    return link.relay


def _require_sense(
    creates: bool,
    join_text: str | None,
    stake: int | None,
    has_chain: bool,
    account_file: Path | None,
    payout: bytes | None,
) -> None:
    if creates and join_text is not None:
        raise click.UsageError("--create and --join exclude each other.")
    if creates and stake is None:
        raise click.UsageError("--create wants --stake AMOUNT; 0 is a friendly game.")
    if stake and not has_chain:
        raise click.UsageError("A stake wants a chain: name a node with --chain.")
    if stake == 0 and has_chain:
        raise click.UsageError("A friendly game (--stake 0) has no chain: leave --chain out.")
    if not has_chain and (account_file is not None or payout is not None):
        raise click.UsageError("A friendly game pays nothing: leave --account and --payout out, or name a --chain.")


@dataclass(frozen=True)
class PageOptions:
    """Of the page of `--browser`. `port`: where to listen, 0 for any; `opens`: whether to open it in a browser."""

    port: int
    opens: bool


@dataclass(frozen=True)
class _Serving:
    """What the service of one run is made of. `lease`: seconds, see `Node`."""

    journal: Journal
    wallet: Wallet
    terminal: Terminal
    towers: Sequence[TowerClient]
    lease: float

    async def play(
        self,
        name: str,
        venue: ChainVenue | None,
        options: TableOptions,
        player: PlayerOptions,
        page: PageOptions | None,
    ) -> None:
        """Play a game of the command's kind, maybe with a page. Raises `click.UsageError` where the game has no
        contract, and a chain is named."""
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
        pages = None if page is None else _pages(service)
        table = _table(name, service, venue, options, player, self.terminal, pages)
        if table.report_ends():
            return
        game = service.run(table.play())
        if page is None or pages is None:
            await game
        else:
            from forcemove.cli.play.browsing import play_with_page

            server = _server(pages, page.port, service, venue)
            await play_with_page(game, pages, server, self.terminal, opens=page.opens)


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


def _venue(name: str, endpoints: Sequence[str], book_file: Path | None, allow_mainnet: bool) -> ChainVenue:
    """The chain to play on. Raises `WrongChain` where the book is of another chain than the nodes, and
    `click.UsageError` where the game has no contract."""
    from forcemove.tables.meetings.venues import ChainVenue

    if find_table_game(name) is not None:
        raise click.UsageError(f"No contract enforces {name}: play it with --stake 0, and without --chain.")
    game, chains = load_game(name), open_nodes(endpoints, expected=chain_ids_of_books(book_file))
    require_not_mainnet(chains[0], allow_mainnet)
    return ChainVenue(chains, open_book(book_file, chains[0]), game)
