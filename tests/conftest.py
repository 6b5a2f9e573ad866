"""Chains for tests: one embedded for each test, and one anvil for all of them. And how Hypothesis and the garbage
collector run."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from forcemove.channel.chain.local import AnvilChain, EmbeddedChain
from tests.chain.world import World, make_world
from tests.simulation.chain import MemoryChain
from tests.store.server import Server, running_server

# As the command line sets it, before anything imports what it is for: chains hash all the time.
os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")
# All that tests ask is on this machine: no proxy is looked for, which takes a tenth of the time of each request.
os.environ.setdefault("NO_PROXY", "127.0.0.1,localhost")
# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("forcemove", deadline=None)
settings.load_profile("forcemove")


LONGEST = (
    "cli/test_play_elsewhere.py",
    "cli/test_play_kills.py",
    "cli/test_play_friendly.py",
    "scripts/test_setup.py",
    "cli/test_play_person.py",
    "cli/test_play_tower.py",
    "cli/test_demo_network.py",
    "cli/test_demo_cut_off.py",
    "node/test_schedules.py",
    "cli/test_play.py",
    "node/test_node.py",
    "cli/test_demo_on_a_terminal.py",
    "watching/test_service.py",
    "packaging/test_new_game.py",
    "node/test_killed.py",
    "node/test_thousand.py",
    "cli/test_demo_money.py",
    "cli/test_demo.py",
    "viem/test_viem.py",
    "plugin/test_installed_games.py",
    "relay/test_attacks.py",
    "readme/test_commands.py",
    "packaging/test_beside.py",
    "packaging/test_wheel.py",
    "cli/test_channel.py",
)
"""The files whose tests take longest: begun last, one of them would leave the other workers with nothing to do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those first; all others as they were."""
    ranks = {Path(__file__).parent / name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


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
