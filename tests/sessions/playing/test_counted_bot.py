"""A bot that plays a number of rounds: killed in between, and with a journal of an older program."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from forcemove import Bot, ChannelSetup, FriendlyAssembly, ManagedChannel, Node, find_game, open_journal
from forcemove.rounds import RoundCount
from forcemove.sessions.playing.bot import BotSeat
from forcemove.sessions.playing.content import TableContent
from forcemove.sessions.playing.patience import NO_CLOCK
from forcemove.store.journal import Journal
from forcemove.store.sqlite import APPLICATION_ID
from tests.node.test_friendly import Table
from tests.scenarios.story import KEYS

RPS = find_game("rock-paper-scissors").game
JOURNALS = Path(__file__).with_name("journals")
"""`counted-SEAT.sql`: what the program of commit 845587f9, which stored its counts of rounds in front of the secrets,
has left of a game of three rounds. One is over; in the second the first player has hidden its weapon."""
WANTED = 3


class Silent:
    """An output that nobody looks at."""

    def say(self, text: str) -> None:
        """Nobody looks."""

    note = status = say

    def show(self, content: TableContent) -> None:
        """Nobody looks."""


class Bots(Table):
    """Two bots that want three rounds, an hour later: the leases of an older program are over."""

    def journal(self, seat: int) -> Journal:
        return open_journal(str(self.folder / f"{seat}.journal"), owner=os.urandom(16), clock=lambda: self.now + 3600)

    def player(self, seat: int, node: Node) -> ManagedChannel:
        bot = BotSeat(self.game, seat, WANTED, Silent())
        setup = ChannelSetup(FriendlyAssembly(self.game, self.agreement), KEYS[seat], self.lines[seat], bot.choose)
        played = node.add(setup)
        bot.attach(played, ("Alice", "Bob"), NO_CLOCK)
        return played

    @property
    def over(self) -> int:
        """How many rounds are over."""
        return len(RoundCount(self.game, self.players[0].history().states).results)


def test_bots_of_an_older_programs_journals_go_on_with_their_rounds(tmp_path: Path) -> None:
    for seat in range(2):
        with closing(sqlite3.connect(tmp_path / f"{seat}.journal")) as connection:
            connection.executescript((JOURNALS / f"counted-{seat}.sql").read_text("utf-8"))
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("PRAGMA user_version = 8")
    with closing(Bots(tmp_path, RPS)) as table:
        assert [each.channel.next_turn for each in table.players] == [11, 10]
        assert [len(each.channel.secrets) for each in table.players] == [64, 0]
        table.play()
        assert table.over == WANTED


@pytest.mark.parametrize("name", ["rock-paper-scissors", "tic-tac-toe", "discard"])
def test_bots_that_are_killed_again_and_again_play_as_many_rounds(name: str, tmp_path: Path) -> None:
    with closing(Bots(tmp_path, find_game(name).game)) as table:
        table.play(lambda number: table.restart(number // 5 % 2, loses=False) if number % 5 == 4 else None)
        assert table.over == WANTED


def test_a_game_that_fails_keeps_no_channel_from_being_driven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> Bot:
        raise ZeroDivisionError

    with closing(Bots(tmp_path, RPS)) as table:
        while not table.players[0].channel.secrets:
            table.nodes[0].poll()
            table.nodes[1].poll()
        before = table.players[0].channel.secrets
        monkeypatch.setattr(type(RPS), "bot", fail)
        table.restart(0, loses=False)
        assert table.players[0].channel.secrets == before
