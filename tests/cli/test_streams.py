"""Outputs that fail, or that nobody reads: every writer falls silent, and what is defended is defended to its end."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from select import select
from typing import Self

import pytest

from forcemove.demo.network.scenarios import challenge_with
from forcemove.protocol.types import ETHER
from tests.cli import warm
from tests.cli.nodes import PASSPHRASE, wait_until
from tests.cli.screens import forcemove
from tests.cli.tables import GUEST, HOST, World, link_of
from tests.sampled import sampled

_SECONDS = 60
_PIPE = 1 << 16
"""Bytes that fill a pipe."""
_TURNS, _LATER = 8, 6
CREATE = ("--create", "--stake", "0.01 ether", "--rounds", "20", "--pace", "0.1")
WRITERS = """
import asyncio, logging, sys
import click
from pathlib import Path
from forcemove.cli.errors import run
from forcemove.cli.terminal import TerminalOutput
from forcemove.cli.play.screen import Screen
from forcemove.cli.terminal import waiting
from forcemove.cli.serving import log_to_stderr, say_ready
from forcemove.cli.streams import open_streams
from forcemove.cli.wrapping import echo
from forcemove.sessions.playing.content import TableContent

def all_write():
    log_to_stderr("forcemove", True)
    for _ in range(3):
        print("\\ud800 is not a character", flush=True)
        click.echo("{}")
        echo("a line for people", err=True)
        say_ready({}, "ready", False)
        logging.getLogger("forcemove.relay").info("a line of the log")
        with waiting("Waiting") as terminal:
            output = TerminalOutput(terminal)
            output.say("a line")
            output.note("an error")
            output.show(TableContent("a headline"))
    asyncio.run(show())

async def show():
    shown = Screen(lambda _: "", lambda: (("leave", "go"),), RuntimeError)
    running = asyncio.create_task(shown.run())
    shown.say("a line")
    shown.show(TableContent("another headline"))
    while not running.done() and shown._said:
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.wait([running])

open_streams()
all_write()
Path("went-on").touch()
"""


class Output:
    """A file that refuses what is written to it, or never takes it; a closed terminal from `fail` on."""

    def __init__(self, how: str) -> None:
        self._how, self._files, self._master = how, list[int](), -1
        if how == "a full disk":
            self.file = os.open("/dev/full", os.O_WRONLY)
        elif how == "a closed terminal":
            self._master, self.file = pty.openpty()
        else:
            reader, self.file = os.pipe()
            if how == "a reader that has left":
                subprocess.Popen(["head", "-n", "3"], stdin=reader, stdout=subprocess.DEVNULL)  # noqa: S607
                os.close(reader)
            else:
                self._files.append(reader)
                os.write(self.file, bytes(_PIPE))
        self._files.append(self.file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            os.close(file)

    def start(self, world: World, home: Path, *arguments: str) -> warm.Process:
        """A bot of this machine that writes there."""
        command = (*world.arguments(home, "rock-paper-scissors"), "--bot", *arguments)
        environment = os.environ | {"FORCEMOVE_PASSPHRASE": PASSPHRASE}
        has_terminal = self._master >= 0
        with open(os.devnull) as nothing:
            files = warm.Files(self.file if has_terminal else nothing.fileno(), self.file, self.file)
            return warm.start(command, files, folder=home, environment=environment, has_terminal=has_terminal)

    def fail(self) -> None:
        """As it does in the end."""
        if self._master >= 0:
            os.close(self._master)


BREAKS = ("a full disk", "a closed terminal", "a reader that has left", "a reader that does not read")


@pytest.mark.parametrize("how", BREAKS)
def test_every_writer_falls_silent(tmp_path: Path, how: str) -> None:
    typed, keyboard = pty.openpty()
    with Output(how) as output:
        output.fail()
        file, command = output.file, [sys.executable, "-c", WRITERS]
        code = subprocess.run(  # noqa: S603  # this very interpreter
            command, check=False, cwd=tmp_path, stdin=keyboard, stdout=file, stderr=file, timeout=_SECONDS
        ).returncode
    os.close(typed)
    os.close(keyboard)
    assert code == 0
    assert (tmp_path / "went-on").exists()


@pytest.mark.parametrize("how", sampled(BREAKS, 2))
def test_a_player_whose_output_fails_answers_and_is_paid(world: World, how: str) -> None:
    host = world.play(world.alice, *CREATE)
    with Output(how) as output:
        guest = output.start(world, world.bob, "--join", link_of(host), "--yes", *CREATE[3:], "--patience", "3")
        wait_until(lambda: host.said.count("turn ") >= _TURNS)
        output.fail()
        old = world.saved(world.alice)
        wait_until(lambda: world.saved(world.bob).next_turn >= old.next_turn + _LATER)
        host.end(by=signal.SIGKILL)
        world.await_answer(old, challenge_with(world.node.chain, HOST, old))
        wait_until(lambda: world.adjudicator.status_of(old.agreement.channel_id, ETHER).finalizes_at > 0)
        world.travel(3_601)
        assert guest.wait(_SECONDS) == 0
    world.require_paid(world.channel(world.bob))


def test_a_person_whose_terminal_is_closed_is_defended_and_comes_back(world: World) -> None:
    host = world.sit(world.alice, *CREATE[:3])
    guest = world.play(world.bob, "--join", host.link(), "--yes", *CREATE[3:])
    host.reach("choose rock, which")
    old = world.saved(world.bob)
    while (turn := world.saved(world.alice).next_turn) < old.next_turn + _LATER:
        host.answer("choose rock, which", "rock")
        wait_until(partial(_has_moved, world, turn))
    host.screen.hang_up()
    guest.end(by=signal.SIGKILL)
    world.await_answer(old, challenge_with(world.node.chain, GUEST, old))
    back = world.sit(world.alice)
    back.reach("in channel 0x")
    back.reach("help  ")
    back.screen.type("\x03")
    assert (back.end().code, host.screen.end_by(signal.SIGTERM)) == (130, 143)


def _of_nobody() -> int:
    reader, file = os.pipe()
    os.close(reader)
    return file


def _has_moved(world: World, turn: int) -> bool:
    return world.saved(world.alice).next_turn > turn


@pytest.mark.parametrize(
    ("opened", "words"),
    [
        (lambda: os.open("/dev/full", os.O_WRONLY), "Error: The system refused standard output: No space left"),
        (_of_nobody, ""),
    ],
    ids=[BREAKS[0], BREAKS[2]],
)
def test_a_result_that_could_not_be_written_is_told(opened: Callable[[], int], words: str) -> None:
    file = opened()
    said = subprocess.run(  # noqa: S603  # the program itself
        [forcemove(), "--help"], check=False, stdout=file, stderr=subprocess.PIPE, text=True, timeout=_SECONDS
    )
    os.close(file)
    assert said.returncode == 1
    assert said.stderr.startswith(words)
    assert bool(said.stderr) == bool(words)


def test_a_program_may_begin_without_any_output(tmp_path: Path) -> None:
    command = ["sh", "-c", 'exec "$0" demo --game tic-tac-toe --scenario honest >&- 2>&-', forcemove()]
    assert subprocess.run(command, check=False, cwd=tmp_path, timeout=_SECONDS).returncode == 0  # noqa: S603


def test_a_program_may_begin_without_any_input(tmp_path: Path) -> None:
    command = ["sh", "-c", 'exec "$0" demo --game tic-tac-toe --play <&-', forcemove()]
    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True, timeout=_SECONDS)  # noqa: S603
    assert done.returncode == 130
    assert "You have left the table" in done.stderr


FAILS = """
import click
from forcemove.cli import main

