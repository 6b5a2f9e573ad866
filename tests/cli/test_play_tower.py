"""A player hands over to a watchtower while playing; it answers for the player who is away."""

from __future__ import annotations

import signal

from forcemove.chain.addresses import show_address
from forcemove.chain.local import local_keys
from forcemove.demo.network.scenarios import challenge_with
from tests.cli.nodes import Demo, wait_until
from tests.cli.tables import GUEST, HOST, START, World, link_of

TOWER = local_keys()[4]
CREATE = ("--create", "--stake", "0.01 ether", "--rounds", "6", "--pace", "0.2")
JOIN = ("--yes", "--rounds", "6", "--pace", "0.2")


def tower(world: World) -> tuple[Demo, str]:
    """A watchtower that works for the guest; what `--tower` is given."""
    home = world.home("tower", TOWER)
    where = ("--chain", world.node.endpoint, "--key", "key.json", "--listen", "127.0.0.1:0", "--head-start", "0")
    process = world.run(home, "watch", *where, "--for", show_address(GUEST.address))
    process.reach("listens at ")
    url = process.said.partition("listens at ")[2].partition(",")[0]
    return process, f"{show_address(TOWER.address)}@{url}"


def test_a_tower_answers_an_old_state_while_its_player_is_away(world: World) -> None:
    _, address = tower(world)
    host = world.play(world.alice, *CREATE)
    link = link_of(host)
    guest = world.play(world.bob, "--join", link, *JOIN, "--tower", address)
    host.reach("turn to reveal")
    old = world.saved(world.alice)
    guest.reach("turn to reveal", 3)
    for player in (guest, host):
        player.end(by=signal.SIGKILL)
    turn = challenge_with(world.node.chain, HOST, old)
    world.await_answer(old, turn)
    assert world.node.chain.balance(TOWER.address) < START, "the tower has paid the gas"
    again = [world.play(world.alice, *CREATE), world.play(world.bob, "--join", link, *JOIN)]
    assert [each.end() for each in again] == [0, 0], [each.complained for each in again]
    world.require_right_ends()


def test_a_player_whose_tower_is_silent_is_told(world: World) -> None:
    nowhere = f"{show_address(TOWER.address)}@http://127.0.0.1:9"
    host = world.play(world.alice, *CREATE[:3], "--rounds", "1", "--tower", nowhere)
    guest = world.play(world.bob, "--join", link_of(host), "--yes", "--rounds", "1")
    assert [each.end() for each in (host, guest)] == [0, 0], host.complained
    assert "tower       " in host.complained
    assert "http://127.0.0.1:9" in host.complained


def test_a_tower_waits_for_its_node_and_can_be_interrupted(world: World) -> None:
    home = world.home("tower", TOWER)
    where = ("--chain", "http://127.0.0.1:9", "--key", "key.json", "--listen", "127.0.0.1:0")
    process = world.run(home, "watch", *where, "--for", show_address(GUEST.address))
    wait_until(lambda: "127.0.0.1:9 is out of reach. It is tried again." in process.complained)
    code = process.end(by=signal.SIGINT)
    assert code == 130, process.complained
