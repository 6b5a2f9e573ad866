"""One chain for all channels whose pages are looked at."""

from __future__ import annotations

import pytest

from tests.browser.views import Looks
from tests.scenarios.story import Playground
from tests.simulation.chain import MemoryChain


@pytest.fixture(scope="session")
def looks() -> Looks:
    return Looks(Playground.on(MemoryChain()))
