"""The page is opened beside the game: whatever browser there is, the game does not wait for it, and nobody else on the
machine learns its address."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from select import select
from urllib.parse import urlsplit

from playwright.sync_api import Browser

from tests.browser.served.serving import served

_SECONDS = 60
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


def _script(folder: Path, text: str) -> str:
    """A file of it: nothing of a script is on its command line."""
    file = folder / f"{len(text)}.py"
    file.write_text(text)
    return str(file)


class Opening:
    """A process that opens a page. `seen`: the addresses that a browser was given. `gate`: the browser ends when
    something is written to it. `shown`: what the browser was led to."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self._seen, self.gate, self.shown = folder / "seen", folder / "gate", folder / "shown"
        os.mkfifo(self.gate)
        self.browser = folder / "www-browser"
        self.browser.write_text(
            f'#!/bin/sh\necho "$1" >> {self._seen}\nread line < {self.gate}\ncat "${{1#file://}}" > {self.shown}\n'
        )
        self.browser.chmod(0o755)
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR", "PYTHONPATH") if name in os.environ}
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter
            [sys.executable, _script(folder, OPENS)],
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
    (seen,) = opening.end()
    assert opening.shown.read_text() == f'<meta http-equiv="refresh" content="0;url={ADDRESS}">'
    assert not Path(urlsplit(seen).path).exists()


WATCHES = r"""
import glob, os, re, sys, time
os.setgid(65534); os.setuid(65534)
while True:
    for name in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(name, errors="replace") as line:
                words = line.read()
                for found in re.findall("[^\0]*(?:token=|forcemove-)[^\0]*", words) if sys.argv[1] in words else ():
                    print(found, flush=True)
                    with open(found.removeprefix("file://")) as page:
                        print(page.read(), flush=True)
        except OSError as error:
            print(type(error).__name__, flush=True)
    time.sleep(0.02)
"""
"""Another user of the machine, who looks at each command line of the browser, and reads what it names."""


def test_no_other_user_of_the_machine_learns_the_address(tmp_path: Path) -> None:
    command = [sys.executable, _script(tmp_path, WATCHES), f"{tmp_path}/www-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:  # noqa: S603
        assert other.stdout is not None
        try:
            opening = Opening(tmp_path, BROWSER=f"{tmp_path}/www-browser %s")
            opening.goes_on()
            with opening.gate.open("w") as gate:
                lines = iter(other.stdout.readline, "")
                named = next(line for line in lines if "://" in line).strip()
                seen = [named, next(lines)]
                mode = Path(urlsplit(named).path).stat().st_mode if named.startswith("file:") else 0
                gate.write("\n")
            opening.end()
        finally:
            other.kill()
        seen += lines
    assert stat.S_IMODE(mode) == 0o600
    assert seen[1] == "PermissionError\n"
    assert not any("token" in each for each in seen)


def test_the_file_leads_a_browser_to_the_page(browser: Browser, tmp_path: Path) -> None:
    """What a file leads to is another site's doing for a browser, which keeps a strict cookie back for as long as it is
    led on."""
    with served() as ours:
        (tmp_path / "page.html").write_text(f'<meta http-equiv="refresh" content="0;url={ours.address}">')
        page = browser.new_context().new_page()
        page.goto((tmp_path / "page.html").as_uri())
        page.locator("#live", has_text="live").wait_for()
        page.context.close()


def test_a_browser_that_takes_the_terminal_is_not_opened(tmp_path: Path) -> None:
    opening = Opening(tmp_path, TERM="xterm")
    opening.goes_on()
    assert opening.end() == []
