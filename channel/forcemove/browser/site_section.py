"""The routes of pages that know no server."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web

from forcemove.browser.actions import done, html_page, read_form
from forcemove.browser.events import stream_panels
from forcemove.browser.pages import PathSite
from forcemove.browser.server import BrowserServer

_EVENTS = "/events"


class SiteSection:
    """The `PageSection` of a site. `links`: see `PathSite`."""

    def __init__(self, site: PathSite) -> None:
        """`site`: answers."""
        self._site, self.links = site, site.links
        self._server: BrowserServer

    def routes(self, site: BrowserServer) -> Sequence[web.RouteDef]:
        """See `PageSection`."""
        self._server = site
        paths = [f"{head}{{more:(/.*)?}}" for head in self._site.heads]
        gets = [web.get(path, self._get, allow_head=False) for path in paths]
        return [*gets, *(web.post(path, self._post) for path in paths)]

    async def _get(self, request: web.Request) -> web.StreamResponse:
        path, token = request.path, self._server.session.form_token
        if path.endswith(_EVENTS):
            path = path.removesuffix(_EVENTS)
            self._site.require(path, token)
            return await stream_panels(request, self._site.changes, lambda: self._site.panels(path, token))
        answer = await self._site.page(path, token, self._server.nav)
        return html_page(answer.html) if answer.html else done(request, answer.path, moves=True)

    async def _post(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, self._server.session)
        answer = self._site.post(request.path, form, self._server.nav)
        if answer.html:
            return html_page(answer.html, answer.status)
        return done(request, answer.path, moves=answer.moves)
