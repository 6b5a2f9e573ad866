"""Durations and times as people read them. Pure but for the reader's own time zone."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def duration_text(seconds: int) -> str:
    """A number of seconds in its two largest units, such as `23 h 50 min`."""
    for unit, name, below, of_it in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= unit:
            count, rest = divmod(seconds, unit)
            return f"{count} {name} {rest // below} {of_it}" if rest // below else f"{count} {name}"
    return f"{seconds} s"


@lru_cache(maxsize=256)
def local_time(seconds: int) -> tuple[str, str]:
    """Date and time of day of Unix seconds, in the reader's own time zone; no date where there is none."""
    try:
        date, _, clock = datetime.fromtimestamp(seconds).isoformat(" ", "seconds").partition(" ")
    except (OverflowError, ValueError, OSError):
        return "", f"second {seconds:,}"
    return date, clock


def show_time(seconds: int) -> str:
    """A block time, which may be any uint48."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError):
        return f"second {seconds:,}"
