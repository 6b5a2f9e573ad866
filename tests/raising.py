"""The error that something raises, and its values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

__all__ = ["raising"]


@contextmanager
def raising(error: Exception) -> Iterator[None]:
    """Fail unless this error is raised, with these values."""
    with pytest.raises(type(error)) as caught:
        yield
    assert caught.value == error
