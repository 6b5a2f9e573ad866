"""Python's recursion limit, which libraries for Ethereum raise when they are imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def keeping_recursion_limit() -> Iterator[None]:
    """Keep Python's recursion limit while modules are imported: libraries for Ethereum raise it, until some kilobytes
    of brackets overflow the stack and end the process."""
    limit = sys.getrecursionlimit()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
