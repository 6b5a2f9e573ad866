"""The player of `forcemove play` as a table sees it: a person at this terminal, or the game's bot. And the invitation
that a host gives to a friend: the link, and the whole command to paste.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from forcemove.chain.addresses import show_address
from forcemove.cli.errors import Explained
from forcemove.cli.parameters import OWN_KEY
from forcemove.cli.play.choosing import choose
from forcemove.cli.play.options import STAKE_AMOUNT, TypedStake
from forcemove.cli.play.screen import PutAside
from forcemove.cli.play.seats import Numbered, PersonSeat
from forcemove.cli.terminal import Terminal, TerminalOutput, has_terminal
from forcemove.cli.typed import ask_in_thread
from forcemove.game import Game
from forcemove.history.tokens import TokenFacts
from forcemove.program import NAME, program
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.types import ETHER
from forcemove.sessions.meetings.venues import GameOnChain, GamePlace
from forcemove.sessions.options import HostGame, Intent, JoinGame, TableOptions
from forcemove.sessions.playing.bot import BotSeat
from forcemove.sessions.ports import LogSeat, PlayerSeat
from forcemove.text.amounts import token_name
from forcemove.transport.connect import Connection
from forcemove.transport.links import Link, link_text, public_url
from forcemove.transport.offers import Offer

if TYPE_CHECKING:
    from forcemove.browser.page_seat import PageSeat
    from forcemove.browser.table_pages import TablePages

_FRIENDLY_PARTING = "You have put the game aside."
_PARTING = "The game goes on without you: be back before a challenge can run out."
_ASIDE = "the game is put aside; the same command continues it."


@dataclass(frozen=True)
class PlayerOptions:
    """What the player wants.

    - `table`: how the table is played, by the relay's address as we know it ourselves, and for which stake.
    - `intent`: the game to join or to offer; None where a person chooses in the lobby.
    - `rounds`: after how many the bot leaves; None where a person plays.
    - `pace`: seconds that the bot takes for a move.
    - `agrees`: whether to join, and to lose a stake by leaving, without being asked.
    - `rings`: whether the terminal's bell calls a person.
    """

    table: TableOptions
    intent: Intent | None
    rounds: int | None
    pace: float
    agrees: bool
    rings: bool


class TerminalPort(TerminalOutput):
    """A `TablePort`: what comes before and after a game is printed, and a person's game takes the screen."""

    def __init__(
        self, options: PlayerOptions, venue: GamePlace, terminal: Terminal, pages: TablePages | None = None
    ) -> None:
        """`pages`: where the person may decide, too; None for a game at the terminal alone."""
        super().__init__(terminal)
        self._options, self._venue, self._pages = options, venue, pages
        self._channel_id = b""
        self.status = terminal.status

    async def find(self, connection: Connection, is_wanted: Callable[[Offer], bool]) -> Intent:
        """See `FindIntent`: what the command names, else a person chooses in the lobby. Raises `PutAside` where the
        person leaves, and `Explained` where no person is there to choose."""
        options = self._options
        if options.intent is not None:
            return options.intent
        if options.rounds is not None:
            raise Explained(
                "The journal has no open channel of this game, chain and key to continue.",
                "Offer a game with --create --stake AMOUNT, or join one with --join LINK.",
            )
        self._terminal.close()  # the screen is the person's
        what = f"open games of {self._venue.title.lower()}"
        chosen = await choose(connection, is_wanted, what, may_offer=True)
        if chosen is not None:
            return JoinGame(Link(connection.url, chosen.hash))
        return HostGame(await _ask_stake(self._venue.token) if self._venue.chain_id else 0)

    def invite(self, offer: Offer, link: Link, page: str) -> None:
        """See `TablePort`."""
        nodes = [each.endpoint for each in self._venue.chains] if isinstance(self._venue, GameOnChain) else []
        say_invitation(self._terminal, offer, link, self._options.table.relay, nodes, page)

    async def agree(self, offer: Offer) -> None:  # noqa: ARG002  # its terms were printed
        """See `TablePort`. Raises `Explained` where nobody can be asked, and `click.Abort` where the person does not
        want to."""
        if self._options.agrees:
            return
        if not sys.stdin.isatty():
            raise Explained(
                "Nobody has agreed to these terms, and there is nobody to ask.", "To join on them, say --yes."
            )
        self._terminal.close()
        await ask_in_thread(click.confirm, "Join on these terms?", abort=True)

    def take_seat(self, game: Game, agreement: Agreement, index: int) -> PlayerSeat:
        """See `TablePort`."""
        options = self._options
        if options.rounds is not None:
            return BotSeat(game, index, options.rounds, self, options.pace)
        self._terminal.close()  # the screen is the person's
        if self._pages is not None and not has_terminal():
            from forcemove.browser.page_seat import PageSeat

            return self._shown_on_page(PageSeat(game, self), game, agreement)
        parting = _FRIENDLY_PARTING if agreement.is_friendly else _PARTING
        seat = PersonSeat(game, partial(PutAside, parting), _ASIDE, self._terminal, agrees=options.agrees)
        seat.output.rings = options.rings
        return self._shown_on_page(seat, game, agreement)

    def _shown_on_page(self, seat: PersonSeat | PageSeat, game: Game, agreement: Agreement) -> PlayerSeat:
        if self._pages is not None:
            self._channel_id = agreement.channel_id
            self._pages.seat(game, agreement, seat.person)
        return seat

    def leave_seat(self) -> None:
        """See `TablePort`."""
        self._terminal.close()
        if self._pages is not None:
            self._pages.leave_seat(self._channel_id)

    def take_log_seat(self, other: str) -> LogSeat | None:
        """See `TablePort`."""
        if self._options.rounds is not None:
            return None
        self._terminal.close()  # the screen is the person's
        seat = Numbered(
            other, self._options.table.patience, partial(PutAside, _FRIENDLY_PARTING), _ASIDE, self._terminal
        )
        seat.output.rings = self._options.rings
        return seat


