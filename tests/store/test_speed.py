"""The measurement of the journal measures what its rows say."""

from __future__ import annotations

from pathlib import Path

from forcemove.store.opening import open_journal
from scripts.commit_ratio import commit_ratio
from scripts.idle_speed import opening
from scripts.journal_speed import measure


def test_every_commit_that_is_timed_is_kept(tmp_path: Path) -> None:
    where = str(tmp_path / "journal")
    rows = measure(where, 3, 2)

    assert {"commit_of_one_us", "commit_of_3_us", "a_channel_more_us", "open_ms", "load_3_ms"} <= rows.keys()
    with open_journal(where, owner=bytes(16)) as journal:
        assert [each.version for each in journal.channels()] == [5, 5, 5]


def test_the_journal_is_compared_with_sqlite_alone() -> None:
    """What comes of it, `scripts/benchmark.py --check` tells."""
    assert commit_ratio(bytes(3_000), rounds=1, pairs=5) > 0


def test_a_large_journal_is_opened() -> None:
    assert 0 < opening(1)["open_1_MiB_s"] < 60
