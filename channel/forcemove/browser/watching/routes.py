"""The routes of the pages on which a table is watched. A page that is only opened asks no relay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aiohttp import web

from forcemove.browser.actions import done, html_page, read_form
from forcemove.browser.events import stream_panels
from forcemove.browser.pages import ChangeSignal
from forcemove.browser.security import PageRequestRefused
from forcemove.browser.server import BrowserServer
from forcemove.browser.templating import Links, Nav, fill_in
from forcemove.browser.watching.view import WatchView, watch_view
from forcemove.errors import ForcemoveError
from forcemove.sessions.watching.watch_link import WatchLink, parse_watch_link
from forcemove.sessions.watching.watched_tables import WatchedTables
from forcemove.text.explanations import headline
from forcemove.transport.links import LINK_HEAD

__all__ = ["WatchSection", "watch_page", "watch_panels"]

_FOR_PLAYERS = "With this link one joins a game (forcemove play GAME --join LINK). Ask for the one for spectators."
_LINK = "/watch/{link:[a-z0-9]{1,4000}}"


class WatchSection:
    """The `PageSection` of the tables that are watched."""

    links: Links = (("/watch", "Watch"),)

    def __init__(self, tables: WatchedTables) -> None:
        """`tables`: follows their logs."""
        self._tables, self._changes = tables, ChangeSignal()
        tables.on_change = self._changes.notify
        self._site: BrowserServer

    def routes(self, site: BrowserServer) -> Sequence[web.RouteDef]:
        """See `PageSection`."""
        self._site = site
        return [
            web.get("/watch", self._ask),
            web.post("/watch", self._find),
            web.get(_LINK, self._page),
            web.get(_LINK + "/events", self._events, allow_head=False),
            web.post(_LINK, self._watch),
        ]

    async def _ask(self, _: web.Request) -> web.StreamResponse:
        return self._asked()

    def _asked(self, why: str = "", status: int = 200) -> web.StreamResponse:
        """The page that asks for a link. `why`: why that of before would not do."""
        token = self._site.session.form_token
        page = fill_in("watch_ask.html", nav=self._site.nav, title="Watch", form_token=token, why=why)
        return html_page(page, status)

    async def _find(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, self._site.session)
        try:
            return done(request, f"/watch/{_parsed(form.text('link').strip())}", moves=True)
        except PageRequestRefused as refused:
            return self._asked(refused.reason, refused.status)

    async def _page(self, request: web.Request) -> web.StreamResponse:
        return html_page(watch_page(self._view(request), self._site.nav))

    async def _events(self, request: web.Request) -> web.StreamResponse:
        self._view(request)
        return await stream_panels(request, self._changes, lambda: watch_panels(self._view(request)))

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        await read_form(request, self._site.session)
        link = _link_of(request)
        game = self._tables.find_game(link)
        if game is None:
            raise PageRequestRefused(404, "The game of this link is not installed here.")
        self._tables.watch(link, game)
        self._changes.notify()
        return done(request, request.path)

    def _view(self, request: web.Request) -> WatchView:
        """What the page of a request's link shows. Raises `PageRequestRefused`."""
        link, tables = _link_of(request), self._tables
        return watch_view(link, tables.find_game(link), tables.find(link), self._site.session.form_token)


def watch_panels(view: WatchView) -> Mapping[str, str]:
    """The HTML of each panel by its id."""
    return {
        "say": fill_in("say.html", said=(view.headline, view.faults[-1] if view.faults else "")),
        "watched": fill_in("watch_panel.html", view=view),
    }


def watch_page(view: WatchView, nav: Nav) -> str:
    """The whole page of a watched table."""
    title = f"Watch {view.title}".strip()
    return fill_in("lobby.html", nav=nav, title=title, events=f"{view.path}/events", panels=watch_panels(view))


def _link_of(request: web.Request) -> WatchLink:
    return _parsed(request.match_info["link"])


def _parsed(text: str) -> WatchLink:
    """The link in a text. Raises `PageRequestRefused`."""
    try:
        return parse_watch_link(text)
    except ForcemoveError as error:
        is_for_players = text.startswith(LINK_HEAD)
        raise PageRequestRefused(404, _FOR_PLAYERS if is_for_players else headline(error)) from None
