"""Sources of randomness, which games take as arguments: the operating system's, or one made of a secret."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from hashlib import shake_256
from itertools import count
from typing import TypeVar

from forcemove import InvalidValue, Randomness

__all__ = ["Randomness", "choose", "seeded", "system_randomness"]

system_randomness: Randomness = secrets.token_bytes
"""The operating system's generator, made for secrets."""

_BYTE_VALUES = 256
_SECRET_LENGTH = 32
_DOMAIN = b"forcemove/randomness/1:"
_Option = TypeVar("_Option")


def seeded(secret: bytes, label: bytes) -> Randomness:
    """A source that gives the same bytes again to a client that has crashed and replays a game from the log.

    `secret`: 32 unpredictable bytes, to be kept like a key. `label`: names the game. With one secret, two games of the
    same label would have the same salts and keys; so would a game that is played again because the end of its log was
    cut off, so resume only from logs whose keeper does not play.

    Draw n (from 0) is SHAKE256 of a domain (ASCII text `forcemove/randomness/1:`), the secret, n as 8 bytes big-endian,
    and the label. Raises `InvalidValue`, without the secret.
    """
    if type(secret) is not bytes or len(secret) != _SECRET_LENGTH:  # an error with the value would name the secret
        raise InvalidValue("secret", "hidden", f"exactly {_SECRET_LENGTH} bytes")
    draws = count()
    return lambda length: shake_256(_DOMAIN + secret + next(draws).to_bytes(8, "big") + label).digest(length)


def choose(options: Sequence[_Option], randomness: Randomness) -> _Option:
    """One of 1 to 256 options, each as likely as the others: bytes that would favour the first ones are drawn again."""
    if not 1 <= len(options) <= _BYTE_VALUES:
        raise InvalidValue("options", options, "1 to 256 options")
    fair = _BYTE_VALUES - _BYTE_VALUES % len(options)
    while (drawn := randomness(1)[0]) >= fair:
        pass
    return options[drawn % len(options)]
