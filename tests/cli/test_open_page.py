"""The page is opened beside the game: whatever browser there is, the game does not wait for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from select import select

_SECONDS = 20
ADDRESS = "http://127.0.0.1:1/enter?token=x"
OPENS = f"""
import sys, threading
from forcemove.cli.play.browsing import open_page
open_page({ADDRESS!r})
print("went on", flush=True)
sys.stdin.readline()
for each in threading.enumerate():
    if each is not threading.main_thread():
        each.join()
"""


class Opening:
    """A process that opens a page. `seen`: the addresses that a browser was given. `gate`: the browser ends when
    something is written to it."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self._seen, self.gate = folder / "seen", folder / "gate"
        os.mkfifo(self.gate)
        self.browser = folder / "www-browser"
        self.browser.write_text(f'#!/bin/sh\necho "$1" >> {self._seen}\nread line < {self.gate}\n')
        self.browser.chmod(0o755)
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR", "PYTHONPATH") if name in os.environ}
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter
            [sys.executable, "-c", OPENS],
            env=kept | {"PATH": f"{folder}:/bin"} | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def goes_on(self) -> None:
        """Wait until the process has gone on."""
        assert self._process.stdout is not None
        has_gone_on, _, _ = select([self._process.stdout], [], [], _SECONDS)
        if not has_gone_on:
            os.killpg(self._process.pid, signal.SIGKILL)
        assert has_gone_on
        assert self._process.stdout.readline() == "went on\n"

    def end(self) -> list[str]:
        """Wait until the process has ended, with its threads; the addresses that a browser was given."""
        self._process.communicate("\n", timeout=_SECONDS)
        return self._seen.read_text().split() if self._seen.exists() else []


def test_the_game_does_not_wait_for_a_browser(tmp_path: Path) -> None:
    opening = Opening(tmp_path, BROWSER=f"{tmp_path}/www-browser %s")
    opening.goes_on()
    with opening.gate.open("w") as gate:  # there is a reader: the browser has begun, and not ended
        gate.write("\n")
    assert opening.end() == [ADDRESS]


def test_a_browser_that_takes_the_terminal_is_not_opened(tmp_path: Path) -> None:
    opening = Opening(tmp_path, TERM="xterm")
    opening.goes_on()
    assert opening.end() == []
