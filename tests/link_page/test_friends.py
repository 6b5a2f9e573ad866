"""Two players, each in a tab, over a real relay: from an offer to the end of a game, and on from what was kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from forcemove import connect_relay
from forcemove.browser.table_pages import TablePages
from forcemove.inspect.game_record import decode_game_record
from forcemove.link_page import begin_friends
from forcemove.link_page.begin_friends import begin, relay_of
from forcemove.link_page.friends import FriendsTab
from forcemove.registry import InstalledGame, InstalledGames
from forcemove.scaffold.scaffold import write_game
from forcemove.transport.links import Link
from tests.link_page.tabs import end, html, move, send, shows, until
from tests.relay.process import running_relay
from tests.transport.offered import new_offer
from tests.transport.people import ALICE

PAGE = "https://relay.example/"


class File:
    """What JavaScript has opened. `is_full`: whether writes fail."""

    def __init__(self) -> None:
        self.data = b""
        self.is_full = False

    def read(self) -> File:
        return self

    def to_bytes(self) -> bytes:
        return self.data

    def write(self, data: bytes) -> None:
        if self.is_full:
            raise RuntimeError("QuotaExceededError")
        self.data = data


class Browser:
    """What a page says of its browser. `suspends`: see `begin`; `is_kept`: whether it has promised to keep files;
    `told`: what it was told of closing the page."""

    def __init__(self, *, suspends: bool = True, is_kept: bool = True) -> None:
        self.suspends, self.is_kept = suspends, is_kept
        self.told = list[bool]()

    async def persisted(self) -> bool:
        return self.is_kept

    async def askWallet(self, method: str, params: str) -> str:  # noqa: N802  # JavaScript's name
        raise RuntimeError("there is no wallet")

    def sayUnwatched(self, is_so: bool) -> None:  # noqa: N802  # JavaScript's name
        self.told.append(is_so)

    def sayOver(self, why: str) -> None:  # noqa: N802  # JavaScript's name
        raise AssertionError(why)


class Player:
    """A player's browser: what it keeps, and the tab that is open. Within a block the tab plays."""

    def __init__(self, relay: str, name: str) -> None:
        self.relay, self.name = relay, name
        self.files = [File() for _ in range(4)]
        self.browser = Browser()
        self.tab: FriendsTab

    async def __aenter__(self) -> FriendsTab:
        tab, problem = await begin(self.files, self.relay, self.name, PAGE, self.browser)
        assert tab is not None, problem
        self.tab = tab
        return tab

    async def __aexit__(self, *_: object) -> None:
        await end(self.tab)


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_relay(tmp_path_factory.mktemp("relay")) as process:
        yield process.url


async def offered(host: FriendsTab, game: str = "tic-tac-toe", seats: int = 2) -> str:
    """What the host hands to a friend."""
    await send(host, "/offers", "/lobby", game=game, seats=str(seats), move_time="0")
    await until(shows(host, f'value="{PAGE}#', "/lobby"))
    found = re.search(rf'value="{re.escape(PAGE)}#(\w+)"', await html(host, "/lobby"))
    assert found
    return found[1]


async def is_at_board(tab: FriendsTab) -> bool:
    return tab.path.startswith("/c/")


@pytest.mark.parametrize("is_shown", [True, False])
async def test_a_friend_joins_by_a_link_and_a_round_is_played(
    monkeypatch: pytest.MonkeyPatch, relay: str, *, is_shown: bool
) -> None:
    """Also where what watches the pages fails, for the games go on."""

    async def fail(_: object) -> None:
        raise RuntimeError("a mistake")

    if not is_shown:
        monkeypatch.setattr(TablePages, "run", fail)
    async with Player(relay, "Alice") as alice, Player(relay, "Bob") as bob:
        link = await offered(alice)
        assert relay_of(link) == (relay, "")
        path = await bob.follow(f"{PAGE}#{link}")
        assert path.startswith("/offers/0x")
        await until(lambda: is_at_board(alice))
        await until(lambda: is_at_board(bob))
        for turn, word in enumerate("04182"):
            await move(bob if turn % 2 else alice, word)
        await until(shows(alice, "You win the round"))
        await until(shows(bob, "Alice wins the round"))
        assert alice.path == bob.path


