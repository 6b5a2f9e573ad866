"""Journals on SQLite. Before SQLite opens a file, its header is read; before the file is written, its soundness is
checked, where it is not as a clean end has left it."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkstemp

from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import QueuePool, StaticPool

from forcemove.errors import JournalError
from forcemove.store import errors, faults
from forcemove.store.clean_end import is_clean
from forcemove.store.database import Database, UnixClock
from forcemove.store.migrations import MigrationStep, bring_up_to_date, format_of

APPLICATION_ID = 0x464D_4A4C
"""In the header of every journal: "FMJL"."""
BUSY_SECONDS = 5.0
"""How long we wait for another process that writes."""

_HEADER = 100
_MAGIC = b"SQLite format 3\0"
_FORMAT = slice(60, 64)
_APPLICATION_ID = slice(68, 72)
_DEFINITIONS = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%' ORDER BY 1, 2"
_FILE_SUFFIXES = ("", "-wal", "-shm")
_NOT_NOW = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}
_SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # macOS: a sync reaches the disk itself; elsewhere it always does
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA wal_autocheckpoint = 4000",  # pages: channels that change again and again are copied less often
    "PRAGMA cell_size_check = ON",
    "PRAGMA trusted_schema = OFF",
    "SELECT count(*) FROM sqlite_master",  # the files beside this one are there now: see `SameFile`
)


def open_memory(clock: UnixClock, steps: Sequence[MigrationStep]) -> Database:
    """A journal in memory, which ends with the process."""
    return Database(memory_engine(connect_memory(steps)), ":memory:", clock)


def memory_engine(connection: sqlite3.Connection) -> Engine:
    """What has this one connection."""
    return create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool, hide_parameters=True)


def connect_memory(steps: Sequence[MigrationStep]) -> sqlite3.Connection:
    """A bare connection to a database in memory, which ends with it. A copy: the steps take ten times as long."""
    connection = connect_bare(":memory:")
    if steps:
        _after(tuple(map(tuple, steps))).backup(connection)
    return connection


@cache
def _after(steps: tuple[MigrationStep, ...]) -> sqlite3.Connection:
    """A database in memory that has taken these steps, and has nothing in its tables."""
    connection = connect_bare(":memory:")
    with Database(memory_engine(connection), ":memory:", time.time).writing() as made:
        bring_up_to_date(made, ":memory:", steps)
    return connection


def open_file(
    path: str, clock: UnixClock, steps: Sequence[MigrationStep], application_id: int = APPLICATION_ID
) -> Database:
    """The journal in a file, made if there is none; only its owner can read it. `application_id`: another one for a
    store that is not a journal. Raises `opening.open_journal`'s."""
    path = os.path.abspath(path)
    with explained(path):
        if not os.path.lexists(path):
            _create(path, application_id)
        _require_ours(path, len(steps), application_id)
        _require_sound_file(path, steps)
        _make_private(path)
    uri = _uri(path, "rw")
    engine = create_engine(
        "sqlite://",
        creator=lambda: connect_bare(uri),
        hide_parameters=True,  # what is stored is secret, also in a log
        poolclass=QueuePool,
        pool_size=1,
        max_overflow=0,
    )
    database = Database(engine, path, clock, path)
    try:
        _bring_up_to_date(database, steps)
    except BaseException:
        database.close()
        raise
    return database


def connect_file(path: str) -> sqlite3.Connection:
    """One more connection to a file that `open_file` has checked; the caller commits its statements. Raises
    `opening.open_journal`'s."""
    with explained(path):
        return connect_bare(_uri(os.path.abspath(path), "rw"))


