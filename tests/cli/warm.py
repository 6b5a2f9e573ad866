"""The command as a process of its own that need not import anything: forked from one that has.

Most of what a short process takes goes into imports. Here one process for each worker of the tests imports our modules
and what they use, and plays one game: no thread runs in it, and no command ever has. For each command it forks twice.
The outer child waits for the inner one and says how that ended; the inner one takes its arguments, folder, environment
and files, and is from there on a Python that has just begun `main` and ends as any other. What a start from nothing
does is left to the tests that start one.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, TextIO

ROOT = Path(__file__).parents[2]
_LONGEST = 1 << 20
_SECONDS = 180.0


class Files(NamedTuple):
    """What a process reads and writes, as file descriptors."""

    stdin: int
    stdout: int
    stderr: int


class Process:
    """A forked command; as much of `subprocess.Popen` as tests use."""

    def __init__(self, said: socket.socket) -> None:
        """`said`: where the process that waits for it says its number, and how it ended."""
        self._said = said
        self.pid = int(said.recv(32))
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._receive(0.0)

    def wait(self, timeout: float) -> int:
        """Wait for its exit code. Raises `subprocess.TimeoutExpired`."""
        code = self._receive(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return code

    def send_signal(self, number: int) -> None:
        """Unless it has ended: the word of its end may come later than the end."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """As a power cut would."""
        self.send_signal(signal.SIGKILL)

    def _receive(self, seconds: float) -> int | None:
        if self._code is None:
            self._said.settimeout(seconds)
            with contextlib.suppress(TimeoutError, BlockingIOError):
                self._code = int(self._said.recv(32))
                self._said.close()
        return self._code


def start(
    arguments: Sequence[str],
    files: Files,
    *,
    folder: Path,
    environment: Mapping[str, str],
    before: str = "",
    has_terminal: bool = False,
) -> Process:
    """Start `forcemove` with these arguments. `before`: Python that is run in its process first; `has_terminal`: what
    it reads from becomes its terminal, and it gets a session of its own."""
    order = {
        "arguments": ["forcemove", *arguments],
        "folder": str(folder),
        "environment": dict(environment),
        "before": before,
        "has_terminal": has_terminal,
    }
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        socket.send_fds(_server(), [json.dumps(order).encode()], [*files, theirs.fileno()])
    return Process(ours)


def run(
    arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], before: str = "", typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """Let `forcemove` with these arguments run to its end. `before`: as of `start`. `typed`: what it can read."""
    with tempfile.TemporaryFile() as input_, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
        input_.write(typed.encode())
        input_.seek(0)
        files = Files(input_.fileno(), said.fileno(), complained.fileno())
        code = start(arguments, files, folder=folder, environment=environment, before=before).wait(_SECONDS)
        return subprocess.CompletedProcess(["forcemove", *arguments], code, _all_of(said), _all_of(complained))


def start_service(
    arguments: Sequence[str], *, log: Path, folder: Path, environment: Mapping[str, str]
) -> tuple[Process, str]:
    """Start a command that serves until it is ended, and the first line that it says: empty where it ended before.
    `log`: where its complaints are added."""
    reading, writing = os.pipe()
    with open(os.devnull) as nothing, open(writing) as said, log.open("ab") as complained:
        files = Files(nothing.fileno(), said.fileno(), complained.fileno())
        process = start(arguments, files, folder=folder, environment=environment)
    with open(reading) as begun:
        return process, begun.readline()


def _all_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


@cache
def _server() -> socket.socket:
    """The connection to the process that forks. It ends when this one does, which closes the connection."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        subprocess.Popen(  # noqa: S603  # this module
            [sys.executable, "-m", "tests.cli.warm", str(theirs.fileno())],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    return ours


# ------------------------------------------------------------------------------------------- in the process that forks


_IMPORTED = ("eth_account", "eth_hash.auto", "eth_tester", "prompt_toolkit", "psycopg", "rich.live", "web3")
"""What our modules import as late as they can."""
_TURNS = 12


def _import_all() -> None:
    os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")  # as `main` does, which is too late here
    for name in (*_IMPORTED, *_ours("forcemove"), *_ours("forcemove_games")):
        importlib.import_module(name)
    _play_once()
    gc.freeze()  # children that leave this memory alone share it


def _play_once() -> None:
    """A game, so that what is compiled, read or imported at its first use is there. It leaves no thread, and forgets
    which games are installed: the tests' commands may have others."""
    from forcemove import local_table, moves_of
    from forcemove.registry import game_names, installed_games, points_in
    from forcemove_games.tic_tac_toe import GAME
    from tests.store.sharing import share

    share()
    players = (moves_of(GAME.bot(seat), another_round=lambda state: state.turn_num < _TURNS) for seat in range(2))
    local_table(GAME, *players, stake=1).play()
    for each in (installed_games, game_names, points_in):
        each.cache_clear()
    assert threading.active_count() == 1


def _ours(name: str) -> Iterator[str]:
    """The modules of one of our packages."""
    package = importlib.import_module(name)
    return (each.name for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))


def _serve(connection: socket.socket) -> dict[str, Any]:
    """Fork for each order; returns in the children alone, with theirs."""
    while True:
        message, files, _, _ = socket.recv_fds(connection, _LONGEST, 4)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        if not message:
            os._exit(0)
        if os.fork() == 0:
            connection.close()
            return _fork_and_wait(json.loads(message), files)
        for file in files:
            os.close(file)


def _fork_and_wait(order: dict[str, Any], files: list[int]) -> dict[str, Any]:
    """In the child that waits; returns in its child."""
    *streams, number = files
    child = os.fork()
    if child == 0:
        os.close(number)
        _become(order, streams)
        return order
    for stream in streams:
        os.close(stream)
    with socket.socket(fileno=number) as says, contextlib.suppress(BrokenPipeError):  # its test is over
        says.send(str(child).encode())
        says.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
    os._exit(0)


def _become(order: dict[str, Any], streams: list[int]) -> None:
    """Take over what a process gets from anyone who starts it."""
    if order["has_terminal"]:
        os.setsid()
        fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    sys.argv = order["arguments"]
    encoding = os.environ.get("PYTHONIOENCODING") or "utf-8"
    sys.stdin = open(0, encoding=encoding, closefd=False)  # noqa: SIM115  # as every Python begins
    sys.stdout = _writer(1, encoding, "strict")
    sys.stderr = _writer(2, encoding, "backslashreplace")


def _writer(number: int, encoding: str, errors: str) -> TextIO:
    """By lines on a terminal, and where the environment wants nothing to be kept back."""
    by_lines = os.isatty(number) or bool(os.environ.get("PYTHONUNBUFFERED"))
    return open(number, "w", 1 if by_lines else -1, encoding=encoding, errors=errors, closefd=False)


def _end(code: object) -> NoReturn:
    """Do all that a Python does in the end and anybody could see: what is left in memory is collected, which tells of
    tasks that nobody waited for. To take all modules apart would take four times as long as a whole command."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)


def _main() -> None:
    """Returns in no process: each ends as a Python does whose `main` is over."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_all()
    order = _serve(socket.socket(fileno=int(sys.argv[1])))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    exec(order["before"], {"__name__": "__main__"})  # noqa: S102  # the tests' own text
    from forcemove.cli.main import main

    try:
        main()
    except SystemExit as end:
        if not isinstance(end.code, str):
            _end(end.code)
        raise


if __name__ == "__main__":
    _main()
