"""The pages on which a table is watched, by their paths. A page that is only opened asks no relay."""

from __future__ import annotations

import re
from collections.abc import Mapping

from forcemove.browser.pages import ChangeSignal, PageAnswer
from forcemove.browser.security import PageRequestRefused, PostedForm, nothing_here
from forcemove.browser.templating import Links, Nav, fill_in
from forcemove.browser.watching.view import WatchView, watch_view
from forcemove.errors import ForcemoveError
from forcemove.sessions.watching.watch_link import WatchLink, parse_watch_link
from forcemove.sessions.watching.watched_tables import WatchedTables
from forcemove.text.explanations import headline
from forcemove.transport.links import LINK_HEAD

_FOR_PLAYERS = "With this link one joins a game (forcemove play GAME --join LINK). Ask for the one for spectators."
_ASK = "/watch"
_TABLE = re.compile(r"/watch/([a-z0-9]{1,4000})")


class WatchSite:
    """The `PathSite` of the tables that are watched."""

    links: Links = ((_ASK, "Watch"),)
    heads = (_ASK,)

    def __init__(self, tables: WatchedTables) -> None:
        """`tables`: follows their logs."""
        self._tables, self.changes = tables, ChangeSignal()
        tables.on_change = self.changes.notify

    async def page(self, path: str, token: str, nav: Nav) -> PageAnswer:
        """See `PathSite`."""
        if path == _ASK:
            return _asked(token, nav)
        return PageAnswer(watch_page(self._view(path, token), nav))

    def panels(self, path: str, token: str) -> Mapping[str, str]:
        """See `PathSite`."""
        return watch_panels(self._view(path, token))

    def require(self, path: str, token: str) -> None:
        """See `PathSite`."""
        self._view(path, token)

    def post(self, path: str, form: PostedForm, nav: Nav) -> PageAnswer:
        """See `PathSite`."""
        if path == _ASK:
            try:
                return PageAnswer(path=f"/watch/{_parsed(form.text('link').strip())}", moves=True)
            except PageRequestRefused as refused:
                return _asked(form.text("token"), nav, refused.reason, refused.status)
        link = _link_in(path)
        game = self._tables.find_game(link)
        if game is None:
            raise PageRequestRefused(404, "The game of this link is not installed here.")
        self._tables.watch(link, game)
        self.changes.notify()
        return PageAnswer(path=path)

    def _view(self, path: str, token: str) -> WatchView:
        """What the page of a link shows. Raises `PageRequestRefused`."""
        link, tables = _link_in(path), self._tables
        return watch_view(link, tables.find_game(link), tables.find(link), token)


def _asked(token: str, nav: Nav, why: str = "", status: int = 200) -> PageAnswer:
    """The page that asks for a link. `why`: why that of before would not do."""
    page = fill_in("watch_ask.html", nav=nav, title="Watch", form_token=token, why=why)
    return PageAnswer(page, status=status)


def watch_panels(view: WatchView) -> Mapping[str, str]:
    """The HTML of each panel by its id."""
    return {
        "say": fill_in("say.html", said=(view.headline, view.faults[-1] if view.faults else "")),
        "watched": fill_in("watch_panel.html", view=view),
    }


def watch_page(view: WatchView, nav: Nav) -> str:
    """The whole page of a watched table."""
    title = f"Watch {view.title}".strip()
    return fill_in("lobby.html", nav=nav, title=title, events=f"{view.path}/events", panels=watch_panels(view))


def _link_in(path: str) -> WatchLink:
    """The link that a path names. Raises `PageRequestRefused`."""
    found = _TABLE.fullmatch(path)
    if found is None:
        raise nothing_here()
    return _parsed(found[1])


def _parsed(text: str) -> WatchLink:
    """The link in a text. Raises `PageRequestRefused`."""
    try:
        return parse_watch_link(text)
    except ForcemoveError as error:
        is_for_players = text.startswith(LINK_HEAD)
        raise PageRequestRefused(404, _FOR_PLAYERS if is_for_players else headline(error)) from None
