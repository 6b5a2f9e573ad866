"""What a journal has of its channels for a list: kept with the channel, read without it."""

from __future__ import annotations

import pytest

from forcemove.store.journal import Journal
from forcemove.store.records import ExportKind, Ownership, StoredSummary
from tests.store.places import BOB, Place, batch, first, id_of, next_, written_by_an_older_program


def parts(journal: Journal) -> list[tuple[bytes | None, bytes | None]]:
    return [(each.profile, each.summary) for each in journal.summaries()]


def test_a_summary_is_kept_with_its_channel(journal: Journal) -> None:
    journal.commit(batch(first(1, profile=b"who", summary=b"where"), first(2)))
    assert parts(journal) == [(b"who", b"where"), (None, None)]
    journal.commit(batch(next_(1, 1, b"then", summary=b"there"), next_(2, 1, b"then", profile=b"they", summary=b"is")))
    assert parts(journal) == [(b"who", b"there"), (b"they", b"is")]
    assert [each.channel_id for each in journal.summaries()] == [id_of(1), id_of(2)]
    assert all(each.is_sound for each in journal.summaries())


def test_what_is_dropped_changes_no_summary(journal: Journal) -> None:
    journal.commit(batch(first(1, profile=b"who", summary=b"where")))
    assert journal.commit(batch(next_(1, 9, b"then", profile=b"other", summary=b"other")))
    assert parts(journal) == [(b"who", b"where")]


def test_a_summary_says_whose_the_channel_is(journal: Journal) -> None:
    journal.commit(batch(first(1, summary=b"over", finished=True), first(2), first(3)))
    journal.export([id_of(3)], ExportKind.MOVE)
    owned = [each.ownership for each in journal.summaries()]
    assert owned == [Ownership.FINISHED, Ownership.ACTIVE, Ownership.MOVED]


@pytest.mark.parametrize("steps", range(1, 9))
def test_a_channel_of_an_older_program_has_none_until_it_is_saved(shared: Place, steps: int) -> None:
    written_by_an_older_program(shared, steps)
    with shared.open() as journal:
        assert parts(journal) == [(None, None)]
        assert journal.summaries()[0].is_sound
        journal.commit(batch(next_(1, 1, b"then", profile=b"who", summary=b"where")))
        assert parts(journal) == [(b"who", b"where")]


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ("UPDATE channels SET summary_checksum = 7", StoredSummary(id_of(1), Ownership.ACTIVE, b"who", None, True)),
        ("UPDATE origins SET profile_checksum = 7", StoredSummary(id_of(1), Ownership.ACTIVE, None, b"where", True)),
        ("UPDATE channels SET checksum = 7", StoredSummary(id_of(1), Ownership.ACTIVE, b"who", b"where", False)),
        ("UPDATE origins SET checksum = 7", StoredSummary(id_of(1), Ownership.ACTIVE, b"who", b"where", False)),
    ],
)
def test_damage_is_found_and_that_of_a_summary_damages_no_channel(
    shared: Place, damage: str, expected: StoredSummary
) -> None:
    with shared.open() as journal:
        journal.commit(batch(first(1, profile=b"who", summary=b"where")))
    shared.run(damage)
    with shared.open(BOB) as journal:
        assert journal.summaries() == (expected,)
        assert (not expected.is_sound) or journal.load(id_of(1)) is not None
