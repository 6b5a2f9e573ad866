"""Counterparties can make evidence without end; a journal keeps the newest of it, and a flood drowns no other's."""

from __future__ import annotations

from forcemove.store.evidence import MAX_OF_A_CHANNEL, MAX_OF_A_KIND, MAX_OF_ALL
from forcemove.store.journal import Journal
from forcemove.store.records import MAX_EVIDENCE, Batch, Evidence
from tests.store.places import batch, first, id_of, next_


def bodies(journal: Journal, channel: int, kind: str) -> list[bytes]:
    return [each.evidence.body for each in journal.evidence(id_of(channel)) if each.evidence.kind == kind]


def test_of_each_kind_in_a_channel_the_newest_are_kept(journal: Journal) -> None:
    journal.commit(batch(first(1, evidence=(Evidence("rare", b"r"),)), first(2, evidence=(Evidence("flood", b"two"),))))
    for version in range(1, MAX_OF_A_KIND + 6):
        journal.commit(batch(next_(1, version, b"", evidence=(Evidence("flood", b"%d" % version),))))

    assert bodies(journal, 1, "flood") == [b"%d" % number for number in range(6, MAX_OF_A_KIND + 6)]
    assert bodies(journal, 1, "rare") == [b"r"]
    assert bodies(journal, 2, "flood") == [b"two"]


def test_one_batch_cannot_bring_too_much(journal: Journal) -> None:
    flood = tuple(Evidence("flood", b"%d" % number) for number in range(100))
    journal.commit(batch(first(1, evidence=flood)))

    assert bodies(journal, 1, "flood") == [b"%d" % number for number in range(100 - MAX_OF_A_KIND, 100)]


def test_all_kinds_of_a_channel_have_a_bound(journal: Journal) -> None:
    kinds = tuple(Evidence(f"kind {number}", b"") for number in range(MAX_OF_A_CHANNEL + 5))
    journal.commit(batch(first(1, evidence=kinds), first(2, evidence=kinds[:1])))

    assert [each.evidence for each in journal.evidence(id_of(1))] == list(kinds[5:])
    assert len(journal.evidence(id_of(2))) == 1


def test_all_channels_have_a_bound(journal: Journal) -> None:
    piece = (Evidence("kind", b""),)
    journal.commit(Batch(tuple(first(number, evidence=piece) for number in range(MAX_OF_ALL + 7))))

    assert [each.channel_id for each in journal.evidence()] == list(map(id_of, range(7, MAX_OF_ALL + 7)))


def test_the_largest_piece_is_kept_and_numbers_grow(journal: Journal) -> None:
    pieces = (Evidence("kind", bytes(MAX_EVIDENCE)), Evidence("kind", b""))
    journal.commit(batch(first(1, evidence=pieces)))
    kept = journal.evidence()

    assert [each.evidence for each in kept] == list(pieces)
    assert kept[0].number < kept[1].number
