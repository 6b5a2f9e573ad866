"""A player in a process of its own, as a person would have started it; it can be killed and started again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from forcemove.errors import ForcemoveError
from forcemove.keys.key_files import UNLOCK_VARIABLE

_PATIENCE = 180.0
"""Seconds within which an expected output must come; machines are slow at times."""


class PlayerFailed(ForcemoveError):
    """A process of the demonstration has not done what it must, as `reason` says."""

    reason: str


class PlayerProcess:
    """A player's process. `home`: the folder with the key file and the journal."""

    def __init__(
        self, name: str, home: Path, passphrase: str, program: Sequence[str], on_line: Callable[[str], None]
    ) -> None:
        """Name a player; no process is started yet.

        - `name`: of the player.
        - `home`: the folder with the key file, where the process runs.
        - `passphrase`: of the key file.
        - `program`: what runs `forcemove`.
        - `on_line`: is called with each line that the process prints.
        """
        self.name, self.home, self._program = name, home, program
        self._passphrase, self._on_line = passphrase, on_line
        self._lines: list[str] = []
        self._printed = asyncio.Condition()
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._has_ended = False

    async def start(self, *arguments: str) -> None:
        """Run `forcemove` with these arguments."""
        self._lines, self._has_ended = [], False
        self._on_line("$ forcemove " + " ".join(arguments[:2]) + " \N{HORIZONTAL ELLIPSIS}")
        self._process = await asyncio.create_subprocess_exec(
            *self._program,
            *arguments,
            cwd=self.home,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=os.environ | {UNLOCK_VARIABLE: self._passphrase, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,  # an interrupt at the terminal reaches the demonstration, which ends its players
        )
        self._reading = asyncio.create_task(self._read(self._process))

    async def wait_for_output(self, text: str, times: int = 1) -> str:
        """Wait until the process has printed this text this many times since it was started; returns the line. Raises
        `PlayerFailed`."""
        found: Sequence[str] = ()

        def is_there() -> bool:
            nonlocal found
            found = [line for line in self._lines if text in line]
            return len(found) >= times or self._has_ended

        await self._wait(is_there, f"{self.name} has not printed {text!r}")
        if len(found) < times:
            raise PlayerFailed(f"{self.name} has ended before it printed {text!r}")
        return found[times - 1]

    async def end(self) -> None:
        """Wait until the process has ended without an error. Raises `PlayerFailed`."""
        await self._wait(lambda: self._has_ended, f"{self.name} has not ended")
        if self._process is None or self._process.returncode:
            raise PlayerFailed(f"{self.name}'s process has failed: {' '.join(self._lines[-2:])}")

    async def kill(self) -> None:
        """Kill the process, as a power cut would."""
        if self._process is None or self._reading is None or self._has_ended:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        await self._reading
        self._on_line("\N{BALLOT X} killed")

    async def _wait(self, holds: Callable[[], bool], otherwise: str) -> None:
        try:
            async with asyncio.timeout(_PATIENCE), self._printed:
                await self._printed.wait_for(holds)
        except TimeoutError:
            raise PlayerFailed(f"{otherwise} within {_PATIENCE:.0f} seconds") from None

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        while process.stdout is not None and (line := await process.stdout.readline()):
            self._lines.append(line.decode(errors="replace").rstrip())
            self._on_line(self._lines[-1])
            async with self._printed:
                self._printed.notify_all()
        await process.wait()
        self._has_ended = True
        async with self._printed:
            self._printed.notify_all()
