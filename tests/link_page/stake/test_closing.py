"""A page in Chromium asks before it is closed, where nobody else could answer for its player."""

from __future__ import annotations

import signal

from playwright.sync_api import Browser, Dialog

from tests.browser.served.serving import until
from tests.link_page.stake.gamblers import WALLETS, Gambler, Room
from tests.link_page.visiting import Player

FOUR_ROUNDS = ("--rounds", "4")


class Closing:
    """Closes a page, and notes what is asked. `stays`: whether the person stays then."""

    def __init__(self, player: Player, *, stays: bool) -> None:
        self.player, self.stays, self.asked = player, stays, list[str]()
        player.page.on("dialog", self._answer)
        player.page.close(run_before_unload=True)

    def _answer(self, dialog: Dialog) -> None:
        self.asked.append(dialog.type)
        if self.stays:
            dialog.dismiss()
        else:
            dialog.accept()

    def is_closed(self) -> bool:
        self._take_in()
        return self.player.page.is_closed()

    def has_ended(self) -> bool:
        return self.has_asked() or self.is_closed()

    def has_asked(self) -> bool:
        self._take_in()
        return bool(self.asked)

    def _take_in(self) -> None:
        """Playwright takes in what has happened when it is asked for anything."""
        self.player.context.cookies()


def is_asking(player: Player) -> bool:
    return bool(player.page.evaluate("Boolean(window.onbeforeunload)"))


def wait_until_watched(alice: Gambler) -> None:
    """The page says first that it would ask, then what the watchtower has, then that it would not ask any more: read in
    this order, or what is seen is from before the turn."""
    until(lambda: alice.watched_turn() >= alice.turn() - 1 and not is_asking(alice))


def test_it_asks_once_while_the_watchtower_lacks_the_newest_turn(browser: Browser, room: Room) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.begin(has_tower=True)
    alice.play_with(*FOUR_ROUNDS)
    alice.wait_for_turn()
    wait_until_watched(alice)

    room.watching.end(by=signal.SIGKILL)
    alice.move()
    until(lambda: is_asking(alice))
    first = Closing(alice, stays=True)
    until(first.has_asked)
    assert first.asked == ["beforeunload"]
    assert not first.is_closed()
    alice.wait_for_turn()

    alice.page.remove_listener("dialog", first._answer)
    second = Closing(alice, stays=False)
    until(second.is_closed)
    assert second.asked == ["beforeunload"]


def test_it_does_not_ask_where_the_watchtower_has_the_newest_turn(browser: Browser, room: Room) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.begin(has_tower=True)
    alice.play_with(*FOUR_ROUNDS)
    alice.move()
    alice.wait_for_turn()
    wait_until_watched(alice)
    closing = Closing(alice, stays=True)
    until(closing.has_ended)
    assert closing.asked == []


def test_without_a_watchtower_it_asks_until_the_money_is_home(browser: Browser, room: Room) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.begin()
    assert not is_asking(alice)
    bot = alice.play_with("--rounds", "1")
    until(lambda: is_asking(alice))
    alice.move()
    bot.reach("result")
    until(lambda: not is_asking(alice))


def test_nobody_is_asked_about_a_friendly_game(browser: Browser, room: Room) -> None:
    alice, bob = Player(browser, "Alice"), Player(browser, "Bob")
    alice.enter(room.page)
    bob.enter(alice.offer())
    alice.move("4")
    bob.wait_for_turn()
    closing = Closing(bob, stays=True)
    until(closing.has_ended)
    assert closing.asked == []
