"""A fresh court for each test, and a channel of Alice's and Bob's in it."""

from __future__ import annotations

import pytest

from forcemove.protocol.types import FixedPart
from tests.threats.court import Court


@pytest.fixture
def court() -> Court:
    return Court()


@pytest.fixture
def channel(court: Court) -> FixedPart:
    return court.channel()
