"""The list of games, one of them again by keys and slider, and its record, in Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from forcemove.game import Game
from forcemove.inspect.inspection import inspect_record, parse_subject
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.browser.served.asking import Asker
from tests.browser.served.chromium import visiting
from tests.browser.served.serving import served_games
from tests.sampled import sampled

MOVES = 3


@pytest.mark.parametrize("game", sampled([TIC_TAC_TOE, ROCK_PAPER_SCISSORS], 2), ids=lambda each: each.name)
def test_a_game_is_looked_at_again_from_the_list(browser: Browser, game: Game) -> None:
    with served_games(game) as playground, visiting(browser, playground) as visitor:
        for _ in range(MOVES):
            visitor.move(lambda spot: spot.click())
        page = visitor.page
        page.goto(f"{playground.origin}/games")
        page.locator("tr", has_text=game.title).get_by_text("replay").click()
        phase = page.locator("h1 .phase")
        last = int(phase.inner_text().split()[-1])
        assert last >= MOVES
        expect(phase).to_have_text(f"move {last} of {last}")
        for key, place in (("ArrowLeft", last - 1), ("ArrowLeft", last - 2), ("ArrowRight", last - 1), ("Home", 0)):
            page.wait_for_load_state()  # before that nobody listens to keys
            page.keyboard.press(key)
            expect(phase).to_have_text(f"move {place} of {last}")
        page.wait_for_load_state()
        page.locator("#at").focus()
        page.keyboard.press("ArrowRight")
        expect(phase).to_have_text(f"move 1 of {last}")
        assert page.url.endswith("?at=1")


def test_its_record_is_that_of_the_game_and_nothing_else_is_given(browser: Browser) -> None:
    with served_games(TIC_TAC_TOE) as playground:
        with visiting(browser, playground) as visitor:
            for _ in range(MOVES):
                visitor.move(lambda spot: spot.click())
            path = visitor.page.url.removeprefix(playground.origin).replace("/c/", "/games/").partition("?")[0]
            visitor.page.goto(f"{playground.origin}{path}")
            with visitor.page.expect_download() as download:
                visitor.page.get_by_text("Its record").click()
            text = download.value.path().read_text()
        document = parse_subject(text)
        assert not isinstance(document, bytes)
        report = inspect_record(document, [TIC_TAC_TOE])  # type: ignore[arg-type]
        assert len(report.record.states) > 2 * MOVES
        assert report.result is None
    assert "privateKey" not in text


def test_what_is_not_there_is_said() -> None:
    with served_games(TIC_TAC_TOE) as playground:
        asker, missing = Asker(playground), "/games/0x" + "ab" * 32
        assert [asker.get(path).status for path in (missing, f"{missing}/record", "/games/1")] == [404] * 3
        for path in ("/games", missing, f"{missing}/record"):
            assert asker.get(path, Cookie=None).status == 403
