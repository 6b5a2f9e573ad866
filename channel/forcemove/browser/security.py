"""Who may ask the page's server for what: only a browser on this machine that has come by the address that was printed,
and of its pages only our own. And the fields of these pages' forms, however they come here.

Other pages in the same browser can send requests here, too, and any program on this machine can. So the host must be
ours, a session begins with a token that works once, and what changes something must come from our page.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from forcemove.errors import LocalError

MAX_BODY = 16 * 1024
"""Bytes of a request's body."""
_TOKEN = 32
_HOSTS = ("127.0.0.1", "localhost")
_OURS = ("same-origin", "none")
"""What a browser says of requests that our page, or the user, has made."""
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Of every answer. A policy of no referrers would make browsers send forms with no origin."""


class PageRequestRefused(LocalError):
    """A request is not answered. `status`: HTTP's; `reason`: for people."""

    status: int
    reason: str


def nothing_here() -> PageRequestRefused:
    """The refusal of an address where there is nothing. A new one each time: an error that is raised keeps frames."""
    return PageRequestRefused(404, "There is nothing at this address.")


class BrowserSession:
    """The one session of a server. `enter_token`: in the address that works once; `form_token`: in every form."""

    def __init__(self, port: int) -> None:
        """`port`: where the server listens; cookies are shared by all ports of a host."""
        self.enter_token, self.form_token = secrets.token_urlsafe(_TOKEN), secrets.token_urlsafe(_TOKEN)
        self.cookie_name = f"forcemove-{port}"
        self._cookie = secrets.token_urlsafe(_TOKEN)
        self._is_burnt = False

    def enter(self, token: str) -> str:
        """The cookie for anyone who brings the token; a token that was used is not a token. Raises
        `PageRequestRefused`."""
        if self._is_burnt or not _is_same(token, self.enter_token):
            raise PageRequestRefused(403, "This address works once. Start the command again for another one.")
        self._is_burnt = True
        return self._cookie

    def is_known(self, cookies: Mapping[str, str]) -> bool:
        """Whether a request has the cookie."""
        return _is_same(cookies.get(self.cookie_name, ""), self._cookie)

    def require_known(self, cookies: Mapping[str, str]) -> None:
        """Raise `PageRequestRefused` for a request without the cookie."""
        if not self.is_known(cookies):
            raise PageRequestRefused(403, "Open the address that the command has printed.")


def require_our_host(host: str, port: int) -> None:
    """Refuse a request that was sent to another name: a name that leads here may be anybody's. Raises
    `PageRequestRefused`."""
    if host not in _authorities(port):
        raise PageRequestRefused(421, "This server is 127.0.0.1 and localhost only.")


def require_ours(method: str, headers: Mapping[str, str], port: int) -> None:
    """Refuse what another site has a browser ask for: any POST whose origin is not ours, and what is to be read by
    another site's page. Raises `PageRequestRefused`."""
    site = headers.get("Sec-Fetch-Site")
    if method in ("GET", "HEAD"):
        is_opened = headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"
        if site is not None and site not in _OURS and not is_opened:
            raise PageRequestRefused(403, "Another site asked for this.")
        return
    if headers.get("Origin") not in [f"http://{each}" for each in _authorities(port)]:
        raise PageRequestRefused(403, "A form must come from a page of this server.")
    if site != "same-origin":
        raise PageRequestRefused(403, "A form must come from a page of this server.")


def require_form(session: BrowserSession, token: str) -> None:
    """Refuse a form that no page of this session has made. Raises `PageRequestRefused`."""
    if not _is_same(token, session.form_token):
        raise PageRequestRefused(403, "This form is from another session: reload the page.")


def _authorities(port: int) -> tuple[str, ...]:
    return tuple(f"{host}:{port}" for host in _HOSTS)


def _is_same(one: str, other: str) -> bool:
    """Whether two secrets are the same. What a stranger sends may have half characters: bytes that are not UTF-8."""
    return secrets.compare_digest(one.encode(errors="surrogatepass"), other.encode())


# ---------------------------------------------------------------------------------------------------------------- forms

_PATH = re.compile(r"/|/c/0x[0-9a-f]{64}(\?at=[0-9]{1,6})?")
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
