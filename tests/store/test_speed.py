"""The measurement of the journal measures what its rows say."""

from __future__ import annotations

from pathlib import Path

from forcemove.store.opening import open_journal
from scripts.measuring.idle import opening
from scripts.measuring.journals import commit, journal


def test_every_commit_that_is_timed_is_kept(tmp_path: Path) -> None:
    where = str(tmp_path / "journal")
    rows = journal(channels=3, rounds=2, where=where)

    assert {"commit_of_one_us", "commit_of_many_us", "a_channel_more_us", "open_ms", "load_ms"} <= rows.keys()
    with open_journal(where, owner=bytes(16)) as found:
        assert [each.version for each in found.channels()] == [5, 5, 5]


def test_the_journal_is_compared_with_sqlite_alone() -> None:
    """What comes of it, `scripts/measure --check` tells."""
    assert commit(rounds=1, pairs=5)["commit_ratio"] > 0


def test_a_large_journal_is_opened() -> None:
    assert 0 < opening(1)["opening_s"] < 60
