"""What friends, a relay's operator and a watchtower's operator see on terminals of 80 columns: no word is cut, and none
is lost."""

from __future__ import annotations

import re

from forcemove.chain.addresses import show_address
from forcemove.transport.links import LINK_HEAD
from tests.cli.screens import Screen
from tests.cli.tables import GUEST, House, World
from tests.cli.test_whole_words import on, require_whole_end, require_whole_scene
from tests.cli.words import forget, require_whole

WAITS = ("Waiting for somebody to join", *map(chr, range(0x2800, 0x2900)))
"""The status while nobody joins: it is not a line of what is said, and turns."""

ASKS = ("Join on these terms? [y/N]:",)
"""The question at a prompt."""


def link_on(screen: Screen) -> str:
    """The link, which is longer than a line of the terminal."""
    screen.reach("Waiting for somebody to join")  # it turns: the screen never settles
    text = "".join(line.rstrip() for line in screen.lines)
    (link, *_) = re.findall(rf"{LINK_HEAD}[a-z2-7]+?(?=The command)", text)
    return str(link)


def without_log(lines: list[str]) -> list[str]:
    """The lines that people are told, without those of the log, which begin with a date and are never wrapped."""
    return [line for line in lines if not re.match(r"(\^C)?\d{4}-\d\d-\d\d ", line)]


def test_friends_at_a_table(world: World) -> None:
    host_at, guest_at = world.alice, world.bob
    where = ("--relay", world.carrier.url)
    host = on(host_at, *world.arguments(host_at, "rock-paper-scissors"), *where, "--create", "--stake", "0.01 ether")
    link = link_on(host)
    command = f"forcemove play rock-paper-scissors --join {link} --chain {world.node.endpoint}"
    require_whole(host.lines, host_at, (command, *WAITS))
    guest = on(guest_at, *world.arguments(guest_at, "rock-paper-scissors"), "--join", link)
    guest.reach("Join on these terms?")
    require_whole(guest.settle(), guest_at, ASKS)
    guest.type("y\r")
    host.reach("choose rock, which")
    require_whole_scene(host, host_at, command)
    require_whole_scene(guest, guest_at, *ASKS, "y")
    host.type("rock\r")
    guest.reach("play scissors")
    require_whole_scene(guest, guest_at, *ASKS, "y")
    guest.type("scissors\r")
    guest.reach("next")
    require_whole_scene(guest, guest_at, *ASKS, "y")
    guest.type("leave\r")
    guest.answer("no        play on", "yes\r")
    require_whole_end(guest, guest_at, *ASKS, "y", is_all=False)
    require_whole_end(host, host_at, command, is_all=False)
    id_ = world.channel(host_at).agreement.channel_id.hex()
    own = ("--chain", world.node.endpoint, "--key", "key.json")
    for arguments in (("list",), ("show", id_), ("history", id_), ("verify", id_), ("collect", *own)):
        forget(host_at)
        screen = on(host_at, "channel", *arguments, "--store", "forcemove.journal")
        require_whole_end(screen, host_at, id_)


def test_friends_who_play_for_nothing(house: House) -> None:
    host_at, guest_at = house.alice, house.bob
    where = ("--relay", house.carrier.url, "--create", "--stake", "0")
    host = on(host_at, *house.arguments(host_at, "tic-tac-toe"), *where)
    link = link_on(host)
    command = f"forcemove play tic-tac-toe --join {link}"
    guest = on(guest_at, *house.arguments(guest_at, "tic-tac-toe"), "--join", link, "--yes")
    host.reach("place an X in the middle")
    require_whole_scene(host, host_at, command)
    require_whole_scene(guest, guest_at)
    host.type("leave\r")
    require_whole_end(host, host_at, command, is_all=False)
    require_whole_end(guest, guest_at, is_all=False)


def test_operators(world: World) -> None:
    home, guest = world.alice, show_address(GUEST.address)
    chain = ("--chain", world.node.endpoint)
    for arguments, sentence in (
        (("relay", "--listen", "127.0.0.1:0", "--store", "relay.sqlite"), "The relay listens"),
        (
            ("watch", *chain, "--key", "key.json", "--listen", "127.0.0.1:0", "--for", guest),
            "The watchtower",
        ),
    ):
        forget(home)
        screen = on(home, *arguments)
        screen.reach(sentence)
        require_whole(without_log(screen.settle()), home)
        screen.type("\x03")
        seen = screen.end()
        assert seen.code == 0, seen.lines
        require_whole(without_log(seen.lines), home, ["^C"])
