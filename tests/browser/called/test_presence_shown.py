"""That the other is there, or was not heard for a while, stands beside the name: counted by the page itself, and true
over a relay that is killed."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from forcemove.browser.render import channel_page, channel_panels
from forcemove.browser.view import ChannelView
from forcemove.sessions import chat
from forcemove.text.situation import presence
from tests.browser.called.test_calls import STREAMS
from tests.browser.html import elements
from tests.browser.page.routed import opened, violations
from tests.browser.served.asking import Asker
from tests.browser.served.lobby import BOB, ServedLobby, served_lobby
from tests.browser.served.serving import until
from tests.browser.served.test_lobby import offered, shown, states
from tests.browser.views import Looks, view_of
from tests.relay.process import RelayProcess, running_relay


def silent_for(looks: Looks, seconds: float) -> ChannelView:
    return replace(view_of(looks.ours(), path="/c"), silences=(None, seconds))


def test_the_page_counts_by_itself(browser: Browser, looks: Looks) -> None:
    with opened(browser, {"/c": channel_page(silent_for(looks, 58))}, "/c", before=STREAMS) as page:
        beside = page.locator("#heard-1")
        expect(beside).to_have_text("not heard for 1:01", timeout=10_000)
        assert violations(page) == []


def test_a_sign_of_presence_replaces_nothing_that_is_being_clicked(browser: Browser, looks: Looks) -> None:
    view = silent_for(looks, 58)
    with opened(browser, {"/c": channel_page(view)}, "/c", before=STREAMS) as page:
        page.evaluate("window.board = document.getElementById('board')")
        panels = channel_panels(replace(view, silences=(None, 0.0)))
        page.evaluate("(panels) => window.tell(panels)", panels)
        expect(page.locator("#heard-1")).to_have_text("heard 1 s ago", timeout=10_000)
        assert page.evaluate("window.board === document.getElementById('board')")


def test_nothing_is_said_of_ourselves_nor_after_the_end(looks: Looks) -> None:
    ours = replace(view_of(looks.ours()), silences=(5.0, None))
    over = replace(view_of(looks.paid()), silences=(None, 5.0))
    for view in (ours, over):
        assert [each for each in elements(channel_page(view)) if "data-heard" in each.attributes] == []


@pytest.fixture
def relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RelayProcess]:
    monkeypatch.setattr(chat, "_SIGN_SECONDS", 0.2)
    monkeypatch.setattr(presence, "ABSENT", 2.0)
    monkeypatch.setattr("forcemove.sessions.presence.ABSENT", 2.0)
    with running_relay(tmp_path) as relay:
        yield relay


@contextmanager
def looking(asker: Asker) -> Iterator[None]:
    """A page is open in a browser."""
    head = f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{asker.served.port}\r\nCookie: {asker.cookie}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", asker.served.port)) as stream:
        stream.sendall(head.encode("ascii"))
        stream.recv(1)
        yield


def silence(lobby: ServedLobby) -> float | None:
    """How long the other was not heard at the only table."""
    [seated] = lobby.server._source._seated.values()  # type: ignore[attr-defined]
    return max((each for each in seated.silences if each is not None), default=None)


def test_who_looks_is_there_and_who_does_not_is_not_over_a_relay_that_is_killed(relay: RelayProcess) -> None:
    with ExitStack() as stack:
        host = stack.enter_context(served_lobby(relay.url, name="Ann"))
        guest = stack.enter_context(served_lobby(relay.url, BOB, name="Bob"))
        alice, bob = Asker(host), Asker(guest)
        offered(alice)
        path = shown(bob)
        bob.post(path + "/join", {})
        until(lambda: states(alice) == states(bob) == ["playing"])
        board = bob.get(path).headers["location"]
        until(lambda: "not heard for" in alice.get(board).body)  # nobody looks yet

        with looking(bob):
            until(lambda: "heard 0 s ago" in alice.get(board).body)
            relay.kill()
            until(lambda: "not heard for" in alice.get(board).body)
            relay.start()
            until(lambda: "heard 0 s ago" in alice.get(board).body)
        until(lambda: "not heard for" in alice.get(board).body)
        assert states(alice) == states(bob) == ["playing"]
        assert host.call(lambda: silence(host)) is not None
