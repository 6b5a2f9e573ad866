"""Firefox, as its distribution has it, driven over WebDriver BiDi: no driver, and nothing to download."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect
from websockets.sync.connection import Connection

__all__ = ["Firefox", "firefox", "move_and_be_answered"]

_READY = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
_PREFERENCES = ("dom.storageManager.prompt.testing", "dom.storageManager.prompt.testing.allow")
"""Nobody is there to be asked whether a page may keep its data: it may."""
_SECONDS = 120.0
_PAUSE = 0.05


class Firefox:
    """One tab. `errors`: what the console has said of errors."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._number = connection, 0
        self.errors: list[str] = []
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded"])
        self._tab = self._ask("browsingContext.create", type="tab")["context"]

    def open(self, address: str) -> None:
        """Go there, and wait until everything is loaded."""
        self._ask("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def text(self, selector: str) -> str:
        """What the first such element shows; empty where there is none."""
        return self.evaluated(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def value(self, selector: str) -> str:
        """What the first such field has, once there is one."""
        self._first(selector)
        return self.evaluated(f"document.querySelector({json.dumps(selector)}).value")

    def evaluated(self, code: str) -> str:
        """The text that this JavaScript gives."""
        target = {"context": self._tab}
        return str(self._ask("script.evaluate", expression=code, target=target, awaitPromise=False)["result"]["value"])

    def wait(self, selector: str, text: str) -> None:
        """Wait until the first such element shows this, among other things."""
        end = time.monotonic() + _SECONDS
        while text not in (shown := self.text(selector)):
            assert time.monotonic() < end, f"{selector} shows {shown!r}; errors: {self.errors}"
            time.sleep(_PAUSE)

    def click(self, selector: str) -> None:
        """Click into the middle of the first such element, with the mouse, once there is one."""
        over = {"type": "element", "element": {"sharedId": self._first(selector)["sharedId"]}}
        press = [{"type": "pointerMove", "x": 0, "y": 0, "origin": over}]
        press += [{"type": each, "button": 0} for each in ("pointerDown", "pointerUp")]
        self._ask("input.performActions", context=self._tab, actions=[{"type": "pointer", "id": "m", "actions": press}])

    def type(self, selector: str, text: str) -> None:
        """Click into the first such field, and type."""
        self.click(selector)
        keys = [{"type": each, "value": letter} for letter in text for each in ("keyDown", "keyUp")]
        self._ask("input.performActions", context=self._tab, actions=[{"type": "key", "id": "k", "actions": keys}])

    def choose(self, selector: str, value: str) -> None:
        """Choose something of the first such list, once there is one."""
        self._first(selector)
        self.evaluated(f"document.querySelector({json.dumps(selector)}).value = {json.dumps(value)}")

    def _first(self, selector: str) -> dict[str, Any]:
        end = time.monotonic() + _SECONDS
        while not (nodes := self._found(selector)):
            assert time.monotonic() < end, f"there is no {selector}; errors: {self.errors}; {self.text('body')}"
            time.sleep(_PAUSE)
        return nodes[0]

    def _found(self, selector: str) -> list[dict[str, Any]]:
        locator = {"type": "css", "value": selector}
        found: list[dict[str, Any]] = self._ask("browsingContext.locateNodes", context=self._tab, locator=locator)[
            "nodes"
        ]
        return found

    def _ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        self._connection.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            said = json.loads(self._connection.recv(_SECONDS))
            if said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
                self.errors.append(said["params"]["text"])
            if said.get("id") == self._number:
                assert said["type"] == "success", f"{method}: {said}"
                return said["result"]


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """A browser with a profile of its own in this folder; the test is skipped where the system has none."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("there is no Firefox: apt-get install firefox-esr")
    (folder / "user.js").write_text("".join(f'user_pref("{name}", true);\n' for name in _PREFERENCES), "utf-8")
    command = [program, "--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port", "0"]
    log = folder / "said"
    with log.open("w") as said, subprocess.Popen(command, stdout=said, stderr=said) as process:  # noqa: S603  # found above
        try:
            end = time.monotonic() + _SECONDS
            while (ready := _READY.search(log.read_text("utf-8", "replace"))) is None:
                assert process.poll() is None, log.read_text("utf-8", "replace")
                assert time.monotonic() < end, "it does not listen"
                time.sleep(_PAUSE)
            with connect(f"{ready[1]}/session", max_size=None) as connection:
                yield Firefox(connection)
        finally:
            process.kill()


def move_and_be_answered(browser: Firefox, address: str) -> None:
    """Open a playground's page, and make a move that Bob answers on the board."""
    browser.open(address)
    browser.wait("#live", "live")
    before = browser.text("#board .headline")
    browser.click("#board [name=word]")
    browser.wait("#happened", "Bob signed turn 5")
    assert before != browser.text("#board .headline")
    assert browser.errors == []
