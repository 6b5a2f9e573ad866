"""A journal's channels as pages: what a person decides there, and what is late or of another channel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import pytest

from forcemove import LocalTable, local_table, moves_of
from forcemove.browser import render, security, table_pages
from forcemove.browser.view import ChannelView
from forcemove.sessions.playing.content import NAMES
from forcemove.sessions.playing.human_player import HumanPlayer
from forcemove.sessions.playing.patience import MoveClock
from forcemove.sessions.presence import TablePresence
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.records import OWNER_LENGTH
from forcemove_games.tic_tac_toe import GAME

STAKE = 10**16


@dataclass
class Seated:
    """Alice at her page, against the bot."""

    pages: table_pages.TablePages
    table: LocalTable
    person: HumanPlayer

    @property
    def id(self) -> bytes:
        return self.table.channels[0].id

    @property
    def turn(self) -> int:
        return self.table.channels[0].channel.next_turn

    @property
    def view(self) -> ChannelView:
        found = self.pages.view(self.id, None, "token")
        assert found is not None
        return found


@pytest.fixture
def seated() -> Seated:
    person = HumanPlayer(GAME)
    table = local_table(GAME, person.choose, moves_of(GAME.bot(1), another_round=lambda _: True), stake=STAKE)
    person.attach(table.channels[0])
    table.play()
    pages = table_pages.TablePages(table.nodes[0]._journal, [GAME])
    pages.seat(GAME, table.channels[0].channel.agreement, person)
    return Seated(pages, table, person)


def test_a_channel_is_led_to_only_once_it_is_driven() -> None:
    person = HumanPlayer(GAME)
    table = local_table(GAME, person.choose, moves_of(GAME.bot(1), another_round=lambda _: True), stake=STAKE)
    with closing(open_journal(MEMORY, owner=bytes(OWNER_LENGTH))) as journal:
        pages = table_pages.TablePages(journal, [GAME])
        led_to: list[str] = []
        pages.on_driven = lambda: led_to.append(pages.path)
        pages.seat(GAME, table.channels[0].channel.agreement, person)
        assert (pages.path, pages.view(table.channels[0].id, None, "token")) == ("/", None)
        person.attach(table.channels[0])
        assert led_to == [f"/c/0x{table.channels[0].id.hex()}"]
        assert pages.view(table.channels[0].id, None, "token") is not None


def test_a_page_shows_the_game_and_makes_a_move_once(seated: Seated) -> None:
    before, number = seated.turn, seated.pages.changes.number
    assert [each.word for each in seated.view.seen.options if each.kind == "move"] == list("012345678")
    for _ in range(2):  # clicked twice
        seated.pages.act(seated.id, "move", "4", before)
    seated.table.play()
    assert seated.turn == before + 2
    assert seated.view.notice == ""
    assert seated.pages.changes.number > number


def test_what_is_to_be_known_at_once_is_shown_and_refuses_nothing_that_is_said(seated: Seated) -> None:
    seated.pages.warning = lambda id_: f"A warning of {id_.hex()}."
    shown = render.channel_panels(seated.view)
    for panel in ("notice", "say"):  # seen, and told
        assert f"A warning of {seated.id.hex()}." in shown[panel]
    assert seated.view.notice == ""


def test_leaving_that_was_decided_before_the_other_moved_is_asked_again(seated: Seated) -> None:
    before = seated.turn
    seated.pages.act(seated.id, "move", "4", before)
    seated.table.play()
    seated.pages.act(seated.id, "leave", "", before)
    assert not seated.table.channels[0].channel.leaving
    assert "look at the board again" in seated.view.notice
    for _ in range(2):  # clicked twice
        seated.pages.act(seated.id, "leave", "", seated.turn)
    assert seated.person.has_decided("leave")
    assert "not possible" not in seated.view.notice


def test_the_time_for_a_move_is_on_the_page_and_counts_there_without_asking(seated: Seated) -> None:
    assert "time for this move" not in render.channel_panels(seated.view)["clock"]
    left, played = [42.5], seated.table.channels[0]
    seated.person.attach(played, NAMES, MoveClock(60, lambda: left[0]))
    shown = render.channel_panels(seated.view)
    now = played.time()
    for words in ("Your time for this move", f'data-until="{now + 43}" data-now="{now}">0:43<', '<progress max="60"'):
        assert words in shown["clock"]
    assert "When it is out, Guest can challenge you. Then you have " in shown["clock"]
    assert "Guest has 1:00 for the next one." in shown["clock"]
    assert "alarm" not in shown["clock"]
    assert "time for this move" not in shown["say"]


async def test_a_page_is_sent_that_the_time_for_a_move_is_out(seated: Seated) -> None:
    left = [1.0]
    seated.person.attach(seated.table.channels[0], NAMES, MoveClock(60, lambda: left[0]))
    running = asyncio.create_task(seated.pages.run())
    await asyncio.sleep(0)
    number = seated.pages.changes.number
    left[0] = 0.0
    await seated.pages.changes.after(number, 30.0)
    assert seated.pages.changes.number > number
    assert "It is out: Guest can challenge you." in render.channel_panels(seated.view)["clock"]
    running.cancel()


def test_what_is_not_possible_is_said(seated: Seated) -> None:
    seated.pages.act(seated.id, "move", "9", seated.turn)
    assert seated.view.notice == "That is not possible right now."


class Echo:
    """A `Chat` that refuses an empty line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.is_seen: Callable[[], bool] = lambda: False
        self.presence = TablePresence(2, lambda: 0.0, lambda: 0.0)

    def say(self, text: str) -> str:
        self.lines += [f"You say: {text}"] if text else []
        return "" if text else "A line has 1 to 200 characters."


def test_what_is_said_is_on_the_page_and_what_cannot_be_is_told(seated: Seated) -> None:
    assert seated.view.chat is None
    seated.pages.say(seated.id, "Hello")
    assert seated.view.notice == "Nobody is playing this channel here now."
    seated.person.chat = Echo()
    seated.pages.say(seated.id, "<b>Hello</b>")
    assert list(seated.view.chat or ()) == ["You say: <b>Hello</b>"]
    assert seated.view.notice == ""
    page = render.channel_page(seated.view)
    assert "You say: &lt;b&gt;Hello&lt;/b&gt;" in page
    assert f'action="/c/0x{seated.id.hex()}/say"' in page
    seated.pages.say(seated.id, "")
    assert seated.view.notice.startswith("A line has")


def test_another_channel_has_no_page_and_takes_nothing(seated: Seated) -> None:
    other = bytes(32)
    assert seated.pages.view(other, None, "token") is None
    before = seated.turn
    seated.pages.act(other, "move", "4", before)
    assert seated.turn == before
    with pytest.raises(security.PageRequestRefused):
        seated.pages.press("silent")


def test_a_game_that_was_left_can_be_looked_at_and_shows_no_secrets(seated: Seated) -> None:
    assert seated.pages.path == f"/c/0x{seated.id.hex()}"
    seated.pages.leave_seat(seated.id)
    assert seated.pages.path == "/"
    assert seated.view.own == b""
    assert seated.view.seen.options
    seated.pages.act(seated.id, "leave", "", seated.turn)
    assert not seated.table.channels[0].channel.leaving
    assert seated.view.notice == "Nobody is playing this channel here now."
    rows, _ = seated.pages.rows()
    assert len(rows) == 1
