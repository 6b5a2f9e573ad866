"""Wrapping of words on a terminal: a line that is too long goes on in the next one, between two words.

A word is never cut, nor an address or a link, which are words; nor a command between `backquotes`. A word that is
longer than a line is written whole: the terminal shows it in two lines, and it is copied as one.
"""

from __future__ import annotations

import re
import sys
from typing import IO, Any

import click

_WORDS = re.compile(r"[^\s`]*`[^`\n]*`\S*|\S+")
_LABEL = re.compile(r"^ *\S+(?: \S+){0,3}? {2,}(?:\d+ {2,})?(?=\S)")
"""A name in a column of its own, or a name with a number, before its text."""
_WIDEST_LABEL = 24
_LEAST = 20
"""Columns that the text of a line has at least."""


def shown_width(text: str) -> int:
    """The columns that a text takes, styles aside."""
    from rich.cells import cell_len

    return cell_len(click.unstyle(text))


def wrapped(text: str, width: int, indent: int | None = None) -> list[str]:
    """The lines of a text on a terminal of this many columns. `indent`: how many columns the rest of a line is set in;
    as far as its own text begins, behind a name in a column of its own, unless given."""
    return [line for each in text.split("\n") for line in _wrapped(each, width, indent)]


def _wrapped(line: str, width: int, indent: int | None) -> list[str]:
    if shown_width(line) <= width:
        return [line]
    indent = _text_begins(line) if indent is None else indent
    margin = " " * (indent if width - indent >= _LEAST else 0)
    lines, now, end = list[str](), "", 0
    for found in _WORDS.finditer(line):
        space, word, end = line[end : found.start()], found[0], found.end()
        if now.strip() and shown_width(now + space + word) > width:
            lines.append(now)
            now = margin[: max(width - shown_width(word), 0)] + word
        else:
            now += space + word
    return [*lines, now]


def _text_begins(line: str) -> int:
    plain = click.unstyle(line)
    label = _LABEL.match(plain)
    if label and label.end() <= _WIDEST_LABEL:
        return label.end()
    return len(plain) - len(plain.lstrip())


def width_of(stream: IO[Any]) -> int | None:
    """Of the terminal that it writes to, in columns; None where it is none."""
    if not stream.isatty():
        return None
    from rich.console import Console

    return Console(file=stream).width


def echo(text: str, *, file: IO[Any] | None = None, err: bool = False, color: bool | None = None) -> None:
    """Print a text for people; wrapped where a terminal shows it. As `click.echo` otherwise."""
    width = width_of(file or (sys.stderr if err else sys.stdout))
    click.echo(text if width is None else "\n".join(wrapped(text, width)), file=file, err=err, color=color)
