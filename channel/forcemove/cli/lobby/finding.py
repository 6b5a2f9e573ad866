"""The offer that a run of `forcemove play` joins or makes: named by the command, or chosen by a person in the lobby."""

from __future__ import annotations

import asyncio

import click

from forcemove.cli.amounts import AMOUNT
from forcemove.cli.errors import Explained
from forcemove.cli.lobby.choosing import choose
from forcemove.cli.play.errors import OfferDiffers
from forcemove.cli.play.options import PlayOptions
from forcemove.cli.play.terms import Venue, require_ours
from forcemove.cli.terminal import Terminal
from forcemove.transport.connect import Connection
from forcemove.transport.links import Link
from forcemove.transport.offers import Offer, OfferOfAnotherChain

__all__ = ["find"]


async def find(
    connection: Connection, options: PlayOptions, venue: Venue, ours: bytes, terminal: Terminal
) -> Link | int:
    """The link to join by, or the stake to offer, in wei. Raises what the lobby raises, `PutAside` where the person
    leaves, and `Explained` where no person is there to choose.

    - `connection`: to the relay whose offers are shown.
    - `options`: of the run; a link or a stake in them is returned as it is.
    - `venue`: the game, and the chain that it is played on.
    - `ours`: 20 bytes, our address, whose own offers are not shown.
    - `terminal`: closed before the offers take the screen.
    """
    if options.link is not None:
        return options.link
    if options.stake is not None:
        return options.stake
    if not options.has_person:
        raise Explained(
            "The journal has no open channel of this game, chain and key to go on with.",
            "Offer a game with --create --stake AMOUNT, or join one with --join LINK.",
        )

    def is_wanted(offer: Offer) -> bool:
        return offer.host != ours and _is_ours(offer, venue)

    terminal.close()  # the screen is the person's
    chosen = await choose(connection, is_wanted, f"open games of {venue.title.lower()}", may_offer=True)
    if chosen is not None:
        return Link(connection.url, chosen.hash)
    return await _ask_stake() if venue.chain_id else 0


def _is_ours(offer: Offer, venue: Venue) -> bool:
    try:
        require_ours(offer, venue)
    except (OfferOfAnotherChain, OfferDiffers):
        return False
    return True


async def _ask_stake() -> int:
    """The stake that the person types, in wei. Raises `click.Abort`."""
    while True:
        asked = "The stake of a round, such as 0.1 ether; each player pays in five"
        stake: int = await asyncio.to_thread(click.prompt, asked, type=AMOUNT, err=True)
        if stake:
            return stake
        click.echo("A friendly game has no chain: leave --chain out.", err=True)
