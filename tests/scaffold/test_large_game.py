"""A game with more positions than anybody can walk through, begun with `forcemove new`: connect four.

It has 4,531,985,219,092 (https://oeis.org/A212693 counts them by turn).
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from math import inf
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen
from typing import NamedTuple

import pytest

from forcemove.contracts.project import build_project, stale_artifacts
from forcemove.protocol.types import VariablePart
from forcemove.scaffold.scaffold import write_game
from forcemove.testing.calls import Bench, TransitionCall
from forcemove.testing.difference import TwinsDiffer
from forcemove.testing.properties import require_both_alike
from forcemove.testing.space import Bounds, StateSpace
from forcemove.testing.walk import Walk, first_state, replay, successors, terms_of
from tests.scaffold import connect_four
from tests.scaffold.connect_four import GAME, position
from tests.scaffold.connect_four.rules import legal_moves

KNOWN = (1, 7, 49, 238, 1_120, 4_263)
SECONDS = 30
STAKE = 3
BEGIN = first_state(GAME.initial_app_data(terms_of((STAKE, STAKE), STAKE)), (STAKE, STAKE))
DIRECTIONS = "_DIRECTIONS = (1, _COLUMN, _COLUMN - 1, _COLUMN + 1)"
ONE_DIAGONAL_LESS = "_DIRECTIONS = (1, _COLUMN, _COLUMN + 1)"
ROOT = Path(__file__).parents[2]


def space(**bounds: int) -> StateSpace:
    """A sample that no clock bounds."""
    return StateSpace(BEGIN, legal_moves, Bounds(**{"states": 150, "games": 8, "seed": 1, **bounds}, seconds=inf))


def test_it_has_as_many_positions_as_others_have_counted() -> None:
    walk = Walk(BEGIN, legal_moves)
    while walk.depth < len(KNOWN) - 1:
        walk.advance()
    assert tuple(Counter(step.depth for step in walk.steps).values())[: len(KNOWN)] == KNOWN


def test_a_sample_is_alike() -> None:
    """Of 8 random games one at least has more than 20 moves."""
    assert require_both_alike(Bench(GAME.artifact, GAME), space()) > 10_000


def test_a_line_that_the_twin_misses_is_found_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position, "_DIRECTIONS", (1, 7, 8))
    bench = Bench(GAME.artifact, GAME)
    with pytest.raises(TwinsDiffer) as found:
        require_both_alike(bench, space(games=200))

    said = "\n".join((str(found.value), *found.value.__notes__))
    assert re.search(
        r"^ConnectFour and its twin differ about the move of participant [01] on turn \d+, '[1-7]' "
        r"\(drop a disc into column [1-7]\):\n"
        r"    ConnectFour refuses it with WrongType\(expected=0, submitted=1\)\n"
        r"    the twin accepts it\n"
        r"before \(turn \d+; amounts (6, 0|0, 6)\):\n"
        r"    Participant [01] dropped a disc\. Participant [01]'s turn to drop a disc\.\n"
        r"(    ([.01] ){6}[.01]\n){6}    1 2 3 4 5 6 7\n"
        r"    type=Playing, last=0x[0-9a-f]+, next=0x[0-9a-f]+\n"
        r"    appData: 0x1 0x3 0x[0-9a-f]+ 0x[0-9a-f]+\n"
        r"after \(turn \d+; amounts (6, 0|0, 6)\):\n",
        said,
    ), said
    seen = re.search(r"with seed (\d+)\. To see it again: python -m pytest --game-seed (\d+)\n", said)
    assert seen is not None, said
    assert seen[1] == seen[2]
    way = re.search(r"replay\(SPACE\.begin, SPACE\.moves, \(([\d, ]*)\)\)\[-1\]", said)
    assert way is not None, said
    before = replay(BEGIN, legal_moves, tuple(int(place) for place in way[1].split(",") if place))[-1]
    assert str(found.value) in [difference(bench, before, to) for to in successors(before, legal_moves)]


def difference(bench: Bench, from_: VariablePart, to: VariablePart) -> str | None:
    call = TransitionCall(from_, to)
    try:
        bench.compare(call, [call.unchanged()])
    except TwinsDiffer as error:
        return str(error)
    return None


def test_the_seed_that_is_told_plays_the_same_game_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position, "_DIRECTIONS", (1, 7, 8))
    with pytest.raises(TwinsDiffer) as found:
        require_both_alike(Bench(GAME.artifact, GAME), space(states=20, games=200))
    note = re.search(r"random game with seed (\d+)", found.value.__notes__[0])
    assert note is not None
    with pytest.raises(TwinsDiffer) as again:
        require_both_alike(Bench(GAME.artifact, GAME), space(states=20, games=1, seed=int(note[1])))
    assert str(again.value) == str(found.value)
    assert again.value.__notes__ == found.value.__notes__


# ------------------------------------------------------------------------------------------ as its author would do it


class Ended(NamedTuple):
    """What a program has printed, how it ended, and its seconds of processor time."""

    said: str
    code: int
    seconds: float


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The folder of `forcemove new connect-four`, with the game's own files over those of the template."""
    folder = write_game("connect-four", tmp_path)
    for file in Path(connect_four.__file__).parent.iterdir():
        if file.is_file():
            text = file.read_text("utf-8").replace(connect_four.__name__, "connect_four")
            (folder / "connect_four" / file.name).write_text(text, "utf-8")
    return folder


