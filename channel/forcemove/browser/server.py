"""Serves the page to one browser on this machine: routes, and answers. It decides nothing and remembers nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from typing import Protocol

from aiohttp import web

from forcemove.browser.actions import done, html_page, is_live, read_form
from forcemove.browser.channel_site import ChannelSite, place_of
from forcemove.browser.events import EVERY_PAGE, EveryPage, stream_panels
from forcemove.browser.pages import PageSource
from forcemove.browser.render import message_page, nav_panel
from forcemove.browser.security import (
    HEADERS,
    MAX_BODY,
    BrowserSession,
    PageRequestRefused,
    require_our_host,
    require_ours,
)
from forcemove.browser.templating import PLAIN_NAV, Links, Nav
from forcemove.connecting import connection_words
from forcemove.serving.errors import AddressUnusable
from forcemove.serving.process import LOGGING

_HOST = "127.0.0.1"
_ENTER, _FILES, _EVENTS = "/enter", "/s/", "/events"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_CLOSE_SECONDS = 1.0
_LOG = logging.getLogger(__name__)
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class PageSection(Protocol):
    """Pages of a server beside its channels'. What is not our browser's is refused before a section is asked."""

    @property
    def links(self) -> Links:
        """The section's pages that every page leads to."""
        ...

    def routes(self, site: BrowserServer) -> Sequence[web.RouteDef]:
        """The section's routes."""
        ...


