"""Where and why a value is not strict JSON. Called only for values that are known not to be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from forcemove_games.views.errors import NotJson

__all__ = ["MAX_DEPTH", "Json", "escaped", "fault"]

Json = Any
"""A JSON value: None, True, False, numbers that are finite, text, lists, and dictionaries whose keys are text."""
MAX_DEPTH = 200
"""Lists and dictionaries inside each other."""

_MAX_INT_BITS = 14_284
"""Bits of whole numbers with at most 4,300 digits, which is as many as Python turns into text."""


def fault(value: Json) -> NotJson:
    """The first place where a value is not strict; the value is known not to be."""
    return next(_faults(value, "", 0), NotJson("", "it does not come back from JSON text as it is"))


def _faults(value: Json, path: str, depth: int) -> Iterator[NotJson]:
    if depth > MAX_DEPTH:
        yield NotJson(path, f"it is deeper than {MAX_DEPTH} levels")
    elif type(value) is dict:
        for key, each in value.items():
            yield from _key_faults(key, path)
            yield from _faults(each, f"{path}/{escaped(str(key))}", depth + 1)
    elif type(value) is list:
        for index, each in enumerate(value):
            yield from _faults(each, f"{path}/{index}", depth + 1)
    else:
        yield from _simple_faults(value, path)


def escaped(key: str) -> str:
    """A key as a step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _key_faults(key: object, path: str) -> Iterator[NotJson]:
    if type(key) is not str:
        yield NotJson(path, f"a key is not text: {key!r}")
    else:
        yield from _text_faults(key, path)


def _simple_faults(value: Json, path: str) -> Iterator[NotJson]:
    kind = type(value)
    if kind is str:
        yield from _text_faults(value, path)
    elif kind is float and not math.isfinite(value):
        yield NotJson(path, f"{value} is not a JSON number")
    elif kind is int and value.bit_length() > _MAX_INT_BITS:
        yield NotJson(path, "a number has more than 4,300 digits")
    elif value is not None and kind not in (bool, int, float):
        yield NotJson(path, f"a {kind.__name__} is not a JSON value")


def _text_faults(text: str, path: str) -> Iterator[NotJson]:
    try:
        text.encode()
    except UnicodeEncodeError:
        yield NotJson(path, "text with half a surrogate pair is not Unicode")
