"""The pages of a file are checked when it is opened, but for a file that was closed in order and is as it was then."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forcemove.store import clean_end, errors, sqlite
from tests.store.places import Place, batch, file_in, first, id_of, next_, snapshots


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A journal that was closed in order."""
    made = file_in(tmp_path)
    with made.open() as journal:
        journal.commit(batch(*(first(number, bytes(3_000)) for number in range(1, 60))))
    return made


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose pages were checked."""
    made: list[str] = []

    def counting(path: str) -> bool:
        found = clean_end.is_clean(path)
        made.extend([] if found else [path])
        return found

    monkeypatch.setattr(sqlite, "is_clean", counting)
    return made


def test_a_file_that_was_closed_in_order_is_not_checked_again(place: Place, checks: list[str]) -> None:
    for _ in range(3):
        with place.open() as journal:
            journal.commit(batch(next_(1, journal.versions([id_of(1)])[id_of(1)], b"then")))
    assert checks == []


def test_a_file_that_another_process_uses_is_checked(place: Place, checks: list[str]) -> None:
    with place.open():
        place.open().close()
        assert len(checks) == 1
    place.open().close()
    assert len(checks) == 1


DIE = """
import os, sys
from tests.store.places import Place, batch, next_
journal = Place(sys.argv[1]).open()
if sys.argv[2] == "written":
    journal.commit(batch(next_(1, 1, b"then")))
os._exit(1)
"""


@pytest.mark.parametrize("does", ["written", "read"])
def test_a_file_whose_process_has_died_is_checked(place: Place, checks: list[str], does: str) -> None:
    subprocess.run([sys.executable, "-c", DIE, place.where, does], check=False)  # noqa: S603
    assert not clean_end.is_clean(place.where)
    with place.open() as journal:
        assert snapshots(journal)[1][0] == (2 if does == "written" else 1)
    assert len(checks) == 1
    place.open().close()
    assert len(checks) == 1


def _overwrite(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 4] = secrets.token_bytes(4096)
    path.write_bytes(content)


def _cut_off(path: Path) -> None:
    found = path.stat()
    with path.open("r+b") as file:
        file.truncate(found.st_size - 4096)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _restore(path: Path) -> None:
    """As a backup program does, with the times that it had. The damage was there in the copy."""
    found = path.stat()
    damaged = path.with_name("damaged")
    shutil.copy(path, damaged)
    _overwrite(damaged)
    damaged.rename(path)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


@pytest.mark.parametrize("damage", [_overwrite, _cut_off, _restore])
def test_what_was_changed_after_a_clean_end_is_found(place: Place, damage: Callable[[Path], None]) -> None:
    damage(Path(place.where))
    with pytest.raises(errors.JournalDamaged):
        place.open()


def test_a_time_that_was_set_afterwards_is_no_clean_end(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file comes back in the same place on the disk, with the times that it had."""
    found = os.stat(place.where)
    assert clean_end.is_clean(place.where)
    os.utime(place.where, ns=(found.st_atime_ns, found.st_mtime_ns - 3 * 10**9))
    assert not clean_end.is_clean(place.where)


def test_whoever_has_seen_damage_leaves_no_clean_end(place: Place) -> None:
    place.run("UPDATE channels SET checksum = checksum + 1")
    with place.open() as journal, pytest.raises(errors.JournalDamaged):
        journal.load(id_of(1))
    assert not clean_end.is_clean(place.where)
