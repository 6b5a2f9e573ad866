"""Histories: appended by a channel's own commit, moved together later, bounded, checked, exported and imported."""

from __future__ import annotations

import pytest

from forcemove.store import history
from forcemove.store.errors import LeaseNotHeld, NotInOutbox
from forcemove.store.journal import Journal
from forcemove.store.migrations import STEPS
from forcemove.store.records import Assign, ExportKind, HistoryRow, InFlightTransaction, Put, StoredHistory
from tests.store.places import ACCOUNT, BOB, Place, batch, file_in, first, id_of, next_, written_by_an_older_program

STATES, CHAIN = 1, 2


def row(number: int, kinds: int = STATES) -> HistoryRow:
    return HistoryRow(kinds, b"%d" % number)


def bodies(journal: Journal, number: int = 1, kinds: int = history.ALL_KINDS) -> list[int]:
    """The history of a channel, as the numbers of its rows."""
    return [int(each) for each in journal.history(id_of(number), kinds).bodies]


def commit(journal: Journal, version: int, *numbers: int) -> None:
    """Save these channels with a row of this version each."""
    make = first if version == 0 else lambda number, **others: next_(number, version, b"then", **others)
    assert not journal.commit(batch(*(make(number, history=row(version)) for number in numbers)))


def test_a_commit_appends_to_the_histories_of_its_channels(journal: Journal) -> None:
    commit(journal, 0, 1, 2)
    commit(journal, 1, 2)
    journal.commit(batch(next_(1, 1, b"nothing to say")))

    assert (bodies(journal, 1), bodies(journal, 2), bodies(journal, 3)) == ([0], [0, 1], [])


def test_a_channel_that_is_dropped_adds_nothing(journal: Journal) -> None:
    commit(journal, 0, 1)
    assert journal.commit(batch(next_(1, 7, b"of another version", history=row(7)))) == {id_of(1)}
    assert bodies(journal) == [0]


def test_what_was_moved_together_is_in_the_same_order(journal: Journal) -> None:
    for version in range(6):
        commit(journal, version, 1, 2)
        if version in (1, 4):
            assert not journal.gather_history()
    assert bodies(journal, 1) == bodies(journal, 2) == [0, 1, 2, 3, 4, 5]


def test_many_rows_are_moved_by_and_by(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "_AT_ONCE", 4)
    for version in range(10):
        commit(journal, version, 1, 2)
    assert [journal.gather_history() for _ in range(6)] == [True, True, True, True, False, False]
    assert bodies(journal, 1) == bodies(journal, 2) == list(range(10))


def test_the_newest_rows_are_kept(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_ROWS", 3)
    for version in range(8):
        commit(journal, version, 1)
        if version % 2:
            journal.gather_history()
    assert bodies(journal) == [5, 6, 7]
    commit(journal, 8, 1)
    assert bodies(journal) == [6, 7, 8]


def test_some_kinds_can_be_asked_for(journal: Journal) -> None:
    journal.commit(batch(first(1, history=row(0, STATES))))
    journal.commit(batch(next_(1, 1, b"", history=row(1, CHAIN))))
    journal.gather_history()
    journal.commit(batch(next_(1, 2, b"", history=row(2, STATES | CHAIN))))
    assert (bodies(journal, kinds=STATES), bodies(journal, kinds=CHAIN)) == ([0, 2], [1, 2])


def test_a_transaction_adds_to_a_history_in_its_own_commit(journal: Journal) -> None:
    journal.leases.take([ACCOUNT], 60)
    journal.transactions.commit(ACCOUNT, [Put(InFlightTransaction(0, b"body"))], [(id_of(1), row(1))])
    with pytest.raises(NotInOutbox):
        journal.transactions.commit(ACCOUNT, [Assign(5, InFlightTransaction(1, b""))], [(id_of(1), row(2))])
    assert bodies(journal) == [1]


def test_who_has_no_lease_adds_nothing(journal: Journal) -> None:
    with pytest.raises(LeaseNotHeld):
        journal.transactions.commit(ACCOUNT, [], [(id_of(1), row(1))])
    assert bodies(journal) == []


@pytest.mark.parametrize("table", ["history", "recent_history"])
def test_a_damaged_row_is_counted_and_the_others_are_there(shared: Place, table: str) -> None:
    with shared.open() as journal:
        for version in range(3):
            commit(journal, version, 1)
        if table == "history":
            journal.gather_history()
    column = "kinds" if table == "history" else "parts"
    shared.run(f"UPDATE {table} SET {column} = 3 WHERE number = 2")  # noqa: S608
    with shared.open(BOB) as journal:
        assert journal.history(id_of(1)) == StoredHistory((b"0", b"2"), 1)
        assert journal.load(id_of(1)) is not None
        commit(journal, 3, 1)
        assert not journal.gather_history()
        assert journal.history(id_of(1)) == StoredHistory((b"0", b"2", b"3"), 1)


@pytest.mark.parametrize("kind", ExportKind)
def test_a_history_goes_along_with_its_channel(journal: Journal, kind: ExportKind) -> None:
    for version in range(3):
        commit(journal, version, 1, 2)
        if version == 1:
            journal.gather_history()
    with Place(":memory:").open(BOB) as other:
        other.import_(journal.export([id_of(1)], kind))
        assert (bodies(other, 1), bodies(other, 2)) == ([0, 1, 2], [])
        if kind is ExportKind.MOVE:
            other.commit(batch(next_(1, other.versions([id_of(1)])[id_of(1)], b"then", history=row(3))))
            journal.import_(other.export([id_of(1)], kind))
            journal.gather_history()
            assert bodies(journal) == [0, 1, 2, 3]


def test_a_file_without_histories_takes_none_away(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older program has written it."""
    commit(journal, 0, 1)
    with Place(":memory:").open(BOB) as other:
        other.import_(journal.export([id_of(1)], ExportKind.MOVE))
        monkeypatch.setattr(history, "rows_of", lambda *_: ([], 0))
        journal.import_(other.export([id_of(1)], ExportKind.MOVE))
    monkeypatch.undo()
    assert bodies(journal) == [0]


@pytest.mark.parametrize("steps", range(1, len(STEPS)))
def test_a_journal_of_an_older_program_gets_a_history(shared: Place, steps: int) -> None:
    written_by_an_older_program(shared, steps)
    with shared.open() as journal:
        assert bodies(journal) == []
        journal.commit(batch(next_(1, 1, b"then", history=row(1))))
        journal.gather_history()
        assert bodies(journal) == [1]


def test_two_processes_append_to_one_history(alices: Journal, bobs: Journal) -> None:
    """One drives the channel, and one sends for it."""
    commit(alices, 0, 1)
    bobs.leases.take([ACCOUNT], 60)
    bobs.transactions.commit(ACCOUNT, [], [(id_of(1), row(7))])
    assert not bobs.gather_history()
    commit(alices, 1, 1)
    assert not alices.gather_history()
    assert bodies(bobs) == [0, 7, 1]


def test_a_history_survives_the_process(tmp_path_factory: pytest.TempPathFactory) -> None:
    place = file_in(tmp_path_factory.mktemp("journal"))
    with place.open() as journal:
        commit(journal, 0, 1)
    with place.open(BOB) as journal:
        assert bodies(journal) == [0]
