"""The players' names."""

from __future__ import annotations

NAMES = ("Alice", "Bob", "Carol", "Dave", "Erin", "Frank", "Grace", "Heidi")
"""Of the players, by seat: as many as a channel can have."""
