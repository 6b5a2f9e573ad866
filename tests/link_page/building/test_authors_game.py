"""A game of an author's own is in the page that is built with it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from forcemove.scaffold.scaffold import write_game
from tests.link_page.conftest import served_files
from tests.link_page.test_page import leave, move, opened, press, wait_for_turn
from tests.plugin.distribution import Environment
from tests.structure.imports import ROOT


def build_with(site: Path, folder: Path, *games: str) -> subprocess.CompletedProcess[str]:
    """Build the page where these are installed."""
    options = [text for name in games for text in ("--game", name)]
    path = os.pathsep.join((str(site), os.environ.get("PYTHONPATH", "")))
    return subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-m", "scripts.page", str(folder), "plain", *options],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Where the game `nim` of a distribution of its own is installed."""
    (tmp_path / "site").mkdir()
    game = write_game("nim", tmp_path)
    shutil.copytree(game / "nim", tmp_path / "site" / "nim")
    Environment(tmp_path / "site", tmp_path).announce("nim", nim="nim:GAME")
    return tmp_path / "site"


@pytest.fixture
def address_with_nim(site: Path, tmp_path: Path) -> Iterator[str]:
    built = build_with(site, tmp_path / "page", "nim")
    assert built.returncode == 0, built.stderr
    assert hashlib.sha256((tmp_path / "page" / "files.json").read_bytes()).hexdigest() in built.stdout
    with served_files(tmp_path / "page") as address:
        yield address


def test_it_is_played_on_the_page(browser: Browser, address_with_nim: str) -> None:
    with opened(browser, address_with_nim) as (page, _):
        wait_for_turn(page)
        leave(page)
        press(page, "new-nim")
        page.locator("h1", has_text="Nim").wait_for()
        wait_for_turn(page)
        move(page)
        page.locator("#happened", has_text="You signed turn").wait_for()


def test_one_that_is_not_installed_is_named(site: Path, tmp_path: Path) -> None:
    built = build_with(site, tmp_path / "page", "nin")
    assert built.returncode == 1
    assert (
        "No game is called nin. Installed are discard, nim, rock-paper-scissors, tic-tac-toe: install" in built.stderr
    )


def test_one_that_needs_what_no_page_has_is_refused_by_name(site: Path, tmp_path: Path) -> None:
    with (site / "nim" / "rules.py").open("a") as rules:
        rules.write("import numpy\n")
    built = build_with(site, tmp_path / "page", "nim")
    assert built.returncode == 1
    assert "nim.rules imports numpy" in built.stderr.splitlines()[-1]
