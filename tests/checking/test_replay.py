"""Runs of the search once more: on the bytecode, and from a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.checking.faults import FAULTS
from tests.checking.ladder import Ladder
from tests.checking.remembering import remembering
from tests.checking.replay import Run, on_bytecode, on_twin, read, write
from tests.checking.search import SILENT, Search, start
from tests.checking.world import Bounds, Setting

RUNS, STEPS = 10, 25
BOUNDS = (
    Bounds(transactions=3, drops=1, crashes=1),
    Bounds(seat=1, transactions=3, drops=1, crashes=1),
    Bounds(opening=True, transactions=2, reorganisations=1),
    Bounds(players=3, seat=2, transactions=3, drops=1),
)


def any_run(setting: Setting, seed: int) -> list[str]:
    """Events that can follow each other, drawn by lot, and then Bob is silent."""
    random, search = Random(seed), Search(setting)
    world, steps = start(setting), list[str]()
    for _ in range(STEPS):
        events = list(search.events(world))
        if not events:
            break
        words, _ = random.choice(events)
        world = search.after(world, words)
        steps.append(words)
    return [*steps, SILENT]


@pytest.mark.parametrize("seed", range(RUNS))
def test_a_run_drawn_by_lot_goes_the_same_way_on_the_bytecode(seed: int) -> None:
    setting = Setting(Ladder(3, 2), BOUNDS[seed % len(BOUNDS)])
    with remembering():
        parity = on_bytecode(setting, any_run(setting, seed))
    assert parity.logs is not None


def test_what_cannot_happen_is_not_replayed() -> None:
    with pytest.raises(LookupError, match="Bob flies"):
        list(on_twin(Setting(Ladder(1, 1), Bounds()), ["Bob flies"]))


def test_a_counterexample_is_kept_and_replayed_by_a_command(tmp_path: Path) -> None:
    name = "an old challenge not answered"
    fault, file = FAULTS[name], tmp_path / "run.json"
    setting = Setting(fault.game, fault.bounds)
    with fault.present():
        found = Search(setting).run(start(setting))
    assert found.violated is not None
    run = Run(f"ladder {fault.game.depth}x{fault.game.width}", fault.bounds, found.steps, name, str(found.violated))
    write(run, file)
    assert read(file) == run
    command = [sys.executable, "-m", "tests.checking.replay", str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    assert "  1      0 s  Alice moves to 00" in said
    assert "Bob challenges with the prefund state of turn 0" in said
    assert str(found.violated) in said
    assert "The bytecode does the same." in said
