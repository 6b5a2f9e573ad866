"""Slows a browser's pages, as a slower processor would: their processes are stopped for most of the time."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["slowed"]

_PERIOD = 0.02
"""Seconds in which a process goes on once, and is stopped once."""
_LOOK = 5
"""Periods until new processes are looked for."""


@contextmanager
def slowed(browser: Browser, times: float) -> Iterator[None]:
    """Let pages and their workers take N `times` as long for all that they compute."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    (main,) = (each["id"] for each in processes if each["type"] == "browser")
    is_over = threading.Event()
    thread = threading.Thread(target=_slow, args=(main, times, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _slow(browser: int, times: float, is_over: threading.Event) -> None:
    """A pause that has come out longer than was asked for, on either side, is made up for in the next one."""
    period, found, owed = 0, list[int](), 0.0
    while not is_over.is_set():
        if period % _LOOK == 0:
            found = _renderers(browser)
        period += 1
        owed += _paused(_PERIOD / times) * (times - 1)
        _send(found, signal.SIGSTOP)
        owed -= _paused(max(owed, 0))
        _send(found, signal.SIGCONT)


def _paused(seconds: float) -> float:
    """Wait; the seconds that it has taken."""
    began = time.perf_counter()
    time.sleep(seconds)
    return time.perf_counter() - began


def _send(processes: Sequence[int], number: signal.Signals) -> None:
    for each in processes:
        with suppress(ProcessLookupError):  # it has ended
            os.kill(each, number)


def _renderers(process: int) -> list[int]:
    """Those of a process and its descendants that run pages."""
    found, waiting = list[int](), [process]
    while waiting:
        place = Path(f"/proc/{waiting.pop()}")
        with suppress(OSError):  # it has ended
            if b"--type=renderer" in (place / "cmdline").read_bytes():
                found.append(int(place.name))
            for each in (place / "task").glob("*/children"):
                waiting += map(int, each.read_text().split())
    return found
