"""Whether all the words that a command has for a person are whole on its screen: none is cut, and none is lost.

What is said is written down where it is wrapped, before it is; the screen is what a terminal makes of every byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

COLUMNS = 80
"""Of the terminal."""
SAID, SCENE = "said.txt", "scene.txt"
RECORDING = f"""
import click
import forcemove.cli.wrapping as wrapping
from forcemove.cli.play.screen import Screen
said = open({SAID!r}, "a", buffering=1)
inner, echo, text = wrapping._wrapped, click.echo, Screen._text
def wrapped(line, width, indent):
    said.write(click.unstyle(line) + "\\n")
    return inner(line, width, indent)
def echoed(message=None, *arguments, **options):
    said.write(click.unstyle(str(message)) + "\\n")
    return echo(message, *arguments, **options)
def scene(self):
    found = text(self)
    said.writelines(" ".join(each) + "\\n" for each in self._options())
    open({SCENE!r}, "w").write("".join(each for _, each in found))
    return found
wrapping._wrapped, click.echo, Screen._text = wrapped, echoed, scene
"""
"""Has a command write down what it says, and what its screen shows, in its folder."""
_OTHERS = {">"}
_CLOCK = re.compile(r"\b\d+(:\d\d)+\b")


def forget(folder: Path) -> None:
    """Take away what an earlier command has written down."""
    for name in (SAID, SCENE):
        (folder / name).unlink(missing_ok=True)


def require_whole(lines: Sequence[str], folder: Path, typed: Iterable[str] = ()) -> None:
    """Every word that the screen shows is one that was said, whole; every line that was said is there, in one piece but
    for where it was wrapped. `typed`: what else may be there, also where the terminal breaks it."""
    said = _words((folder / SAID).read_text("utf-8").splitlines())
    others = [*_OTHERS, *typed]
    known = {*said, *(word for text in others for word in text.split())}
    wide = [text for text in (*known, *others) if len(text) > COLUMNS]
    cut = [word for word in _words(lines) if word not in known and not any(word in each for each in wide)]
    assert cut == [], "\n".join([*cut, "were not said, on", *lines])


def require_all(lines: Sequence[str], text: str) -> None:
    """All lines of `text` are on the screen, in their order within each. What a clock shows may be another second's."""
    shown = _without_clocks(f" {' '.join(_words(lines))} ")
    lost = [line for line in text.splitlines() if not _is_wide(line) and _joined(line) not in shown]
    assert lost == [], "\n".join([*lost, "are not on", *lines])


def _is_wide(line: str) -> bool:
    return any(len(word) > COLUMNS for word in line.split())


def _joined(line: str) -> str:
    return _without_clocks(f" {' '.join(line.split())} ") if line.split() else " "


def _without_clocks(text: str) -> str:
    return _CLOCK.sub("0:00", text)


def _words(lines: Iterable[str]) -> list[str]:
    return [word for line in lines for word in line.split()]
