"""The formats that journals have had: their steps stay as they are, and a journal of an older one goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import inspect

from forcemove.relay.storage import schema as relay_schema
from forcemove.store import migrations, records, schema, sqlite
from forcemove.store.journal import Journal
from tests.store.places import ACCOUNT, SEED, Place, batch, first, id_of, next_

JOURNAL = (
    "e6588c9a2e4bbb50",
    "d16d42f8c42ed4f9",
    "ec42ac9176cf0f78",
    "0df1d5e184568a7a",
    "aba5e6fca86abc7b",
    "52600867683bdfb8",
    "741a9ae867212d0d",
    "e3b0c44298fc1c14",
    "043780bdb5a5d8ce",
    "e3b0c44298fc1c14",
    "e3b0c44298fc1c14",
)
RELAY = ("300b45eadf3ad00f", "93fa85c9717307bf", "159906b7abba4180")
"""Of each step the first eight bytes of its hash, in hex."""
FOLDER = Path(__file__).with_name("formats")
"""`journal-N.sql` is a journal that a program of N steps has filled."""
EXAMPLES = {int(file.stem.removeprefix("journal-")): file for file in FOLDER.glob("journal-*.sql")}
CLIENT = b"\xc1" * 20


def digest(step: migrations.MigrationStep) -> str:
    return sha256("\0".join(step).encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("steps", "released"), [(migrations.STEPS, JOURNAL), (relay_schema.STEPS, RELAY)], ids=["journal", "relay"]
)
def test_a_step_is_never_altered(steps: Sequence[migrations.MigrationStep], released: tuple[str, ...]) -> None:
    """Journals out there have taken it. The hash of a new step goes to the end."""
    assert tuple(map(digest, steps)) == released


def test_the_steps_make_the_tables_that_statements_use(shared: Place) -> None:
    with shared.open() as journal, journal._database.reading() as connection:
        made = inspect(connection)
        for table in schema.METADATA.tables.values():
            columns = [column["name"] for column in made.get_columns(table.name)]
            keys = made.get_pk_constraint(table.name)["constrained_columns"]
            assert columns == [column.name for column in table.columns], table.name
            assert keys == [column.name for column in table.primary_key], table.name


def fill(journal: Journal) -> None:
    """Something into every table."""
    journal.keep_seed(id_of(9), SEED)
    journal.meetings.keep(id_of(8), b"terms")
    journal.leases.take([ACCOUNT], 60)
    row = records.HistoryRow(1, b"turn 0")
    journal.commit(batch(first(1, history=row, profile=b"who", summary=b"where", cursor=b"block 7")))
    journal.gather_history()
    journal.commit(
        batch(
            next_(
                1,
                1,
                b"kept",
                summary=b"there",
                evidence=(records.Evidence("fault", b"a lie"),),
                history=records.HistoryRow(1, b"turn 1"),
            )
        )
    )
    journal.transactions.commit(ACCOUNT, [records.Put(records.InFlightTransaction(5, b"deposit", id_of(1)))])
    journal.transactions.add_to_outbox([records.OutboxRequest(ACCOUNT, b"conclude", id_of(1))])
    journal.towers.keep(ACCOUNT, records.AppointmentRecord(id_of(1), CLIENT, b"proof"))
    journal.towers.charge(ACCOUNT, records.Spent(5, CLIENT, 10**18))


def contents(journal: Journal) -> object:
    """All that `fill` has put in, as the journal gives it back."""
    return (
        journal.channels(),
        [(each.channel_id, each.profile, each.summary, each.is_sound) for each in journal.summaries()],
        journal.evidence(),
        journal.history(id_of(1)),
        journal.meetings.all(),
        journal.transactions.in_flight(ACCOUNT),
        journal.transactions.outbox(ACCOUNT),
        journal.towers.appointments(ACCOUNT),
        journal.towers.spent(ACCOUNT),
        journal.keep_seed(id_of(9), b"o" * 32),
    )


def rows(file: Path) -> dict[str, list[tuple[object, ...]]]:
    """What is in each table; how the tables were made is in SQLite's own."""
    with closing(sqlite3.connect(file)) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
        tables = ["sqlite_schema", *(name for (name,) in names)]
        found = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}  # noqa: S608 - ours
    found["sqlite_schema"] = sorted(row[4] for row in found["sqlite_schema"] if row[4])
    return found


def example(taken: int, file: Path) -> Place:
    """The journal of a program of this many steps."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(EXAMPLES[taken].read_text("utf-8"))
        connection.execute(f"PRAGMA application_id = {sqlite.APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {taken}")
    return Place(str(file))


def test_there_is_an_example_of_the_newest_format_with_something_in_every_table(tmp_path: Path) -> None:
    """After a new step write one (`python -m tests.store.test_formats`), and let `fill` use what is new."""
    with Place(str(tmp_path / "new")).open() as journal:
        fill(journal)
    example(len(migrations.STEPS), tmp_path / "kept")

    filled = rows(tmp_path / "new")
    assert [name for name in schema.METADATA.tables if not filled[name]] == []
    assert rows(tmp_path / "kept") == filled


@pytest.mark.parametrize("taken", sorted(EXAMPLES))
def test_a_journal_of_an_older_format_opens_with_all_that_is_in_it_and_goes_on(taken: int, tmp_path: Path) -> None:
    with Place(str(tmp_path / "new")).open() as journal:
        fill(journal)
        expected = contents(journal)
    place = example(taken, tmp_path / "kept")

    with place.open() as journal:
        assert contents(journal) == expected
        assert journal.commit(batch(next_(1, 2, b"later", summary=b"there"))) == frozenset()
        journal.leases.take([ACCOUNT], 60)
        journal.transactions.commit(ACCOUNT, [records.Replace(records.InFlightTransaction(5, b"dearer", id_of(1)))])
        journal.towers.keep(ACCOUNT, records.AppointmentRecord(id_of(1), CLIENT, b"better"))
        journal.meetings.keep(id_of(8), b"other terms")
    with place.open() as journal:
        assert [each.snapshot for each in journal.channels()] == [b"later"]
        assert journal.transactions.in_flight(ACCOUNT) == (records.InFlightTransaction(5, b"dearer", id_of(1)),)
        assert journal.towers.appointments(ACCOUNT) == (records.AppointmentRecord(id_of(1), CLIENT, b"better"),)
        assert journal.meetings.all() == [(id_of(8), b"other terms")]


def _write_example() -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "journal"
        with Place(str(file)).open() as journal:
            fill(journal)
        with closing(sqlite3.connect(file)) as connection:
            lines = [line for line in connection.iterdump() if "sqlite_sequence" not in line]
    (FOLDER / f"journal-{len(migrations.STEPS)}.sql").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    _write_example()
