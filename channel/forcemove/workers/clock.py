"""Seconds as a client counts them: those of the running event loop, whose time may be virtual, else the system's."""

from __future__ import annotations

import asyncio
import time


def seconds() -> float:
    """Seconds since some moment in the past."""
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return time.monotonic()
