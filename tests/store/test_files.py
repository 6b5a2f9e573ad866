"""What is at a journal's path: a journal is opened, anything else gives its own error and keeps every byte."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from forcemove.errors import JournalError
from forcemove.store import database, errors, records, sqlite
from forcemove.store.journal import Journal
from forcemove.store.migrations import STEPS
from tests.cli.nodes import wait_until
from tests.expected import raising
from tests.store.places import Place, batch, first, id_of, next_, snapshots

NEXT_STEP = (*STEPS, ("CREATE TABLE later (id {bytes})",))
"""What a newer program's format might be."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def refused(path: Path, kind: type[JournalError]) -> JournalError:
    """Opening fails, and the folder is just as it was before."""
    before = contents(path.parent)
    with pytest.raises(kind) as raised:
        Place(str(path)).open()
    assert contents(path.parent) == before
    return raised.value


# --------------------------------------------------------------------------------------------------------- our own file


def test_a_new_file_is_a_journal_of_this_format(file: Path) -> None:
    Place(str(file)).open().close()

    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (sqlite.APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(STEPS),)
        assert connection.execute("SELECT version FROM forcemove_journal").fetchall() == [(len(STEPS),)]
    assert [path.name for path in file.parent.iterdir()] == ["journal"]


def test_it_is_private_and_so_is_what_sqlite_puts_beside_it(file: Path) -> None:
    before = os.umask(0)
    try:
        with Place(str(file)).open() as journal:
            journal.commit(batch(first(1)))
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    finally:
        os.umask(before)

    assert modes == dict.fromkeys(("journal", "journal-wal", "journal-shm"), 0o600)


def test_a_file_that_others_can_read_is_made_private(file: Path) -> None:
    Place(str(file)).open().close()
    file.chmod(0o644)
    Place(str(file)).open().close()

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_every_commit_is_synced(file: Path) -> None:
    with Place(str(file)).open() as journal, journal._database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL


@pytest.mark.parametrize("name", ["a name with spaces", "50% #1?mode=ro", "ünï"])
def test_any_name_is_a_path(tmp_path: Path, name: str) -> None:
    place = Place(str(tmp_path / name))
    with place.open() as journal:
        journal.commit(batch(first(1)))
    with place.open() as journal:
        assert journal.ids() == (id_of(1),)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Place("journal").open() as journal:
        monkeypatch.chdir("/")
        journal.commit(batch(first(1)))
    assert snapshots(Place(str(tmp_path / "journal")).open()) == {1: (1, b"at first")}


# ------------------------------------------------------------------------------------------------------ something else


@pytest.mark.parametrize("content", [b"", b"SQLite", b"not a journal at all " * 500])
def test_a_file_that_is_not_sqlites(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    refused(file, errors.NotAJournal)


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_another_programs_sqlite_file_even_while_it_is_in_use(file: Path, mode: str) -> None:
    with closing(sqlite3.connect(file)) as theirs:
        theirs.execute(f"PRAGMA journal_mode = {mode}")
        theirs.execute("CREATE TABLE channels (id)")
        theirs.commit()
        refused(file, errors.NotAJournal)
    refused(file, errors.NotAJournal)


def test_a_folder_and_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        refused(tmp_path / name, errors.JournalUnusable)


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(errors.JournalUnusable, match="there is no folder"):
        Place(str(tmp_path / "missing" / "journal")).open()
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_nothing(file: Path) -> None:
    file.symlink_to(file.parent / "gone")
    with pytest.raises(errors.JournalUnusable):
        Place(str(file)).open()
    assert not (file.parent / "gone").exists()


OPEN_AS_NOBODY = """
import os, sys
from forcemove.store.errors import JournalUnusable
from forcemove.store.opening import open_journal
import forcemove.store.sqlite
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    open_journal(sys.argv[1], owner=bytes(16))
except JournalUnusable as error:
    print(error.reason)
"""


@pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o711, 0o000), (0o700, 0o600), (0o555, None)])
def test_no_permission(tmp_path: Path, folder_mode: int, file_mode: int | None) -> None:
    """Root may do everything: where the tests are root's, a child gives that up first."""
    folder = Path(_open_to_all(tmp_path), "private")
    folder.mkdir()
    if file_mode is not None:
        Place(str(folder / "journal")).open().close()
        (folder / "journal").chmod(file_mode)
    if os.geteuid() != 0:
        folder_mode &= 0o555 if file_mode is None else 0o011
    folder.chmod(folder_mode)
    try:
        assert "ermission denied" in _output(OPEN_AS_NOBODY, str(folder / "journal"))
    finally:
        folder.chmod(0o700)


def _open_to_all(folder: Path) -> Path:
    """pytest's folders are private, up to the system's own for temporary files."""
    temporary = Path(tempfile.gettempdir()).resolve()
    for parent in (folder, *folder.parents):
        if parent.owner() == Path.home().owner() and temporary in parent.parents:
            parent.chmod(0o711)
    return folder


