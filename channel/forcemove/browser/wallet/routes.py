"""The routes of the wallet's page."""

from __future__ import annotations

import asyncio

from aiohttp import web

from forcemove.browser.site_section import SiteSection
from forcemove.browser.wallet.wallet_pages import WalletPages
from forcemove.browser.wallet.wallet_site import WalletSite


class WalletSection(SiteSection):
    """The `PageSection` of a wallet. While its page is open, the chain is asked what became of transactions."""

    def __init__(self, pages: WalletPages) -> None:
        """`pages`: what is shown, and what it is told."""
        super().__init__(WalletSite(pages))
        self._pages = pages

    async def _get(self, request: web.Request) -> web.StreamResponse:
        looking = asyncio.create_task(self._pages.watch())
        try:
            return await super()._get(request)
        finally:
            looking.cancel()
            await asyncio.wait([looking])
