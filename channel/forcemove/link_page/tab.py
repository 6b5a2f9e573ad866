"""The playground in a tab: answers what its page asks for, where a server would."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from forcemove.arena.twin_chain import TwinChain
from forcemove.browser.channel_site import ChannelSite, place_of
from forcemove.browser.forms import PostedForm
from forcemove.browser.pages import ShownPanels
from forcemove.browser.playground.playground_pages import PlaygroundPages
from forcemove.browser.render import message_page, nav_panel
from forcemove.browser.security import PageRequestRefused
from forcemove.game import Game
from forcemove.playground.playground import Playground

__all__ = ["PlaygroundTab", "TabAnswer"]

_CHANNEL = re.compile(r"/(c|games)/0x([0-9a-f]{64})(/events|/record|/act|/say)?")
_LONGEST_WAIT = 3600.0
"""Seconds after which a stream looks again though nothing has changed."""


class TabAnswer(NamedTuple):
    """An answer to the page. `status`: HTTP's; `text`: HTML, or words where the page's script asks; `path`: of the page
    to show instead."""

    status: int
    text: str = ""
    path: str = ""


class PlaygroundTab:
    """A playground whose pages are asked for by one tab, which alone can ask."""

    def __init__(self, games: list[Game]) -> None:
        """Bring the playground up. `games`: what can be played, the first one first."""
        self._pages = PlaygroundPages(Playground(games, chain=TwinChain))
        self._site = ChannelSite(self._pages)
        self._token = secrets.token_urlsafe()
        self._stream: asyncio.Task[None] | None = None

    @property
    def path(self) -> str:
        """That of the page to begin with."""
        return self._pages.path

    async def run(self) -> None:
        """Play, until this is cancelled."""
        await self._pages.run()

    def get(self, address: str) -> TabAnswer:
        """A page by its path and query."""
        try:
            return TabAnswer(200, self._page(address))
        except PageRequestRefused as refused:
            return TabAnswer(refused.status, message_page("Not here", refused.reason, self._site.nav, "/events"))

    def _page(self, address: str) -> str:
        parts = urlsplit(address)
        if parts.path in ("/", "/games"):
            return self._site.channels()
        room, channel_id, more = _channel_in(parts.path)
        if more == "/record":
            return self._site.record(channel_id, self._token)
        if more:
            raise PageRequestRefused(404, "There is nothing at this address.")
        show = self._site.channel if room == "c" else self._site.replay
        return show(channel_id, _at(parts.query), self._token)

    def post(self, address: str, fields: Mapping[str, str]) -> TabAnswer:
        """Take a form. `fields`: by name."""
        form = PostedForm(dict(fields))
        try:
            if address == "/playground/press":
                return TabAnswer(204, path=self._site.press(form))
            _, channel_id, more = _channel_in(address)
            if more != "/act":
                raise PageRequestRefused(404, "There is nothing at this address.")
            self._site.act(channel_id, form)
        except PageRequestRefused as refused:
            return TabAnswer(refused.status, refused.reason)
        return TabAnswer(204)

    def listen(self, address: str, show: Callable[[str], object]) -> None:
        """Give the panels of a page to `show`, as JSON, now and whenever one has changed; those of another page no
        longer. `address`: of the page's stream."""
        if self._stream is not None:
            self._stream.cancel()
        self._stream = asyncio.get_running_loop().create_task(self._stream_panels(address, show))

    async def _stream_panels(self, address: str, show: Callable[[str], object]) -> None:
        shown = ShownPanels()
        while True:
            number = self._pages.changes.number
            if fresh := shown.fresh({**nav_panel(self._site.nav), **self._panels(address)}):
                show(fresh)
            await self._pages.changes.after(number, _LONGEST_WAIT)

    def _panels(self, address: str) -> Mapping[str, str]:
        parts = urlsplit(address)
        if parts.path == "/events":
            return {}
        _, channel_id, _ = _channel_in(parts.path)
        return self._site.panels(channel_id, _at(parts.query), self._token) or {}


def _channel_in(path: str) -> tuple[str, bytes, str]:
    """The room, the channel's id, and what of it a path asks for. Raises `PageRequestRefused`."""
    found = _CHANNEL.fullmatch(path)
    if found is None:
        raise PageRequestRefused(404, "There is nothing at this address.")
    return found[1], bytes.fromhex(found[2]), found[3] or ""


def _at(query: str) -> int | None:
    return place_of(dict(parse_qsl(query)).get("at"))
