"""What a journal keeps is secret: a log of its statements does not show it."""

from __future__ import annotations

import logging

import pytest

from tests.store.places import Place

SEED = b"\x5e" * 16 + b"\xed" * 16


def test_a_log_of_all_statements_shows_no_values(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "sqlalchemy")
    with place.open() as journal:
        journal.keep_seed(b"a table", SEED)
        assert journal.keep_seed(b"a table", bytes(32)) == SEED
    assert "INSERT INTO seeds" in caplog.text
    shown = caplog.text.casefold()
    assert not any(each in shown for each in (repr(SEED)[2:10].casefold(), SEED.hex(), "a table"))
