"""How far a block's time is believed that only one endpoint shows. Pure."""

from __future__ import annotations

FAR = 900
"""Seconds by which a block's time and our own clock may differ."""


def believed_alone(time: int, own_time: float | None) -> int:
    """The time of a block (seconds since 1970) that no other endpoint confirms; our own clock's where that is far
    behind it, since nobody contradicts an endpoint that claims that no time is left. `own_time`: None on chains whose
    clock is moved by hand, where our clock does not count."""
    return time if own_time is None or time <= own_time + FAR else int(own_time)
