"""What the lobby's pages show and do: the open games of a relay, the tables of a service, and the form of an offer."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import Any

from forcemove.browser.lobby.drafts import read_draft
from forcemove.browser.lobby.view import (
    GameOption,
    LobbyView,
    OfferDraft,
    OfferPage,
    OfferRow,
    TableRow,
    error_lines,
    offer_row,
    table_row,
)
from forcemove.browser.pages import ChangeSignal
from forcemove.chain.addresses import show_address
from forcemove.chain.threads import aside
from forcemove.errors import ForcemoveError
from forcemove.history.tokens import TokenFacts
from forcemove.program import program
from forcemove.protocol.encoding import NO_CHAIN
from forcemove.sessions.errors import GameNotInBook
from forcemove.sessions.meetings.meeting import find_offer
from forcemove.sessions.meetings.terms import labelled_lines, terms_lines
from forcemove.sessions.meetings.venues import require_ours
from forcemove.sessions.playing.played_channel import run_with_background
from forcemove.sessions.running.lobby_follower import LobbyFollower
from forcemove.sessions.running.open_tables import OpenTables
from forcemove.sessions.running.playable import find_playable, playable_for, token_of
from forcemove.sessions.running.running_table import RunningTable
from forcemove.text.amounts import token_name
from forcemove.text.harmless import isolated
from forcemove.text.names import shown_name
from forcemove.transport.joins import OfferStatus
from forcemove.transport.links import Link
from forcemove.transport.offers import Offer

_MOST_COSTS = 100
NOT_OPEN = "This game is no longer open."
"""What is said of an offer that the relay does not show."""
_Costs = tuple[tuple[tuple[str, str], ...], tuple[str, ...]]
"""What a game may cost, and why it cannot be played."""


class LobbyPages:
    """The lobby of one relay and the tables of one service. Everything is asked for in the event loop's thread.
    `changes`: notified whenever a page may look different."""

    def __init__(
        self,
        follower: LobbyFollower,
        tables: OpenTables,
        wall: Callable[[], float] = time.time,
        stake_hint: str = "",
    ) -> None:
        """Show nothing yet.

        - `follower`: knows the open games.
        - `tables`: ours.
        - `wall`: Unix seconds.
        - `stake_hint`: what to do about a game for a stake without a chain; empty for a command.
        """
        self._stake_hint = stake_hint
        self._linked: dict[bytes, Offer] = {}
        self.changes = ChangeSignal()
        self._follower, self._tables, self._wall = follower, tables, wall
        follower.on_change, tables.on_change = self._listed, self.changes.notify
        self._notice, self._made, self._draft = "", 0, OfferDraft()
        self._last_made: OfferDraft | None = None
        self._costs: dict[bytes, _Costs] = {}

    async def run(self, *others: Coroutine[Any, Any, None]) -> None:
        """Follow the lobby, play at the tables, and run what is given besides, until this is cancelled."""
        playing = self._tables.service.run(self._tables.run())
        await run_with_background(playing, self._follower.run(), *others)

    def _listed(self) -> None:
        """The list says from now on whether an offer that it has is open."""
        for each in self._follower.offers:
            self._linked.pop(each.offer.hash, None)
        self.changes.notify()

    # --------------------------------------------------------------------------------------------------------- looking

    def view(self, form_token: str) -> LobbyView:
        """The lobby as its page shows it. `form_token`: for the page's forms."""
        follower, now = self._follower, self._wall()
        playable = self._tables.playable
        chain_id, token = max((each.chain_id for each in playable), default=0), token_of(playable)
        return LobbyView(
            follower.url,
            follower.problem,
            tuple(self._row(each.offer, each, now) for each in follower.offers),
            follower.has_more,
            tuple(self._table(each) for each in self._tables.tables.values()),
            self._options(),
            str(chain_id) if chain_id else "",
            "" if token is None else token_name(token),
            self._draft,
            self._made,
            int(now),
            self._notice,
            form_token,
        )

    def offer_page(self, offer: bytes, form_token: str) -> OfferPage | None:
        """An offer (its hash) as its page shows it; None where it is neither in the lobby nor at our table."""
        table, offered = self._tables.table_of(offer), self._open_offer(offer)
        known = offered or (None if table is None else table.offer)
        if known is None:
            return None
        costs, problem = self._costs.get(offer, ((), ()))
        return OfferPage(
            self._row(known, self._follower.find(offer), self._wall()),
            f"{isolated(shown_name(known.name))} {show_address(known.host)}".strip(),
            labelled_lines(list(terms_lines(known, "", self._token(known)))[1:]),
            costs,
            problem,
            None if table is None else self._table(table),
            offered is not None,
            self._notice,
            form_token,
        )

    def _open_offer(self, offer: bytes) -> Offer | None:
        """An open game that is listed, or that a link has named."""
        shown = self._follower.find(offer)
        return self._linked.get(offer) if shown is None else shown.offer

    async def read_costs(self, offer: bytes) -> None:
        """Ask the chain what an open game may cost us, unless it is ours."""
        shown = self._open_offer(offer)
        game = None if shown is None else playable_for(self._tables.playable, shown)
        if shown is None or game is None or shown.host == self._ours:
            return
        service = self._tables.service
        payer = service.wallet.payer_address
        try:
            if not shown.is_friendly:
                service.require_within_limits(shown.asset, shown.deposit, shown.duration)
            lines = await aside(lambda: game.venue.costs_lines(shown, payer))
            found: _Costs = labelled_lines(lines), ()
        except Exception as error:
            found = (), error_lines(error)
        while len(self._costs) >= _MOST_COSTS:
            del self._costs[next(iter(self._costs))]
        self._costs[offer] = found

    async def find(self, offer: bytes) -> str:
        """Ask the relay for an offer (its hash) that is neither listed nor at one of our tables. Returns why it has no
        page here, empty where it has one now. Raises as `find_offer`."""
        if self._tables.table_of(offer) is not None or self._follower.find(offer) is not None:
            return ""
        self._linked.pop(offer, None)
        found = await find_offer(self._follower.relay, offer)
        if found is None:
            return NOT_OPEN
        service = self._tables.service
        game = next((each for each in service.games if each.name == found.game), None)
        if game is None:
            return f"The game {found.game!r:.60} is not installed here."
        if not (service.chains or found.is_friendly):
            hint = self._stake_hint or f"`{program()} play {game.name} --join LINK --chain URL` joins it."
            return f"This game is for a stake on chain {found.chain_id}, and here is none: {hint}"
        known = [each for each in self._tables.playable if each.game.name == game.name]
        chain_id = service.chains[0].chain_id if service.chains else NO_CHAIN
        on_chain = [each for each in known if each.chain_id == found.chain_id]
        try:
            if not on_chain and found.chain_id == chain_id:
                raise GameNotInBook(game.artifact.name, chain_id)
            require_ours(found, (on_chain or known)[0].venue)
            found.require_guest(self._ours)
        except ForcemoveError as error:
            return " ".join(error_lines(error))
        self._linked[offer] = found
        return ""

    @property
    def relay(self) -> str:
        """The relay's address, without a password."""
        return self._follower.url

    @property
    def _ours(self) -> bytes:
        return self._tables.service.wallet.key.address

    def _row(self, offer: Offer, shown: OfferStatus | None, now: float) -> OfferRow:
        return offer_row(offer, shown, self._title(offer), self._ours, now, self._token(offer))

    def _table(self, table: RunningTable) -> TableRow:
        token = None if table.offer is None else self._token(table.offer)
        return table_row(table, token)

    def _token(self, offer: Offer) -> TokenFacts | None:
        game = playable_for(self._tables.playable, offer)
        return None if game is None else game.token

    def _title(self, offer: Offer) -> str:
        game = find_playable(self._tables.playable, offer.game, offer.chain_id)
        return offer.game if game is None else game.game.title

    def _options(self) -> tuple[GameOption, ...]:
        games = {each.game.name: each.game for each in self._tables.playable}
        return tuple(
            GameOption(name, game.title, " or ".join(map(str, game.seats))) for name, game in sorted(games.items())
        )

    # ----------------------------------------------------------------------------------------------------------- doing

    def make(self, draft: OfferDraft, made: int) -> None:
        """Offer the game of a form; why that was not done is shown in the lobby. `made`: how many offers the form's
        page knew of: a form that was sent before makes nothing again, and a second click on it needs no word."""
        if made != self._made:
            if draft != self._last_made:
                self._show("That offer has already been made.")
            return
        wanted = read_draft(draft, self._tables.playable)
        if isinstance(wanted, str):
            self._draft = draft
            self._show(wanted)
            return
        self._made, self._draft, self._last_made = made + 1, OfferDraft(draft.game), draft
        self._tables.offer(wanted)
        self._show("")

    def join(self, offer: bytes) -> None:
        """Join an offer (its hash), on whose terms the person has agreed."""
        shown = self._open_offer(offer)
        game = None if shown is None else playable_for(self._tables.playable, shown)
        if shown is None or game is None:
            self._show(NOT_OPEN)
        elif shown.host == self._ours:
            self._show("This is your own offer.")
        else:
            self._linked.pop(offer, None)
            self._tables.join(game, Link(self._follower.url, offer), shown)
            self._show("")

    async def open_link(self, offer: bytes) -> bool:
        """Join an offer (its hash) that need not be listed, on whose terms the person has agreed; one for a stake only
        gets its page, on which the person agrees. Returns whether it has a page then; why not is shown in the lobby.
        Raises as `find_offer`."""
        if problem := await self.find(offer):
            self._show(problem)
            return False
        found = self._open_offer(offer)
        if found is not None and found.is_friendly and self._tables.table_of(offer) is None:
            self.join(offer)
        return True

    def withdraw(self, offer: bytes) -> None:
        """Take back our offer (its hash), or our seat at another's."""
        is_done = self._tables.withdraw(offer)
        self._show("" if is_done else "It cannot be taken back: the game has begun or is over.")

    def dismiss(self, number: int) -> None:
        """Show a table that has ended no more."""
        self._tables.dismiss(number)
        self._show("")

    def resume(self) -> None:
        """Continue what is open in the journal, and has no table."""
        self._tables.resume()
        self._show("")

    def _show(self, notice: str) -> None:
        self._notice = notice
        self.changes.notify()
