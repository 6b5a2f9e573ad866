"""Chains for tests: one embedded for each test, and one anvil for all of them. And how Hypothesis and the garbage
collector run."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from forcemove.chain.local import AnvilChain, EmbeddedChain
from tests.chain.world import World, make_world
from tests.simulation.chain import MemoryChain
from tests.store.server import Server, running_server

# As the command line sets it, before anything imports what it is for: chains hash all the time.
os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")
# All that tests ask is on this machine, whatever proxy its users need.
os.environ.setdefault("NO_PROXY", "127.0.0.1,localhost")
# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("forcemove", deadline=None, max_examples=40)
settings.register_profile("long", deadline=None, max_examples=200)
settings.load_profile("forcemove")


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those among the others, one after so many of them: then some workers wait while others work. None of them is near
    the end, where the other workers would have nothing left to do."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    folder = Path(__file__).parent
    waiting = [path for name in WAITING if (path := folder / name) in files]
    others = [path for path in files if path not in waiting]
    places = {path: number * 0.7 * len(others) / len(waiting) for number, path in enumerate(waiting)}
    places |= {path: float(number) for number, path in enumerate(others)}
    items[:] = [item for path in sorted(places, key=places.__getitem__) for item in files[path]]


def pytest_collection_finish() -> None:
    """Thousands of tests and all modules stay until the end: the collector need not look at them again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def anvil() -> Iterator[AnvilChain]:
    """A real anvil; a test that changes its settings puts them back."""
    with AnvilChain() as chain:
        yield chain


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A real PostgreSQL; each test has a schema of its own on it."""
    with running_server() as server:
        yield server


@pytest.fixture
def embedded() -> EmbeddedChain:
    return EmbeddedChain()


@pytest.fixture(params=["eth-tester", "memory", "anvil"])
def world(request: pytest.FixtureRequest) -> World:
    """A fresh adjudicator with the counting app, on each kind of chain."""
    match request.param:
        case "eth-tester":
            return make_world(EmbeddedChain())
        case "memory":
            return make_world(MemoryChain())
        case _:
            return make_world(request.getfixturevalue("anvil"))


@pytest.fixture
def embedded_world(embedded: EmbeddedChain) -> World:
    return make_world(embedded)


@pytest.fixture
def anvil_world(anvil: AnvilChain) -> World:
    return make_world(anvil)
