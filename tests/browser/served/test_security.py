"""The page's server answers its own browser alone: each thing that is refused, by itself."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from forcemove.browser.security import HEADERS, MAX_BODY
from forcemove.playground.buttons import press
from forcemove.playground.playground import Playground
from tests.browser.served.asking import Asker
from tests.browser.served.serving import ServedPlayground, served, until
from tests.serving.rubbish import RUBBISH, send

_FORBIDDEN, _MISDIRECTED = 403, 421


@pytest.fixture(scope="module")
def ours() -> Iterator[ServedPlayground]:
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def asker(ours: ServedPlayground) -> Asker:
    return Asker(ours)


@pytest.fixture(autouse=True)
def _bob_is_there(ours: ServedPlayground) -> None:
    ours.call(lambda: press(ours.playground, "back"))


def is_silent(asker: Asker) -> bool:
    return asker.served.call(lambda: playground_of(asker).match.bob.is_silent)


def playground_of(asker: Asker) -> Playground:
    assert isinstance(asker.served, ServedPlayground)
    return asker.served.playground


def test_a_form_of_our_page_is_taken(asker: Asker) -> None:
    answer = asker.press("silent")
    assert (answer.status, answer.headers["location"]) == (303, asker.page)
    assert is_silent(asker)


def test_the_pages_script_gets_no_page(asker: Asker) -> None:
    assert asker.press("silent", X_Live="1").status == 204


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_both_names_of_this_machine_are_ours(asker: Asker, name: str) -> None:
    host = f"{name}:{asker.served.port}"
    assert asker.get("/", Host=host).status == 200
    assert asker.press("silent", Host=host, Origin=f"http://{host}").status == 303


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", ""])
def test_another_host_is_refused(asker: Asker, host: str) -> None:
    assert asker.get("/", Host=host).status in (400, _MISDIRECTED)
    assert asker.get("/s/page.css", Host=host).status in (400, _MISDIRECTED)
    assert asker.press("silent", Host=host).status in (400, _MISDIRECTED)
    assert not is_silent(asker)


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1"])
def test_a_form_of_another_origin_is_refused(asker: Asker, origin: str | None) -> None:
    assert asker.press("silent", Origin=origin).status == _FORBIDDEN
    assert not is_silent(asker)


@pytest.mark.parametrize("site", [None, "cross-site", "same-site", "none"])
def test_a_form_that_another_site_has_sent_is_refused(asker: Asker, site: str | None) -> None:
    assert asker.press("silent", Sec_Fetch_Site=site).status == _FORBIDDEN
    assert not is_silent(asker)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_sites_page_reads_nothing(asker: Asker, site: str) -> None:
    for path in ("/", asker.page, asker.page + "/events", "/s/page.js"):
        assert asker.get(path, Sec_Fetch_Site=site).status == _FORBIDDEN
        frame = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"}
        assert asker.get(path, Sec_Fetch_Site=site, **frame).status == _FORBIDDEN


def test_a_link_from_another_site_opens_the_page(asker: Asker) -> None:
    opened = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert asker.get("/", Sec_Fetch_Site="cross-site", **opened).status == 200


@pytest.mark.parametrize("token", ["", "wrong", "x" * 43])
def test_a_form_without_the_sessions_token_is_refused(asker: Asker, token: str) -> None:
    assert asker.post("/playground/press", {"button": "silent", "token": token}).status == _FORBIDDEN
    act = {"do": "leave", "turn": "4", "token": token}
    assert asker.post(asker.page + "/act", act).status == _FORBIDDEN
    assert asker.post(asker.page + "/say", {"text": "Hello", "token": token}).status == _FORBIDDEN
    assert not is_silent(asker)


@pytest.mark.parametrize("cookie", [None, "", "forcemove=x", "forcemove-1=x"])
def test_without_the_cookie_nothing_is_shown_or_done(asker: Asker, cookie: str | None) -> None:
    for path in ("/", asker.page, asker.page + "/events"):
        answer = asker.get(path, Cookie=cookie)
        assert answer.status == _FORBIDDEN
        assert asker.form_token not in answer.body
    assert asker.press("silent", Cookie=cookie).status == _FORBIDDEN
    assert not is_silent(asker)


def test_a_cookie_that_is_no_text_is_none_of_ours(asker: Asker, caplog: pytest.LogCaptureFixture) -> None:
    """Any program on this machine can send one, or have a browser keep one for our name."""
    name = asker.cookie.partition("=")[0]
    assert asker.get("/", Cookie=f"{name}=\xff\xfe").status == _FORBIDDEN
    assert not caplog.records


def test_the_address_works_once(ours: ServedPlayground, asker: Asker) -> None:
    path = "/enter?token=" + ours.server.session.enter_token
    again = asker.get(path, Cookie=None)
    assert again.status == _FORBIDDEN
    assert "set-cookie" not in again.headers


@pytest.mark.parametrize("token", ["", "?token=", "?token=wrong"])
def test_without_the_token_nobody_enters(asker: Asker, token: str) -> None:
    assert asker.get("/enter" + token, Cookie=None).status == _FORBIDDEN


def test_who_has_entered_may_load_the_address_again(asker: Asker) -> None:
    answer = asker.get("/enter?token=wrong")
    assert answer.status == 303
    assert "set-cookie" not in answer.headers


def test_a_wrong_token_burns_nothing() -> None:
    with served() as other:
        probe = Asker.__new__(Asker)
        probe.served, probe.cookie = other, ""
        assert probe.get("/enter?token=wrong").status == _FORBIDDEN
        assert probe.ask("HEAD", "/enter?token=" + other.server.session.enter_token).status == 405
        assert Asker(other).get("/").status == 200


def test_who_comes_from_a_file_is_led_on_by_a_page_of_ours() -> None:
    with served() as other:
        probe = Asker.__new__(Asker)
        probe.served, probe.cookie = other, ""
        opened = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
        path = "/enter?token=" + other.server.session.enter_token
        assert probe.get(path, **opened | {"Sec_Fetch_Dest": "iframe"}).status == _FORBIDDEN
        answer = probe.get(path, **opened)
        assert (answer.status, answer.headers["refresh"]) == (200, f"0;url={other.server._source.path}")
        assert "SameSite=Strict" in answer.headers["set-cookie"]
        assert probe.get(path, **opened).status == _FORBIDDEN


def test_the_cookie_is_for_this_server_and_no_script(asker: Asker) -> None:
    name, _, flags = asker.entered.headers["set-cookie"].partition("=")
    assert name == f"forcemove-{asker.served.port}"
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(flags.split("; "))


def test_a_body_that_is_too_large_is_refused(asker: Asker) -> None:
    assert asker.post("/playground/press", {"button": "silent", "more": "x" * MAX_BODY}).status == 413
    assert not is_silent(asker)


def test_what_is_no_form_is_refused(asker: Asker) -> None:
    assert asker.press("silent", Content_Type="text/plain").status == 415
    assert asker.press("silent", Content_Type="application/json").status == 415
    assert asker.press("silent", Content_Type="application/x-www-form-urlencoded; charset=none").status == 400
    assert not is_silent(asker)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_only_a_post_changes_anything(asker: Asker, method: str) -> None:
    turn = asker.served.call(lambda: playground_of(asker).channel.next_turn)
    for path in (
        f"/playground/press?button=silent&token={asker.form_token}",
        f"{asker.page}/act?do=leave&turn={turn}&token={asker.form_token}",
    ):
        headers: dict[str, str | None] = {"Origin": asker.served.origin, "Sec-Fetch-Site": "same-origin"}
        assert asker.ask(method, path, headers=headers).status == 405
    assert not is_silent(asker)
    assert not asker.served.call(lambda: playground_of(asker).channel.leaving)


def test_every_answer_has_the_headers(asker: Asker) -> None:
    answers = [
        asker.get("/"),
        asker.get(asker.page),
        asker.get("/s/page.css"),
        asker.get("/s/page.js"),
        asker.get("/s/nothing.css"),
        asker.get("/nothing"),
        asker.get("/", Host="evil.example"),
        asker.get("/", Cookie=None),
        asker.get("/enter"),
        asker.entered,
        asker.press("silent"),
        asker.press("silent", X_Live="1"),
        asker.press("silent", Origin=None),
        asker.post("/playground/press", {"more": "x" * MAX_BODY}),
        asker.ask("DELETE", "/"),
    ]
    for answer in answers:
        assert {name: answer.headers.get(name.lower()) for name in HEADERS} == dict(HEADERS), answer.status


def test_the_policy_lets_nothing_in_from_elsewhere() -> None:
    policy = dict(each.split(" ", 1) for each in HEADERS["Content-Security-Policy"].split("; "))
    assert policy.pop("default-src") == "'none'"
    assert policy.pop("base-uri") == policy.pop("frame-ancestors") == "'none'"
    assert set(policy.values()) == {"'self'"}


def test_an_error_of_ours_is_a_page_with_the_headers(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ValueError("secret text")

    monkeypatch.setattr(asker.served.server._source, "rows", fail)
    answer = asker.get("/")
    assert answer.status == 500
    assert "ValueError" in answer.body
    assert "secret text" not in answer.body
    assert {name: answer.headers.get(name.lower()) for name in HEADERS} == dict(HEADERS)


def test_a_form_leads_to_no_other_site(asker: Asker) -> None:
    for path in ("https://evil.example", "//evil.example", "/c/0x12", "/\r\nX: y", ""):
        answer = asker.post("/playground/press", {"button": "silent", "path": path})
        assert answer.headers["location"] == "/"


@pytest.mark.parametrize("at", ["-1", "x", "1e3", "\N{ARABIC-INDIC DIGIT ONE}", "9999999"])
def test_an_entry_that_cannot_be_is_refused(asker: Asker, at: str) -> None:
    assert asker.get(f"{asker.page}?at={quote(at)}").status == 404


@pytest.mark.parametrize("turn", ["", "-1", "x", "9" * 40])
def test_a_turn_that_cannot_be_is_refused(asker: Asker, turn: str) -> None:
    assert asker.post(asker.page + "/act", {"do": "leave", "turn": turn}).status == 400


def test_a_channel_that_is_not_here_is_not_shown(asker: Asker) -> None:
    other = "/c/0x" + "00" * 32
    assert asker.get(other).status == 404
    assert asker.get(other + "/events").status == 404
    assert asker.post(other + "/act", {"do": "leave", "turn": "4"}).status == 404


def test_files_are_those_of_the_page_alone(asker: Asker) -> None:
    for path in ("/s/../server.py", "/s/%2e%2e/server.py", "/s/page.html", "/s/"):
        assert asker.get(path).status == 404


def test_a_malformed_request_is_one_line_of_the_log(ours: ServedPlayground, caplog: pytest.LogCaptureFixture) -> None:
    send(ours.port, RUBBISH["another version"])
    until(lambda: bool(caplog.records))

    assert caplog.text.count("\n") == 1
    assert "Error handling request from 127.0.0.1: BadStatusLine" in caplog.text


def test_the_server_listens_on_this_machine_alone(ours: ServedPlayground) -> None:
    addresses = {str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), ours.port, socket.AF_INET)}
    for address in addresses - {"127.0.0.1", "127.0.1.1"}:
        with pytest.raises(OSError, match=r"."), socket.create_connection((address, ours.port), timeout=1):
            pass
    with pytest.raises(OSError, match=r"."), socket.create_connection(("127.0.0.2", ours.port), timeout=1):
        pass
