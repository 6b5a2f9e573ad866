"""How deeply MessagePack is nested, found without recursion: decoders recurse, and a value that is too deep for the
stack ends a process without an error. Knows the layout of headers, and no values."""

from __future__ import annotations

from forcemove.errors import MalformedBytes
from forcemove.protocol.codec.limits import MAX_DEPTH

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

_SHORT_BYTES = 0xC4
_STEPS = (
    *(1,) * 0x80,
    *(0,) * 0x20,
    *range(1, 0x21),
    *(1 + _FIXED.get(at, -1) for at in range(0xC0, 0xE0)),
    *(1,) * 0x20,
)
"""By header, how many bytes a value has that is not an array or map, and of which the header says so; else 0. A journal
reads some hundred of these for each channel."""


_NO_CONTAINERS = bytes({*range(0x100)} - {*range(0x80, 0xA0)} - _COUNTED.keys())
"""The bytes that begin no array and no map."""


def most_headers(data: bytes) -> int:
    """A number of arrays and maps that MessagePack has no more of: that of all bytes that could begin one. Much faster
    than a walk, and of what a journal keeps about a sixth of the bytes."""
    return len(data.translate(None, _NO_CONTAINERS))


def require_shallow(data: bytes, what: str, most: int = MAX_DEPTH) -> None:
    """Raise `MalformedBytes` (of a `what`) where MessagePack has more than `most` arrays and maps inside each other.
    Bytes that are not a MessagePack, or only the beginning of one, may pass."""
    at, end, missing, outer = 0, len(data), 1, list[int]()
    while at < end and (missing or outer):
        if not missing:
            missing = outer.pop()
            continue
        missing -= 1
        first = data[at]
        if first == _SHORT_BYTES and at + 1 < end:
            at += 2 + data[at + 1]
            continue
        if step := _STEPS[first]:
            at += step
            continue
        children, at = _header(data, at)
        if children:
            outer.append(missing)
            missing = children
            if len(outer) > most:
                raise MalformedBytes(what, f"it is nested deeper than {most}")


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
