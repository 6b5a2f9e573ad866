"""One chain for all channels whose pages are looked at, and a person at a playground's page in Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.served.chromium import Visitor, chromium, visiting
from tests.browser.served.serving import served
from tests.browser.views import Looks
from tests.scenarios.story import Playground
from tests.simulation.chain import MemoryChain


@pytest.fixture(scope="session")
def looks() -> Looks:
    return Looks(Playground.on(MemoryChain()))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Visitor]:
    with served() as playground, visiting(browser, playground) as found:
        yield found
