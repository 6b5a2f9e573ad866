"""JSON from strangers: files and messages that may be anything. Knows no value of the protocol.

Parsers in C, Python's own and msgspec's, descend as deep as the interpreter's recursion limit lets them, and libraries
for Ethereum raise that limit until some kilobytes of brackets overflow the stack and end the process. So depth and
length are bounded first.
"""

from __future__ import annotations

import json
import re
from typing import Any

from channel.errors import MalformedBytes

__all__ = ["MAX_DEPTH", "MAX_LENGTH", "parse_json", "require_shallow"]

MAX_LENGTH = 2**20
"""Characters."""
MAX_DEPTH = 32
"""Arrays and objects inside each other."""
# A string that does not end is taken to the end of the text, and nothing that was read is ever given back (possessive
# quantifiers): otherwise each of its quotes would be tried as the beginning of a string of its own.
_MARKS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_STEPS = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}


def parse_json(text: str, what: str) -> Any:
    """The value of a JSON text. Raises `MalformedBytes` (of a `what`) on anything else: too long or too deep a text, a
    name given twice, the numbers that only Python knows (NaN, Infinity)."""
    if len(text) > MAX_LENGTH:
        raise MalformedBytes(what, f"it is longer than {MAX_LENGTH} characters")
    require_shallow(text.encode("utf-8", "surrogatepass"), what)
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
    except ValueError as error:
        raise MalformedBytes(what, f"it is not JSON: {error}") from None


def require_shallow(data: bytes, what: str, most: int = MAX_DEPTH) -> None:
    """Raise `MalformedBytes` (of a `what`) where JSON, as UTF-8, has more than `most` arrays and objects inside each
    other. What is no JSON at all may pass."""
    if data.count(b"[") + data.count(b"{") <= most:
        return
    depth = 0
    for mark in _MARKS.finditer(data):
        depth += _STEPS.get(mark.group(), 0)
        if depth > most:
            raise MalformedBytes(what, f"it is nested deeper than {most}")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a name is given twice")
    return content


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")
