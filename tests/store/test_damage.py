"""Damaged files: every read gives what was written or an error, and a file that cannot be opened keeps every byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from forcemove.errors import JournalError
from forcemove.store import records
from forcemove.store.errors import JournalDamaged, NotAJournal
from forcemove.store.journal import Journal
from tests.store.places import ACCOUNT, BOB, SEED, Place, batch, file_in, first, id_of, next_


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def everything(journal: Journal) -> list[Any]:
    """All that can be read. A channel's version is compared and never acted on, so it is left out."""
    kept = [(each.channel_id, each.ownership, each.snapshot, each.metadata) for each in journal.channels()]
    of_accounts = (journal.transactions.in_flight(ACCOUNT), [w.request for w in journal.transactions.outbox(ACCOUNT)])
    evidence = [(each.channel_id, each.evidence) for each in journal.evidence()]
    seed = journal.keep_seed(b"a table", SEED)
    of_towers = (journal.towers.appointments(ACCOUNT), journal.towers.spent(ACCOUNT))
    return [kept, evidence, of_accounts, of_towers, seed]


def fill(journal: Journal) -> None:
    for number in range(1, 9):
        wanted = (records.OutboxRequest(ACCOUNT, b"deposit" * 20, id_of(number)),)
        journal.commit(batch(first(number, bytes([number]) * 3_000)))
        journal.transactions.add_to_outbox(wanted)
    evidence = (records.Evidence("kind", b"body" * 500),)
    journal.commit(records.Batch((next_(1, 1, b"then" * 2_000, evidence=evidence, cursor=b"block"),)))
    journal.leases.take([ACCOUNT], 60)
    journal.transactions.commit(
        ACCOUNT, [records.Put(records.InFlightTransaction(nonce, b"signed" * 50)) for nonce in range(5)]
    )
    journal.towers.keep(ACCOUNT, records.AppointmentRecord(id_of(1), b"\xc1" * 20, b"proof" * 50))
    journal.towers.charge(ACCOUNT, records.Spent(7, b"\xc1" * 20, 10**18))
    journal.keep_seed(b"a table", SEED)


class Quiet(list[Any]):
    """Too much to be shown where a test fails."""

    def __repr__(self) -> str:
        return "all that is in the journal"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a journal with all kinds of things in it."""
    place = file_in(tmp_path_factory.mktemp("sound"))
    with place.open() as journal:
        fill(journal)
    return Path(place.where).read_bytes()


@pytest.fixture(scope="module")
def expected(sound: bytes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    place = file_in(tmp_path_factory.mktemp("expected"))
    Path(place.where).write_bytes(sound)
    with place.open() as journal:
        yield Quiet(everything(journal))


def damage(file: Path, content: bytes, expected: list[Any]) -> JournalError | None:
    """Write a damaged file and open it: an error, or all that was in it. What cannot be opened keeps every byte."""
    for path in file.parent.iterdir():
        path.unlink()
    file.write_bytes(content)
    try:
        journal = Place(str(file)).open(BOB)
    except JournalError as error:
        assert file.read_bytes() == content
        return error
    try:
        assert everything(journal) == expected
    except JournalError as error:
        return error
    finally:
        journal.close()
    return None


FLIPS = st.dictionaries(st.integers(0, 90_000), st.integers(1, 255), min_size=1, max_size=9)


@given(flips=FLIPS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_flipped_bytes_are_found_or_harm_nothing(
    file: Path, sound: bytes, expected: list[Any], flips: dict[int, int]
) -> None:
    content = bytearray(sound)
    for at, bits in flips.items():
        content[at % len(sound)] ^= bits
    damage(file, bytes(content), expected)


@pytest.mark.parametrize("body", [b"\x03" * 3_000, b"signed" * 50, b"deposit" * 20, b"body" * 500, b"about 3"])
def test_a_flipped_byte_in_a_body_is_found(file: Path, sound: bytes, expected: list[Any], body: bytes) -> None:
    """Wherever it is in the file: SQLite leaves copies in places that it has no use for any more."""
    changed = bytes([*body[:-1], body[-1] ^ 1])
    content = sound.replace(body, changed)
    assert content != sound

    assert isinstance(damage(file, content, expected), JournalDamaged)


def test_a_row_that_an_index_has_lost_is_found_before_anything_is_written(file: Path, sound: bytes) -> None:
    """Looked up by its id, the channel would not be there."""
    at = sound.index(id_of(3) + b"\x03" * 3_000) + 31
    content = sound[:at] + b"\x09" + sound[at + 1 :]
    file.write_bytes(content)
    with pytest.raises(JournalDamaged, match="index"):
        Place(str(file)).open()
    assert file.read_bytes() == content


def test_a_flipped_byte_in_a_tables_definition_is_found(file: Path, sound: bytes, expected: list[Any]) -> None:
    """It is valid still, for another column."""
    content = sound.replace(b"metadata BLOB NOT NULL", b"metacata BLOB NOT NULL")
    assert content != sound

    assert isinstance(damage(file, content, expected), JournalDamaged)


@given(length=st.integers(0, 80_000))
@example(0)
@example(99)
@example(4096)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_a_truncated_file_is_found(file: Path, sound: bytes, expected: list[Any], length: int) -> None:
    assert len(sound) > 80_000
    assert isinstance(damage(file, sound[:length], expected), JournalDamaged | NotAJournal)


def test_a_damaged_channel_does_not_hide_the_others(file: Path, sound: bytes) -> None:
    at = sound.index(b"\x03" * 3_000) + 100
    file.write_bytes(sound[:at] + b"\xff" + sound[at + 1 :])
    with Place(str(file)).open() as journal:
        with pytest.raises(JournalDamaged):
            journal.channels()
        readable = [number for number in range(1, 9) if _is_readable(journal, number)]

    assert len(journal_ids(file)) == 8
    assert readable == [1, 2, 4, 5, 6, 7, 8]


def journal_ids(file: Path) -> tuple[bytes, ...]:
    with Place(str(file)).open() as journal:
        return journal.ids()


def _is_readable(journal: Journal, number: int) -> bool:
    try:
        return journal.load(id_of(number)) is not None
    except JournalDamaged:
        return False
