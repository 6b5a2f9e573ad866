"""Games over one relay, as a tab plays them: a node, a lobby and tables, as `forcemove browse` has them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from forcemove.browser.lobby.lobby_pages import LobbyPages
from forcemove.browser.lobby.lobby_site import LOBBY, LobbySite
from forcemove.browser.lobby.view import offer_path
from forcemove.browser.pages import PathSite
from forcemove.browser.table_pages import TablePages
from forcemove.browser.wallet.wallet_pages import wallet_of
from forcemove.browser.wallet.wallet_site import WalletSite
from forcemove.browser.watching.watch_site import WatchSite
from forcemove.errors import UnknownVersion
from forcemove.game import Game
from forcemove.inspect.journal_channel import read_channels
from forcemove.link_page.saved_copy import Encrypt, saved_copy
from forcemove.link_page.stake import Stake
from forcemove.link_page.stake_site import COPY, CopySite, StakeSite
from forcemove.link_page.tab import PageTab
from forcemove.protocol.signing import Key
from forcemove.sessions.meetings.stake_limits import deposited_in
from forcemove.sessions.options import TableOptions, Wallet
from forcemove.sessions.running.lobby_follower import LobbyFollower
from forcemove.sessions.running.open_tables import OpenTables
from forcemove.sessions.running.playable import playable_games
from forcemove.sessions.service import TableService
from forcemove.sessions.watching.watched_tables import WatchedTables
from forcemove.transport.errors import TransportError
from forcemove.transport.links import parse_link

if TYPE_CHECKING:
    from forcemove.sessions.playing.content import TableContent
    from forcemove.store.journal import Journal

_HINT = "Say under Stake how you play for one, and open the link again."

_LOOK = 1.0
"""Seconds between two looks at what a watchtower has, where nothing else changes."""

_LOG = logging.getLogger(__name__)


class FriendsTab(PageTab):
    """The lobby of a relay and the tables of one player, for one tab."""

    def __init__(
        self,
        games: Sequence[Game],
        journal: Journal,
        key: Key,
        options: TableOptions,
        stake: Stake | None,
        stake_site: StakeSite,
        say_unwatched: Callable[[bool], object],
        encrypt: Encrypt,
    ) -> None:
        """Play nothing yet. Made in the event loop that runs it.

        - `games`: what can be played.
        - `journal`: has the games that were begun; is closed by `close`.
        - `key`: the player's.
        - `options`: the relay, the player's name, and where friends find this page.
        - `stake`: how a stake is played for; None for friendly games alone.
        - `stake_site`: the page on which the player says so.
        - `say_unwatched`: is told whenever that has changed: whether nobody answers for the player if the page is
          closed, see `TableService.is_unwatched`.
        - `encrypt`: the browser's, for copies.
        """
        self._journal, self._say_unwatched = journal, say_unwatched
        self._service = service = _service(games, journal, key, stake)
        playable = playable_games(games, stake.chains, stake.book) if stake else playable_games(games, (), None)
        self._channels = TablePages(journal, games, home=LOBBY)
        self._channels.warning = service.warning
        service.on_committed(self._channels.on_committed)
        tables = OpenTables(service, playable, options, self._channels.sit, self._channels.leave_seat, _Log())
        self._lobby_pages = LobbyPages(LobbyFollower(options.relay, playable, key.address), tables, stake_hint=_HINT)
        self._watched = WatchedTables(games)
        sites: list[PathSite] = [LobbySite(self._lobby_pages), WatchSite(self._watched), stake_site]
        self._wallet = wallet_of(service, self._channels)
        if self._wallet:  # there is one where a stake is played for
            self._channels.copy_path = COPY
            sites += [WalletSite(self._wallet), CopySite(partial(_copied, games, journal, key, encrypt))]
        super().__init__(self._channels, sites)

    async def run(self) -> None:
        """See `PageTab`; then the journal is closed."""
        showing = [self._channels.run(), self._watched.run(), self._watch_tower()]
        if self._wallet:
            showing.append(self._wallet.watch())
        try:
            await self._lobby_pages.run(*map(_apart, showing))
        finally:
            self._journal.close()

    async def _watch_tower(self) -> None:
        was = False
        while True:
            number, found = self._channels.changes.number, self._service.is_unwatched
            if found is not was:
                was = found
                self._say_unwatched(found)
            await self._channels.changes.after(number, _LOOK)

    async def follow(self, link: str) -> str:
        """Join the game of a link, on whose terms the player has agreed; to a game for a stake the player agrees on its
        page. Returns the path of the page to show: that of a game of which the relay says nothing asks again. Raises as
        `parse_link`."""
        offer = parse_link(link).offer
        with suppress(TransportError, UnknownVersion):
            if not await self._lobby_pages.open_link(offer):
                return LOBBY
        return offer_path(offer)


def _service(games: Sequence[Game], journal: Journal, key: Key, stake: Stake | None) -> TableService:
    """What drives the channels; a stake is paid, and won, by the wallet."""
    if stake is None:
        return TableService(journal, Wallet(key, key, key.address), _Log(), games=games)
    account, tower = stake.settings.account, stake.settings.tower
    wallet, towers = Wallet(key, account, account), () if tower is None else (tower,)
    return TableService(journal, wallet, _Log(), chains=stake.chains, games=games, towers=towers, limits=stake.limits)


async def _apart(showing: Coroutine[Any, Any, None]) -> None:
    """Do what shows something. Where it fails the games go on, and are defended."""
    try:
        await showing
    except Exception:
        _LOG.exception("something is not shown any more")


async def _copied(games: Sequence[Game], journal: Journal, key: Key, encrypt: Encrypt, password: str) -> str:
    """A copy of the channels for a stake that are not closed."""
    found, _ = read_channels(journal, games)
    ids = [each.id for each in found if deposited_in([each.channel])]
    return await saved_copy(journal, ids, key, password, encrypt)


class _Log:
    """An `Output` for anyone who opens the browser's console."""

    def say(self, text: str) -> None:
        _LOG.info(text)

    def note(self, text: str) -> None:
        _LOG.warning(text)

    def show(self, content: TableContent) -> None:
        """The page shows the game."""
