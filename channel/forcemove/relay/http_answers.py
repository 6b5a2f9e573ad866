"""What a relay answers to requests that are for no WebSocket: its health, its numbers, the files of its page, and what
an invitation is for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import cast

from aiohttp import web

from forcemove.errors import ForcemoveError
from forcemove.relay.admission.listening import ConnectionIntake
from forcemove.relay.admission.turns import Gate
from forcemove.relay.clients.services import Services
from forcemove.relay.page_files import FIRST_PAGE, PageFiles
from forcemove.serving.metrics import metrics_page
from forcemove.transport.links import parse_link

_AT_ONCE = 16
"""Files that are sent at once; addresses take turns."""


class HttpAnswers:
    """Answers by path."""

    def __init__(
        self,
        services: Services,
        pages: PageFiles | None,
        connections: Callable[[], int],
        is_stopping: Callable[[], bool],
    ) -> None:
        """What is told of.

        - `services`: of the relay.
        - `pages`: the files of its page; None for none.
        - `connections`: how many there are.
        - `is_stopping`: whether the relay is about to end.
        """
        self._services, self._pages = services, pages
        self._connections, self._is_stopping = connections, is_stopping
        self._gate = Gate(_AT_ONCE)

    @property
    def has_page(self) -> bool:
        """Whether there is a page."""
        return self._pages is not None

    def routes(self) -> list[web.RouteDef]:
        """The routes, but for that of the first page, which is where WebSockets are opened, too."""
        found = [web.get("/health", self._health), web.get("/metrics", self._metrics)]
        if self.has_page:
            found += [web.get("/{name:[a-z0-9_.-]+}", self._file), web.get("/invitations/{link}", self._invitation)]
        return found

    async def first_page(self, request: web.Request) -> web.StreamResponse:
        """The page."""
        return await self._send(FIRST_PAGE, request)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        return await self._send(request.match_info["name"], request)

    async def _send(self, name: str, request: web.Request) -> web.StreamResponse:
        if self._pages is None or request.transport is None:
            raise web.HTTPNotFound
        account = cast("ConnectionIntake", request.transport.get_protocol()).account
        async with self._gate.entered(account):
            return await self._pages.send(name, request)

    async def _invitation(self, request: web.Request) -> web.Response:
        """Which game a link is for, and who has offered it: unchecked words, to be shown until the page's own Python
        has checked the offer."""
        try:
            offer = self._services.lobby.find(parse_link(request.match_info["link"]).offer)
        except ForcemoveError:
            offer = None
        if offer is None:
            raise web.HTTPNotFound
        return web.json_response({"game": offer.game, "host": offer.name, "stake": not offer.is_friendly})

    async def _health(self, _: web.Request) -> web.Response:
        is_failing, is_stopping = self._services.committer.is_failing, self._is_stopping()
        is_well = not (is_failing or is_stopping)
        state = "ok" if is_well else "failing: the disk takes nothing" if is_failing else "stopping"
        facts = {"status": state, "connections": self._connections(), "tables": self._services.tables.count}
        facts |= {"offers": self._services.lobby.count, "pages": self.has_page, "urls": sorted(self._services.urls)}
        return web.json_response(facts, status=200 if is_well else 503)

    async def _metrics(self, _: web.Request) -> web.Response:
        metrics, tables = self._services.metrics, self._services.tables
        metrics.connections.set(self._connections())
        metrics.tables.set(tables.count)
        metrics.in_use.set(tables.in_use)
        return metrics_page(metrics.text(time.monotonic()))
