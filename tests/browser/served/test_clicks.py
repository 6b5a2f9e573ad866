"""A person plays in Chromium, by mouse, by keyboard and without scripts, and presses every button."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from playwright.sync_api import Browser, Locator, expect

from forcemove.game import Game
from forcemove.history.entries import FaultFound, LogIncluded
from forcemove.playground.buttons import groups_of, press
from forcemove.playground.tours import TOURS
from forcemove.protocol.logs import Checkpointed
from forcemove_games.discard import GAME as DISCARD
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.browser.served.chromium import Visitor, visiting
from tests.browser.served.serving import served_games, until
from tests.sampled import sampled, with_sample

_GAMES = TIC_TAC_TOE, ROCK_PAPER_SCISSORS, DISCARD
_MOVES = 5


def play_whole(visitor: Visitor, act: Callable[[Locator], None]) -> None:
    """Some moves, and then leave."""
    for _ in range(_MOVES):
        visitor.move(act)
    act(visitor.wait_for(visitor.page.locator("summary#do-leave")))
    act(visitor.page.locator("#sure-leave"))
    visitor.wait(lambda: visitor.is_paid)
    visitor.page.locator("#guide", has_text="as expected").wait_for()
    assert visitor.page.locator("#guide").inner_text().count("as expected") == 2


def click(spot: Locator) -> None:
    spot.click()


def type_enter(spot: Locator) -> None:
    """Go to a button with Tab alone, and press Enter."""
    spot.wait_for()
    page, id_ = spot.page, spot.get_attribute("id")
    for _ in range(200):
        if page.evaluate("document.activeElement.id") == id_:
            page.keyboard.press("Enter")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{id_} cannot be reached")


def named(value: Callable[[Locator], None] | Game) -> str:
    return "keyboard" if value is type_enter else "mouse" if value is click else value.name  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("act", "game"),
    with_sample(product((click, type_enter), _GAMES), {(click, DISCARD), (type_enter, TIC_TAC_TOE)}),
    ids=named,
)
def test_a_whole_game(browser: Browser, act: Callable[[Locator], None], game: Game) -> None:
    with served_games(game) as playground, visiting(browser, playground) as visitor:
        play_whole(visitor, act)


@pytest.mark.parametrize("game", with_sample(_GAMES, {ROCK_PAPER_SCISSORS}), ids=named)
def test_a_whole_game_without_scripts(browser: Browser, game: Game) -> None:
    with (
        served_games(game) as playground,
        visiting(browser, playground, has_scripts=False) as visitor,
    ):
        play_whole(visitor, click)


def test_a_digit_makes_a_move(visitor: Visitor) -> None:
    turn = visitor.turn
    visitor.spot(visitor.words[0]).wait_for()
    visitor.page.keyboard.press("1")
    visitor.wait(lambda: visitor.turn == turn + 2)


def test_a_silent_bob_is_challenged_and_the_money_comes_home(visitor: Visitor) -> None:
    visitor.press("silent")
    visitor.button("back").wait_for()
    visitor.spot(visitor.words[0]).click()
    visitor.do("challenge")
    visitor.page.locator("#clock", has_text="hallenge").wait_for()
    visitor.press("run-out")
    visitor.wait(lambda: visitor.is_paid)
    visitor.page.locator("#guide", has_text="as expected").wait_for()


def test_an_old_state_is_refused_by_the_newest(visitor: Visitor) -> None:
    visitor.move()
    newest = visitor.turn - 1
    visitor.press("old")

    def answered() -> list[int]:
        playground = visitor.served.playground
        entries = playground.history(playground.channel.agreement.channel_id).entries
        logs = [each.log for each in entries if isinstance(each, LogIncluded)]
        return [each.state.turn_num for each in logs if isinstance(each, Checkpointed)]

    visitor.wait(lambda: visitor.served.call(answered) == [newest])
    visitor.page.locator("#happened", has_text="heckpoint").first.wait_for()


def test_a_cheat_is_shown(visitor: Visitor) -> None:
    visitor.press("illegal")
    visitor.button("fair").wait_for()
    visitor.move()
    playground = visitor.served.playground
    entries = visitor.served.call(lambda: playground.history(playground.channel.agreement.channel_id).entries)
    assert [each for each in entries if isinstance(each, FaultFound)]


def test_every_button_can_be_pressed_on_the_page(visitor: Visitor) -> None:
    """Each one once, in an order in which each is open; then the game ends as it should."""
    visitor.move()
    order = "silent back vanish back late fair illegal withhold fair forge cut mend delay mend lose mend repeat mend"
    chain = "ten-minutes away endpoint dear cheap undo old easy hard medium"
    pressed = [*order.split(), *chain.split()]
    for name in pressed:
        visitor.press(name)
        visitor.wait(lambda: visitor.turn > 0)
    visitor.press("silent")
    visitor.spot(visitor.words[0]).click()
    visitor.do("challenge")
    visitor.press("run-out")
    visitor.wait(lambda: visitor.is_paid)
    names = {each.name for group in groups_of(visitor.served.playground) for each in group.controls}
    assert names - {*pressed, "silent", "run-out"} == {
        "new-tic-tac-toe",
        "new-rock-paper-scissors",
        *(f"tour-{name}" for name in (*TOURS, "end")),
    }
    for name in ("new-tic-tac-toe", "new-rock-paper-scissors"):
        before = visitor.page.url
        visitor.press(name)
        expect(visitor.page).not_to_have_url(before, timeout=20_000)
        visitor.page.locator("#live", has_text="live").wait_for()
        visitor.do("leave")
        visitor.wait(lambda: visitor.is_paid)


@pytest.mark.parametrize("name", sampled(list(TOURS), 2))
def test_a_tour_is_begun_and_ended_on_the_page(visitor: Visitor, name: str) -> None:
    visitor.press(f"tour-{name}")
    visitor.page.locator("#guide", has_text="Step 1 of").wait_for()
    visitor.press("tour-end")
    visitor.page.locator("#guide").wait_for(state="hidden")


def test_a_guided_tour_leads_to_balances(visitor: Visitor) -> None:
    guide = visitor.page.locator("#guide")
    visitor.press("tour-stall")
    guide.filter(has_text="Step 1 of 4").wait_for()
    visitor.press("silent")
    guide.filter(has_text="Step 2 of 4").wait_for()
    visitor.spot(visitor.words[0]).click()
    guide.filter(has_text="Step 3 of 4").wait_for()
    visitor.do("challenge")
    guide.filter(has_text="Step 4 of 4").wait_for()
    visitor.press("run-out")
    guide.filter(has_text=TOURS["stall"].end).wait_for()
    assert guide.inner_text().count("as expected") == 2


def test_reload_and_another_tab_show_the_same(visitor: Visitor) -> None:
    visitor.move()
    other = visitor.open(visitor.page.url)
    visitor.page.reload()
    visitor.page.locator("#live", has_text="live").wait_for()
    for id_ in ("board", "ways", "happened"):
        assert visitor.page.locator(f"#{id_}").inner_text() == other.locator(f"#{id_}").inner_text()
    visitor.move()
    newest = f"turn {visitor.turn - 1}"
    for page in (visitor.page, other):
        page.locator("#happened li, #happened tr, #happened a", has_text=newest).first.wait_for()


def test_focus_stays_where_it_was(visitor: Visitor) -> None:
    visitor.page.locator("#p-ten-minutes").focus()
    visitor.served.call(lambda: press(visitor.served.playground, "late"))
    visitor.served.call(visitor.served.server._source.changes.notify)
    visitor.button("fair").wait_for()
    assert visitor.page.evaluate("document.activeElement.id") == "p-ten-minutes"


def test_a_lost_stream_comes_back_and_nothing_is_done_twice(visitor: Visitor) -> None:
    turn, live = visitor.turn, visitor.page.locator("#live")
    visitor.served.call(visitor.served.cut_connections)
    visitor.spot(visitor.words[0]).click()
    until(lambda: visitor.turn > turn and bool(visitor.words))
    assert visitor.turn == turn + 2
    visitor.page.locator("#happened", has_text=f"turn {turn + 1}").wait_for()
    live.filter(has_text="live").wait_for()
    visitor.served.call(visitor.served.cut_connections)
    live.filter(has_text="lost").wait_for()
    live.filter(has_text="live").wait_for()
    visitor.move()
    assert all("net::" in each for each in visitor.errors)
    visitor.errors.clear()


def test_the_playgrounds_channel_and_contracts_are_inspected_on_its_page(visitor: Visitor) -> None:
    page, channel = visitor.page, visitor.page.url.partition("/c/")[2]
    page.locator("nav a", has_text="Inspect").click()
    page.locator("#what").fill(channel)
    page.locator("#inspect").click()
    page.locator("main", has_text="On the chain, at block").wait_for()
    page.locator("nav a", has_text="Verify").click()
    page.locator("#verdict", has_text="The deployment is genuine.").wait_for()
    page.locator("nav a", has_text="Games").click()
    page.locator("main a").first.click()
    visitor.move()
