"""The built page in the other browser engine: it is loaded whole, a move is made with the mouse, and answered."""

from __future__ import annotations

from pathlib import Path

from tests.browser.firefox.bidi import firefox, move_and_be_answered
from tests.link_page.conftest import address, files

__all__ = ["address", "files"]


def test_a_move_is_made_and_answered_on_the_board(address: str, tmp_path: Path) -> None:
    with firefox(tmp_path) as browser:
        move_and_be_answered(browser, f"{address}playground.html")