async def test_an_authors_game_for_three_is_played_by_three(
    monkeypatch: pytest.MonkeyPatch, relay: str, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(write_game("trio", tmp_path, 3))
    built_in = InstalledGames((InstalledGame(import_module("trio").GAME, "trio 0.1.0"),), ())
    monkeypatch.setattr(begin_friends, "installed_games", lambda: built_in)
    async with Player(relay, "Alice") as alice, Player(relay, "Bob") as bob, Player(relay, "Carol") as carol:
        link = await offered(alice, "trio", 3)
        for guest in (bob, carol):
            await guest.follow(f"{PAGE}#{link}")
        for each in (alice, bob, carol):
            await until(partial(is_at_board, each))
            await move(each, "1")
        await until(shows(alice, "Carol took 1"))


async def test_a_tab_that_was_closed_goes_on_where_it_was(relay: str) -> None:
    browser = Player(relay, "Bob")
    async with Player(relay, "Alice") as alice:
        async with browser as bob:
            await bob.follow(await offered(alice))
            await until(lambda: is_at_board(bob))
            await move(alice, "4")
            await move(bob, "0")
            board = bob.path
        async with browser as again:
            await until(lambda: is_at_board(again))
            assert again.path == board
            await move(alice, "8")
            await move(again, "1")
            await until(shows(alice, "Your turn"))


async def test_games_go_on_at_the_relay_where_they_were_begun(relay: str, tmp_path: Path) -> None:
    with running_relay(tmp_path) as process:
        browser = Player(process.url, "Bob")
        async with Player(process.url, "Alice") as alice:
            async with browser as bob:
                await bob.follow(await offered(alice))
                await until(lambda: is_at_board(bob))
                await move(alice, "4")
                board = bob.path
            browser.relay = relay  # that of the next link
            async with Player(relay, "Carol") as carol, browser as again:
                await again.follow(await offered(carol))
                await until(lambda: is_at_board(carol))
                await move(carol, "4")
                await move(again, "0", carol.path)
                await move(again, "0", board)
                await until(shows(alice, "Your turn"))


async def test_a_game_is_chatted_in_left_listed_and_recorded(relay: str) -> None:
    async with Player(relay, "Alice") as alice, Player(relay, "דנה") as bob:
        await bob.follow(await offered(alice))
        await until(lambda: is_at_board(bob))
        board = bob.path
        await move(alice, "4")
        assert (await send(bob, f"{board}/say", board, text="hello")).status == 204
        await until(shows(alice, "hello", board))
        await until(shows(bob, 'value="leave"', board))
        await send(bob, f"{board}/act", board, do="leave")
        await until(shows(alice, "all have signed its end", board))
        assert board.replace("/c/", "/games/") in await html(alice, "/games")
        assert "\N{FIRST STRONG ISOLATE}דנה\N{POP DIRECTIONAL ISOLATE}" in await html(alice, board)
        record = decode_game_record((await alice.get(f"{board.replace('/c/', '/games/')}/record?file")).text)
        assert record.record.names == ("Alice", "דנה")


async def test_what_the_storage_does_not_keep_is_not_signed_and_the_board_says_why(relay: str) -> None:
    browser = Player(relay, "Bob")
    async with Player(relay, "Alice") as alice, browser as bob:
        await bob.follow(await offered(alice))
        await until(lambda: is_at_board(bob))
        board = bob.path
        await move(alice, "4")
        await until(shows(bob, 'name="word" value="0"'))
        for file in browser.files:
            file.is_full = True
        await send(bob, f"{board}/act", board, do="move", word="0")
        await until(shows(bob, "What you do is not sent before it is kept.", board))
        assert "QuotaExceededError" in await html(bob, board)
        assert "You signed turn 5" not in await html(alice, board)
        for file in browser.files:
            file.is_full = False
        await until(shows(alice, "Your turn", board))
        assert "before it is kept" not in await html(bob, board)


@pytest.mark.parametrize("link", ["", "forcemove2x", "https://relay.example/#x", "forcemove1x" + "a" * 70])
def test_what_is_no_link_is_said(link: str) -> None:
    relay, why = relay_of(link)
    assert relay == ""
    assert why


async def test_a_link_to_a_game_that_is_gone_leads_to_the_lobby_which_says_so(relay: str) -> None:
    async with Player(relay, "Alice") as alice, Player(relay, "Bob") as bob:
        link = await offered(alice)
        path = re.search(r"/offers/0x\w+", await html(alice, "/lobby"))
        assert path
        await send(alice, f"{path[0]}/withdraw", "/lobby")
        assert await bob.follow(link) == "/lobby"
        assert "no longer open" in await html(bob, "/lobby")


async def test_the_page_of_an_offer_is_there_before_the_list_of_open_games(relay: str) -> None:
    async with Player(relay, "Alice") as alice:
        await offered(alice)
        path = re.search(r"/offers/0x\w+", await html(alice, "/lobby"))
        assert path
        async with Player(relay, "Bob") as bob:
            assert "Asking" in await html(bob, "/lobby")
            assert "Join on these terms" in await html(bob, path[0])
            await until(shows(bob, path[0], "/lobby"))
            await send(alice, f"{path[0]}/withdraw", "/lobby")
            await until(shows(bob, "There are no open games yet", "/lobby"))
            assert "no longer open" in await html(bob, path[0])


async def test_a_link_whose_relay_does_not_answer_leads_to_a_page_that_asks_again(tmp_path: Path) -> None:
    with running_relay(tmp_path) as process:
        async with Player(process.url, "Alice") as alice, Player(process.url, "Bob") as bob:
            link = await offered(alice)
            process.kill()
            path = await bob.follow(link)
            assert f"No relay answers at {process.url}" in await html(bob, path)
            process.start()
            assert "Join on these terms" in await html(bob, path)


async def test_a_name_that_others_would_not_be_shown_is_refused(relay: str) -> None:
    tab, problem = await begin([File() for _ in range(4)], relay, "You", PAGE, Browser())
    assert tab is None
    assert "others would not be shown" in problem


async def test_a_key_that_is_lost_is_said(relay: str) -> None:
    browser = Player(relay, "Bob")
    async with browser:
        pass
    browser.files[0].data = b""
    tab, problem = await begin(browser.files, relay, "Bob", PAGE, Browser())
    assert tab is None
    assert "key" in problem


async def test_a_link_to_a_game_for_a_stake_is_said_to_need_more(relay: str) -> None:
    offer = new_offer()
    async with Player(relay, "Bob") as bob, connect_relay(relay) as connection:
        await connection.lobby.make(offer, ALICE)
        assert await bob.follow(str(Link(relay, offer.hash))) == "/lobby"
        assert f"for a stake on chain {offer.chain_id}" in await html(bob, "/lobby")
