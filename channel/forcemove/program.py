"""How a user here runs this program, for the commands that are printed to be run."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

NAME = "forcemove"
"""The program's name."""


@cache
def program() -> str:
    """What a shell here runs this program by, in any folder: its name where that leads to it, else its path. Its name,
    too, where another program uses this one as a library."""
    called = Path(sys.argv[0])
    if (called.parent.name, called.name) == (NAME, "__main__.py"):  # python -m forcemove
        called = Path(sys.executable).with_name(NAME)
        if not called.exists():
            return f"{shlex.quote(sys.executable)} -m {NAME}"
    found = shutil.which(NAME)
    if called.name != NAME or not called.is_file() or (found and Path(found).samefile(called)):
        return NAME
    return shlex.quote(os.path.abspath(called))


def has_shell() -> bool:
    """Whether a user here types commands: on a page in a browser there is nowhere to."""
    return sys.platform != "emscripten"


def as_called(text: str) -> str:
    """A text whose commands, such as `forcemove relay`, are written as they run here."""
    return text.replace(f"`{NAME} ", f"`{program()} ")
