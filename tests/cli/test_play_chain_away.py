"""The chain goes away in the middle of a game at a terminal, and comes back: both are said,
and the game goes on to its payout."""

from __future__ import annotations

from tests.cli.tables import World
from tests.cli.test_whole_words import on, require_whole_end, require_whole_scene
from tests.cli.test_whole_words_of_friends import ASKS, link_on


def test_people_play_on_while_the_chain_is_away(world: World) -> None:
    host_at, guest_at = world.alice, world.bob
    create = ("--create", "--stake", "0.01 ether", "--relay", world.carrier.url)
    host = on(host_at, *world.arguments(host_at, "rock-paper-scissors"), *create)
    link = link_on(host)
    command = f"forcemove play rock-paper-scissors --join {link} --chain {world.node.endpoint}"
    guest = on(guest_at, *world.arguments(guest_at, "rock-paper-scissors"), "--join", link, "--yes")
    host.reach("choose rock, which")
    world.node.stop()
    for each in (host, guest):
        each.reach("is out of reach. What you do is kept")
    require_whole_scene(host, host_at, command)
    host.type("rock\r")
    guest.reach("play scissors")
    require_whole_scene(guest, guest_at, *ASKS)
    guest.type("scissors\r")
    guest.reach("Host revealed rock")
    world.node.start()
    for each in (host, guest):
        each.reach("is in reach again")
    guest.reach("next")
    require_whole_scene(guest, guest_at, *ASKS)
    guest.type("leave\r")
    guest.answer("no        play on", "yes\r")
    require_whole_end(guest, guest_at, *ASKS, "yes", is_all=False)
    require_whole_end(host, host_at, command, is_all=False)
    world.require_right_ends()
