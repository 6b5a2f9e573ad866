"""The lobby's pages by their paths, and what their forms do; and which page a link leads to, whatever it is for.

Knows no server: see `ChannelSite`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from forcemove.browser.lobby.lobby_pages import NOT_OPEN, LobbyPages
from forcemove.browser.lobby.render import lobby_page, lobby_panels, offer_page, offer_panels
from forcemove.browser.lobby.view import OfferDraft, OfferPage, offer_path
from forcemove.browser.pages import ChangeSignal, PageAnswer
from forcemove.browser.security import PageRequestRefused, PostedForm, nothing_here
from forcemove.browser.templating import Links, Nav
from forcemove.errors import ForcemoveError
from forcemove.sessions.watching.watch_link import WATCH_HEAD, parse_watch_link
from forcemove.text.explanations import headline
from forcemove.transport.links import parse_link

LOBBY = "/lobby"
"""The path of the lobby's page."""
_OFFER = re.compile(r"/offers/0x([0-9a-f]{64})")
_TERMS = tuple(OfferDraft().terms)


class LobbySite:
    """The `PathSite` of the lobby and of each offer."""

    links: Links = ((LOBBY, "Lobby"),)
    heads = (LOBBY, "/offers", "/link")

    def __init__(self, pages: LobbyPages) -> None:
        """`pages`: what is shown and done."""
        self._pages = pages

    @property
    def changes(self) -> ChangeSignal:
        """See `PathSite`."""
        return self._pages.changes

    async def page(self, path: str, token: str, nav: Nav) -> PageAnswer:
        """See `PathSite`; instead of an offer whose game is played here, the page of the channel."""
        if path == LOBBY:
            return PageAnswer(lobby_page(self._pages.view(token), nav))
        offer = _offer_of(path)
        try:
            problem = await self._pages.find(offer)
        except ForcemoveError as error:
            problem = headline(error)
        if problem:
            raise PageRequestRefused(404, problem)
        await self._pages.read_costs(offer)
        view = self._view(offer, token)
        if view.table is not None and view.table.is_played:
            return PageAnswer(path=view.table.path, moves=True)
        return PageAnswer(offer_page(view, nav))

    def panels(self, path: str, token: str) -> Mapping[str, str] | None:
        """See `PathSite`."""
        if path == LOBBY:
            return lobby_panels(self._pages.view(token))
        view = self._pages.offer_page(_offer_of(path), token)
        return None if view is None else offer_panels(view)

    def require(self, path: str, token: str) -> None:
        """See `PathSite`."""
        if path != LOBBY:
            self._view(_offer_of(path), token)

    def _view(self, offer: bytes, token: str) -> OfferPage:
        view = self._pages.offer_page(offer, token)
        if view is None:
            raise PageRequestRefused(404, NOT_OPEN)
        return view

    def post(self, path: str, form: PostedForm, nav: Nav) -> PageAnswer:  # noqa: ARG002  # other sites answer by pages
        """See `PathSite`."""
        match path:
            case "/offers":
                self._pages.make(OfferDraft(*map(form.text, _TERMS)), form.number("made"))
            case "/link":
                return PageAnswer(path=page_of_link(form.text("link"), self._pages.relay), moves=True)
            case "/lobby/dismiss":
                self._pages.dismiss(form.number("table"))
            case "/lobby/resume":
                self._pages.resume()
            case _:
                return self._post_of_offer(path)
        return PageAnswer(path=LOBBY)

    def _post_of_offer(self, path: str) -> PageAnswer:
        page, _, what = path.rpartition("/")
        offer = _offer_of(page)
        if what == "join":
            self._pages.join(offer)
            return PageAnswer(path=page)
        if what == "withdraw":
            self._pages.withdraw(offer)
            return PageAnswer(path=LOBBY)
        raise nothing_here()


def _offer_of(path: str) -> bytes:
    """The hash of the offer that a page is of. Raises `PageRequestRefused`."""
    found = _OFFER.fullmatch(path)
    if found is None:
        raise nothing_here()
    return bytes.fromhex(found[1])


# ---------------------------------------------------------------------------------------------------------------- links


def page_of_link(text: str, relay: str) -> str:
    """The path of the page for a link. `relay`: the address of the lobby's relay, without a password. Raises
    `PageRequestRefused` where the text leads nowhere here."""
    word = "".join(text.split()).lower()
    page = next((page for head, page in _PAGES.items() if word.startswith(head)), _path_of_offer)
    try:
        return page(text, relay)
    except ForcemoveError as error:
        raise PageRequestRefused(404, headline(error)) from None


def _path_of_offer(text: str, relay: str) -> str:
    link = parse_link(text)
    if link.relay != relay:
        raise PageRequestRefused(404, f"This game is offered at {link.relay}, and this page is of {relay}.")
    return offer_path(link.offer)


def _path_of_watch(text: str, _: str) -> str:
    return f"/watch/{parse_watch_link(text)}"


_PAGES: dict[str, Callable[[str, str], str]] = {WATCH_HEAD: _path_of_watch}
"""By how a link begins, what makes the path of its page. Any other text is read as a link to a game."""
