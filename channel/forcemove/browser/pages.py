"""What the server needs of what has the channels: a playground, or tables."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from forcemove.browser.security import PostedForm
from forcemove.browser.templating import Links, Nav, PlayedGame
from forcemove.browser.view import ChannelView
from forcemove.inspect.listed_channel import ListedChannel


class PageAnswer(NamedTuple):
    """What becomes of a request. `html`: the page; `path`: of the page to show instead, where there is none; `moves`:
    whether that is so for a page, too, that is kept up to date by itself; `status`: HTTP's."""

    html: str = ""
    path: str = ""
    moves: bool = False
    status: int = 200


class ChangeSignal:
    """Tells any number of listeners that something has changed. `number`: how often; `followers`: signals that
    are notified whenever this one is; `streams`: how many tabs listen now, on any page."""

    def __init__(self) -> None:
        self.number = 0
        self.streams = 0
        self.followers: set[ChangeSignal] = set()
        self._next: asyncio.Future[None] | None = None

    def notify(self) -> None:
        """Something has changed. Called in the event loop's thread."""
        self.number += 1
        waiting, self._next = self._next, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
        for each in self.followers:
            each.notify()

    async def after(self, number: int, seconds: float) -> bool:
        """Wait until something changes after `number`, at most this many seconds; returns whether it did."""
        if self.number != number:
            return True
        if self._next is None or self._next.done():
            self._next = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._next], timeout=seconds)
        return self.number != number


class ShownPanels:
    """What one reader of a stream has been shown: the HTML of each panel, by its id."""

    def __init__(self) -> None:
        self._shown: dict[str, str] = {}

    def fresh(self, found: Mapping[str, str]) -> str:
        """Those panels that have changed, as JSON, which count as shown from now on; empty where there are none."""
        changed = {id_: html for id_, html in found.items() if self._shown.get(id_) != html}
        self._shown |= changed
        return json.dumps(changed) if changed else ""


class PageSource(Protocol):
    """Channels that can be shown, and what a person does with them. `changes`: notified whenever a page may look
    different."""

    changes: ChangeSignal

    @property
    def path(self) -> str:
        """The page that a browser is shown first."""
        ...

    @property
    def games(self) -> tuple[PlayedGame, ...]:
        """The games that the person plays now."""
        ...

    def rows(self) -> tuple[Sequence[ListedChannel], int]:
        """All channels, and the chain's time in seconds."""
        ...

    def view(self, channel_id: bytes, at: int | None, form_token: str) -> ChannelView | None:
        """A channel as its page shows it, None where there is no such channel. `at`: the entry to inspect;
        `form_token`: for the page's forms."""
        ...

    def act(self, channel_id: bytes, do: str, word: str, turn: int) -> None:
        """Do what the person has decided in the channel; why that was not done is shown on its page. `do`: `move`,
        `challenge` or `leave`; `word`: of a move; `turn`: the turn of the next state when the person decided."""
        ...

    def say(self, channel_id: bytes, text: str) -> None:
        """Say something to the other players of the channel; why that was not done is shown on its page."""
        ...

    def press(self, button: str) -> str:
        """Press a button of the playground; why that was not done is shown on its page. Returns the path of the page
        that it leads to, empty for the same one."""
        ...

    async def run(self) -> None:
        """Drive the channels until this is cancelled."""
        ...


class PathSite(Protocol):
    """Pages beside those of the channels, by their paths. Knows no server: what asks may be a browser's request or a
    script in the same tab. Every method with a path raises `PageRequestRefused` where there is nothing.

    - `links`: the pages that every page leads to.
    - `changes`: notified whenever a page may look different.
    - `heads`: how the paths begin.
    - `token`: what the pages' forms bring back.
    """

    @property
    def links(self) -> Links:
        """See above."""
        ...

    @property
    def changes(self) -> ChangeSignal:
        """See above."""
        ...

    @property
    def heads(self) -> Sequence[str]:
        """See above."""
        ...

    async def page(self, path: str, token: str, nav: Nav) -> PageAnswer:
        """A page, or the way to another."""
        ...

    def panels(self, path: str, token: str) -> Mapping[str, str] | None:
        """The panels of a page as they are now, the HTML of each by its id; None where the page is gone."""
        ...

    def require(self, path: str, token: str) -> None:
        """Refuse a path where there is no page with panels now."""
        ...

    def post(self, path: str, form: PostedForm, nav: Nav) -> PageAnswer:
        """Do what a form asks for."""
        ...
