"""The routes of the wallet's page."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence

from aiohttp import web

from forcemove.browser.actions import done, html_page, read_form
from forcemove.browser.events import stream_panels
from forcemove.browser.security import PageRequestRefused
from forcemove.browser.server import BrowserServer
from forcemove.browser.templating import Links
from forcemove.browser.wallet.render import wallet_page, wallet_panels
from forcemove.browser.wallet.wallet_pages import WalletPages

__all__ = ["WalletSection"]

_PATIENCE = 2.0
"""Seconds that the page waits for nodes to answer; what they say later, the stream shows."""
_NAME, _HASH = re.compile(r"[0-9a-f]{16}"), re.compile(r"0x([0-9a-fA-F]{64})")


class WalletSection:
    """The `PageSection` of a wallet."""

    links: Links = (("/wallet", "Wallet"),)

    def __init__(self, pages: WalletPages) -> None:
        """`pages`: what is shown, and what it is told."""
        self._pages = pages
        self._site: BrowserServer

    def routes(self, site: BrowserServer) -> Sequence[web.RouteDef]:
        """See `PageSection`."""
        self._site = site
        return [
            web.get("/wallet", self._wallet),
            web.get("/wallet/events", self._events, allow_head=False),
            web.post("/wallet/sent", self._sent),
            web.post("/wallet/refused", self._refused),
        ]

    async def _wallet(self, _: web.Request) -> web.StreamResponse:
        await asyncio.wait([asyncio.create_task(self._pages.look())], timeout=_PATIENCE)
        return html_page(wallet_page(self._pages.view(self._token), self._site.nav))

    async def _events(self, request: web.Request) -> web.StreamResponse:
        looking = asyncio.create_task(self._pages.watch())
        try:
            return await stream_panels(
                request, self._pages.changes, lambda: wallet_panels(self._pages.view(self._token))
            )
        finally:
            looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await looking

    @property
    def _token(self) -> str:
        return self._site.session.form_token

    async def _sent(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, self._site.session)
        found = _HASH.fullmatch(form.text("hash"))
        if found is None:
            raise PageRequestRefused(400, "The wallet has given no transaction's hash.")
        return self._answer(request, self._pages.on_sent(_name_in(form.text("request")), bytes.fromhex(found[1])))

    async def _refused(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, self._site.session)
        return self._answer(request, self._pages.on_refused(_name_in(form.text("request"))))

    def _answer(self, request: web.Request, is_known: bool) -> web.StreamResponse:
        if not is_known:
            raise PageRequestRefused(409, "This transaction is no longer needed.")
        return done(request, "/wallet")


def _name_in(text: str) -> str:
    """A request's name. Raises `PageRequestRefused`."""
    if not _NAME.fullmatch(text):
        raise PageRequestRefused(400, "The form names no transaction.")
    return text
