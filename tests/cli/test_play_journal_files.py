"""Somebody removes a file that SQLite keeps beside a journal, while a game is played."""

from __future__ import annotations

import pytest

from tests.cli.tables import World, link_of
from tests.sampled import sampled

CREATE = ("--create", "--stake", "0.01 ether")
OPTIONS = ("--rounds", "10", "--pace", "0.1", "--patience", "120", "--lease", "5")


@pytest.mark.parametrize("suffix", sampled(["-wal", "-shm"], 2))
def test_threat_101_who_loses_a_file_beside_its_journal_says_so_and_signs_nothing_more(
    world: World, suffix: str
) -> None:
    host = world.play(world.alice, *CREATE, *OPTIONS)
    guest = world.play(world.bob, "--join", link_of(host), "--yes", *OPTIONS)
    guest.reach("turn to reveal")
    (world.alice / f"forcemove.journal{suffix}").unlink()
    assert host.end() == 1
    assert f"forcemove.journal{suffix}, which belongs to the journal" in host.complained
    assert "was removed or replaced while it was in use" in host.complained
    assert world.saved(world.alice).next_turn >= world.saved(world.bob).next_turn - 1
    again = world.play(world.alice, *OPTIONS)
    assert [each.end() for each in (again, guest)] == [0, 0], again.complained
    world.require_right_ends()
