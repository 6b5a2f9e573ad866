"""Reads the page's forms, and says what a browser is answered."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aiohttp import web

from forcemove.browser.security import BrowserSession, PageRequestRefused, require_form

__all__ = ["PostedForm", "done", "html_page", "is_live", "read_form"]

_LIVE = "X-Live"
_PATH = re.compile(r"/|/c/0x[0-9a-f]{64}(\?at=[0-9]{1,6})?")
_URLENCODED = "application/x-www-form-urlencoded"
_MOST_TURN = 2**48


@dataclass(frozen=True, slots=True)
class PostedForm:
    """A form's fields, by name."""

    fields: dict[str, str]

    def text(self, name: str) -> str:
        """A field; empty where the form has none of this name."""
        return self.fields.get(name, "")

    def turn(self) -> int:
        """The field `turn`. Raises `PageRequestRefused`."""
        return self.number("turn")

    def number(self, name: str) -> int:
        """A field with a whole number. Raises `PageRequestRefused`."""
        text = self.text(name)
        if not text.isascii() or not text.isdecimal() or len(text) > len(str(_MOST_TURN)):
            raise PageRequestRefused(400, f"The form has no {name}.")
        return int(text)

    def path(self) -> str:
        """The field `path`, where it is a page of this server, else the first page."""
        path = self.text("path")
        return path if _PATH.fullmatch(path) else "/"


async def read_form(request: web.Request, session: BrowserSession) -> PostedForm:
    """The form of a request. Raises `PageRequestRefused` where it is none of this session's pages."""
    if request.content_type != _URLENCODED:
        raise PageRequestRefused(415, "This is not a form.")
    try:
        posted = await request.post()
    except (ValueError, LookupError):  # bytes or a charset that are none
        raise PageRequestRefused(400, "This form cannot be read.") from None
    form = PostedForm({name: value for name, value in posted.items() if isinstance(value, str)})
    require_form(session, form.text("token"))
    return form


def done(request: web.Request, path: str, *, moves: bool = False) -> web.Response:
    """The answer to a form that was taken: nothing for the page's script, which is told by the stream; else, and where
    the form `moves` to another page, the path of the page to go to."""
    if is_live(request) and not moves:
        return web.Response(status=204)
    return web.Response(status=303, headers={"Location": path})


def is_live(request: web.Request) -> bool:
    """Whether the page's script has sent a request, and shows what becomes of it."""
    return request.headers.get(_LIVE) == "1"


def html_page(html: str, status: int = 200) -> web.Response:
    """A page as an answer."""
    return web.Response(status=status, text=html, content_type="text/html")
