"""For how long somebody was not heard from, in words. Pure."""

from __future__ import annotations

from forcemove.text.situation.moment import clock_text

ABSENT = 40.0
"""Seconds without a word after which somebody may be away: two signs that somebody is there were lost."""
_MINUTE, _STEP = 60, 10


def presence_pattern(seconds: float) -> str:
    """The words beside a name, with `{}` where the time belongs."""
    return "not heard for {}" if seconds >= ABSENT else "heard {} ago"


def presence_text(seconds: float, name: str = "") -> str:
    """The words with the time, such as `heard 3 s ago`; with a name, such as `heard from Bob just now`, in steps of ten
    seconds: what stands among other lines of a screen must not change with each second."""
    if not name:
        time = f"{int(seconds)} s" if seconds < _MINUTE else clock_text(seconds)
        return presence_pattern(seconds).format(time)
    steps = int(seconds - seconds % _STEP)
    if seconds >= ABSENT:
        return f"{name} not heard for {clock_text(steps)}"
    return f"heard from {name} {'just now' if steps < ABSENT / 2 else f'{steps} s ago'}"
