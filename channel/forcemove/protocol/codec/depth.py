"""How deeply MessagePack is nested, found without recursion: decoders recurse, and a value that is too deep for the
stack ends a process without an error. Knows the layout of headers, and no values."""

from __future__ import annotations

from forcemove.errors import MalformedBytes
from forcemove.protocol.codec.limits import MAX_DEPTH

__all__ = ["require_shallow"]

_FIXED = {
    **dict.fromkeys((0xC0, 0xC2, 0xC3), 0),  # nil, false, true
    **dict(zip(range(0xCA, 0xD4), (4, 8, 1, 2, 4, 8, 1, 2, 4, 8), strict=True)),  # floats, uints, ints
    **dict(zip(range(0xD4, 0xD9), (2, 3, 5, 9, 17), strict=True)),  # extensions, each with its type
}
"""How many bytes follow a header."""
_SIZED = {
    **dict(zip((0xC4, 0xC5, 0xC6), ((1, 0), (2, 0), (4, 0)), strict=True)),  # bytes
    **dict(zip((0xC7, 0xC8, 0xC9), ((1, 1), (2, 1), (4, 1)), strict=True)),  # extensions
    **dict(zip((0xD9, 0xDA, 0xDB), ((1, 0), (2, 0), (4, 0)), strict=True)),  # strings
}
"""How many bytes of a length follow a header, and how many bytes more than that length."""
_COUNTED = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}
"""How many bytes of a count follow the header of an array or a map, and of how many values an entry is."""


def require_shallow(data: bytes, what: str, most: int = MAX_DEPTH) -> None:
    """Raise `MalformedBytes` (of a `what`) where MessagePack has more than `most` arrays and maps inside each other.
    Bytes that are no MessagePack, or only the beginning of one, may pass."""
    at, missing = 0, [1]
    while missing and at < len(data):
        children, at = _header(data, at)
        missing[-1] -= 1
        if children:
            missing.append(children)
            if len(missing) > most + 1:
                raise MalformedBytes(what, f"it is nested deeper than {most}")
        while missing and not missing[-1]:
            missing.pop()


def _header(data: bytes, at: int) -> tuple[int, int]:
    """How many values are inside the value that begins here, and where the next value begins, inside of it or after
    it."""
    first, at = data[at], at + 1
    if 0x80 <= first <= 0x9F:
        return (first & 0x0F) * (1 if first & 0x10 else 2), at
    if 0xA0 <= first <= 0xBF:
        return 0, at + (first & 0x1F)
    if first in _SIZED:
        width, more = _SIZED[first]
        return 0, at + width + more + int.from_bytes(data[at : at + width])
    if first in _COUNTED:
        width, values = _COUNTED[first]
        return values * int.from_bytes(data[at : at + width]), at + width
    return 0, at + _FIXED.get(first, 0)