async def _ask_stake(token: TokenFacts | None) -> int:
    """The stake that the person types, in the smallest unit. `token`: that is played for. Raises `click.Abort`."""
    such = "0.1 ether" if token is None else f"'2.5 tokens' of {token_name(token)}"
    while True:
        asked = f"The stake of a round, such as {such}; each player pays in five"
        typed: TypedStake = await ask_in_thread(click.prompt, asked, type=STAKE_AMOUNT)
        try:
            stake = typed.of(token)
        except click.UsageError as error:
            click.echo(error.message, err=True)
            continue
        if stake:
            return stake
        click.echo("A friendly game has no chain: leave --chain out.", err=True)


# ------------------------------------------------------------------------------------------------------- the invitation


def say_invitation(
    terminal: Terminal, offer: Offer, link: Link, relay: str, nodes: Sequence[str] = (), page: str = ""
) -> None:
    """Print the link and the command, each on a line of its own, unbroken and without other text.

    - `terminal`: where it is printed.
    - `offer`: the one to join.
    - `link`: to the offer.
    - `relay`: see `join_command`.
    - `nodes`: see `join_command`.
    - `page`: the address of a page that plays the link, empty for none.
    """
    others = offer.seats - 1
    whom = "whom you want to play with" if others == 1 else f"the {others} whom you want to play with"
    plays = ", and plays in a browser, with nothing installed" if page else ""
    terminal.say(f"Hand this link to {whom}; it is good for a day{plays}:")
    terminal.say("")
    terminal.say_whole(link_text(link, page))
    terminal.say("")
    terminal.say("The command to join with it:")
    terminal.say("")
    terminal.say_whole(join_command(offer, link, relay, nodes))
    terminal.say("")
    for line in _hints(offer, link, nodes):
        terminal.say(line)


def join_command(offer: Offer, link: Link, relay: str, nodes: Sequence[str] = ()) -> str:
    """The command that a friend types. It runs as it is, but for values that only the friend knows, which are named in
    capitals: a node where the relay is one of another machine, and name and password where the relay wants them. Ours
    are not in it.

    - `offer`: the one to join.
    - `link`: to the offer.
    - `relay`: the address as we know it ourselves, with a password where it has one.
    - `nodes`: the nodes of our chain.
    """
    command = ["play", offer.game, "--join", str(link)]
    for each in () if offer.is_friendly else _nodes_of_friend(link, nodes) or ("URL",):
        command += ["--chain", each]
    if offer.asset != ETHER:
        command += ["--asset", show_address(offer.asset)]
    if relay != public_url(relay):
        scheme, _, place = public_url(relay).partition("://")
        command += ["--relay", f"{scheme}://NAME:PASSWORD@{place}"]
    return f"{_program_of_friend(link)} {shlex.join(command)}"


def _program_of_friend(link: Link) -> str:
    """A friend at another machine has a program of their own."""
    return program() if _is_of_this_machine(link.relay) else NAME


def _nodes_of_friend(link: Link, nodes: Sequence[str]) -> tuple[str, ...]:
    """Those of our nodes that a friend at this machine reaches as we do."""
    return tuple(filter(_is_of_this_machine, nodes)) if _is_of_this_machine(link.relay) else ()


def _hints(offer: Offer, link: Link, nodes: Sequence[str]) -> Iterator[str]:
    yield f"It takes the key of {OWN_KEY}, or of --key FILE. `{_program_of_friend(link)} key new {OWN_KEY}` makes one."
    if not offer.is_friendly:
        node = "" if _nodes_of_friend(link, nodes) else f"URL is a node of chain {offer.chain_id}. "
        yield (
            f"{node}They need a copy of your address book, too: as forcemove-{offer.chain_id}.json in their folder, or "
            "named with --book."
        )
    if _is_of_this_machine(link.relay):
        yield "Only this machine can reach the relay under that address. Elsewhere it is known by another one."


def _is_of_this_machine(relay: str) -> bool:
    host = urlsplit(relay).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
