"""The first page of somebody who has just installed the wheel: one command, a board, and a dispute to its payout."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.served.chromium import chromium

_SECONDS = 60


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@contextmanager
def demo(programs: Path, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`forcemove demo --browser` in a folder, and the address that it prints."""
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(folder), "PYTHONUNBUFFERED": "1"}
    command = [str(programs / "forcemove"), "demo", "--browser", "--no-open"]
    with subprocess.Popen(  # noqa: S603  # the program that we have just installed
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("http://"):
                    break
            else:
                raise AssertionError("".join(lines))
            yield process, lines[-1].strip()
        finally:
            process.kill()


def test_one_command_shows_a_board_and_a_dispute_is_watched_to_its_payout(
    programs: Path, browser: Browser, tmp_path: Path
) -> None:
    began = time.monotonic()
    with demo(programs, tmp_path) as (process, address):
        page = browser.new_page()
        page.set_default_timeout(_SECONDS * 1_000)
        errors: list[str] = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        spot = page.locator("#board [name=word]:not([aria-disabled=true])").first
        spot.wait_for()
        board_after = time.monotonic() - began

        guide = page.locator("#guide")
        page.get_by_role("button", name="Bob stops").click()
        guide.filter(has_text="Step 1 of 4").wait_for()
        page.get_by_role("button", name="go silent").click()
        guide.filter(has_text="Step 2 of 4").wait_for()
        spot.click()
        guide.filter(has_text="Step 3 of 4").wait_for()
        page.get_by_role("button", name="Challenge").click()
        guide.filter(has_text="Step 4 of 4").wait_for()
        page.get_by_role("button", name="let the clock run out").click()
        guide.filter(has_text="Nobody answered in time").wait_for()
        assert guide.inner_text().count("as expected") == 2
        print(f"a board after {board_after:.1f} s, the payout after {time.monotonic() - began:.1f} s")

        page.close()
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=_SECONDS)
    assert (process.returncode, errors) == (0, [])
    assert "The playground has ended, and its chain with it." in said
    assert os.listdir(tmp_path) == []
