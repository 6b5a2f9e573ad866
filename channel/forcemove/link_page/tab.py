"""Pages in a tab: answers what the page asks for, where a server would."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import NamedTuple
from urllib.parse import parse_qsl

from forcemove.browser.channel_site import ChannelSite, place_of
from forcemove.browser.pages import ChangeSignal, PageAnswer, PageSource, PathSite, ShownPanels
from forcemove.browser.render import message_page, nav_panel
from forcemove.browser.security import PageRequestRefused, PostedForm, nothing_here
from forcemove.browser.templating import PLAIN_NAV
from forcemove.errors import ForcemoveError
from forcemove.game import Game
from forcemove.registry import installed_games
from forcemove.text.explanations import headline

_CHANNEL = re.compile(r"/(c|games)/0x([0-9a-f]{64})(/events|/record|/act|/say)?")
_LONGEST_WAIT = 3600.0
"""Seconds after which a stream looks again though nothing has changed."""
_LIVE = '<span id="live" role="status">live</span>'
_LOST = '<span id="live" role="status" class="lost">Not shown: {}. Reload the page.</span>'

_LOG = logging.getLogger(__name__)


class TabAnswer(NamedTuple):
    """An answer to the page. `status`: HTTP's; `text`: HTML, or words where the page's script asks; `path`: of a page
    to show instead."""

    status: int
    text: str = ""
    path: str = ""


class PageTab:
    """The pages of a source's channels, and others, for one tab, which alone can ask for them."""

    def __init__(self, source: PageSource, sites: Sequence[PathSite] = ()) -> None:
        """`source`: has the channels; `sites`: the other pages."""
        self._source = source
        self._sites = {head: each for each in sites for head in each.heads}
        links = (link for each in sites for link in each.links)
        self._site = ChannelSite(source, (*PLAIN_NAV.links, *links))
        self._token = secrets.token_urlsafe()
        self._stream: asyncio.Task[None] | None = None
        self._playing: asyncio.Task[None] | None = None

    def play(self, say_over: Callable[[str], object]) -> None:
        """Drive the channels from now on. `say_over`: is told in words what has ended that, if it was not
        `end`: nobody answers for the player then."""
        self._playing = asyncio.get_event_loop().create_task(self.run())
        self._playing.add_done_callback(partial(_say_why, say_over))

    async def run(self) -> None:
        """Drive the channels, until this is cancelled."""
        await self._source.run()

    @property
    def path(self) -> str:
        """That of the page to begin with."""
        return self._source.path

    async def get(self, address: str) -> TabAnswer:
        """A page by its path and query; a file in place of one where the query says `file`."""
        try:
            answer = await self._page(address)
            if answer.html and not answer.html.startswith("<") and not address.endswith("?file"):
                raise nothing_here()
        except PageRequestRefused as refused:
            return TabAnswer(refused.status, message_page("Not here", refused.reason, self._site.nav, "/events"))
        return TabAnswer(answer.status, answer.html, answer.path)

    async def _page(self, address: str) -> PageAnswer:
        path, _, query = address.partition("?")
        if path in ("/", "/games"):
            return PageAnswer(self._site.channels())
        found = _CHANNEL.fullmatch(path)
        if found is None:
            return await self._other(path).page(path, self._token, self._site.nav)
        channel_id = bytes.fromhex(found[2])
        if found[3] == "/record":
            return PageAnswer(self._site.record(channel_id, self._token))
        if found[3]:
            raise nothing_here()
        show = self._site.channel if found[1] == "c" else self._site.replay
        return PageAnswer(show(channel_id, _at(query), self._token))

    def _other(self, path: str) -> PathSite:
        """The site that has a path. Raises `PageRequestRefused`."""
        site = self._sites.get(f"/{path[1:].partition('/')[0]}")
        if site is None:
            raise nothing_here()
        return site

    def post(self, address: str, fields: Mapping[str, str]) -> TabAnswer:
        """Take a form. `fields`: by name."""
        form = PostedForm(dict(fields))
        try:
            return self._post(address, form)
        except PageRequestRefused as refused:
            return TabAnswer(refused.status, refused.reason)

    def _post(self, address: str, form: PostedForm) -> TabAnswer:
        if address == "/playground/press":
            return TabAnswer(204, path=self._site.press(form))
        found = _CHANNEL.fullmatch(address)
        if found is None:
            answer = self._other(address).post(address, form, self._site.nav)
            return TabAnswer(answer.status, answer.html, answer.path if answer.moves else "")
        channel_id = bytes.fromhex(found[2])
        if found[3] == "/act":
            self._site.act(channel_id, form)
        elif found[3] != "/say":
            raise nothing_here()
        elif notice := self._site.say(channel_id, form):  # the page keeps what was typed
            return TabAnswer(409, notice)
        return TabAnswer(204)

    def listen(self, address: str, show: Callable[[str], object]) -> None:
        """Give the panels of a page to `show`, as JSON, now and whenever one has changed; those of another page no
        longer. `address`: of the page's stream."""
        self.listen_no_more()
        self._stream = asyncio.get_running_loop().create_task(self._stream_panels(address, show))

    def listen_no_more(self) -> None:
        """The page is not looked at."""
        if self._stream is not None:
            self._stream.cancel()

    async def _stream_panels(self, address: str, show: Callable[[str], object]) -> None:
        path, _, query = address.partition("?")
        path, at = path.removesuffix("/events"), _at(query)
        changes = self._changes(path)
        shown, was_lost = ShownPanels(), False
        self._source.changes.streams += 1
        try:
            while True:
                number, found = changes.number, self._panels_or_why(path, at)
                if found is None:
                    return
                was_lost |= "live" in found
                if fresh := shown.fresh({"live": _LIVE, **found} if was_lost else found):
                    show(fresh)
                await changes.after(number, _LONGEST_WAIT)
        finally:
            self._source.changes.streams -= 1

    def _panels_or_why(self, path: str, at: int | None) -> Mapping[str, str] | None:
        """All panels of a page, or one that says why there are none: with the next change they may be there again."""
        try:
            found = self._panels(path, at)
            return None if found is None else {**nav_panel(self._site.nav), **found}
        except Exception as error:
            _LOG.exception("the panels of %s are not shown", path)
            return {"live": _LOST.format(escape(_words_of(error)))}

    def _changes(self, path: str) -> ChangeSignal:
        """Notified whenever this page may look different."""
        changes = self._source.changes
        if not path or _CHANNEL.fullmatch(path):
            return changes
        of_site = self._other(path).changes
        changes.followers.add(of_site)
        return of_site

    def _panels(self, path: str, at: int | None) -> Mapping[str, str] | None:
        if not path:  # of a page that changes in nothing but what all pages have
            return {}
        found = _CHANNEL.fullmatch(path)
        if found is None:
            return self._other(path).panels(path, self._token)
        return self._site.panels(bytes.fromhex(found[2]), at, self._token)


def games_for_two() -> list[Game]:
    """The games that are in the build and that two can play."""
    return [each.game for each in installed_games().usable if 2 in each.game.seats]


def _say_why(say_over: Callable[[str], object], ended: asyncio.Task[None]) -> None:
    if not ended.cancelled() and (error := ended.exception()) is not None:
        say_over(_words_of(error))


def _words_of(error: BaseException) -> str:
    return headline(error).rstrip(".") if isinstance(error, ForcemoveError) else repr(error)


def _at(query: str) -> int | None:
    return place_of(dict(parse_qsl(query)).get("at"))
