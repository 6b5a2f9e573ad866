"""A lobby with its page, in a thread of its own: a real relay, and a journal and a node, without a chain unless one is
given."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from forcemove import AddressBook, Chain, Key, installed_games, local_keys
from forcemove.browser.lobby.lobby_pages import LobbyPages
from forcemove.browser.lobby.lobby_site import LobbySite
from forcemove.browser.server import BrowserServer, PageSection
from forcemove.browser.site_section import SiteSection
from forcemove.browser.table_pages import TablePages
from forcemove.browser.watching.watch_site import WatchSite
from forcemove.sessions.options import TableOptions, Wallet
from forcemove.sessions.playing.content import TableContent
from forcemove.sessions.running.lobby_follower import LobbyFollower
from forcemove.sessions.running.open_tables import OpenTables
from forcemove.sessions.running.playable import playable_games
from forcemove.sessions.service import TableService
from forcemove.sessions.watching.watched_tables import WatchedTables
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.records import OWNER_LENGTH
from tests.browser.served.serving import Served, running

__all__ = ["GAMES", "Lines", "ServedLobby", "served_lobby"]

ALICE, BOB = local_keys()[1:3]
GAMES = installed_games().games


class Lines:
    """An `Output`. `lines`: what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)

    def note(self, text: str) -> None:
        self.lines.append(text)

    def show(self, content: TableContent) -> None:
        """Nobody looks."""


@dataclass
class ServedLobby(Served):
    """`tables`, `follower`, `pages`: read in the server's thread only, by `call`."""

    tables: OpenTables
    follower: LobbyFollower
    pages: LobbyPages


@contextmanager
def served_lobby(
    relay: str,
    key: Key = ALICE,
    name: str = "",
    store: str = MEMORY,
    more: Sequence[PageSection] = (),
    chains: Sequence[Chain] = (),
    book: AddressBook | None = None,
) -> Iterator[ServedLobby]:
    """The page of a person who plays over a relay, friendly games alone without `chains`. `more`: other pages."""
    with open_journal(store, owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
        lines = Lines()
        service = TableService(journal, Wallet(key, key, key.address), lines, games=GAMES, chains=chains)
        playable = playable_games(GAMES, chains, book)
        pages = TablePages(journal, GAMES, home="/lobby")
        service.on_committed(pages.on_committed)
        tables = OpenTables(service, playable, TableOptions(relay, name=name), pages.sit, pages.leave_seat, lines)
        follower = LobbyFollower(relay, playable, key.address)
        lobby = LobbyPages(follower, tables)
        watched = WatchedTables(GAMES)
        sections: list[PageSection] = [SiteSection(LobbySite(lobby)), SiteSection(WatchSite(watched)), *more]
        server = BrowserServer(pages, 0, sections)
        with running(server, lambda: service.run(tables.run()), follower.run, watched.run) as found:
            yield ServedLobby(found.server, found.loop, found.address, tables, follower, lobby)
