"""Histories for pages: only what is new is decoded, and a page has what the journal has."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import pytest

from forcemove.browser import history_reader
from forcemove.browser.history_reader import HistoryReader
from forcemove.history.entries import ConnectionLost
from forcemove.history.history import ChannelHistory, decode_history
from forcemove.history.packing import pack
from forcemove.store import history
from forcemove.store.journal import Journal
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.records import OWNER_LENGTH, HistoryRow

ID, OTHER = bytes(32), bytes(31) + b"\x01"


class Reading:
    """A reader of a real journal in memory. `decoded`: the bodies that were decoded; `now`: the reader's clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.journal: Journal = open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH))
        self.decoded: list[bytes] = []
        self.now = 0.0
        self.reader = HistoryReader(self.journal, lambda: self.now)
        monkeypatch.setattr(history_reader, "decode_history", self._decode)

    def _decode(self, bodies: Sequence[bytes]) -> ChannelHistory:
        self.decoded += bodies
        return decode_history(bodies)

    def append(self, *times: int, to: bytes = ID) -> None:
        rows = [(to, HistoryRow(1, pack([ConnectionLost(each, "ws://relay")]))) for each in times]
        with self.journal._database.writing() as connection:
            history.append(connection, rows)

    def replace(self, *bodies: bytes) -> None:
        with self.journal._database.writing() as connection:
            history.put(connection, ID, [HistoryRow(1, each) for each in bodies])

    def times(self, change: int = 0, of: bytes = ID) -> list[int]:
        """What is read, and how much of it was decoded now is in `decoded`."""
        self.decoded.clear()
        return [each.time for each in self.reader.read(of, change).entries]


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Reading:
    return Reading(monkeypatch)


def test_only_what_is_new_is_decoded(reading: Reading) -> None:
    reading.append(1, 2, 3)
    assert reading.times() == [1, 2, 3]
    reading.append(4)
    reading.append(9, to=OTHER)
    assert reading.times(1) == [1, 2, 3, 4]
    assert len(reading.decoded) == 1
    assert reading.times(2) == [1, 2, 3, 4]
    assert reading.decoded == []
    assert reading.times(2, OTHER) == [9]


def test_a_journal_is_asked_once_for_one_change_and_again_after_a_second(reading: Reading) -> None:
    reading.append(1)
    assert reading.times() == [1]
    reading.append(2)
    assert reading.times() == [1]
    reading.now = 1.0
    assert reading.times() == [1, 2]


def test_what_the_journal_has_dropped_is_dropped(reading: Reading) -> None:
    bodies = [pack([ConnectionLost(each, "ws://relay")]) for each in range(6)]
    reading.replace(*bodies[:4])
    assert reading.times() == [0, 1, 2, 3]
    reading.replace(*bodies[2:])
    assert reading.times(1) == [2, 3, 4, 5]
    assert reading.decoded == bodies[4:]


def test_another_history_of_the_same_channel_is_read_anew(reading: Reading) -> None:
    bodies = [pack([ConnectionLost(each, "ws://relay")]) for each in range(4)]
    reading.replace(*bodies)
    assert reading.times() == [0, 1, 2, 3]
    reading.replace(bodies[1], bodies[3], bodies[2])
    assert reading.times(1) == [1, 3, 2]
    reading.replace()
    assert reading.times(2) == []


def test_what_cannot_be_read_is_counted(reading: Reading) -> None:
    reading.replace(pack([ConnectionLost(1, "ws://relay")]), b"nonsense")
    assert reading.times() == [1]
    assert reading.reader.read(ID, 1).unreadable == 1
    reading.append(2)
    found = reading.reader.read(ID, 2)
    assert ([each.time for each in found.entries], found.unreadable) == ([1, 2], 1)


def test_few_channels_are_kept_in_memory(reading: Reading) -> None:
    reading.append(1)
    reading.times()
    for number in range(2, 10):
        reading.times(of=number.to_bytes(32))
    assert reading.times() == [1]
    assert len(reading.decoded) == 1
    assert len(reading.reader._known) == 8
