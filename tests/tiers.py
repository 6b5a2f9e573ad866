"""Which tests the quick run leaves out, and in which order the files are begun."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

__all__ = ["QUICK", "SLOW", "WAITING", "has_quick", "in_order", "is_long", "is_slow"]

_FOLDER = Path(__file__).parent

SLOW = (
    "browser/called",
    "browser/firefox",
    "browser/games",
    "browser/page",
    "browser/served",
    "browser/test_hostile.py",
    "browser/test_panels.py",
    "browser/test_pictures.py",
    "browser/test_readme_pictures.py",
    "chain/test_deployment.py",
    "chain/test_factory.py",
    "checking",
    "cli",
    "contracts/test_artifacts.py",
    "contracts/test_creation_codes.py",
    "gas/test_disputes.py",
    "gas/test_forks.py",
    "gas/test_forks_money.py",
    "gas/test_gas.py",
    "gas/test_gas_of.py",
    "games/discard/test_bot.py",
    "games/discard/test_lies.py",
    "games/discard/test_player.py",
    "games/discard_sra/test_demonstration.py",
    "games/discard_sra/test_flow.py",
    "games/test_games.py",
    "games/test_tic_tac_toe.py",
    "games/test_view_patches.py",
    "games/three",
    "hardhat",
    "jetstream",
    "liars",
    "link_page/building/test_authors_game.py",
    "link_page/building/test_stand_ins.py",
    "link_page/stake/test_closing.py",
    "link_page/stake/test_limits.py",
    "link_page/stake/test_saved_copy.py",
    "link_page/stake/test_stake_page.py",
    "link_page/test_friends_page.py",
    "link_page/test_installed.py",
    "link_page/test_page.py",
    "node/test_hosted.py",
    "node/test_killed.py",
    "node/test_liars_over_http.py",
    "node/test_one_relay.py",
    "node/test_schedules.py",
    "node/test_thousand.py",
    "packaging",
    "parity/test_adjudicator.py",
    "parity/test_cards.py",
    "parity/test_discard.py",
    "parity/test_games_on_eth_tester.py",
    "parity/test_rock_paper_scissors.py",
    "parity/test_support.py",
    "parity/test_tic_tac_toe.py",
    "playground",
    "plugin",
    "protocol/test_machine_crashes.py",
    "protocol/test_machine_random.py",
    "protocol/test_machine_silence.py",
    "readme/test_commands.py",
    "readme/test_life.py",
    "relay/admission",
    "relay/strangers",
    "relay/test_attacks.py",
    "relay/test_load.py",
    "scaffold",
    "scenarios/test_adversity.py",
    "scenarios/test_channel_histories.py",
    "scenarios/test_discard.py",
    "scenarios/test_discard_cheats.py",
    "scenarios/test_discard_secrecy.py",
    "scenarios/test_discard_two_decks.py",
    "scenarios/test_flows.py",
    "scenarios/test_move_clock.py",
    "scripts",
    "static",
    "store/test_processes.py",
    "threats/test_decoders.py",
    "threats/test_lines.py",
    "transport/faulty",
    "transport/test_lost_connections.py",
    "viem",
    "watchtower/service",
    "watchtower/test_killed.py",
    "watchtower/test_schedules.py",
)
"""Folders and files: tests of whole programs, of pages in a browser, and of large samples."""
QUICK = ("cli/test_demo.py", "cli/test_main.py")
"""Of them, files that are in the quick run all the same: the shortest way through the command line."""
WAITING = (
    "cli/test_play_rationed.py",
    "hardhat/test_hardhat.py",
    "cli/test_play_friendly.py",
    "link_page/test_page.py",
    "link_page/test_friends_page.py",
    "link_page/stake/test_stake_page.py",
    "link_page/test_installed.py",
    "link_page/stake/test_closing.py",
    "link_page/stake/test_saved_copy.py",
    "cli/test_play_defence.py",
    "node/test_thousand.py",
    "packaging/test_friends.py",
    "cli/test_play_three.py",
    "cli/test_demo_cut_off.py",
    "watchtower/service/test_server.py",
    "transport/faulty/test_faulty_relay.py",
    "gas/test_forks.py",
    "cli/test_demo.py",
    "cli/test_whole_words.py",
    "link_page/building/test_stand_ins.py",
    "browser/games/test_round_ends.py",
    "browser/served/test_lobby.py",
    "cli/test_play_disputes.py",
    "browser/served/test_clicks.py",
    "cli/test_lobby.py",
    "liars/test_requests.py",
    "cli/test_streams.py",
    "cli/test_play.py",
    "cli/test_browse.py",
    "cli/test_demo_on_a_terminal.py",
    "cli/test_demo_alone.py",
    "node/test_killed.py",
    "browser/page/test_axe.py",
    "readme/test_commands.py",
    "cli/test_play_kills.py",
    "viem/test_viem.py",
    "liars/test_nothing_around.py",
    "browser/called/test_presence_shown.py",
    "browser/page/test_script.py",
    "cli/test_play_another_chain.py",
    "relay/strangers/test_strangers.py",
    "cli/test_demo_network.py",
    "plugin/test_installed_games.py",
    "relay/admission/test_connections.py",
    "transport/test_lost_connections.py",
    "cli/test_demo_money.py",
    "cli/test_play_token.py",
    "relay/test_attacks.py",
    "cli/test_play_chain_away.py",
    "cli/test_demo_browser.py",
    "jetstream/test_others.py",
    "packaging/test_wheel.py",
    "static/test_slither.py",
    "cli/test_play_browser.py",
    "cli/test_play_tower.py",
    "packaging/test_new_game.py",
    "cli/test_play_person.py",
    "scaffold/test_large_game.py",
    "contracts/test_creation_codes.py",
    "cli/test_play_elsewhere.py",
    "cli/test_wallet.py",
    "packaging/test_first_page.py",
    "scripts/test_setup.py",
    "cli/test_browse_watch.py",
    "browser/page/test_sections.py",
    "browser/page/test_wallet_script.py",
    "browser/page/test_three.py",
)
"""The files whose tests take long and mostly wait for other processes, the longest first."""


_SLOW = frozenset(map(Path, SLOW))


@cache
def is_slow(path: Path) -> bool:
    """Whether a file's tests are left out of the quick run."""
    name = path.relative_to(_FOLDER)
    return name.as_posix() not in QUICK and not _SLOW.isdisjoint((name, *name.parents))


@cache
def has_quick(path: Path) -> bool:
    """Whether the quick run has a test of this file, or of a file in this folder."""
    return not is_slow(path) or any((_FOLDER / name).is_relative_to(path) for name in QUICK)


def is_long(case: object) -> bool:
    """Whether a case of a parametrized test is marked as one of the long run."""
    return isinstance(case, pytest.ParameterSet) and any(mark.name == "long" for mark in case.marks)


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The files that wait among the others, one after this many of them: then some workers wait while others work. None
    of them is near the end, where the other workers would have nothing left to do."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    waiting = [path for name in WAITING if (path := _FOLDER / name) in files]
    others = [path for path in files if path not in waiting]
    places = {path: number * 0.7 * len(others) / len(waiting) for number, path in enumerate(waiting)}
    places |= {path: float(number) for number, path in enumerate(others)}
    return [item for path in sorted(places, key=places.__getitem__) for item in files[path]]
