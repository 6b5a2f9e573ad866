"""A journal whose bytes somebody else keeps: what was committed is kept, and nothing else is there."""

from __future__ import annotations

import pytest

from forcemove.store import opening
from forcemove.store.errors import (
    JournalDamaged,
    JournalOfNewerProgram,
    JournalUnusable,
    JournalUnwritable,
    NotAJournal,
)
from forcemove.store.migrations import STEPS
from tests.expected import raising
from tests.store.places import ACCOUNT, BOB, ImagePlace, batch, first, next_, snapshots

DAMAGE = (JournalDamaged, JournalOfNewerProgram, JournalUnusable, NotAJournal)


@pytest.fixture
def place() -> ImagePlace:
    return ImagePlace()


def test_what_is_committed_is_kept_before_the_commit_returns(place: ImagePlace) -> None:
    for version in range(3):
        with place.open() as journal:
            before = place.image
            journal.commit(batch(first(1) if not version else next_(1, version, b"then %d" % version)))
            assert place.image != before
            kept = place.image
        assert place.image == kept
    with place.open() as journal:
        assert snapshots(journal) == {1: (3, b"then 2")}


def test_nothing_is_kept_again_where_nothing_has_changed(place: ImagePlace) -> None:
    with place.open() as journal:
        journal.commit(batch(first(1)))
        count = place.count
        journal.commit(batch(next_(1, 7, b"of another version")))
        journal.commit(batch())
        assert snapshots(journal) == {1: (1, b"at first")}
        assert place.count == count


def test_what_cannot_be_kept_is_not_there(place: ImagePlace) -> None:
    with place.open() as journal:
        journal.commit(batch(first(1)))
        place.is_full = True
        for _ in range(2):
            with raising(JournalUnwritable("image", "No space left on device")):
                journal.commit(batch(next_(1, 1, b"lost")))
            assert snapshots(journal) == {1: (1, b"at first")}
        place.is_full = False
        journal.commit(batch(next_(1, 1, b"kept")))
    with place.open() as journal:
        assert snapshots(journal) == {1: (2, b"kept")}


def test_leases_of_before_are_void(place: ImagePlace) -> None:
    with place.open() as journal:
        assert journal.leases.take([ACCOUNT], 60).refused == {}
    with place.open(BOB) as journal:
        assert journal.leases.take([ACCOUNT], 60).refused == {}


@pytest.mark.parametrize("length", [1, 15, 16, 99, 100, 4_096, -4_096, -1])
def test_an_image_that_is_cut_off_is_refused(place: ImagePlace, length: int) -> None:
    with place.open() as journal:
        journal.commit(batch(first(1)))
    place.image = place.image[:length]
    with pytest.raises(DAMAGE):
        place.open()


def test_damage_is_refused_or_harms_nothing(place: ImagePlace) -> None:
    with place.open() as journal:
        journal.commit(batch(*map(first, range(30))))
        whole, expected = place.image, snapshots(journal)
    refused = 0
    for at in range(0, len(whole), 211):
        place.image = whole[:at] + bytes((whole[at] ^ 0xFF,)) + whole[at + 1 :]
        try:
            with place.open() as journal:
                assert snapshots(journal) == expected
        except DAMAGE:
            refused += 1
    assert refused > 10


def test_a_newer_programs_and_another_programs_images_are_refused(place: ImagePlace) -> None:
    place.open(steps=(*STEPS, ("SELECT 1",))).close()
    with raising(JournalOfNewerProgram("image", len(STEPS) + 1, len(STEPS))):
        place.open()
    place.run("PRAGMA application_id = 7")
    with raising(NotAJournal("image", "it is another program's SQLite file")):
        place.open()


def test_an_older_programs_image_is_brought_up_to_date(place: ImagePlace) -> None:
    place.open(steps=STEPS[:1]).close()
    with place.open() as journal:
        journal.commit(batch(first(1)))
    with opening.open_image(lambda: place.image, place.write, owner=BOB) as journal:
        assert snapshots(journal) == {1: (1, b"at first")}
