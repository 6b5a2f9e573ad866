"""What a page needs to play a friendly game is there where a browser's tab has no threads and few libraries."""

from __future__ import annotations

import subprocess
import sys

from tests.installed import GAMES_FOR_TWO
from tests.structure.imports import ROOT


def test_friendly_games_are_played_on_a_page_without_threads_servers_and_chains() -> None:
    program = [sys.executable, "-m", "tests.seams.tab"]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603  # ours
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines()] == [game.name for game in GAMES_FOR_TWO]
