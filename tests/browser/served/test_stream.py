"""The stream of a page: the newest panels and no queue, nothing while nothing happens, and nothing secret."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from functools import partial

import pytest

from tests.browser.served.asking import Asker
from tests.browser.served.serving import ServedPlayground, served, until

_CHANGES = 300
_SMALL = 4_096
_LONG = "x" * 4_000


@pytest.fixture
def ours() -> Iterator[ServedPlayground]:
    with served(rock_paper_scissors=True) as found:
        yield found


def opened(asker: Asker) -> socket.socket:
    """A reader with little room."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL)
    reader.settimeout(60)
    reader.connect(("127.0.0.1", asker.served.port))
    host = f"127.0.0.1:{asker.served.port}"
    reader.sendall(
        f"GET {asker.page}/events HTTP/1.1\r\nHost: {host}\r\nCookie: {asker.cookie}\r\n\r\n".encode("ascii")
    )
    return reader


def read_until(reader: socket.socket, text: str) -> str:
    found = b""
    while text.encode() not in found:
        found += reader.recv(65_536)
    return found.decode(errors="replace")


def events_in(text: str) -> list[dict[str, str]]:
    """The whole events of what was read, chunk sizes aside."""
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ") and line.endswith("}")]


def tell(ours: ServedPlayground, number: int) -> None:
    """Change what the page says, at some length."""
    ours.playground.errors[:] = [f"{_LONG} mark {number}."]
    ours.server._source.changes.notify()


def test_a_slow_reader_gets_the_newest_and_no_queue(ours: ServedPlayground) -> None:
    asker = Asker(ours)
    reader = opened(asker)
    for number in range(_CHANGES):
        ours.call(partial(tell, ours, number))
    found = read_until(reader, f"mark {_CHANGES - 1}.")
    assert found.count("event: panels") < _CHANGES // 4
    reader.close()


def test_every_panel_comes_first_and_then_only_what_has_changed(ours: ServedPlayground) -> None:
    asker = Asker(ours)
    reader = opened(asker)
    first = events_in(read_until(reader, "\n\n\r\n"))
    assert {"board", "ways", "happened", "playground"} <= first[0].keys()
    assert asker.press("late", X_Live="1").status == 204
    second = events_in(read_until(reader, "\n\n\r\n"))
    assert "playground" in second[0]
    assert "board" not in second[0]
    reader.close()


def test_nothing_is_sent_while_nothing_happens(ours: ServedPlayground) -> None:
    until(lambda: ours.call(lambda: ours.playground.channel.is_our_turn and bool(ours.playground.match.person.choices)))
    settled = ours.call(lambda: ours.playground.now) + 3
    until(lambda: ours.call(lambda: ours.playground.now) >= settled)
    before = ours.call(lambda: ours.server._source.changes.number)
    until(lambda: ours.call(lambda: ours.playground.now) >= settled + 4)
    assert ours.call(lambda: ours.server._source.changes.number) == before


def test_the_salt_of_a_hidden_choice_is_in_no_answer(ours: ServedPlayground) -> None:
    asker = Asker(ours)
    playground = ours.playground
    until(lambda: ours.call(lambda: bool(playground.match.person.choices)))
    assert asker.press("silent").status == 303
    turn = ours.call(lambda: playground.channel.next_turn)
    word = ours.call(lambda: playground.match.person.choices[0].word)
    assert asker.post(asker.page + "/act", {"do": "move", "word": word, "turn": str(turn)}).status == 303
    until(lambda: ours.call(lambda: playground.channel.next_turn) == turn + 1)
    salt = ours.call(lambda: playground.own)[-32:].hex()
    assert len(salt) == 64
    reader = opened(asker)
    answers = [asker.get("/").body, asker.get(asker.page).body, read_until(reader, "\n\n\r\n")]
    answers += [asker.get(f"{asker.page}?at={place}").body for place in range(12)]
    reader.close()
    assert [each for each in answers if salt in each.lower()] == []
