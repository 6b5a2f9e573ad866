"""The pages that inspect: what a file, hex or a channel's id is explained as, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from forcemove.browser.inspecting import inspecting, routes, subjects
from forcemove.browser.playground.playground_pages import PlaygroundPages
from forcemove.browser.security import HEADERS
from forcemove.browser.server import BrowserServer
from forcemove.playground.playground import Playground
from forcemove.protocol.codec.wire import SignedStateFile, encode_file
from forcemove.protocol.encoding import encode_variable_part
from forcemove.store.records import ExportKind
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.browser.html import elements, text_of
from tests.browser.served.asking import Answer, Asker
from tests.browser.served.serving import ServedPlayground, running, served_games
from tests.browser.test_hostile import BREAKOUT
from tests.cli.saved import Saved, state_of
from tests.protocol.builders import BOB

GAMES = (TIC_TAC_TOE, ROCK_PAPER_SCISSORS)
SAVED = Saved()


@pytest.fixture(scope="module")
def asker() -> Iterator[Asker]:
    """A playground, whose page inspects on the playground's chain."""
    with served_games(*GAMES) as found:
        yield Asker(found)


def file_of(turn_num: int, *signers: object) -> bytes:
    signed = SAVED.signed(state_of(turn_num), *signers)  # type: ignore[arg-type]
    return encode_file(SignedStateFile(SAVED.domain, SAVED.fixed, signed)).encode()


def said(answer: Answer) -> str:
    assert answer.status == 200, answer.body
    return text_of(answer.body)


def test_a_file_is_explained(asker: Asker) -> None:
    found = said(asker.upload("/inspect", {"what": "", "file": file_of(5)}))
    for words in ("A signed state", "Tic-tac-toe", "has signed", "What each participant could do now", "challenge"):
        assert words in found


def test_a_wrong_signature_is_told(asker: Asker) -> None:
    content = json.loads(file_of(5))
    content["signatures"] = {"1": content["signatures"]["1"], "0": content["signatures"]["1"]}
    assert "WRONG signature" in said(asker.upload("/inspect", {"file": json.dumps(content)}))
    assert "WRONG" not in said(asker.upload("/inspect", {"file": file_of(5, BOB)}))


def test_hex_is_explained(asker: Asker) -> None:
    data = "0x" + encode_variable_part(state_of(6)).hex()
    assert "A state without a channel" in said(asker.upload("/inspect", {"what": data}))
    assert "A state without a channel" in said(asker.upload("/inspect", {"file": data}))


def test_a_channel_of_the_chain_is_explained(asker: Asker) -> None:
    playground = playground_of(asker)
    wanted = asker.page.removeprefix("/c/")
    found = said(asker.upload("/inspect", {"what": wanted}))
    assert "On the chain, at block" in found
    assert wanted in found
    assert str(playground.chain.chain_id) in found


def playground_of(asker: Asker) -> Playground:
    assert isinstance(asker.served, ServedPlayground)
    return asker.served.playground


def test_an_export_is_explained_without_its_secrets(asker: Asker) -> None:
    playground = playground_of(asker)

    def exported() -> tuple[bytes, bytes]:
        written = list[bytes]()
        id_ = playground.channel.agreement.channel_id
        playground.players[0].journal.export([id_], ExportKind.BACKUP, written.append)
        return written[0], playground.channel.secrets

    data, secrets = asker.served.call(exported)
    assert len(data) < subjects.MAX_SUBJECT
    answer = asker.upload("/inspect", {"file": data})
    assert "A signed state" in said(answer)
    assert not secrets or secrets.hex() not in answer.body


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("", "Type a channel's id"),
        ("0x12g4", "not hex digits"),
        ("0x" + "00" * 12 + "11" * 20, "is not a channel's id"),
        ("0x" + "ab" * 32, "knows nothing of channel"),
        ("{" * 500, "nested"),
        ("{}", "signed state"),
        ("hello", "export of a journal"),
        ("\x00\xff", "export of a journal"),
    ],
)
def test_what_cannot_be_explained_is_refused_with_a_reason(asker: Asker, what: str, words: str) -> None:
    answer = asker.upload("/inspect", {"what": what})
    assert words in said(answer)
    assert {"problem"} <= {each.attributes.get("id") for each in elements(answer.body)}


def test_what_was_typed_stays_in_its_place(asker: Asker) -> None:
    names = [[(each.name, tuple(each.attributes)) for each in elements(page)] for page in pages_of(asker)]
    assert names[0] == names[1]


def pages_of(asker: Asker) -> list[str]:
    return [asker.upload("/inspect", {"what": words}).body for words in ("xyz", BREAKOUT)]


def test_a_deployment_is_verified(asker: Asker) -> None:
    found = said(asker.get("/verify"))
    assert "Adjudicator: genuine" in found
    assert "The deployment is genuine." in found


@pytest.mark.parametrize("length", [subjects.MAX_SUBJECT + 1, 2 * subjects.MAX_SUBJECT])
def test_a_file_that_is_too_large_is_refused(asker: Asker, length: int) -> None:
    answer = asker.upload("/inspect", {"file": b"0x" + b"0" * (length - 2)})
    assert answer.status == 413 or "longer than" in said(answer)
    assert "State" not in answer.body


def test_a_file_that_is_too_large_is_refused_before_it_is_read(asker: Asker) -> None:
    kind = "multipart/form-data; boundary=x"
    ours: dict[str, str | None] = {"Origin": asker.served.origin, "Sec-Fetch-Site": "same-origin"}
    answer = asker.ask("POST", "/inspect", headers=ours | {"Content-Type": kind, "Content-Length": "10000000"})
    assert answer.status == 413


def test_the_form_is_our_pages_alone(asker: Asker) -> None:
    fields: dict[str, str | bytes] = {"what": "0x00"}
    for token in ("", "wrong"):
        assert asker.upload("/inspect", fields, token).status == 403
    for headers in ({"Cookie": None}, {"Origin": None}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}):
        assert asker.upload("/inspect", fields, **headers).status == 403
    assert asker.upload("/inspect", fields, Host="evil.example").status == 421
    assert asker.post("/inspect", {"what": "0x00"}).status == 415
    assert asker.upload("/inspect", {"what": "0x00", "more": "x"}).status == 400
    assert asker.upload("/inspect", fields, Content_Type="multipart/form-data").status == 400
    assert asker.upload("/inspect", {'what"\r\nno header': "0x00"}).status == 400
    assert asker.get("/inspect", Cookie=None).status == asker.get("/verify", Cookie=None).status == 403


def test_every_answer_has_the_headers(asker: Asker) -> None:
    answers = [asker.get("/inspect"), asker.get("/verify"), asker.upload("/inspect", {"what": "0x00"})]
    for answer in (*answers, asker.upload("/inspect", {"what": ""}, "wrong"), asker.ask("PUT", "/inspect")):
        assert {name: answer.headers.get(name.lower()) for name in HEADERS} == dict(HEADERS)


def test_without_a_chain_an_id_says_nothing() -> None:
    playground = Playground(GAMES)
    server = BrowserServer(PlaygroundPages(playground), 0, [routes.InspectSection(inspecting.Inspecting(GAMES))])
    with running(server) as found:
        asker = Asker(found)
        assert "Start this command with --chain" in said(asker.upload("/inspect", {"what": "0x" + "ab" * 32}))
        assert "A signed state" in said(asker.upload("/inspect", {"file": file_of(5)}))
        assert asker.get("/verify").status == 404
