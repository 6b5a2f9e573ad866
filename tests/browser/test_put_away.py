"""A friendly game whose other player is gone: page and terminal offer to put it away, and lists say so afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forcemove.browser import render
from forcemove.browser.table_pages import TablePages
from forcemove.cli.channel.pages import table as listed_table
from forcemove.sessions.playing.content import NAMES
from forcemove.sessions.playing.human_player import HumanPlayer
from forcemove.sessions.playing.patience import MoveClock
from forcemove.sessions.presence import TablePresence
from forcemove.store.records import Ownership
from forcemove.text.situation.presence import ABSENT
from forcemove_games.tic_tac_toe import GAME
from tests.expected import known
from tests.node.test_friendly import Table, play_to


class Quiet:
    """A `Chat` at which nobody says anything."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lines: list[str] = []
        self.is_seen = lambda: True
        self.presence = TablePresence(2, lambda: self.now, lambda: 0.0)

    def say(self, text: str) -> str:
        return text


class Seat:
    """Alice at her page, where Bob is to move. `left`: of his time."""

    def __init__(self, table: Table) -> None:
        self.table, self.played = table, table.players[0]
        self.person, self.chat, self.left = HumanPlayer(GAME), Quiet(), 60.0
        self.pages = TablePages(table.journals[0], [GAME])
        self.pages.seat(GAME, table.agreement, self.person)
        self.person.attach(self.played, NAMES, MoveClock(60, lambda: self.left))
        self.person.join_chat(self.chat)

    def page(self) -> dict[str, str]:
        return render.channel_panels(known(self.pages.view(self.played.id, None, "token")))

    @property
    def words(self) -> list[str]:
        return [word for word, _ in self.person.options]


@pytest.fixture
def seat(tmp_path: Path) -> Iterator[Seat]:
    table = Table(tmp_path, GAME)
    play_to(table, 8)
    yield Seat(table)
    table.close()


def test_only_a_game_whose_other_player_is_gone_can_be_put_away(seat: Seat) -> None:
    assert "put-away" not in seat.words
    assert "Put the game away" not in seat.page()["ways"]
    assert "When it is out, you can put the game away: nothing is at stake." in seat.page()["clock"]
    assert seat.person.take("put-away").startswith("Type one of these: ")
    seat.left = 0.0
    assert "put-away" in seat.words
    assert "It is out: you can put the game away: nothing is at stake." in seat.page()["clock"]
    seat.left, seat.chat.now = 60.0, ABSENT + 1
    assert "put-away" in seat.words
    assert 'value="put-away"' in seat.page()["ways"]
    assert "The game ends here, unfinished; nothing is at stake." in seat.page()["ways"]


def test_who_has_left_need_not_wait_for_the_other_to_sign(seat: Seat) -> None:
    seat.chat.now = ABSENT + 1
    assert seat.person.take("leave") == ""
    assert seat.words[-1:] == ["put-away"]


def test_a_game_is_put_away_by_a_click_and_listed_so(seat: Seat) -> None:
    seat.chat.now = ABSENT + 1
    for _ in range(2):  # clicked twice
        seat.pages.act(seat.played.id, "put-away", "", seat.played.channel.next_turn)
    assert known(seat.pages.view(seat.played.id, None, "token")).notice == ""
    assert known(seat.table.journals[0].load(seat.played.id)).ownership is Ownership.PUT_AWAY
    assert seat.words == []
    seat.pages.leave_seat(seat.played.id)
    assert "You have put this game away: it is unfinished, and nothing was at stake." in seat.page()["guide"]
    assert "Put the game away" not in seat.page()["ways"]
    rows, now = seat.pages.rows()
    assert ">put away<" in render.channels_page(rows, now)
    assert "put away, unfinished: nothing was at stake" in listed_table(rows)
