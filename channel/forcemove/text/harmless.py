"""Strangers' text as it may be shown: a name or a reason from elsewhere moves no cursor and hides nothing. Pure."""

from __future__ import annotations

import re
from unicodedata import bidirectional

_BEGIN, _END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
_ISOLATED = re.compile(f"{_BEGIN}([^{_BEGIN}{_END}\n]*){_END}")


def harmless(text: str, keep: str = "") -> str:
    """The text with each character that a terminal would obey, hide or turn around (control characters, line breaks,
    marks of direction and of no width) written out as `\\x1b`. `keep`: characters that stay as they are. What is
    `isolated` stays so."""
    if text.isprintable():
        return text
    pieces = [_each_harmless(piece, keep) for piece in _ISOLATED.split(text)]  # every second one was isolated
    pieces[1::2] = (isolated(piece, f"{_written_out(_BEGIN)}{piece}{_written_out(_END)}") for piece in pieces[1::2])
    return "".join(pieces)


def isolated(name: str, else_: str | None = None) -> str:
    """A name in letters that are read from right to left, marked as a piece of its own: numbers and names beside it
    stay in their order. Any other name is as it is, or `else_`."""
    is_turned = any(bidirectional(each) in ("R", "AL") for each in name)
    return f"{_BEGIN}{name}{_END}" if is_turned else name if else_ is None else else_


def bare(text: str) -> str:
    """The text without these marks, for files and programs."""
    return _ISOLATED.sub(r"\1", text)


def _each_harmless(text: str, keep: str) -> str:
    return "".join(each if each.isprintable() or each in keep else _written_out(each) for each in text)


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
