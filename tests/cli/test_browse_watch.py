"""A stranger watches a table of two others on a page, with a real relay and a real chain."""

from __future__ import annotations

from forcemove.chain.local import local_keys
from tests.browser.html import find
from tests.browser.served.forms import FormBrowser
from tests.cli.tables import World
from tests.cli.test_browse import HOME, OFFER, browsing, entered, join, move, sit

STRANGER = local_keys()[3]


def test_a_stranger_sees_the_public_game_and_nothing_else(world: World) -> None:
    carol = entered(browsing(world, world.home("carol", STRANGER)))
    alice, bob = (entered(browsing(world, home)) for home in (world.alice, world.bob))
    alice.submit("/offers", **OFFER | {"game": "rock-paper-scissors"})
    join(bob)
    alice.open("/lobby")
    alice.reload_until("Link for spectators")
    link = find(alice.html, "watch-1").attributes["value"] or ""
    for page in (alice, bob):
        sit(page)
    watch(carol, link)
    move(alice, 4)
    carol.reload_until("Turn 4.")
    move(bob, 5)
    carol.reload_until("turn 6: signed by Host")
    assert "Every signature and every rule" in carol.html
    assert "was not believed" not in carol.html
    assert carol.words() == []
    assert "rock" in carol.html.lower()
    bob.reload_until("Turn 7.")
    bob.submit("/act", do="leave")
    alice.reload_until(HOME)
    carol.reload_until("The game is over")


def watch(page: FormBrowser, link: str) -> None:
    page.open("/watch")
    page.submit("/watch", link=link)
    assert "Watch this table" in page.html
    page.submit(link)
