"""Senders whose pauses do not depend on chance."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _whole_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of each pause is waited: these tests say when an endpoint is asked again."""
    monkeypatch.setattr("random.uniform", lambda _, most: most)
