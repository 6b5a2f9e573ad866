"""Reads the page's forms, and says what a browser is answered."""

from __future__ import annotations

from aiohttp import web

from forcemove.browser.security import BrowserSession, PageRequestRefused, PostedForm, require_form

_LIVE = "X-Live"
_URLENCODED = "application/x-www-form-urlencoded"


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
