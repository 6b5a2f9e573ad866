"""JSON from strangers: files and messages that may be anything. Knows no value of the protocol.

Python's parser descends as deep as the interpreter's recursion limit lets it, and libraries for Ethereum raise that
limit until some kilobytes of brackets overflow the stack and end the process. So depth and length are bounded first.
"""

from __future__ import annotations

import json
import re
from typing import Any

from channel.errors import MalformedBytes

__all__ = ["MAX_DEPTH", "MAX_LENGTH", "parse_json"]

MAX_LENGTH = 2**20
"""Characters."""
MAX_DEPTH = 32
"""Arrays and objects inside each other."""
# A string that does not end is taken to the end of the text, and nothing that was read is ever given back (possessive
# quantifiers): otherwise each of its quotes would be tried as the beginning of a string of its own.
_MARKS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)


def parse_json(text: str, what: str) -> Any:
    """The value of a JSON text. Raises `MalformedBytes` (of a `what`) on anything else: too long or too deep a text, a
    name given twice, the numbers that only Python knows (NaN, Infinity)."""
    if len(text) > MAX_LENGTH:
        raise MalformedBytes(what, f"it is longer than {MAX_LENGTH} characters")
    _require_shallow(text, what)
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
    except ValueError as error:
        raise MalformedBytes(what, f"it is not JSON: {error}") from None


def _require_shallow(text: str, what: str) -> None:
    depth = 0
    for mark in _MARKS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark.group(), 0)
        if depth > MAX_DEPTH:
            raise MalformedBytes(what, f"it is nested deeper than {MAX_DEPTH}")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a name is given twice")
    return content


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")