class BrowserServer:
    """Shows a source's channels. Once the server listens: `session`, who may look; `runner`, aiohttp's."""

    def __init__(self, source: PageSource, port: int = 0, sections: Sequence[PageSection] = ()) -> None:
        """`source`: has the channels; `port`: where to listen, 0 for any that is free; `sections`: other pages."""
        self._source, self._port, self._sections = source, port, tuple(sections)
        self._links: Links = (*PLAIN_NAV.links, *(link for each in self._sections for link in each.links))
        self.session: BrowserSession
        self.runner: web.AppRunner
        self._site = ChannelSite(source, self._links)
        self._files = {each.name: each.read_bytes() for each in (files("forcemove.browser") / "static").iterdir()}

    @property
    def nav(self) -> Nav:
        """What every page leads to now."""
        return self._site.nav

    @property
    def address(self) -> str:
        """The address that works once."""
        return f"http://{_HOST}:{self._port}/enter?token={self.session.enter_token}"

    async def run(self, on_ready: Callable[[str], None]) -> None:
        """Serve until this is cancelled. `on_ready`: called with the address that works once. Raises `AddressUnusable`,
        and what ends the source."""
        self.runner = runner = web.AppRunner(
            self._app(), **LOGGING, handler_cancellation=True, shutdown_timeout=_CLOSE_SECONDS
        )
        await runner.setup()
        try:
            site = web.TCPSite(runner, _HOST, self._port)
            try:
                await site.start()
            except OSError as error:
                raise AddressUnusable(_HOST, self._port, connection_words(error)) from None
            self._port = runner.addresses[0][1]
            self.session = BrowserSession(self._port)
            on_ready(self.address)
            await self._source.run()
        finally:
            await runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY, middlewares=[self._guard])
        app.on_response_prepare.append(_add_headers)
        app[EVERY_PAGE] = EveryPage(self._source.changes, lambda: nav_panel(self.nav))
        app.add_routes(
            [
                web.get("/enter", self._enter, allow_head=False),
                web.get("/", self._channels),
                web.get("/games", self._channels),
                web.get("/games/{id:0x[0-9a-f]{64}}", self._replay),
                web.get("/games/{id:0x[0-9a-f]{64}}/record", self._record),
                web.get(_EVENTS, self._no_panels, allow_head=False),
                web.get("/c/{id:0x[0-9a-f]{64}}", self._channel),
                web.get("/c/{id:0x[0-9a-f]{64}}/events", self._events, allow_head=False),
                web.post("/c/{id:0x[0-9a-f]{64}}/act", self._act),
                web.post("/c/{id:0x[0-9a-f]{64}}/say", self._say),
                web.post("/playground/press", self._press),
                web.get("/s/{name:[a-z.]+}", self._file),
                *(route for each in self._sections for route in each.routes(self)),
            ]
        )
        return app

    # ---------------------------------------------------------------------------------------------------- every request

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Let through who may ask, and make a page of each refusal and each error."""
        try:
            require_our_host(request.host, self._port)
            require_ours(request.method, request.headers, self._port)
            if request.path != _ENTER and not request.path.startswith(_FILES):
                self.session.require_known(request.cookies)
            return await handler(request)
        except PageRequestRefused as refused:
            return self._message(request, refused.status, "Not done", refused.reason)
        except web.HTTPException as error:
            return self._message(request, error.status, error.reason, _WORDS.get(error.status, "This is not possible."))
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception as error:
            _LOG.exception("a request has failed")
            words = f"This is a bug in Forcemove: {type(error).__name__}."
            return self._message(request, 500, "Something is wrong", words)

    def _message(self, request: web.Request, status: int, title: str, text: str) -> web.Response:
        """Words instead of what was asked for: a page, or for the script of one, which shows them, the words alone."""
        if is_live(request):
            return web.Response(status=status, text=text)
        if not self.session.is_known(request.cookies):  # what is played is not for everybody
            return html_page(message_page(title, text, Nav(self._links)), status)
        return html_page(message_page(title, text, self.nav, _EVENTS), status)

    async def _enter(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Sec-Fetch-Site") == "cross-site":  # for as long as such redirects, there is no cookie
            response = web.Response(headers={"Refresh": f"0;url={self._source.path}"})
        else:
            response = web.Response(status=303, headers={"Location": self._source.path})
        if not self.session.is_known(request.cookies):
            cookie = self.session.enter(request.query.get("token", ""))
            response.set_cookie(self.session.cookie_name, cookie, httponly=True, samesite="Strict", path="/")
        return response

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        body = self._files.get(name)
        if body is None:
            raise web.HTTPNotFound
        kind = next((kind for ending, kind in _TYPES.items() if name.endswith(ending)), "application/octet-stream")
        return web.Response(body=body, content_type=kind, charset="utf-8")

    # -------------------------------------------------------------------------------------------------------- the pages

    async def _channels(self, _: web.Request) -> web.StreamResponse:
        return html_page(self._site.channels())

    async def _no_panels(self, request: web.Request) -> web.StreamResponse:
        """The stream of a page that changes in nothing but what all pages have."""
        return await stream_panels(request, self._source.changes, dict)

    async def _channel(self, request: web.Request) -> web.StreamResponse:
        return html_page(self._site.channel(_id_of(request), _at_of(request), self.session.form_token))

    async def _replay(self, request: web.Request) -> web.StreamResponse:
        return html_page(self._site.replay(_id_of(request), _at_of(request), self.session.form_token))

    async def _record(self, request: web.Request) -> web.StreamResponse:
        record = self._site.record(_id_of(request), self.session.form_token)
        return web.Response(text=record, content_type="application/json")

    async def _events(self, request: web.Request) -> web.StreamResponse:
        asked = (_id_of(request), _at_of(request), self.session.form_token)
        self._site.view(*asked)
        return await stream_panels(request, self._source.changes, lambda: self._site.panels(*asked))

    # ------------------------------------------------------------------------------------------------------ the actions

    async def _act(self, request: web.Request) -> web.StreamResponse:
        self._site.act(_id_of(request), await read_form(request, self.session))
        return done(request, f"/c/{request.match_info['id']}")

    async def _say(self, request: web.Request) -> web.StreamResponse:
        notice = self._site.say(_id_of(request), await read_form(request, self.session))
        if notice and is_live(request):  # the page keeps what was typed
            return self._message(request, 409, "Not said", notice)
        return done(request, f"/c/{request.match_info['id']}")

    async def _press(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, self.session)
        elsewhere = self._site.press(form)
        return done(request, elsewhere or form.path(), moves=bool(elsewhere))


_WORDS = {
    404: "There is nothing at this address.",
    405: "This address does not do that.",
    413: "That is too much for this form.",
}


async def _add_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
    response.headers.popall("Server", None)


def _id_of(request: web.Request) -> bytes:
    return bytes.fromhex(request.match_info["id"][2:])


def _at_of(request: web.Request) -> int | None:
    return place_of(request.query.get("at"))