def _output(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603


# ----------------------------------------------------------------------------------------------------------- migrations


def test_a_newer_programs_journal(file: Path) -> None:
    Place(str(file)).open(steps=NEXT_STEP).close()
    assert refused(file, errors.JournalOfNewerProgram) == errors.JournalOfNewerProgram(
        str(file), len(NEXT_STEP), len(STEPS)
    )


def test_a_newer_programs_journal_after_a_crash(file: Path) -> None:
    """The newer format is in the log beside the file still, and is not in the file."""
    Place(str(file)).open().close()
    with closing(sqlite3.connect(file, isolation_level=None)) as newer:
        newer.execute("BEGIN IMMEDIATE")
        newer.execute("UPDATE forcemove_journal SET version = ?", (len(NEXT_STEP),))
        newer.execute(f"PRAGMA user_version = {len(NEXT_STEP)}")
        newer.execute("COMMIT")
        main, log = file.read_bytes(), Path(f"{file}-wal").read_bytes()
        assert main[63] == len(STEPS)
        with pytest.raises(errors.JournalOfNewerProgram):
            Place(str(file)).open()
        assert (file.read_bytes(), Path(f"{file}-wal").read_bytes()) == (main, log)


def test_an_older_journal_is_brought_up_to_date_with_all_that_is_in_it(shared: Place) -> None:
    with shared.open() as journal:
        journal.commit(batch(first(1)))
    with shared.open(steps=NEXT_STEP) as journal:
        assert snapshots(journal) == {1: (1, b"at first")}

    assert shared.run("SELECT version FROM forcemove_journal") == [(len(NEXT_STEP),)]
    assert shared.run("SELECT * FROM later") == []
    with pytest.raises(errors.JournalOfNewerProgram):
        shared.open()


def test_steps_are_taken_all_or_none(shared: Place) -> None:
    shared.open().close()
    broken = (*NEXT_STEP, ("CREATE TABLE much_later (id {bytes})", "CREATE TABLE channels (id {bytes})"))
    with pytest.raises(Exception, match="channels"):
        shared.open(steps=broken)

    assert shared.run("SELECT version FROM forcemove_journal") == [(len(STEPS),)]
    shared.open(steps=NEXT_STEP).close()


def test_two_that_open_a_new_journal_at_once_have_one(shared: Place) -> None:
    from threading import Thread

    opened: list[Journal] = []
    threads = [Thread(target=lambda: opened.append(shared.open())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(opened) == 6
    opened[0].commit(batch(first(1)))
    assert [each.ids() for each in opened] == [(id_of(1),)] * 6
    for each in opened:
        each.close()


@pytest.mark.parametrize(
    "lose",
    [
        lambda path: path.unlink(),
        lambda path: (path.rename(path.with_name("kept")), path.write_bytes(path.with_name("kept").read_bytes())),
    ],
    ids=["removed", "replaced"],
)
def test_nothing_is_written_to_a_file_that_has_lost_its_name(file: Path, lose: Callable[[Path], object]) -> None:
    with Place(str(file)).open() as journal:
        journal.commit(batch(first(1)))
        lose(file)
        with pytest.raises(errors.JournalUnwritable, match="removed or replaced"):
            journal.commit(batch(next_(1, 1, b"lost")))


def _replace(path: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)


@pytest.mark.parametrize("lose", [Path.unlink, _replace], ids=["removed", "replaced"])
@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_threat_101_nothing_is_believed_that_went_to_a_file_without_a_name(
    file: Path, suffix: str, lose: Callable[[Path], object]
) -> None:
    side_file = file.with_name(file.name + suffix)
    with Place(str(file)).open() as journal:
        journal.commit(batch(first(1)))
        lose(side_file)
        for _ in range(2):
            with raising(errors.JournalFileLost(str(file), str(side_file))):
                journal.commit(batch(next_(1, 1, b"lost")))


def test_threat_101_a_commit_during_which_a_file_is_lost_is_an_error_and_kept(file: Path, tmp_path: Path) -> None:
    """What was committed must not be sent; and it is there when the next process begins."""
    with Place(str(file)).open() as journal:
        journal.commit(batch(first(1)))
        with pytest.raises(errors.JournalFileLost):
            journal.export([id_of(1)], records.ExportKind.MOVE, lambda _: file.with_name("journal-wal").unlink())
        assert alone(file, tmp_path, records.Ownership.MOVED) == {1: b"at first"}


def test_threat_101_a_file_that_another_one_has_made_is_left_alone(file: Path) -> None:
    with Place(str(file)).open() as journal:
        journal.commit(batch(first(1)))
        before = file.read_bytes()
        _replace(file.with_name("journal-wal"))
        with pytest.raises(errors.JournalFileLost):
            journal.commit(batch(next_(1, 1, b"lost")))
        assert file.read_bytes() == before


def alone(file: Path, tmp_path: Path, *ownerships: records.Ownership) -> dict[int, bytes]:
    """The channels in a copy of the file, without those beside it."""
    copy = tmp_path / "copy"
    copy.write_bytes(file.read_bytes())
    with Place(str(copy)).open() as journal:
        return {int.from_bytes(each.channel_id): each.snapshot for each in journal.channels(*ownerships)}


def test_what_is_committed_is_soon_in_the_file_itself(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nothing more is committed, and a reader is in the way at first."""
    monkeypatch.setattr(database, "COPY_AFTER", 0.01)
    with Place(str(file)).open() as journal, closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM channels").fetchall()
        journal.commit(batch(first(1)))
        tried = journal._database._copying
        wait_until(lambda: journal._database._copying is not tried)
        assert alone(file, tmp_path) == {}
        reader.execute("COMMIT")
        wait_until(lambda: alone(file, tmp_path) == {1: b"at first"})


def test_the_file_itself_is_never_older_than_a_minute() -> None:
    assert database.COPY_AFTER <= 30
