"""The error that something raises, and what is not None, each in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

__all__ = ["known", "raising"]

T = TypeVar("T")


def known(value: T | None) -> T:
    """The value, which must not be None."""
    assert value is not None
    return value


@contextmanager
def raising(error: Exception) -> Iterator[None]:
    """Fail unless this error is raised, with these values."""
    with pytest.raises(type(error)) as caught:
        yield
    assert caught.value == error
