"""Meetings are kept until what was agreed on is over, in old journals, too; damaged ones are in nobody's way."""

from __future__ import annotations

import pytest

from forcemove.errors import InvalidValue
from forcemove.store.journal import Journal
from forcemove.store.migrations import STEPS
from tests.store.places import Place

FIRST, SECOND = b"\x01" * 32, b"\x02" * 32


def test_meetings_are_kept_and_forgotten(journal: Journal) -> None:
    journal.meetings.keep(SECOND, b"terms")
    journal.meetings.keep(FIRST, b"other terms")
    journal.meetings.keep(FIRST, b"new terms")
    assert journal.meetings.all() == [(FIRST, b"new terms"), (SECOND, b"terms")]
    journal.meetings.forget(FIRST)
    journal.meetings.forget(FIRST)
    assert journal.meetings.all() == [(SECOND, b"terms")]


def test_a_table_has_an_id_of_32_bytes(journal: Journal) -> None:
    with pytest.raises(InvalidValue):
        journal.meetings.keep(b"short", b"")


def test_a_journal_of_before_has_none(shared: Place) -> None:
    with shared.open(steps=STEPS[:3]):
        pass
    with shared.open() as journal:
        assert journal.meetings.all() == []


def test_a_journal_forgets_what_an_older_program_has_agreed_on(shared: Place) -> None:
    """Offers and joins had other hashes then: nobody would be at those tables."""
    with shared.open(steps=STEPS[:6]) as journal:
        journal.meetings.keep(FIRST, b"of two")
    with shared.open() as journal:
        assert journal.meetings.all() == []
        journal.meetings.keep(SECOND, b"of three")
    with shared.open() as journal:
        assert journal.meetings.all() == [(SECOND, b"of three")]


def test_a_damaged_meeting_keeps_nobody_from_the_others(shared: Place) -> None:
    with shared.open() as journal:
        journal.meetings.keep(FIRST, b"terms")
        journal.meetings.keep(SECOND, b"terms")
    shared.run("UPDATE meetings SET body = id WHERE checksum = (SELECT min(checksum) FROM meetings)")
    with shared.open() as journal:
        ((_, body),) = journal.meetings.all()
        assert body == b"terms"
