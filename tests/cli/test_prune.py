"""`forcemove channel prune`, on a journal of channels that were played on a chain in this process."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from forcemove.store.opening import open_journal
from forcemove.store.records import ChannelLease
from tests.cli.command import Command, Said
from tests.node.test_node import House
from tests.scenarios.story import Playground
from tests.simulation.chain import MemoryChain

NOTHING = "No channel has anything to delete."
Run = Callable[..., Said]


@pytest.fixture
def house(tmp_path: Path) -> House:
    """Two channels: the first was played to its end, the second is open."""
    made = House(Playground.on(MemoryChain()), tmp_path, 2)
    for process in made.processes * 2:
        process.node.poll()
    for process in made.processes:
        process.node.release_channel(made.assemblies[1].agreement.channel_id)
    made.play()
    for process in made.processes:
        process.node.release()
    made.close()
    return made


@pytest.fixture
def run(house: House, tmp_path: Path, forcemove: Command) -> Run:
    """`forcemove channel` with Alice's journal."""
    return lambda name, *options: forcemove("channel", name, "--store", str(house.processes[0].path), *options)


def test_what_is_over_is_pruned_after_a_question(house: House, run: Run) -> None:
    over, open_ = (f"0x{each.agreement.channel_id.hex()}" for each in house.assemblies)
    assert run("prune").out.strip() == NOTHING  # it was over a moment ago
    before, listed = run("history", open_).out, run("list", "--all").out
    told = json.loads(run("prune", "--days", "0", "--json").out)
    assert (told["channels"], told["deleted"]) == ([over], False)
    asked = run("prune", "--days", "0")  # there is nobody to answer
    assert asked.code == 1
    assert "channels: 1." in asked.out
    assert "Delete them?" in asked.err
    done = json.loads(run("prune", "--days", "0", "--yes", "--json").out)
    assert done == {**told, "deleted": True}
    assert done["bytes"] > done["entries"] > 3
    assert run("prune", "--days", "0", "--yes").out.strip() == NOTHING
    assert run("history", open_).out == before
    assert run("list", "--all").out == re.sub(r"; rounds: .*", "", listed), "whose rounds nobody can count any more"
    assert "nothing that this journal has" in run("history", over).out
    assert run("verify", over).code == 0


def test_a_channel_that_another_process_has_is_not_pruned(house: House, run: Run) -> None:
    lease = ChannelLease(house.assemblies[0].agreement.channel_id)
    with open_journal(str(house.processes[0].path), owner=bytes(16)) as journal:
        journal.leases.take([lease], 60)
        assert run("prune", "--days", "0", "--yes").out.strip() == NOTHING
        journal.leases.release([lease])
    assert run("prune", "--days", "0", "--yes").out.startswith("Deleted: ")


def test_another_process_that_reads_keeps_the_file_large_and_nothing_else(house: House, run: Run) -> None:
    path = str(house.processes[0].path)
    with open_journal(path, owner=bytes(16)) as journal, journal._database.reading() as reading:
        reading.exec_driver_sql("SELECT count(*) FROM channels").fetchall()
        said = run("prune", "--days", "0", "--yes").out
    assert said.startswith("Deleted: ")
