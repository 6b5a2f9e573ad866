"""Chance as an argument: whoever draws is given a source, the operating system's unless a test says otherwise."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import TypeVar

from channel.errors import InvalidValue

__all__ = ["Randomness", "choose", "system_randomness"]

Randomness = Callable[[int], bytes]
"""Given a number of bytes, so many unpredictable ones."""

system_randomness: Randomness = secrets.token_bytes
"""The operating system's generator, made for secrets."""

_BYTE_VALUES = 256
_Option = TypeVar("_Option")


def choose(options: Sequence[_Option], randomness: Randomness) -> _Option:
    """One of 1 to 256 options, each as likely as the others: bytes that would favour the first ones are drawn again."""
    if not 1 <= len(options) <= _BYTE_VALUES:
        raise InvalidValue("options", options, "1 to 256 options")
    fair = _BYTE_VALUES - _BYTE_VALUES % len(options)
    while (drawn := randomness(1)[0]) >= fair:
        pass
    return options[drawn % len(options)]
