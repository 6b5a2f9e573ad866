"""The routes of the lobby's pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aiohttp import web

from forcemove.browser.actions import done, html_page, read_form
from forcemove.browser.events import stream_panels
from forcemove.browser.lobby.links import page_of_link
from forcemove.browser.lobby.lobby_pages import LobbyPages
from forcemove.browser.lobby.render import lobby_page, lobby_panels, offer_page, offer_panels
from forcemove.browser.lobby.view import OfferDraft, OfferPage
from forcemove.browser.security import PageRequestRefused
from forcemove.browser.server import BrowserServer
from forcemove.browser.templating import Links

__all__ = ["LobbySection"]

_NOT_OPEN = "This game is not open any more."
_OFFER = "/offers/{offer:0x[0-9a-f]{64}}"


class LobbySection:
    """The `PageSection` of a lobby."""

    links: Links = (("/lobby", "Lobby"),)

    def __init__(self, pages: LobbyPages) -> None:
        """`pages`: what is shown and done."""
        self._pages = pages
        self._site: BrowserServer

    def routes(self, site: BrowserServer) -> Sequence[web.RouteDef]:
        """See `PageSection`."""
        self._site = site
        return [
            web.get("/lobby", self._lobby),
            web.get("/lobby/events", self._lobby_events, allow_head=False),
            web.post("/lobby/resume", self._resume),
            web.post("/lobby/dismiss", self._dismiss),
            web.post("/link", self._open),
            web.post("/offers", self._make),
            web.get(_OFFER, self._offer),
            web.get(_OFFER + "/events", self._offer_events, allow_head=False),
            web.post(_OFFER + "/join", self._join),
            web.post(_OFFER + "/withdraw", self._withdraw),
        ]

    # --------------------------------------------------------------------------------------------------------- looking

    async def _lobby(self, _: web.Request) -> web.StreamResponse:
        return html_page(lobby_page(self._pages.view(self._token), self._site.nav))

    async def _lobby_events(self, request: web.Request) -> web.StreamResponse:
        return await stream_panels(request, self._pages.changes, lambda: lobby_panels(self._pages.view(self._token)))

    async def _offer(self, request: web.Request) -> web.StreamResponse:
        """The page of an offer; once its game is played here, the page of the channel."""
        await self._pages.read_costs(_hash_of(request))
        if self._pages.offer_page(_hash_of(request), self._token) is None:
            raise PageRequestRefused(404, await self._pages.why_not(_hash_of(request)) or _NOT_OPEN)
        view = self._view(request)
        if view.table is not None and view.table.is_played:
            return web.Response(status=303, headers={"Location": view.table.path})
        return html_page(offer_page(view, self._site.nav))

    async def _offer_events(self, request: web.Request) -> web.StreamResponse:
        self._view(request)
        return await stream_panels(request, self._pages.changes, lambda: self._offer_panels(request))

    def _offer_panels(self, request: web.Request) -> Mapping[str, str] | None:
        view = self._pages.offer_page(_hash_of(request), self._token)
        return None if view is None else offer_panels(view)

    def _view(self, request: web.Request) -> OfferPage:
        """The offer that a request names. Raises `PageRequestRefused`."""
        view = self._pages.offer_page(_hash_of(request), self._token)
        if view is None:
            raise PageRequestRefused(404, _NOT_OPEN)
        return view

    @property
    def _token(self) -> str:
        return self._site.session.form_token

    # ----------------------------------------------------------------------------------------------------------- doing

    async def _make(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, self._site.session)
        terms = ("game", "stake", "seats", "duration", "move_time", "guest")
        draft = OfferDraft(*map(form.text, terms))
        self._pages.make(draft, form.number("made"))
        return done(request, "/lobby")

    async def _open(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, self._site.session)
        return done(request, page_of_link(form.text("link"), self._pages.relay), moves=True)

    async def _join(self, request: web.Request) -> web.StreamResponse:
        await read_form(request, self._site.session)
        self._pages.join(_hash_of(request))
        return done(request, request.path.removesuffix("/join"))

    async def _withdraw(self, request: web.Request) -> web.StreamResponse:
        await read_form(request, self._site.session)
        self._pages.withdraw(_hash_of(request))
        return done(request, "/lobby")

    async def _dismiss(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, self._site.session)
        self._pages.dismiss(form.number("table"))
        return done(request, "/lobby")

    async def _resume(self, request: web.Request) -> web.StreamResponse:
        await read_form(request, self._site.session)
        self._pages.resume()
        return done(request, "/lobby")


def _hash_of(request: web.Request) -> bytes:
    return bytes.fromhex(request.match_info["offer"][2:])
