"""Ctrl-C at moments when it comes badly: nothing is said in Python's words, and the terminal is left as it was."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from forcemove import open_journal
from tests.cli.screens import COMMAND, Screen, forcemove

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


AT_AN_IMPORT = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
sys.argv = ["forcemove", "verify", "--chain", "http://127.0.0.1:1"]
from forcemove.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("name", "code", "words"), [("click", -2, ""), ("forcemove.cli.verify", 130, "\nError: Interrupted.\n")]
)
def test_who_presses_it_while_the_program_begins_sees_no_traceback(name: str, code: int, words: str) -> None:
    """It is over before the command line is there, and is told from then on."""
    command = [sys.executable, "-c", AT_AN_IMPORT.format(name=name)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  # this very interpreter
    assert (done.returncode, done.stdout, done.stderr) == (code, "", words)


AT_THE_STATUS = """
import os, signal
from rich.console import Console
show = Console.show_cursor
def interrupted(console, shown=True):
    if shown is {shown}:
        Console.show_cursor = show
        os.kill(os.getpid(), signal.SIGINT)
    return show(console, shown)
Console.show_cursor = interrupted
"""


@pytest.mark.parametrize("shown", [False, True])
def test_the_cursor_is_there_whenever_a_status_was_interrupted(tmp_path: Path, shown: bool) -> None:
    """While it begins, which hides the cursor, and while it ends."""
    before = AT_THE_STATUS.format(shown=shown)
    arguments = ("demo", "--game", "tic-tac-toe", "--scenario", "honest")
    seen = Screen(COMMAND, *arguments, columns=80, folder=tmp_path, before=before).end()
    assert seen.code == 130
    assert "Error: Interrupted." in seen.lines
    assert seen.data.rfind(b"\x1b[?25h") > seen.data.rfind(b"\x1b[?25l")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [(("verify", "--chain", "http://{silent}"), "Asking 127.0.0.1"), (("key", "import", "key.json"), "Private key")],
    ids=["status", "question"],
)
def test_a_program_that_is_asked_to_end_leaves_the_terminal_as_it_was(
    tmp_path: Path, arguments: tuple[str, ...], shown: str
) -> None:
    """At the status the cursor is hidden, and at the question what is typed is not shown."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = f"127.0.0.1:{silent.getsockname()[1]}"
        screen = Screen(COMMAND, *(each.format(silent=where) for each in arguments), columns=80, folder=tmp_path)
        screen.reach(shown)
        assert screen.end_by(signal.SIGTERM) == 143
    assert screen.shows_what_is_typed
    data = screen.end().data
    assert data.rfind(b"\x1b[?25h") >= data.rfind(b"\x1b[?25l")


def test_a_program_that_is_stopped_at_a_status_leaves_the_shell_its_cursor(tmp_path: Path) -> None:
    """At Ctrl-Z, again and again; and goes on."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        asked = f"127.0.0.1:{silent.getsockname()[1]}"
        shell = Screen("bash", "--norc", "--noprofile", "--noediting", columns=120, folder=tmp_path)
        shell.type(f"{forcemove()} verify --chain http://{asked}\n")
        for _ in range(2):
            shell.reach(f" Asking {asked}")
            shell.type("\x1a")
            shell.reach("Stopped")
            assert not shell.hides_cursor
            shell.type("clear; fg\n")
            shell.lose("Stopped")
        shell.answer(f" Asking {asked}", "\x03")
        shell.reach("Error: Interrupted.")
        shell.type("exit\n")
        assert shell.end().code == 130


AT_A_SCREEN = """
import asyncio
from prompt_toolkit.application import Application
run_async = Application.run_async
async def run(screen, **options):
    await run_async(screen, **options)
    screen.key_processor.send_sigint()
Application.run_async = run
"""
"""The event loop may tell a screen of a signal after the screen has ended."""


def test_a_screen_that_was_left_is_not_left_again(tmp_path: Path) -> None:
    arguments = ("demo", "--game", "tic-tac-toe", "--play")
    screen = Screen(COMMAND, *arguments, columns=80, folder=tmp_path, before=AT_A_SCREEN)
    screen.answer("help  ", "\x03")
    seen = screen.end()
    assert seen.code == 130
    assert any("You have left the table" in line for line in seen.lines)


@pytest.mark.parametrize(
    "arguments",
    [
        ("play", "tic-tac-toe", "--key", "key.json", "--relay", "ws://127.0.0.1:1"),
        ("browse", "--key", "key.json", "--relay", "ws://127.0.0.1:1", "--no-open"),
        ("watch", "--key", "key.json", "--for", "0x" + "11" * 20),
        ("channel", "collect", "--key", "key.json", "--store", "journal"),
    ],
    ids=["play", "browse", "watch", "collect"],
)
def test_a_node_that_says_nothing_is_named_and_need_not_be_waited_for(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    with open_journal(str(tmp_path / "journal"), owner=os.urandom(16)), socket.create_server(("127.0.0.1", 0)) as node:
        where = f"127.0.0.1:{node.getsockname()[1]}"
        screen = Screen(COMMAND, *arguments, "--chain", f"http://{where}", columns=80, folder=tmp_path)
        screen.reach(f"Asking {where}")
        assert screen.end_by(signal.SIGINT) == 130
    seen = screen.end()
    assert [line for line in seen.lines if line] == ["Error: Interrupted."]
