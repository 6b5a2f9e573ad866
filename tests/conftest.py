"""Chains for tests: one embedded for each test, and one anvil for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from channel.chain.local import AnvilChain, EmbeddedChain
from tests.chain.world import World, make_world


@pytest.fixture(scope="session")
def anvil() -> Iterator[AnvilChain]:
    """A real anvil; whoever changes its settings puts them back."""
    with AnvilChain() as chain:
        yield chain


@pytest.fixture
def embedded() -> EmbeddedChain:
    return EmbeddedChain()


@pytest.fixture(params=["eth-tester", "anvil"])
def world(request: pytest.FixtureRequest) -> World:
    """A fresh adjudicator with the counting app, on each kind of chain."""
    chain = EmbeddedChain() if request.param == "eth-tester" else request.getfixturevalue("anvil")
    return make_world(chain)


@pytest.fixture
def embedded_world(embedded: EmbeddedChain) -> World:
    return make_world(embedded)


@pytest.fixture
def anvil_world(anvil: AnvilChain) -> World:
    return make_world(anvil)
