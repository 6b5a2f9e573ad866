"""The playground's page in the other browser engine: a move is made with the mouse, and answered."""

from __future__ import annotations

from pathlib import Path

from tests.browser.firefox.bidi import firefox, move_and_be_answered
from tests.browser.served.serving import served


def test_a_move_is_made_and_answered_on_the_board(tmp_path: Path) -> None:
    with served() as playground, firefox(tmp_path) as browser:
        move_and_be_answered(browser, playground.address)
