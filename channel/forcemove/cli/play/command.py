"""`forcemove play`: the command and its options."""

from __future__ import annotations

from typing import Any

import click

from forcemove.cli.parameters import ADDRESS, GAME_NAME, PAGE, require_no_page_options
from forcemove.cli.play.options import ACCOUNTS, ALLOW_MAINNET, ASSET, OWN_NAME, STAKE, STORING, WAITING
from forcemove.cli.play.run import PlayArguments
from forcemove.protocol.types import MAX_CHALLENGE_DURATION


@click.command()
@click.argument("name", metavar="GAME", type=GAME_NAME)
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
@ACCOUNTS
@click.option("--create", "creates", is_flag=True, help="Offer a game, and wait for somebody to join.")
@STAKE
@ASSET
@click.option(
    "--seats",
    type=click.IntRange(2, 8),
    metavar="N",
    help="Players of the game that you offer, you among them.  [default: as few as the game takes]",
)
@click.option(
    "--move-time",
    type=click.IntRange(1, MAX_CHALLENGE_DURATION),
    metavar="SECONDS",
    help="What each has for a move in the game that you offer: after it the others challenge, or may put a friendly "
    "game away.  [default: any time]",
)
@click.option(
    "--for", "guest", type=ADDRESS, metavar="ADDRESS", help="The only player who may join the game that you offer."
)
@OWN_NAME
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
@STORING
@click.option(
    "--duration", type=click.IntRange(1), default=3600, show_default=True, help="Seconds of a challenge that we offer."
)
@WAITING
@click.option("--yes", "agrees", is_flag=True, help="Join on the terms of the offer without being asked.")
@click.option("--fresh", "from_scratch", is_flag=True, help="Do not continue games into which nobody has paid yet.")
@ALLOW_MAINNET
@click.option(
    "--bell/--no-bell",
    "rings",
    default=True,
    help="Whether the terminal's bell rings when it is your turn.  [default: --bell]",
)
@click.option("--browser", "in_browser", is_flag=True, help="Play on a page in a browser on this machine, too.")
@PAGE
@click.pass_context
def play(ctx: click.Context, /, **given: Any) -> None:
    """Play GAME with somebody on another machine: you at this terminal, or a bot.

    One player offers a game with --relay URL --create --stake AMOUNT, and hands the link that is printed to the other,
    who joins with --join LINK; the link names the relay. Both need a node of the same chain (--chain), and the address
    book of the contracts. With --stake 0 there is no chain, and nothing to win or lose; it needs a key and the relay
    alone. Where a game takes more than two players, --seats says how many are to play, and each of them joins with the
    link.

    The key of --key only signs. --account pays in five stakes and the gas, and is paid at the end, unless --payout
    names another; so does --wallet, which signs in your browser. What was signed is kept in the journal (--store). If
    this is interrupted, or the machine dies, the same command continues the open game. Do so in time: anyone who stays
    away from a challenge until its end can lose all that was paid in. A watchtower (--tower) answers challenges while
    you are away.
    """
    if not given["in_browser"]:
        require_no_page_options(ctx)
    PlayArguments(**given).play()
