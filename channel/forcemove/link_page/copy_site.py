"""The page on which a player saves a copy of the open games for a stake. Knows no server: see `PathSite`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from forcemove.browser.forms import PostedForm
from forcemove.browser.lobby.view import error_lines
from forcemove.browser.pages import ChangeSignal, PageAnswer
from forcemove.browser.security import nothing_here
from forcemove.browser.templating import Links, Nav, fill_in
from forcemove.errors import ForcemoveError

COPY = "/copy"
"""The path of the page."""
_FILE = f"{COPY}/file"
_SHORTEST = 10
_TOO_SHORT = (
    f"Choose a password of at least {_SHORTEST} characters: anyone who has the file can try any number of them."
)
_OTHER = "The two passwords are not the same."


class CopySite:
    """The `PathSite` of copies."""

    links: Links = ((COPY, "Save a copy"),)
    heads = (COPY,)

    def __init__(self, make: Callable[[str], Awaitable[str]]) -> None:
        """`make`: makes a copy that a password opens; its text. Raises `ForcemoveError`."""
        self.changes = ChangeSignal()
        self._make, self._copy, self._problem = make, "", ""
        self._making: asyncio.Task[None] | None = None

    async def page(self, path: str, token: str, nav: Nav) -> PageAnswer:
        """See `PathSite`; the file is a page, too. One that was made when the page was left is an old one."""
        if path == _FILE and self._copy:
            return PageAnswer(self._copy)
        self._copy = self._problem = ""
        panels = self.panels(path, token)
        return PageAnswer(fill_in("lobby.html", nav=nav, title="Save a copy", events=f"{COPY}/events", panels=panels))

    def panels(self, path: str, token: str) -> Mapping[str, str]:
        """See `PathSite`."""
        self.require(path, token)
        is_busy = self._making is not None and not self._making.done()
        now = {"problem": self._problem, "is_busy": is_busy, "file": _FILE if self._copy else "", "form_token": token}
        return {"copy": fill_in("copy.html", shortest=_SHORTEST, **now)}

    def require(self, path: str, token: str) -> None:  # noqa: ARG002  # as of others
        """See `PathSite`."""
        if path != COPY:
            raise nothing_here()

    def post(self, path: str, form: PostedForm, nav: Nav) -> PageAnswer:  # noqa: ARG002  # other sites answer by pages
        """See `PathSite`; the copy shows on the page once it is made."""
        self.require(path, "")
        password = form.text("password")
        self._copy, self._problem = "", _problem_of(password, form.text("again"))
        if not self._problem:
            self._making = asyncio.get_event_loop().create_task(self._take(password))
        self.changes.notify()
        return PageAnswer(path=COPY)

    async def _take(self, password: str) -> None:
        try:
            self._copy = await self._make(password)
        except ForcemoveError as error:
            self._problem = " ".join(error_lines(error))
        asyncio.get_running_loop().call_soon(self.changes.notify)  # when this is done


def _problem_of(password: str, again: str) -> str:
    if len(password) < _SHORTEST:
        return _TOO_SHORT
    return "" if password == again else _OTHER
