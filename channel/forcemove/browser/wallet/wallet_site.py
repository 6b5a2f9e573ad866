"""The wallet's page by its path, and what its script tells. Knows no server: see `PathSite`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

from forcemove.browser.pages import ChangeSignal, PageAnswer
from forcemove.browser.security import PageRequestRefused, PostedForm, nothing_here
from forcemove.browser.templating import Links, Nav
from forcemove.browser.wallet.render import wallet_page, wallet_panels
from forcemove.browser.wallet.wallet_pages import WalletPages

WALLET = "/wallet"
"""The path of the wallet's page."""
_PATIENCE = 2.0
"""Seconds that the page waits for nodes to answer; what they say later, the stream shows."""
_NAME, _HASH = re.compile(r"[0-9a-f]{16}"), re.compile(r"0x([0-9a-fA-F]{64})")


class WalletSite:
    """The `PathSite` of a wallet."""

    links: Links = ((WALLET, "Wallet"),)
    heads = (WALLET,)

    def __init__(self, pages: WalletPages) -> None:
        """`pages`: what is shown, and what it is told."""
        self._pages = pages

    @property
    def changes(self) -> ChangeSignal:
        """See `PathSite`."""
        return self._pages.changes

    async def page(self, path: str, token: str, nav: Nav) -> PageAnswer:
        """See `PathSite`."""
        self.require(path, token)
        await asyncio.wait([asyncio.ensure_future(self._pages.look())], timeout=_PATIENCE)
        return PageAnswer(wallet_page(self._pages.view(token), nav))

    def panels(self, path: str, token: str) -> Mapping[str, str]:
        """See `PathSite`."""
        self.require(path, token)
        return wallet_panels(self._pages.view(token))

    def require(self, path: str, token: str) -> None:  # noqa: ARG002  # as of others
        """See `PathSite`."""
        if path != WALLET:
            raise nothing_here()

    def post(self, path: str, form: PostedForm, nav: Nav) -> PageAnswer:  # noqa: ARG002  # other sites answer by pages
        """See `PathSite`; 409 for a transaction that is no longer needed."""
        name = form.text("request")
        if not _NAME.fullmatch(name):
            raise PageRequestRefused(400, "The form names no transaction.")
        match path:
            case "/wallet/sent":
                found = _HASH.fullmatch(form.text("hash"))
                if found is None:
                    raise PageRequestRefused(400, "The wallet has given no transaction's hash.")
                is_known = self._pages.on_sent(name, bytes.fromhex(found[1]))
            case "/wallet/refused":
                is_known = self._pages.on_refused(name)
            case _:
                raise nothing_here()
        if not is_known:
            raise PageRequestRefused(409, "This transaction is no longer needed.")
        return PageAnswer(path=WALLET)
