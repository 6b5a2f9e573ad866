"""A player hands over to a watchtower while playing; it answers for the player who is away."""

from __future__ import annotations

import signal
from pathlib import Path

from forcemove.channel.chain.addresses import show_address
from forcemove.channel.chain.adjudicator import Adjudicator
from forcemove.channel.chain.local import local_keys
from forcemove.channel.protocol.channel import Channel
from forcemove.channel.protocol.rules import build_support_proof
from forcemove.channel.protocol.values import CHANNELS
from forcemove.channel.store.opening import open_journal
from tests.cli.nodes import Demo, wait_until
from tests.cli.test_play import GUEST, HOST, START, World, link_of, require_right_ends, start
from tests.cli.test_play import world as world  # noqa: PLC0414  # the fixture

TOWER = local_keys()[4]
CREATE = ("--create", "--stake", "0.01 ether", "--rounds", "6", "--pace", "0.2")
JOIN = ("--yes", "--rounds", "6", "--pace", "0.2")


def tower(world: World) -> tuple[Demo, str]:
    """A watchtower that works for the guest; what `--tower` is given."""
    home = world.player("tower", TOWER)
    where = ("--chain", world.node.endpoint, "--key", "key.json", "--listen", "127.0.0.1:0", "--head-start", "0")
    process = start(home, "watch", *where, "--for", show_address(GUEST.address))
    world.started.append(process)
    process.reach("listens at ")
    url = process.said.partition("listens at ")[2].partition(",")[0]
    return process, f"{show_address(TOWER.address)}@{url}"


def saved(home: Path) -> Channel:
    with open_journal(str(home / "forcemove.journal"), owner=bytes(16)) as journal:
        (kept,) = journal.channels()
    return CHANNELS.decode(kept.snapshot)


def challenge_with(world: World, old: Channel) -> int:
    proof = build_support_proof(old.agreement.fixed_part, old.signed_states)
    assert proof is not None
    adjudicator = Adjudicator(world.node.chain, old.agreement.domain.adjudicator)
    call = adjudicator.call_of(adjudicator.challenge(old.agreement.fixed_part, proof))
    world.node.chain.send(call, HOST)
    return proof.states[-1].turn_num


def test_a_tower_answers_an_old_state_while_its_player_is_away(world: World) -> None:
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    _, address = tower(world)
    host = world.play(alice, *CREATE)
    link = link_of(host)
    guest = world.play(bob, "--join", link, *JOIN, "--tower", address)
    host.reach("is to reveal.")
    old = saved(alice)
    guest.reach("is to reveal.", 3)
    for player in (guest, host):
        player.end(by=signal.SIGKILL)
    turn = challenge_with(world, old)
    adjudicator = Adjudicator(world.node.chain, old.agreement.domain.adjudicator)
    id_ = old.agreement.channel_id

    def is_answered() -> bool:
        return adjudicator.status_of(id_).finalizes_at == 0 and adjudicator.status_of(id_).turn_num_record > turn

    wait_until(is_answered)
    assert world.node.chain.balance(TOWER.address) < START, "the tower has paid the gas"
    again = [world.play(alice, *CREATE), world.play(bob, "--join", link, *JOIN)]
    assert [each.end() for each in again] == [0, 0], [each.complained for each in again]
    require_right_ends(world, alice, bob)


def test_a_player_whose_tower_is_silent_is_told(world: World) -> None:
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    nowhere = f"{show_address(TOWER.address)}@http://127.0.0.1:9"
    host = world.play(alice, *CREATE[:3], "--rounds", "1", "--tower", nowhere)
    guest = world.play(bob, "--join", link_of(host), "--yes", "--rounds", "1")
    assert [each.end() for each in (host, guest)] == [0, 0], host.complained
    assert "tower       " in host.complained
    assert "http://127.0.0.1:9" in host.complained
