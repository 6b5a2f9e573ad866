"""The invitation that a host gives to a friend: the link, and the whole command to paste. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from forcemove.chain.addresses import show_address
from forcemove.cli.terminal import Terminal
from forcemove.protocol.types import ETHER
from forcemove.transport.links import Link, public_url
from forcemove.transport.offers import Offer

__all__ = ["join_command", "say_invitation"]


def say_invitation(terminal: Terminal, offer: Offer, link: Link, relay: str) -> None:
    """Print the link and the command, each on a line of its own, unbroken and without other text. `relay`: the address
    as we know it ourselves, with a password where it has one."""
    others = offer.seats - 1
    whom = "whom you want to play with" if others == 1 else f"the {others} whom you want to play with"
    terminal.say(f"Hand this link to {whom}; it is good for a day:")
    terminal.say("")
    terminal.say_whole(str(link))
    terminal.say("")
    terminal.say("The command to join with it:")
    terminal.say("")
    terminal.say_whole(join_command(offer, link, relay))
    terminal.say("")
    for line in _hints(offer, link):
        terminal.say(line)


def join_command(offer: Offer, link: Link, relay: str) -> str:
    """The command that a friend types: values that only the friend knows are named in capitals. Our password is
    not in it."""
    command = ["forcemove", "play", offer.game, "--join", str(link), "--key", "FILE"]
    if not offer.is_friendly:
        command += ["--chain", "URL"]
    if offer.asset != ETHER:
        command += ["--asset", show_address(offer.asset)]
    if relay != public_url(relay):
        scheme, _, place = public_url(relay).partition("://")
        command += ["--relay", f"{scheme}://NAME:PASSWORD@{place}"]
    return shlex.join(command)


def _hints(offer: Offer, link: Link) -> Iterator[str]:
    own = "FILE is a key file of their own (`forcemove key new FILE` makes one)"
    if offer.is_friendly:
        yield f"{own}."
    else:
        yield (
            f"{own}, and URL a node of chain {offer.chain_id}. They need a copy of your address book, too: as "
            f"forcemove-{offer.chain_id}.json in their folder, or named with --book."
        )
    if _is_of_this_machine(link.relay):
        yield "Only this machine can reach the relay under that address. Elsewhere it is known by another one."


def _is_of_this_machine(relay: str) -> bool:
    host = urlsplit(relay).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
