"""Which page a link leads to, whatever it is for. Another kind of link is another row of `_PAGES`. Pure."""

from __future__ import annotations

from collections.abc import Callable

from forcemove.browser.lobby.view import offer_path
from forcemove.browser.security import PageRequestRefused
from forcemove.errors import ForcemoveError
from forcemove.sessions.watching.watch_link import WATCH_HEAD, parse_watch_link
from forcemove.text.explanations import headline
from forcemove.transport.links import parse_link

__all__ = ["page_of_link"]


def page_of_link(text: str, relay: str) -> str:
    """The path of the page for a link. `relay`: the address of the lobby's relay, without a password. Raises
    `PageRequestRefused` where the text leads nowhere here."""
    word = "".join(text.split()).lower()
    page = next((page for head, page in _PAGES.items() if word.startswith(head)), _path_of_offer)
    try:
        return page(text, relay)
    except ForcemoveError as error:
        raise PageRequestRefused(404, headline(error)) from None


def _path_of_offer(text: str, relay: str) -> str:
    link = parse_link(text)
    if link.relay != relay:
        raise PageRequestRefused(404, f"This game is offered at {link.relay}, and this page is of {relay}.")
    return offer_path(link.offer)


def _path_of_watch(text: str, _: str) -> str:
    return f"/watch/{parse_watch_link(text)}"


_PAGES: dict[str, Callable[[str, str], str]] = {WATCH_HEAD: _path_of_watch}
"""By how a link begins, what makes the path of its page. Any other text is read as a link to a game."""
