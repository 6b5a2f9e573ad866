"""Signals that end a demonstration, as an exception at the very place where they arrive: every wait ends at once.

Nothing important is half done then: a client stores a state before it sends its signature.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from forcemove.cli.errors import EXIT_ERROR, Explained, words_of

T = TypeVar("T")

NO_LOSS = "The chain lived only for this run: nothing of value is lost."
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(KeyboardInterrupt):
    """The program was asked to end. `exit_code`: 128 and the signal's number, as shells say it."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number


class CutOff(Explained):
    """A demonstration did not come to its end, because of `cause`: a signal, a node, or our mistake. `channels`:
    the ids of those that are unfinished."""

    def __init__(self, cause: BaseException, then: str, channels: Sequence[bytes] = ()) -> None:
        super().__init__(words_of(cause), then, cause=type(cause).__name__, channels=channels)
        self._cause = cause

    @property
    def code(self) -> int:
        """The signal's exit code, where a signal was the cause."""
        return self._cause.exit_code if isinstance(self._cause, Stopped) else EXIT_ERROR


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Let an interrupt (Ctrl-C) and a request to terminate raise `Stopped` while the block runs."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what signals do
        return
    earlier = {number: signal.signal(number, _stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _stop(number: int, _: object) -> None:
    raise Stopped(number)


def run_until_stopped(
    main: Coroutine[Any, Any, T], loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None
) -> T:
    """Run a coroutine to its end, or until `Stopped` is raised somewhere in its tasks: then the others are cancelled.
    Raises what it raises."""
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.get_loop().set_exception_handler(_report_all_but_stopped)
        return runner.run(main)


def _report_all_but_stopped(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report exceptions of tasks, but not `Stopped`: the loop's runner has raised it already."""
    if not isinstance(context.get("exception"), Stopped):
        loop.default_exception_handler(context)
