"""The pages beside a channel's refuse what the channels' pages refuse: each route, by itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forcemove.browser.security import HEADERS, MAX_BODY
from forcemove.browser.wallet.routes import WalletSection
from forcemove.browser.wallet.wallet_pages import WalletPages
from forcemove.browser.wallet.wallet_site import WalletSite
from forcemove.chain.local import EmbeddedChain
from tests.browser.page.sections import LINK
from tests.browser.served.asking import Answer, Asker
from tests.browser.served.lobby import BOB, served_lobby
from tests.relay.process import running_relay

OFFER = "/offers/0x" + "ab" * 32
WATCH = f"/watch/{LINK}"
PAGES = ("/lobby", "/watch", WATCH, *WalletSite.heads)
STREAMS = ("/lobby/events", WATCH + "/events", "/wallet/events")
ONLY_FORMS = ("/offers", OFFER + "/join", OFFER + "/withdraw", "/lobby/resume", "/wallet/sent", "/wallet/refused")
"""Paths that are not pages, too."""
FORMS = (*ONLY_FORMS, "/watch", WATCH)
FIELDS = {
    "game": "tic-tac-toe",
    "stake": "0",
    "seats": "2",
    "duration": "3600",
    "made": "0",
    "request": "0" * 16,
    "hash": "0x" + "ab" * 32,
}
_FORBIDDEN, _MISDIRECTED = 403, 421


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    wallet = WalletPages(BOB.address, [EmbeddedChain()], lambda: (), has_tower=True)
    more = [WalletSection(wallet)]
    with running_relay(tmp_path_factory.mktemp("relay")) as relay, served_lobby(relay.url, more=more) as lobby:
        yield Asker(lobby)


@pytest.fixture(autouse=True)
def _nothing_was_done(asker: Asker) -> Iterator[None]:
    yield
    assert "Your tables" not in asker.get("/lobby").body.replace('hidden>\n<h2 id="tables-title">Your tables', "")


@pytest.mark.parametrize("path", [*PAGES, *STREAMS])
def test_a_page_is_shown_to_nobody_else(asker: Asker, path: str) -> None:
    for answer in (
        asker.get(path, Cookie=None),
        asker.get(path, Cookie="forcemove=x"),
        asker.get(path, Sec_Fetch_Site="cross-site"),
        asker.get(path, Sec_Fetch_Site="same-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="iframe"),
    ):
        require_refused(answer, _FORBIDDEN)
        assert asker.form_token not in answer.body
    require_refused(asker.get(path, Host="evil.example"), _MISDIRECTED)


@pytest.mark.parametrize("path", FORMS)
def test_a_form_of_nobody_else_is_taken(asker: Asker, path: str) -> None:
    for headers in (
        {"Cookie": None},
        {"Origin": None},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": None},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "cross-site"},
    ):
        require_refused(asker.post(path, FIELDS, **headers), _FORBIDDEN)
    for token in ("", "wrong", "x" * 43):
        require_refused(asker.post(path, FIELDS | {"token": token}), _FORBIDDEN)
    require_refused(asker.post(path, FIELDS, Host="evil.example"), _MISDIRECTED)


@pytest.mark.parametrize("path", FORMS)
def test_what_is_no_form_of_ours_is_refused(asker: Asker, path: str) -> None:
    require_refused(asker.post(path, FIELDS | {"more": "x" * MAX_BODY}), 413)
    require_refused(asker.post(path, FIELDS, Content_Type="text/plain"), 415)
    require_refused(asker.post(path, FIELDS, Content_Type="application/json"), 415)


@pytest.mark.parametrize("path", ONLY_FORMS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
def test_only_a_post_changes_anything(asker: Asker, path: str, method: str) -> None:
    headers: dict[str, str | None] = {"Origin": asker.served.origin, "Sec-Fetch-Site": "same-origin"}
    fields = "&".join(f"{name}={value}" for name, value in FIELDS.items())
    answer = asker.ask(method, f"{path}?{fields}&token={asker.form_token}", headers=headers)
    assert answer.status in (404, 405)


def test_a_page_that_is_opened_asks_no_relay(asker: Asker) -> None:
    page = asker.get(WATCH)
    assert page.status == 200
    assert "Watch this table" in page.body
    assert "Watch this table" in asker.get(WATCH).body


@pytest.mark.parametrize("link", ["x", "forcemovewatch1x", f"{LINK}a", f"{LINK}"[:-8], "a" * 5_000])
def test_a_link_that_is_none_has_no_page(asker: Asker, link: str) -> None:
    require_refused(asker.get(f"/watch/{link}"), 404)
    require_refused(asker.post("/watch", {"link": link}), 404)


@pytest.mark.parametrize(
    ("link", "words"),
    [("x", "does not begin with forcemovewatch"), ("forcemove2xabc", "With this link one joins a game")],
)
def test_who_pastes_another_link_is_told_why_and_asked_again(asker: Asker, link: str, words: str) -> None:
    page = asker.post("/watch", {"link": f" {link} "})
    assert words in page.body
    assert 'action="/watch"' in page.body


@pytest.mark.parametrize("made", ["", "-1", "x", "9" * 40])
def test_a_form_without_its_number_is_refused(asker: Asker, made: str) -> None:
    require_refused(asker.post("/offers", FIELDS | {"made": made}), 400)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"hash": "0x12"}, 400),
        ({"hash": ""}, 400),
        ({"request": "x"}, 400),
        ({"request": ""}, 400),
        ({}, 409),  # nothing of this name is wanted
    ],
)
def test_what_no_wallet_says_is_refused(asker: Asker, fields: dict[str, str], status: int) -> None:
    require_refused(asker.post("/wallet/sent", FIELDS | fields), status)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_the_headers(asker: Asker, path: str) -> None:
    require_headers(asker.get(path))


def require_refused(answer: Answer, status: int) -> None:
    assert answer.status == status
    require_headers(answer)


def require_headers(answer: Answer) -> None:
    assert {name: answer.headers.get(name.lower()) for name in HEADERS} == dict(HEADERS)