def connect_bare(where: str) -> sqlite3.Connection:
    """A connection without the driver's own transactions: `Database` begins them."""
    connection = sqlite3.connect(
        where, uri=where != ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.text_factory = _text
    for setting in _SETTINGS:
        connection.execute(setting)
    return connection


def _text(raw: bytes) -> str:
    """Damaged text must not fail before its checksum does, nor while SQLite says what is damaged."""
    return raw.decode("utf-8", "replace")


def _bring_up_to_date(database: Database, steps: Sequence[MigrationStep]) -> None:
    """Take the missing steps. The format is in the file's header, too, where it can be read without changing the
    file."""
    with database.writing() as connection:
        is_old = format_of(connection, database.where) < len(steps)
        bring_up_to_date(connection, database.where, steps)
        if is_old:
            connection.exec_driver_sql(f"PRAGMA user_version = {len(steps)}")
    if is_old:
        with explained(database.where), closing(connect_bare(_uri(database.where, "rw"))) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")


# ------------------------------------------------------------------------------------------------ looking at the file


def _require_ours(path: str, known: int, application_id: int) -> None:
    """Check the file's first bytes alone: SQLite itself may write when it opens a file."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise errors.JournalUnusable(path, "it is not a file")
    with open(path, "rb") as file:
        require_header(path, file.read(_HEADER), known, application_id)


def require_header(where: str, header: bytes, known: int, application_id: int) -> None:
    """Check the first 100 bytes. `known`: how many steps this program has. Raises as `opening.open_journal`."""
    if not header:
        raise errors.NotAJournal(where, "the file is empty")
    if not header.startswith(_MAGIC):
        raise errors.NotAJournal(where, "it is not an SQLite file")
    if len(header) < _HEADER:
        raise errors.JournalDamaged(where, "the file ends within its first bytes")
    if int.from_bytes(header[_APPLICATION_ID]) != application_id:
        raise errors.NotAJournal(where, "it is another program's SQLite file")
    _require_known(where, int.from_bytes(header[_FORMAT]), known)


def _require_sound_file(path: str, steps: Sequence[MigrationStep]) -> None:
    """Check a file by a connection that cannot write."""
    was_closed = is_clean(path)
    with closing(sqlite3.connect(_uri(path, "ro"), uri=True, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        connection.text_factory = _text
        require_sound(path, connection, steps, was_closed=was_closed)


def require_sound(
    where: str, connection: sqlite3.Connection, steps: Sequence[MigrationStep], *, was_closed: bool
) -> None:
    """Check every page of what was not closed in order, or was changed since; the checksums of bodies are checked when
    these are read. Raises as `opening.open_journal`."""
    connection.execute("BEGIN")  # reads one snapshot: another process may be making the tables
    problem = "ok" if was_closed else connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if problem != "ok":
        raise errors.JournalDamaged(where, str(problem).replace("\n", " "))
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    _require_known(where, version, len(steps))
    _require_tables(where, connection, version, steps)


def _require_known(path: str, version: int, known: int) -> None:
    if version > known:
        raise errors.JournalOfNewerProgram(path, version, known)


def _require_tables(path: str, connection: sqlite3.Connection, version: int, steps: Sequence[MigrationStep]) -> None:
    """Check that the tables are those that the steps make, letter by letter: a damaged definition is still valid to
    SQLite."""
    if connection.execute(_DEFINITIONS).fetchall() != _definitions(tuple(map(tuple, steps[:version]))):
        raise errors.JournalDamaged(path, f"its tables are not those of format {version}")
    written = connection.execute("SELECT version FROM forcemove_journal").fetchall() if version else []
    if written != [(version,)] * bool(version):
        raise errors.JournalDamaged(path, "its header and its tables are of different formats")


@cache
def _definitions(steps: tuple[MigrationStep, ...]) -> list[tuple[object, ...]]:
    """The definitions of a journal's tables after these steps."""
    with open_memory(time.time, steps).reading() as sound:
        return [tuple(row) for row in sound.exec_driver_sql(_DEFINITIONS)]


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Exceptions of the system and of SQLite while a file is opened, as our errors."""
    try:
        yield
    except sqlite3.Error as error:
        raise _of_opening(error, path) from error
    except UnicodeDecodeError as error:  # the driver's, where SQLite's own words name something that is damaged
        raise errors.JournalDamaged(path, str(error)) from error
    except OSError as error:
        kind = errors.JournalUnwritable if error.errno in _NOT_NOW else errors.JournalUnusable
        raise kind(path, error.strerror or str(error)) from error


def _of_opening(error: sqlite3.Error, path: str) -> JournalError:
    """The error for an exception: before the first write, a file that cannot be opened is unusable, and one that cannot
    be read is damaged."""
    found = faults.of_sqlite(error, path)
    if isinstance(found, errors.JournalUnwritable):
        return errors.JournalUnusable(path, str(error))
    return found or errors.JournalDamaged(path, str(error))


# ----------------------------------------------------------------------------------------------------- making the file


def _create(path: str, application_id: int) -> None:
    """Make a journal without tables under another name, and rename it when it is whole on the disk."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise errors.JournalUnusable(path, f"there is no folder {folder}")
    descriptor, draft = mkstemp(prefix=f".{os.path.basename(path)}.", suffix=".new", dir=folder)
    os.close(descriptor)
    try:
        _write_header(draft, application_id)
        os.link(draft, path)
    except FileExistsError:
        return  # another process has made the file already
    finally:
        os.unlink(draft)
    _sync_folder(folder)


def _write_header(path: str, application_id: int) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA application_id = {application_id}")
        connection.execute("PRAGMA journal_mode = WAL")


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_private(path: str) -> None:
    """Let only the owner read the journal's files. SQLite gives the files that it makes for a journal the journal's own
    mode."""
    for suffix in _FILE_SUFFIXES:
        file = path + suffix
        if os.path.exists(file) and os.stat(file).st_mode & 0o077:
            os.chmod(file, 0o600)


def _uri(path: str, mode: str) -> str:
    """The address of a file; mode `rw` does not make one that is gone."""
    return f"{Path(path).as_uri()}?mode={mode}"
