"""A page that was installed, in Chromium: what its host, or nobody, can do to it then."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.page.routed import violations
from tests.browser.served.serving import until
from tests.link_page.conftest import FileRequests
from tests.link_page.visiting import Player
from tests.relay.process import running_relay

EVIL = "document.title = 'evil';"
LEFT = """async () => [
  (await navigator.serviceWorker.getRegistrations()).length, ...await caches.keys(),
]"""
"""What is left of an installation."""


class Host:
    """A host of files that does with them what it likes. `page`: the address."""

    def __init__(self, files: Path, folder: Path) -> None:
        self.folder = folder / "hosted"
        shutil.copytree(files, self.folder)
        self._port = 0
        self.start()
        self.page = f"http://127.0.0.1:{self._port}/"

    def start(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), partial(FileRequests, directory=str(self.folder)))
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def build(self) -> str:
        return hashlib.sha256((self.folder / "files.json").read_bytes()).hexdigest()

    def append(self, name: str, text: str, *, lists: bool = False) -> None:
        """Change a file; with `lists` in the list of files, too, as another build has it."""
        path = self.folder / name
        path.write_bytes(path.read_bytes() + text.encode())
        if lists:
            listed = json.loads((self.folder / "files.json").read_text())
            listed["files"][name]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
            (self.folder / "files.json").write_text(json.dumps(listed))


@pytest.fixture
def host(files: Path, tmp_path: Path) -> Iterator[Host]:
    found = Host(files, tmp_path)
    yield found
    found.stop()


def press(page: Page, words: str) -> None:
    page.locator("#install-buttons").get_by_role("button", name=words).click()


def says(page: Page, words: str) -> None:
    expect(page.locator("#installed")).to_contain_text(words, timeout=60_000)


def install(page: Page) -> None:
    """Installed, and loaded again from what was kept."""
    press(page, "Install")
    says(page, "Installed: build")
    assert page.evaluate("Boolean(navigator.serviceWorker.controller)")


def test_nothing_is_installed_unless_the_player_says_so(browser: Browser, host: Host) -> None:
    alice = Player(browser, "Alice")
    page = alice.open(host.page)
    says(page, "sends this page anew at each visit")
    assert page.evaluate(LEFT) == [0]


def test_it_opens_without_its_host_and_shows_a_game_that_was_kept(
    browser: Browser, files: Path, tmp_path: Path
) -> None:
    with running_relay(tmp_path, "--pages", str(files)) as relay:
        here = f"http://127.0.0.1:{relay.port}/"
        alice, bob = Player(browser, "Alice"), Player(browser, "Bob")
        alice.enter(here)
        bob.enter(alice.offer())
        alice.move("4")
        bob.wait_for_turn()
        install(bob.page)
        assert violations(bob.page) == []
        bob.wait_for_turn()
        bob.page.close()
        relay.kill()

        page = bob.open(here)
        page.get_by_role("link", name="Games", exact=True).click()
        page.get_by_role("row").nth(1).get_by_role("link", name="Tic-tac-toe", exact=True).click()
        page.locator("#board").wait_for()
        says(page, "Installed: build")

        relay.start()
        bob.move("0")
        alice.wait_for_turn()


def test_a_host_that_changes_a_file_is_not_believed(browser: Browser, host: Host) -> None:
    alice = Player(browser, "Alice")
    page = alice.open(host.page)
    install(page)
    kept = host.build
    for name in ("enter.js", "link.js", "install.js", "worker.js"):
        host.append(name, EVIL)
    (host.folder / "index.html").write_text("<title>evil</title>")
    (host.folder / "new.html").write_text("<title>evil</title>")
    page.reload()
    says(page, f"Installed: build {kept}")
    page.locator("#own-name").fill("Alice")
    assert page.title() != "evil"
    assert page.goto(f"{host.page}new.html").status == 404  # type: ignore[union-attr]  # there is an answer
    assert page.title() != "evil"


def test_a_form_of_another_site_does_not_reach_past_the_copy(browser: Browser, host: Host) -> None:
    page = Player(browser, "Alice").open(host.page)
    install(page)
    host.stop()
    page.goto(f"data:text/html,<form method=post action={host.page}><button>Go</button></form>")
    page.get_by_role("button").click()
    says(page, "Installed: build")
    host.start()


def test_another_build_counts_once_the_player_says_yes_to_both_hashes(browser: Browser, host: Host) -> None:
    alice = Player(browser, "Alice")
    page = alice.open(host.page)
    install(page)
    kept = host.build
    host.append("enter.js", "document.body.dataset.build = 'other';", lists=True)
    other = host.build
    page.reload()
    says(page, f"Yours is {kept}, that of {host.page[7:-1]} is {other}. Nothing changes unless you say yes.")
    assert page.evaluate("document.body.dataset.build") is None
    assert violations(page) == []

    press(page, "Yes, take the other build")
    says(page, f"Installed: build {other}")
    assert page.evaluate("document.body.dataset.build") == "other"

    def is_old_one_forgotten() -> bool:
        """At the visit at which nothing reads it any more."""
        if page.evaluate(LEFT) == [1, "forcemove /", f"forcemove / {other}"]:
            return True
        page.reload()
        says(page, f"Installed: build {other}")
        return False

    until(is_old_one_forgotten)


def test_a_build_with_a_file_that_is_not_the_listed_one_is_refused(browser: Browser, host: Host) -> None:
    alice = Player(browser, "Alice")
    page = alice.open(host.page)
    host.append("wallet.js", EVIL)
    press(page, "Install")
    says(page, "Nothing was changed: wallet.js is not the file that files.json names.")
    assert page.evaluate(LEFT) == [0]


def test_half_of_another_build_is_not_taken(browser: Browser, host: Host) -> None:
    alice = Player(browser, "Alice")
    page = alice.open(host.page)
    install(page)
    kept = host.build
    host.append("enter.js", EVIL, lists=True)
    host.append("wallet.js", EVIL)
    page.reload()
    press(page, "Yes, take the other build")
    says(page, "Nothing was changed: wallet.js is not the file that files.json names.")
    page.reload()
    says(page, f"Yours is {kept}")
    assert page.title() != "evil"


def test_the_list_that_is_taken_is_the_one_that_was_shown(browser: Browser, host: Host) -> None:
    alice = Player(browser, "Alice")
    page = alice.open(host.page)
    install(page)
    host.append("enter.js", "", lists=True)
    (host.folder / "files.json").write_text((host.folder / "files.json").read_text() + " ")
    page.reload()
    says(page, host.build)
    host.append("enter.js", EVIL, lists=True)
    press(page, "Yes, take the other build")
    says(page, "Nothing was changed: files.json has changed meanwhile.")


def test_another_keeper_is_told_of_before_it_counts(browser: Browser, host: Host) -> None:
    alice = Player(browser, "Alice")
    page = alice.open(host.page)
    install(page)
    expect(page.locator("#keeper")).to_be_empty()
    host.append("keep.js", "\nonfetch = undefined;")
    page.reload()
    expect(page.locator("#keeper")).to_contain_text("has sent another keep.js", timeout=60_000)
    assert violations(page) == []


def test_a_host_without_its_files_changes_nothing(browser: Browser, host: Host) -> None:
    alice = Player(browser, "Alice")
    page = alice.open(host.page)
    install(page)
    kept = host.build
    for path in host.folder.iterdir():
        path.unlink()
    for _ in range(2):
        page.reload()
        says(page, f"Installed: build {kept}")
    page.close()
    host.stop()
    page = alice.open(host.page)
    says(page, f"Installed: build {kept}")
    host.start()


def test_what_is_kept_has_the_policy_of_the_page(browser: Browser, host: Host) -> None:
    page = Player(browser, "Alice").open(host.page)
    install(page)
    found = page.evaluate("async () => (await caches.match('worker.js')).headers.get('Content-Security-Policy')")
    policy = page.locator("meta[http-equiv]").get_attribute("content")
    assert found == f"{policy}; frame-ancestors 'none'"


def test_it_is_uninstalled_with_all_that_was_kept(browser: Browser, host: Host) -> None:
    alice = Player(browser, "Alice")
    page = alice.open(host.page)
    install(page)
    press(page, "Uninstall")
    says(page, "sends this page anew at each visit")
    until(lambda: page.evaluate(LEFT) == [0])


def test_a_browser_without_service_workers_says_so(browser: Browser, host: Host) -> None:
    alice = Player(browser, "Alice")
    alice.context.add_init_script("delete Navigator.prototype.serviceWorker;")
    says(alice.open(host.page), "This browser cannot install the page")
