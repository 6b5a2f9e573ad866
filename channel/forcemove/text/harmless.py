"""Strangers' text as it may be shown: a name or a reason from elsewhere moves no cursor and hides nothing. Pure."""

from __future__ import annotations


def harmless(text: str, keep: str = "") -> str:
    """The text with each character that a terminal would obey, hide or turn around (control characters, line breaks,
    marks of direction and of no width) written out as `\\x1b`. `keep`: characters that stay as they are."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in keep else _written_out(each) for each in text)


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
