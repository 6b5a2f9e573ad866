"""Something to look at while a chain is waited for: a spinner on standard error, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["waiting"]


@contextmanager
def waiting(message: str) -> Iterator[Callable[[str], None]]:
    """Show `message` while the block runs; what is yielded changes it. Silent where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(message) as status:
        yield status.update
