"""Which tests the quick run leaves out, and in which order the files are begun."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

__all__ = ["QUICK", "SLOW", "WAITING", "in_order", "is_slow"]

_FOLDER = Path(__file__).parent

SLOW = (
    "browser/page",
    "browser/served",
    "browser/test_readme_pictures.py",
    "browser/test_tabs.py",
    "checking",
    "cli",
    "contracts/test_artifacts.py",
    "contracts/test_creation_codes.py",
    "jetstream",
    "liars",
    "node/test_killed.py",
    "node/test_liars_over_http.py",
    "node/test_schedules.py",
    "node/test_thousand.py",
    "packaging",
    "parity/test_cards.py",
    "parity/test_discard.py",
    "playground",
    "plugin",
    "relay/admission",
    "relay/strangers",
    "scaffold",
    "scenarios/test_discard.py",
    "scenarios/test_discard_cheats.py",
    "scripts",
    "static",
    "transport/faulty",
    "viem",
    "watchtower/service",
)
"""Folders and files: tests of whole programs, of pages in a browser, and of large samples."""
QUICK = ("cli/test_demo.py", "cli/test_main.py", "cli/test_play.py", "playground/test_tours.py")
"""Of them, files that are in the quick run all the same: the shortest way through each program."""
WAITING = (
    "browser/served/test_clicks.py",
    "cli/test_play_kills.py",
    "browser/served/test_lobby.py",
    "cli/test_play_three.py",
    "cli/test_play_disputes.py",
    "cli/test_play_defence.py",
    "cli/test_whole_words.py",
    "browser/page/test_axe.py",
    "packaging/test_new_game.py",
    "cli/test_play_friendly.py",
    "cli/test_browse.py",
    "browser/page/test_sections.py",
    "packaging/test_friends.py",
    "cli/test_lobby.py",
    "cli/test_demo_cut_off.py",
    "cli/test_demo_browser.py",
    "browser/page/test_script.py",
    "watchtower/service/test_server.py",
    "node/test_killed.py",
    "node/test_thousand.py",
    "transport/faulty/test_faulty_relay.py",
    "viem/test_viem.py",
    "cli/test_play_chain_away.py",
    "browser/page/test_three.py",
    "scripts/test_setup.py",
    "jetstream/test_others.py",
    "contracts/test_creation_codes.py",
    "cli/test_play_browser.py",
    "packaging/test_first_page.py",
    "scaffold/test_large_game.py",
    "cli/test_demo_on_a_terminal.py",
    "cli/test_wallet.py",
    "cli/test_browse_watch.py",
    "relay/admission/test_connections.py",
    "cli/test_play.py",
    "packaging/test_wheel.py",
    "relay/strangers/test_strangers.py",
    "browser/page/test_wallet_script.py",
    "relay/test_attacks.py",
    "cli/test_play_elsewhere.py",
    "cli/test_play_person.py",
    "cli/test_play_tower.py",
    "cli/test_demo_network.py",
    "plugin/test_installed_games.py",
    "readme/test_commands.py",
    "static/test_slither.py",
)
"""The files whose tests take long and mostly wait for other processes, the longest first."""


def _name(path: Path) -> str:
    return path.relative_to(_FOLDER).as_posix()


def is_slow(path: Path) -> bool:
    """Whether a file's tests are left out of the quick run."""
    name = _name(path)
    return name not in QUICK and any(name == each or name.startswith(f"{each}/") for each in SLOW)


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The files that wait among the others, one after so many of them: then some workers wait while others work. None
    of them is near the end, where the other workers would have nothing left to do."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    waiting = [path for name in WAITING if (path := _FOLDER / name) in files]
    others = [path for path in files if path not in waiting]
    places = {path: number * 0.7 * len(others) / len(waiting) for number, path in enumerate(waiting)}
    places |= {path: float(number) for number, path in enumerate(others)}
    return [item for path in sorted(places, key=places.__getitem__) for item in files[path]]