def ask(folder: Path, *options: str) -> Ended:
    """Run the game's own tests, and only them."""
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options)
    with Popen(command, cwd=folder, stdout=PIPE, stderr=STDOUT, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Ended(said, process.returncode, used.ru_utime + used.ru_stime)


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), "utf-8")


def test_its_own_tests_find_a_line_that_the_twin_misses(written: Path) -> None:
    change(written / "connect_four" / "position.py", DIRECTIONS, ONE_DIAGONAL_LESS)
    ended = ask(written, "-k", "alike", "--game-seed", "1")
    assert ended.code == 1, ended.said
    assert "ConnectFour refuses it with WrongType(expected=0, submitted=1)" in ended.said
    assert "To see it again: python -m pytest --game-seed" in ended.said


def test_what_was_looked_at_is_printed_of_tests_that_pass(written: Path) -> None:
    ended = ask(written, "-k", "legal_move_is_legal", "--game-seed", "5", "--game-seconds", "0.5")
    assert ended.code == 0, ended.said
    assert re.search(
        r"^legal moves: [\d,]+ states, [\d,]+ moves: [\d,]+ of the first [\d,]+, breadth first \(all to depth \d\), "
        r"and [\d,]+ others in [\d,]+ random games; how many play reaches in all is not known; seed 5, \d+\.\d s$",
        ended.said,
        re.MULTILINE,
    ), ended.said


def test_the_artifact_of_the_example_is_fresh(written: Path) -> None:
    assert stale_artifacts(written) == [], "compile what this fixture writes, and copy ConnectFour.json back"


@pytest.mark.long
def test_its_own_tests_pass_within_their_time(written: Path) -> None:
    """Of processor time: how busy the machine is says nothing of them."""
    ended = ask(written)
    assert ended.code == 0, ended.said
    assert "13 passed" in ended.said
    assert ended.seconds < SECONDS, ended.said


@pytest.mark.long
def test_its_own_tests_find_a_line_that_the_contract_misses(written: Path) -> None:
    change(written / "connect_four" / "ConnectFour.sol", " || _hasFourAlong(discs, 6)", "")
    list(build_project(written))
    ended = ask(written, "-k", "alike")
    assert ended.code == 1, ended.said
    assert "ConnectFour refuses it with WrongType(expected=1, submitted=0)" in ended.said
