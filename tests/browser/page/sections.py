"""Pages of the lobby and of inspection, in every state that they have to show."""

from __future__ import annotations

from dataclasses import replace

from forcemove.browser.inspecting.inspecting import Inspecting
from forcemove.browser.inspecting.render import InspectView, VerifyView, inspect_page, verify_page
from forcemove.browser.lobby.render import lobby_page, offer_page
from forcemove.browser.lobby.view import GameOption, LobbyView, OfferDraft, OfferPage, OfferRow, TableRow
from forcemove.browser.templating import Nav
from forcemove.browser.watching.view import WatchView, watch_view
from forcemove.browser.watching.watch_site import watch_page
from forcemove.protocol.codec.wire import SignedStateFile, encode_message
from forcemove.sessions.watching.spectator import ChannelSpectator
from forcemove.sessions.watching.watch_link import WatchLink
from forcemove.sessions.watching.watched_tables import WatchedTable
from forcemove_games.tic_tac_toe import GAME
from tests.browser.views import WALL
from tests.cli.saved import Saved, state_of

__all__ = ["LINK", "NAV", "lobby_view", "section_pages", "watched_view"]

NAV = Nav((("/", "Channels"), ("/lobby", "Lobby"), ("/inspect", "Inspect"), ("/verify", "Verify")))
SAVED = Saved()
LINK = WatchLink("ws://127.0.0.1:7000", GAME.name, SAVED.domain, SAVED.fixed)


def offer_row(number: int, words: str = "Ann") -> OfferRow:
    path = f"/offers/0x{number:064x}"
    players = f"{words} 0x1c7a…639a"
    return OfferRow(
        path, words, "0.01 ether", "0.05 ether", "1 of 2", players, "31337", "1 h", WALL, "23 h", number == 0, words
    )


def table_row(number: int, tone: str, words: str = "Tic-tac-toe") -> TableRow:
    path = f"/c/0x{number:064x}" if tone else ""
    link = "" if tone else "forcemove2xabzgi33smuxc" * 6
    watch = "forcemovewatch1x" + "ab3" * 60 if tone else ""
    return TableRow(
        number,
        words,
        tone,
        (f"{words}.",),
        link,
        watch,
        path,
        offer_row(number).path,
        tone == "good",
        not tone,
        tone == "bad",
        None,
    )


def lobby_view(offers: int = 3, words: str = "Tic-tac-toe") -> LobbyView:
    return LobbyView(
        "ws://127.0.0.1:7000",
        "",
        tuple(offer_row(number, words) for number in range(offers)),
        offers > 2,
        tuple(table_row(number, tone, words) for number, tone in enumerate(("", "good", "bad"))),
        (GameOption("tic-tac-toe", "Tic-tac-toe", "2"), GameOption("dice", "Dice", "2 or 3")),
        "31337",
        words,
        OfferDraft(stake=words),
        2,
        WALL,
        words,
        "form-token",
    )


def offer_view(words: str = "Tic-tac-toe") -> OfferPage:
    costs = (("at most lost", "0.05 ether: all of it, if you stay away"), ("gas", "about 0.0002 ether"))
    terms = (("stake", "0.01 ether a round"), ("deposit", "0.05 ether by each player"))
    return OfferPage(offer_row(1, words), words, terms, costs, (), None, True, words, "form-token")


def watched_view(turns: int = 7) -> WatchView:
    """A table of which this many states were seen, and something that was not believed."""
    spectator = ChannelSpectator(LINK, GAME)
    for turn in range(turns):
        spectator.take(encode_message(SAVED.id, SAVED.signed(state_of(turn))))
    spectator.take(b"nonsense")
    return watch_view(LINK, GAME, WatchedTable(spectator, lambda: None), "form-token")


def section_pages() -> dict[str, str]:
    """A page of each state, by its path."""
    file = SignedStateFile(SAVED.domain, SAVED.fixed, SAVED.signed(state_of(5)))
    parts = Inspecting([GAME]).inspect(file)
    asked = InspectView(1, "", (), (), "form-token")
    empty = replace(lobby_view(0), tables=(), notice="", problem="No relay answers.")
    lines = ("Adjudicator: genuine; its address is 0x1c7a, where there is code", "The deployment is genuine.")
    return {
        "/lobby": lobby_page(lobby_view(), NAV),
        "/empty-lobby": lobby_page(empty, NAV),
        "/offer": offer_page(offer_view(), NAV),
        "/waiting": offer_page(replace(offer_view(), table=table_row(1, ""), is_open=False), NAV),
        "/inspect": inspect_page(replace(asked, parts=parts), NAV),
        "/asked": inspect_page(replace(asked, problem=("It is not text.",)), NAV),
        "/watched": watch_page(watched_view(), NAV),
        "/watch": watch_page(watch_view(LINK, GAME, None, "form-token"), NAV),
        "/verify": verify_page(VerifyView(31_337, lines, True), NAV),
    }