@click.command()
def fails():
    click.echo("x" * 500_000)
    raise click.ClickException("in vain")

main.forcemove = fails
main.main()
"""
WRITES = """
import sys
from forcemove.cli.streams import open_streams
finish = open_streams()
for _ in range({count}):
    print("x" * {length}, end="", flush=True)
print(len(sys.stdout.buffer.raw._waiting), file=sys.stderr)
finish()
print(len(sys.stdout.buffer.raw._waiting), file=sys.stderr)
"""


@contextmanager
def running(program: str) -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """A program, the first line that it writes to standard error, and where its output, which nobody has read yet, can
    be read."""
    reader, file = os.pipe()
    process = subprocess.Popen([sys.executable, "-c", program], stdout=file, stderr=subprocess.PIPE, text=True)  # noqa: S603
    os.close(file)
    try:
        assert process.stderr is not None
        assert select([process.stderr], [], [], _SECONDS)[0], "it waits"
        yield process, process.stderr.readline(), reader
    finally:
        process.kill()
        process.communicate()
        os.close(reader)


def test_only_one_line_waits_for_a_reader() -> None:
    with running(WRITES.format(count=200, length=1_000)) as (_, kept, _):
        assert int(kept) >= 200_000 - _PIPE


def test_what_nobody_reads_is_bounded() -> None:
    with running(WRITES.format(count=40, length=1 << 20)) as (_, kept, _):
        assert 1 << 24 < int(kept) <= 1 << 25


def test_a_result_waits_for_its_reader() -> None:
    with running(WRITES.format(count=2, length=500_000)) as (process, _, reader):
        with open(reader, closefd=False) as result:
            assert len(result.read()) == 1_000_000
        assert process.communicate(timeout=_SECONDS)[1] == "0\n"


def test_what_a_command_that_fails_has_written_waits_for_its_reader() -> None:
    with running(FAILS) as (process, said, reader):
        assert said == "Error: in vain\n"
        with open(reader, closefd=False) as result:
            assert len(result.read()) == 500_001
        assert process.wait(_SECONDS) == 1
