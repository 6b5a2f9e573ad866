"""The invitation that a host gives to a friend: the link, and the whole command to paste. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from forcemove.chain.addresses import show_address
from forcemove.cli.parameters import OWN_KEY
from forcemove.cli.terminal import Terminal
from forcemove.program import NAME, program
from forcemove.protocol.types import ETHER
from forcemove.transport.links import Link, link_text, public_url
from forcemove.transport.offers import Offer

__all__ = ["join_command", "say_invitation"]


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
