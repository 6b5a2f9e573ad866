"""The page on which a player says how to play for a stake, and that on which a copy of the open games is saved.

Knows no server: see `PathSite`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum

from forcemove.browser.lobby.view import error_lines
from forcemove.browser.pages import ChangeSignal, PageAnswer
from forcemove.browser.security import PostedForm, nothing_here
from forcemove.browser.templating import Links, Nav, fill_in
from forcemove.chain.addresses import show_address
from forcemove.errors import ForcemoveError
from forcemove.link_page.stake_settings import StakeForm, StakeSettings, form_of, read_typed

STAKE = "/stake"
"""The path of the page."""


class StakeState(Enum):
    """How far it has come. The value says so to people."""

    FRIENDLY = "This page plays friendly games. Fill this in to play for a stake, too."
    CHECKING = "The nodes are asked."
    SAVED = "It is kept. Load the page again: then it is played so."
    PLAYED = "This page plays for a stake."


class StakeSite:
    """The `PathSite` of the stake."""

    links: Links = ((STAKE, "Stake"),)
    heads = (STAKE,)

    def __init__(
        self,
        settings: StakeSettings | None,
        player: bytes,
        host: str,
        impossible: str,
        check: Callable[[StakeSettings], Awaitable[StakeSettings]],
        keep: Callable[[StakeSettings], None],
    ) -> None:
        """Show how it is played now.

        - `settings`: those that are played by, None for friendly games alone.
        - `player`: the address of the page's key, 20 bytes, which a watchtower has to know.
        - `host`: of the page, for people.
        - `impossible`: why this browser cannot play for a stake; empty where it can.
        - `check`: asks the nodes; the settings to keep. Raises `ForcemoveError`.
        - `keep`: keeps them for the next time. Raises `OSError`.
        """
        self.changes = ChangeSignal()
        self._impossible, self._check, self._keep = impossible, check, keep
        self._shown = {"host": host, "player": show_address(player), "impossible": impossible}
        self._typed = StakeForm() if settings is None else settings.typed
        self._state = StakeState.FRIENDLY if settings is None else StakeState.PLAYED
        self._problem = ""
        self._checking: asyncio.Task[None] | None = None

    async def page(self, path: str, token: str, nav: Nav) -> PageAnswer:
        """See `PathSite`."""
        panels = self.panels(path, token)
        return PageAnswer(fill_in("lobby.html", nav=nav, title="Stake", events=f"{STAKE}/events", panels=panels))

    def panels(self, path: str, token: str) -> Mapping[str, str]:
        """See `PathSite`."""
        self.require(path, token)
        now = {"typed": self._typed, "state": self._state, "problem": self._problem, "form_token": token}
        return {"stake-form": fill_in("stake.html", **self._shown, **now)}

    def require(self, path: str, token: str) -> None:  # noqa: ARG002  # as of others
        """See `PathSite`."""
        if path != STAKE:
            raise nothing_here()

    def post(self, path: str, form: PostedForm, nav: Nav) -> PageAnswer:  # noqa: ARG002  # other sites answer by pages
        """See `PathSite`; the nodes' answers show on the page."""
        self.require(path, "")
        typed = form_of(form.fields, has_agreed=bool(form.text("agreed")))
        if self._state is not StakeState.CHECKING and not self._impossible:
            self._typed, found = typed, read_typed(typed)
            if isinstance(found, str):
                self._show(self._state, found)
            else:
                self._checking = asyncio.get_event_loop().create_task(self._take(found, self._state))
                self._show(StakeState.CHECKING)
        return PageAnswer(path=STAKE)

    async def _take(self, found: StakeSettings, before: StakeState) -> None:
        try:
            self._keep(await self._check(found))
        except ForcemoveError as error:
            self._show(before, " ".join(error_lines(error)))
        except OSError as error:
            self._show(before, f"The browser does not keep it: {error}.")
        else:
            self._show(StakeState.SAVED)

    def _show(self, state: StakeState, problem: str = "") -> None:
        self._state, self._problem = state, problem
        self.changes.notify()


# --------------------------------------------------------------------------------------------- a copy of the open games

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
