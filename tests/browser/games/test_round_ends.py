"""Each end of a round is on the page in Chromium until the person goes on, and its words and score are right: against
the bot and with a friend, by mouse, by keys and without scripts. What is right follows from the words of the states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Error, Locator, Page

from forcemove import Game, VariablePart
from tests.browser.served.asking import Asker
from tests.browser.served.chromium import visiting
from tests.browser.served.lobby import ALICE, BOB, ServedLobby, served_lobby
from tests.browser.served.serving import Served, served_games, until
from tests.browser.served.test_clicks import _GAMES, click, type_enter
from tests.browser.served.test_lobby import OFFER, shown
from tests.relay.process import running_relay
from tests.sampled import with_sample

ROUNDS = 2
VICTORIES, DRAWS = {"tic-tac-toe": 2, "discard": 8}, {"tic-tac-toe": 3, "discard": 10}
"""The types of positions in which the mover has won, and nobody has."""
REVEAL = 3
"""The type of a position of rock-paper-scissors in which the mover has shown its weapon."""
WITHOUT_SCRIPTS = "without scripts"
WAYS = {"mouse": click, "keys": type_enter, WITHOUT_SCRIPTS: click}
CASES = list(product(WAYS, _GAMES, ("bot", "friend")))


def winner(game: str, state: VariablePart) -> tuple[bool, int | None]:
    """Whether a round ends with a state, and who has won it."""
    if state.turn_num < 4 or state.is_final:
        return False, None
    words = [int.from_bytes(state.app_data[at : at + 32], "big") for at in range(0, 7 * 32, 32)]
    mover = state.turn_num % 2
    if game == "rock-paper-scissors":
        return words[0] == REVEAL, (None, mover, 1 - mover)[(words[6] - words[5]) % 3]
    return words[0] in (VICTORIES[game], DRAWS[game]), mover if words[0] == VICTORIES[game] else None


@dataclass
class Side:
    """A person at a page. `chosen`: the turn of the last choice; `told`: the turns whose round's end was seen."""

    served: Served
    page: Page
    game: str
    seat: int
    other: str
    has_scripts: bool
    chosen: int = 0
    told: set[int] = field(default_factory=set)

    def states(self) -> Sequence[VariablePart]:
        channel = bytes.fromhex(self.page.url.partition("/c/0x")[2][:64])
        source = self.served.server._source
        view = self.served.call(lambda: source.view(channel, None, "token"))
        return [] if view is None else view.history.states

    def is_right(self) -> bool:
        """Whether the page says what follows from the states."""
        self.refresh()
        ends = [(each.turn_num, *winner(self.game, each)) for each in self.states()]
        over = [(turn, won) for turn, is_over, won in ends if is_over]
        title = self.page.locator("#round-title")
        words = title.inner_text() if title.is_visible() else ""
        if not over or over[-1][0] < self.chosen:
            return words == "" and (not over or self.score(over) in self.board)
        turn, won = over[-1]
        begin = "The round is drawn: " if won is None else "You win the round: " if won == self.seat else ""
        is_right = words.startswith(begin or f"{self.other} wins the round: ") and self.score(over) in self.board
        self.told |= {turn} if is_right else set()
        return is_right

    def score(self, over: Sequence[tuple[int, int | None]]) -> str:
        won = Counter(each for _, each in over)
        drawn = f", drawn {won[None]}" if won[None] else ""
        return f"You {won[self.seat]}, {self.other} {won[1 - self.seat]}{drawn}"

    @property
    def board(self) -> str:
        return self.page.locator("#board").inner_text()

    def refresh(self) -> None:
        if not self.has_scripts:
            try:
                self.page.reload()
            except Error:  # it was just being left for the answer to a form
                self.page.wait_for_load_state()

    @property
    def words(self) -> list[str]:
        """The moves that the page offers; none where it does not show the newest state."""
        if self.page.locator("#board input[name=turn]").input_value() != str(self.states()[-1].turn_num + 1):
            return []
        return [each.get_attribute("value") or "" for each in self.page.locator("#board button[name=word]").all()]

    def go_on(self, act: Callable[[Locator], None], random: Random) -> None:
        """Make any move that is possible, once all is right on the page."""
        until(lambda: self.is_right() and bool(self.words))
        word, self.chosen = random.choice(self.words), len(self.states())
        act(self.page.locator(f"#board button[name=word][value='{word}']"))
        until(lambda: len(self.states()) > self.chosen)


@contextmanager
def alone(browser: Browser, game: Game, has_scripts: bool) -> Iterator[list[Side]]:
    with served_games(game) as playground, visiting(browser, playground, has_scripts=has_scripts) as visitor:
        yield [Side(playground, visitor.page, game.name, 0, "Bob", has_scripts)]


@contextmanager
def together(browser: Browser, game: Game, has_scripts: bool, folder: Path) -> Iterator[list[Side]]:
    with ExitStack() as stack:
        relay = stack.enter_context(running_relay(folder))
        sides = []
        for seat, (key, name, other) in enumerate(((ALICE, "Ann", "Bob"), (BOB, "Bob", "Ann"))):
            lobby = stack.enter_context(served_lobby(relay.url, key, name))
            page = browser.new_context(java_script_enabled=has_scripts).new_page()
            stack.callback(page.context.close)
            page.goto(lobby.address)
            sides.append(Side(lobby, page, game.name, seat, other, has_scripts))
        meet(sides, game)
        yield sides


def meet(sides: Sequence[Side], game: Game) -> None:
    """One offers a game, the other joins it, and both go to the board."""
    askers = [Asker.__new__(Asker) for _ in sides]
    for side, asker in zip(sides, askers, strict=True):
        assert isinstance(side.served, ServedLobby)
        found = next(each for each in side.page.context.cookies() if each.get("httpOnly"))
        asker.served, asker.cookie = side.served, f"{found['name']}={found['value']}"
    askers[0].post("/offers", OFFER | {"game": game.name})
    askers[1].post(shown(askers[1]) + "/join", {})
    for side in sides:
        until(partial(has_board, side))


def has_board(side: Side) -> bool:
    if "/c/0x" not in side.page.url:
        table = side.page.locator("a[href*='/c/0x']")
        side.refresh()
        if not side.has_scripts and table.count():
            table.first.click()
        else:
            side.page.wait_for_timeout(10)  # in which the browser's own events are taken in
    return "/c/0x" in side.page.url


@pytest.mark.parametrize(
    ("way", "game", "whom"),
    with_sample(CASES, (CASES[9], CASES[10], CASES[12])),
    ids=lambda each: getattr(each, "name", each),
)
def test_each_end_of_a_round_is_on_the_page_until_one_goes_on(
    browser: Browser, tmp_path: Path, way: str, game: Game, whom: str
) -> None:
    random, has_scripts = Random(46), way != WITHOUT_SCRIPTS
    place = alone(browser, game, has_scripts) if whom == "bot" else together(browser, game, has_scripts, tmp_path)
    with place as sides:
        while min(len(each.told) for each in sides) < ROUNDS:
            for side in sides:
                side.refresh()
                if side.words:
                    side.go_on(WAYS[way], random)
                else:
                    side.page.wait_for_timeout(10)
