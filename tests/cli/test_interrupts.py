"""Ctrl-C at moments when it comes badly: nothing is said in Python's words, and the terminal is left as it was."""

from __future__ import annotations

import subprocess
import sys

import pytest

TWICE = """
import atexit, os, signal
from forcemove.cli import errors, main

def interrupt(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)

def say(*words, **options):
    interrupt()
    echo(*words, **options)

atexit.register({at_the_end})
echo, errors.echo, main.forcemove.main = errors.echo, say, interrupt
main.main()
"""
"""A command that is interrupted, and again while that is told; and once more when all is done."""


@pytest.mark.parametrize(("at_the_end", "code"), [("int", 130), ("interrupt", -2)])
def test_who_presses_it_twice_is_told_what_was_interrupted(at_the_end: str, code: int) -> None:
    command = [sys.executable, "-c", TWICE.format(at_the_end=at_the_end)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  # this very interpreter
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "Error: Interrupted.\n")
