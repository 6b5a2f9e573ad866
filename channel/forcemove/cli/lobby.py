"""`forcemove lobby`: the open games of a relay. Plays nothing, and signs nothing."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forcemove.cli.games import installed_names
from forcemove.cli.json_output import print_document
from forcemove.cli.parameters import FILE, OWN_KEY
from forcemove.cli.terminal import Terminal, has_terminal, waiting
from forcemove.cli.typed import ask
from forcemove.program import program

if TYPE_CHECKING:
    from forcemove.transport.offers import Offer

_MOST = 200
"""Offers of a list that is printed once."""


@click.command()
@click.option(
    "--relay", required=True, metavar="URL", help="The relay: ws:// or wss://; or a NATS server: nats:// or tls://."
)
@click.option("--game", "name", metavar="GAME", help="Only the offers of this game.")
@click.option("--key", "key_file", type=FILE, help="To join with: your key file. You are asked for it if you join.")
@click.option(
    "--chain",
    "endpoints",
    multiple=True,
    metavar="URL",
    help="To join with: a node of the offer's chain; may be given several times. You are asked for one if there is a "
    "stake.",
)
@click.option("--once", is_flag=True, help="Print the list and end, also at a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print the list once, as JSON.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF PLAY]")
def lobby(
    relay: str,
    name: str | None,
    key_file: Path | None,
    endpoints: tuple[str, ...],
    once: bool,
    as_json: bool,
    options: tuple[str, ...],
) -> None:
    """List the open games of a relay, and join one by its number.

    At a terminal the list is live: games appear and go as others offer and join them. Type a number to join; the terms
    are shown, and you are asked, before anything is signed. It is the same as `forcemove play GAME --join LINK`, and
    what follows `--` is handed to that.

    Where the output is not a terminal the list is printed once. Offers that are for one player alone are listed with
    the --key of that player.
    """
    ours = _address_in(key_file)

    def is_wanted(offer: Offer) -> bool:
        return offer.is_for(ours) and name in (None, offer.game)

    if as_json or once or not has_terminal():
        asyncio.run(_print_once(relay, is_wanted, name, as_json))
        return
    from forcemove.cli.play import play
    from forcemove.transport.links import public_url

    arguments = _join_arguments(asyncio.run(_choose(relay, is_wanted)), relay, key_file, endpoints, options)
    shown = (public_url(each) if each == relay else each for each in arguments)  # a password is not shown
    click.echo(f"$ {program()} {shlex.join(['play', *shown])}")
    play.main(arguments, standalone_mode=False)


def _address_in(key_file: Path | None) -> bytes:
    """The address in a key file, without its passphrase; empty without a file."""
    from forcemove.keys.key_files import address_in_key_file

    return b"" if key_file is None else address_in_key_file(key_file) or b""


async def _print_once(relay: str, is_wanted: Callable[[Offer], bool], name: str | None, as_json: bool) -> None:
    from forcemove.cli.play.choosing import rows
    from forcemove.sessions.meetings.lobby import LobbyDocument, offer_json
    from forcemove.transport.connect import connect_relay
    from forcemove.transport.faults import FAULT_SECONDS

    with _asking(relay):
        async with connect_relay(relay, fault_seconds=FAULT_SECONDS) as connection:
            found = await connection.lobby.list(is_wanted, _MOST + 1)
            url = connection.url
    numbered = list(enumerate(found[:_MOST], 1))
    if as_json:
        offers = [offer_json(number, shown, url) for number, shown in numbered]
        print_document(LobbyDocument(url, offers, len(found) <= _MOST))
        return
    terminal = Terminal()
    if not numbered:
        terminal.say(f"There are no open games{f' of {name}' if name else ''} at {url} right now. To offer one:")
        if name is not None and name not in installed_names():
            terminal.note(
                f"No game {name!r:.80} is installed here; these are: {', '.join(installed_names()) or 'none'}."
            )
        command = ["play", name or next(iter(installed_names()), "GAME"), "--relay", url, "--create", "--stake", "0"]
        terminal.say_whole(f"{program()} {shlex.join(command)}")
        return
    for row in rows(numbered, time.time()):
        terminal.say_whole(row)
    if len(found) > _MOST:
        terminal.say(f"There are more than these {_MOST}: --game GAME lists those of one game.")


async def _choose(relay: str, is_wanted: Callable[[Offer], bool]) -> Offer:
    from forcemove.cli.play.choosing import choose
    from forcemove.transport.connect import connect_relay
    from forcemove.transport.faults import FAULT_SECONDS

    with _asking(relay) as terminal:
        async with connect_relay(relay, fault_seconds=FAULT_SECONDS) as connection:
            terminal.close()  # the screen is the person's
            offer = await choose(connection, is_wanted, "open games", may_offer=False)
    if offer is None:
        raise click.Abort
    return offer


def _asking(relay: str) -> AbstractContextManager[Terminal]:
    """A status for as long as the relay does not answer."""
    from forcemove.transport.links import public_url

    return waiting(f"Asking {public_url(relay)}")


def _join_arguments(
    offer: Offer, relay: str, key_file: Path | None, endpoints: Sequence[str], options: Sequence[str]
) -> list[str]:
    """The arguments of `forcemove play`; the person is asked for missing ones."""
    from forcemove.transport.links import Link, public_url

    link = Link(public_url(relay), offer.hash)
    where = [] if relay == link.relay else ["--relay", relay]
    key = str(key_file) if key_file else ask(click.prompt, "Your key file", type=FILE, default=OWN_KEY)
    if not offer.is_friendly and not endpoints:
        endpoints = [ask(click.prompt, f"A node of chain {offer.chain_id} (URL)")]
    chains = [] if offer.is_friendly else [part for each in endpoints for part in ("--chain", each)]
    # The name comes after --, since it may begin with a hyphen.
    return ["--join", str(link), *where, "--key", str(key), *chains, *options, "--", offer.game]
