"""The pages of a source's channels, and what their forms do. Knows no server: what asks may be a browser's request or
a script in the same tab."""

from __future__ import annotations

from collections.abc import Mapping

from forcemove.browser.pages import PageSource
from forcemove.browser.render import channel_page, channel_panels, channels_page, replay_page
from forcemove.browser.security import PageRequestRefused, PostedForm
from forcemove.browser.templating import PLAIN_NAV, Links, Nav
from forcemove.browser.view import ChannelView
from forcemove.inspect.errors import RecordIncomplete
from forcemove.text.explanations import headline
from forcemove.text.played_games import record_text

_MOST_ENTRIES = 6
"""Digits of the number of an entry."""


class ChannelSite:
    """Shows a source's channels. Every method with an id (32 bytes) raises `PageRequestRefused` where there is no such
    channel. `token`: what the page's forms bring back; `at`: the entry or the position that is shown."""

    def __init__(self, source: PageSource, links: Links = PLAIN_NAV.links) -> None:
        """`links`: the pages that every page leads to."""
        self._source, self._links = source, links
        self._panels: tuple[object, Mapping[str, str]] = (None, {})

    @property
    def nav(self) -> Nav:
        """What every page leads to now."""
        return Nav(self._links, self._source.games)

    def channels(self) -> str:
        """The page of all channels."""
        rows, now = self._source.rows()
        return channels_page(rows, now, self.nav)

    def channel(self, channel_id: bytes, at: int | None, token: str) -> str:
        """A channel's page."""
        return channel_page(self.view(channel_id, at, token), self.nav)

    def replay(self, channel_id: bytes, at: int | None, token: str) -> str:
        """The page of a position of a game."""
        view = self.view(channel_id, at, token)
        try:
            return replay_page(view, at, self.nav)
        except RecordIncomplete as error:
            raise PageRequestRefused(404, headline(error)) from None

    def record(self, channel_id: bytes, token: str) -> str:
        """The record of a game, as the text of a file."""
        view = self.view(channel_id, None, token)
        try:
            return record_text(view.channel, view.history, view.game, view.names)
        except RecordIncomplete as error:
            raise PageRequestRefused(404, headline(error)) from None

    def panels(self, channel_id: bytes, at: int | None, token: str) -> Mapping[str, str] | None:
        """The panels of a channel's page as they are now, made once for all tabs that show the same; None where the
        channel is gone."""
        key = (self._source.changes.number, channel_id, at)
        if self._panels[0] != key:
            try:
                self._panels = key, channel_panels(self.view(channel_id, at, token))
            except PageRequestRefused:
                return None
        return self._panels[1]

    def view(self, channel_id: bytes, at: int | None, token: str) -> ChannelView:
        """A channel as its page shows it."""
        view = self._source.view(channel_id, at, token)
        if view is None:
            raise PageRequestRefused(404, "There is no such channel here.")
        return view

    # ------------------------------------------------------------------------------------------------------ the actions

    def act(self, channel_id: bytes, form: PostedForm) -> None:
        """Do what a form of a channel's page asks for."""
        self.view(channel_id, None, form.text("token"))
        self._source.act(channel_id, form.text("do"), form.text("word"), form.turn())

    def say(self, channel_id: bytes, form: PostedForm) -> str:
        """Say what a form has to the other players; returns why it was not said, empty where it was."""
        self.view(channel_id, None, form.text("token"))
        self._source.say(channel_id, form.text("text"))
        return self.view(channel_id, None, form.text("token")).notice

    def press(self, form: PostedForm) -> str:
        """Press the button that a form names; returns the path of another page that it leads to, or nothing."""
        return self._source.press(form.text("button"))


def place_of(text: str | None) -> int | None:
    """The entry or position that an address asks for, None where it asks for none. Raises `PageRequestRefused`."""
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > _MOST_ENTRIES:
        raise PageRequestRefused(404, "There is no such entry.")
    return int(text)
