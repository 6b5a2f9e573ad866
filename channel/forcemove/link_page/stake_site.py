"""The page on which a player says how to play for a stake, by its path. Knows no server: see `PathSite`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum

from forcemove.browser.forms import PostedForm
from forcemove.browser.lobby.view import error_lines
from forcemove.browser.pages import ChangeSignal, PageAnswer
from forcemove.browser.security import nothing_here
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
