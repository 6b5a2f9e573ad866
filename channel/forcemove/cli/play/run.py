"""What was typed for `forcemove play` as one value, and the game that is played with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from forcemove.cli.games import find_table_game, load_game
from forcemove.cli.play.arguments import TableArguments
from forcemove.cli.play.options import TypedStake
from forcemove.cli.play.signals import run_until_terminated
from forcemove.cli.terminal import has_terminal, waiting
from forcemove.errors import UnknownVersion
from forcemove.keys.key_files import UNLOCK_VARIABLE

if TYPE_CHECKING:
    from forcemove.browser.table_pages import TablePages
    from forcemove.cli.play.port import PlayerOptions, TerminalPort
    from forcemove.cli.terminal import Terminal
    from forcemove.sessions.meetings.venues import GameOnChain, GamePlace
    from forcemove.sessions.options import Wallet
    from forcemove.sessions.service import TableService
    from forcemove.sessions.table import PlayTable
    from forcemove.store.journal import Journal
    from forcemove.transport.links import Link


@dataclass(frozen=True, kw_only=True)
class PlayArguments(TableArguments):
    """What was typed, as the options of the command name it."""

    name: str
    creates: bool
    stake: TypedStake | None
    seats: int | None
    move_time: int | None
    guest: bytes | None
    join_text: str | None
    bot: bool
    rounds: int
    pace: float
    duration: int
    agrees: bool
    from_scratch: bool
    rings: bool
    in_browser: bool

    def play(self) -> None:
        """Play a game to its end. Raises `click.UsageError` where options contradict each other."""
        self._require_sense()
        self._require_seats()
        self._require_screen()
        from forcemove.cli.channel.stores import open_store
        from forcemove.transport.connect import connect_relay

        link = _link(self.join_text, self.relay)
        where = _relay_of(self.relay, link)
        connect_relay(where)  # checks the relay's address before anything is begun
        venue = self._venue() if self.endpoints else None
        player = self._player(where, link, venue)
        if link is not None and UNLOCK_VARIABLE not in os.environ:
            self._require_same_game(where, link, venue)
        wallet = self.open_wallet()
        with open_store(self.store, may_be_new=True) as journal, waiting("Asking the relay") as terminal:
            run_until_terminated(self._play(journal, wallet, venue, player, terminal))

    async def _play(
        self, journal: Journal, wallet: Wallet, venue: GameOnChain | None, player: PlayerOptions, terminal: Terminal
    ) -> None:
        """Play at the terminal, or on a page, too. `venue`: None for friendly games."""
        service = self.service(journal, wallet, venue.chains if venue else (), terminal)
        if not self.in_browser:
            table, port = self._table(service, venue, player, terminal, None)
            if not table.report_ends():
                await service.run(table.play(port.find))
            return
        from forcemove.cli.play.browsing import page_server, pages_of, play_with_page

        pages = pages_of(service)
        table, port = self._table(service, venue, player, terminal, pages)
        if not table.report_ends():
            server = page_server(pages, self.port, service, venue.book if venue else None)
            await play_with_page(lambda: service.run(table.play(port.find)), pages, server, terminal, opens=self.opens)

    def _table(
        self,
        service: TableService,
        venue: GameOnChain | None,
        player: PlayerOptions,
        terminal: Terminal,
        pages: TablePages | None,
    ) -> tuple[PlayTable, TerminalPort]:
        from forcemove.cli.play.port import TerminalPort
        from forcemove.sessions.channel_game import ChannelGameRunner
        from forcemove.sessions.log_game import LogGameRunner
        from forcemove.sessions.table import PlayTable

        options, on = player.table, self._place(venue)
        if (table_game := None if venue else find_table_game(self.name)) is not None:
            port = TerminalPort(player, on, terminal)
            return PlayTable(service, on, options, port, LogGameRunner(service, table_game, options, port)), port
        game = venue.game if venue else load_game(self.name)
        port = TerminalPort(player, on, terminal, pages)
        return PlayTable(service, on, options, port, ChannelGameRunner(service, game, venue, options, port)), port

    def _place(self, venue: GameOnChain | None) -> GamePlace:
        """The game on its chain, or without one."""
        from forcemove.sessions.meetings.venues import FriendlyGame

        if venue is not None:
            return venue
        if (table_game := find_table_game(self.name)) is not None:
            return FriendlyGame(table_game.name, table_game.title)
        game = load_game(self.name)
        return FriendlyGame(game.name, game.title, game.seats)

    def _require_same_game(self, relay: str, link: Link, venue: GameOnChain | None) -> None:
        """Refuse a link to another game before a passphrase is asked for; where none is, the defence does not wait for
        a relay. Raises as `require_ours`. A relay that does not show the offer now refuses nothing: the journal may
        have its game."""
        from forcemove.sessions.meetings.meeting import find_offer
        from forcemove.sessions.meetings.venues import require_ours
        from forcemove.transport.errors import TransportError

        offer = None
        with waiting("Asking the relay"), contextlib.suppress(TransportError, UnknownVersion):
            offer = asyncio.run(find_offer(relay, link.offer))
        if offer is not None:
            require_ours(offer, self._place(venue))

    def _require_sense(self) -> None:
        has_chain = bool(self.endpoints)
        if self.creates and self.join_text is not None:
            raise click.UsageError("--create and --join exclude each other.")
        if self.creates and self.stake is None:
            raise click.UsageError("--create wants --stake AMOUNT; 0 is a friendly game.")
        if self.stake is not None and not self.stake.is_nothing and not has_chain:
            raise click.UsageError("A stake needs a chain: name a node with --chain.")
        if self.stake is not None and self.stake.is_nothing and has_chain:
            raise click.UsageError("A friendly game (--stake 0) has no chain: leave --chain out.")
        if not self.creates and (self.move_time or self.guest):
            raise click.UsageError("--move-time and --for are of a game that you offer: say --create.")
        if self.move_time and self._is_table_game:
            raise click.UsageError(f"{self.name} is not played in a channel, and has no clock: leave --move-time out.")
        self.require_accounts()

    def _require_seats(self) -> None:
        """Raise `click.UsageError` where a number of players makes no sense, or the game does not take this many."""
        if self.seats is None:
            return
        if not self.creates:
            raise click.UsageError("--seats is of a game that you offer: say --create.")
        taken = [2] if self._is_table_game else list(load_game(self.name).seats)
        if self.seats not in taken:
            raise click.UsageError(f"{self.name} takes {' or '.join(map(str, taken))} players, not {self.seats}.")

    @property
    def _is_table_game(self) -> bool:
        return not self.endpoints and find_table_game(self.name) is not None

    def _require_screen(self) -> None:
        """Raise `click.UsageError` where nobody could play."""
        if self.in_browser and (self.bot or self._is_table_game):
            raise click.UsageError("--browser is for a person who plays a game in a channel.")
        if self.wallet_address is not None and not self.in_browser:
            raise click.UsageError("--wallet signs on the page: say --browser, too.")
        if not self.bot and not self.in_browser and not has_terminal():
            raise click.UsageError(
                "There is no terminal to play at: say --bot or --browser, or type the command in a terminal."
            )

    def _player(self, where: str, link: Link | None, venue: GameOnChain | None) -> PlayerOptions:
        """What the player wants. Raises `click.UsageError` where the stake is of another asset than is played for.
        `where`: the relay; `link`: of the offer to join."""
        from forcemove.cli.play.port import PlayerOptions
        from forcemove.sessions.options import HostGame, JoinGame, TableOptions

        typed = self.stake if self.creates or link else None
        wanted = None if typed is None else typed.of(None if venue is None else venue.token)
        host = None if wanted is None else HostGame(wanted)
        return PlayerOptions(
            TableOptions(
                where,
                wanted,
                self.duration,
                self.patience,
                self.from_scratch,
                self.seats,
                self.own_name,
                self.move_time or 0,
                self.guest or b"",
            ),
            host if link is None else JoinGame(link),
            self.rounds if self.bot else None,
            self.pace,
            self.agrees,
            self.rings,
        )

    def _venue(self) -> GameOnChain | None:
        """The chain to play on. Raises `WrongChain` where the book is of another chain than the nodes; `NoSuchToken`
        and `TokenUnclear`; and `click.UsageError` where the game has no contract."""
        from forcemove.sessions.meetings.venues import GameOnChain

        if find_table_game(self.name) is not None:
            raise click.UsageError(f"No contract enforces {self.name}: play it with --stake 0, and without --chain.")
        game = load_game(self.name)
        chains, book = self.open_chains()
        if book is None:
            return None
        return GameOnChain(chains, book, game, self.open_token(chains))


def _link(text: str | None, relay: str | None) -> Link | None:
    """The link in a text. Raises `MalformedBytes`, `UnknownVersion` and `LinkCut`, and `click.UsageError` where the
    link is for another relay."""
    from forcemove.transport.links import parse_link, public_url

    link = None if text is None else parse_link(text)
    if link is not None and relay is not None and link.relay != public_url(relay):
        raise click.UsageError(f"The link is for the relay {link.relay}: leave --relay out.")
    return link


def _relay_of(relay: str | None, link: Link | None) -> str:
    """The relay's address. Our own address of it may have a password, which a link never has."""
    if relay is not None:
        return relay
    if link is None:
        raise click.UsageError("Name the relay with --relay URL, or join with --join LINK, which names it.")
    return link.relay
