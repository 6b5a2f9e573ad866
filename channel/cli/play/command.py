"""`forcemove play`: the command."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forcemove.channel.cli.amounts import AMOUNT
from forcemove.channel.cli.channel.options import KEY, NODE, STORE
from forcemove.channel.cli.deploy import book_path, open_node, require_not_mainnet
from forcemove.channel.cli.games import load_game
from forcemove.channel.cli.key import open_key_file
from forcemove.channel.cli.progress import waiting

if TYPE_CHECKING:
    from forcemove.channel.cli.play.terms import Ground

__all__ = ["play"]


@click.command()
@click.argument("name", metavar="GAME")
@click.option("--relay", required=True, metavar="URL", help="The relay: ws:// or wss://, as its operator names it.")
@NODE
@KEY
@click.option("--create", "creates", is_flag=True, help="Offer a game, and wait for somebody to join.")
@click.option(
    "--stake",
    type=AMOUNT,
    metavar="AMOUNT",
    help="Of a round, such as '0.1 ether'; each player pays in five. With --join: join only for this stake.",
)
@click.option("--join", "join_text", metavar="LINK", help="Join the offer of this link, which --create has printed.")
@click.option("--bot", is_flag=True, help="Let the game's bot play.")
@click.option(
    "--rounds", type=click.IntRange(1), default=3, show_default=True, help="Rounds after which the bot leaves."
)
@STORE
@click.option(
    "--book",
    "book_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The address book with the contracts.  [default: forcemove-CHAINID.json]",
)
@click.option(
    "--duration", type=click.IntRange(1), default=3600, show_default=True, help="Seconds of a challenge that we offer."
)
@click.option(
    "--patience",
    type=click.FloatRange(1),
    default=600.0,
    show_default=True,
    help="Seconds that the other may be silent; then it is challenged.",
)
@click.option("--yes", "agrees", is_flag=True, help="Join on the terms of the offer without being asked.")
@click.option("--anew", is_flag=True, help="Do not go on with channels into which nobody has paid yet.")
@click.option("--allow-mainnet", is_flag=True, help="Play even on Ethereum's main network, for real money.")
def play(
    name: str,
    relay: str,
    endpoint: str,
    key_file: str,
    creates: bool,
    stake: int | None,
    join_text: str | None,
    bot: bool,
    rounds: int,
    store: str,
    book_file: Path | None,
    duration: int,
    patience: float,
    agrees: bool,
    anew: bool,
    allow_mainnet: bool,
) -> None:
    """Play GAME with somebody on another machine.

    One player offers a game with --create --stake AMOUNT, and hands the link that is printed to the other, who joins
    with --join LINK. Both need the same relay, a node of the same chain, and the address book of the contracts.

    The account of --key signs, pays in five stakes and the gas, and is paid at the end. What was signed is kept in the
    journal (--store). If this is interrupted, or the machine dies, the same command goes on with the open channel. Do
    so in time: whoever stays away from a challenge until its end can lose all that was paid in.

    So far bots play: say --bot.
    """
    if creates and join_text is not None:
        raise click.UsageError("--create and --join exclude each other.")
    if creates and not stake:
        raise click.UsageError("--create wants --stake AMOUNT, of more than nothing.")
    if not bot:
        raise click.UsageError("So far only bots play over a relay: say --bot.")
    from forcemove.channel.cli.channel.stores import open_store
    from forcemove.channel.cli.play.playing import Playing, Wishes
    from forcemove.channel.line.links import parse_link

    link = None if join_text is None else parse_link(join_text)
    if link is not None and link.relay != relay:
        raise click.UsageError(f"The link is for the relay {link.relay}: name that with --relay.")
    wishes = Wishes(relay, stake if creates or link else None, link, rounds, duration, patience, agrees, anew)
    ground, key = _ground(name, endpoint, book_file, allow_mainnet), open_key_file(Path(key_file))
    with open_store(store, may_be_new=True) as journal, waiting("Asking the relay") as terminal:
        asyncio.run(Playing(wishes, ground, key, journal, terminal).run())


def _ground(name: str, endpoint: str, book_file: Path | None, allow_mainnet: bool) -> Ground:
    """Raises `WrongChain` where the book is of another chain than the node."""
    from forcemove.channel.chain.book import load_book
    from forcemove.channel.chain.errors import WrongChain
    from forcemove.channel.cli.play.terms import Ground

    game, chain = load_game(name), open_node(endpoint)
    require_not_mainnet(chain, allow_mainnet)
    book = load_book(book_file or book_path(chain.chain_id))
    if book.chain_id != chain.chain_id:
        raise WrongChain(chain.endpoint, book.chain_id, chain.chain_id)
    return Ground(chain, book, game)
