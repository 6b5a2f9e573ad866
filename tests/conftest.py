"""Chains for tests: one embedded for each test, and one anvil for all of them. And how Hypothesis and the garbage
collector run."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from inspect import iscoroutinefunction, signature
from pathlib import Path

import pytest
from hypothesis import settings

from forcemove.chain.local import AnvilChain, EmbeddedChain
from forcemove_games.tic_tac_toe import GAME
from tests.chain.world import World, make_world
from tests.flow.virtual_time import run_virtual
from tests.scenarios.story import Playground, Story
from tests.simulation.chain import MemoryChain
from tests.store.server import Server, running_server
from tests.store.sharing import share
from tests.tiers import has_quick, in_order, is_long, is_slow
from tests.transport.people import run

# As the command line sets it, before anything imports what it is for: chains hash all the time.
os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")
# All that tests ask is on this machine, whatever proxy its users need.
os.environ.setdefault("NO_PROXY", "127.0.0.1,localhost")
gc.disable()
share()
# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("forcemove", deadline=None, max_examples=40)
settings.register_profile("long", deadline=None, max_examples=200)
settings.load_profile("forcemove")


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make none of the twenty thousand long tests where none is run: each worker would."""
    if "not long" not in metafunc.config.option.markexpr:
        return
    for mark in metafunc.definition.iter_markers("parametrize"):
        if isinstance(mark.args[1], list):
            mark.args[1][:] = [each for each in mark.args[1] if not is_long(each)] or mark.args[1]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file for the quick run that it leaves out: each worker would."""
    return True if "not slow" in config.option.markexpr and not has_quick(collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, before marks select what is run; and put the files in order."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)
    items[:] = in_order(items)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine: as its class says, or in virtual time where it is marked so, or in real time."""
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    story = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in signature(pyfuncitem.obj).parameters})
    usual = run_virtual if pyfuncitem.get_closest_marker("virtual_time") else run
    getattr(pyfuncitem.instance, "run", usual)(story)
    return True


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Where workers run the tests, say at once what has failed: a run that is cut off says no more."""
    worker = getattr(report, "node", None)
    if report.failed and worker is not None:
        terminal = worker.config.pluginmanager.get_plugin("terminalreporter")
        terminal.write_line(f"\n{report.nodeid} ({report.when}): {report.longreprtext[-1500:]}")


def pytest_collection_finish() -> None:
    """Thousands of tests and all modules stay until the end: the collector need not look at them again and again, nor
    before."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def anvil() -> Iterator[AnvilChain]:
    """A real anvil; a test that changes its settings puts them back."""
    with AnvilChain() as chain:
        yield chain


@pytest.fixture(scope="module")
def playground() -> Playground:
    """Where channels are played, with the contracts on a chain in memory."""
    return Playground.on(MemoryChain())


@pytest.fixture
def story(playground: Playground) -> Story:
    """A channel of tic-tac-toe."""
    return playground.story(GAME)


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
