"""What the lobby's pages are made of: values, from offers whose signatures were checked. Their words are strangers'.
Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from forcemove.chain.addresses import short_address, show_address
from forcemove.errors import ForcemoveError
from forcemove.history.tokens import TokenFacts
from forcemove.protocol.codec.json_text import hex_text
from forcemove.rounds import GAME_OVER
from forcemove.sessions.meetings.lobby import seats_text, who_waits
from forcemove.sessions.meetings.terms import offered_amount
from forcemove.sessions.running.running_table import RunningTable, TableState
from forcemove.sessions.watching.watch_link import WatchLink
from forcemove.text.amounts import exact_amount
from forcemove.text.durations import duration_text
from forcemove.text.explanations import explain
from forcemove.text.harmless import harmless
from forcemove.text.names import full_name
from forcemove.transport.joins import OfferStatus
from forcemove.transport.offers import MIN_SEATS, Offer

FRIENDLY = "nothing"


@dataclass(frozen=True, slots=True)
class OfferRow:
    """An open game. `path`: of its page; `title`: of the game; `stake`: of a round; `deposit`: what each player pays
    in; `seats`: taken, of all; `players`: who has a seat; `chain`: its id, or none; `answer`: the time to answer a
    challenge; `until`: Unix seconds until which the game is open, `left` until then; `is_ours`: whether we offer it;
    `whom`: who alone may join, in words, empty for anybody."""

    path: str
    title: str
    stake: str
    deposit: str
    seats: str
    players: str
    chain: str
    answer: str
    until: int
    left: str
    is_ours: bool
    whom: str


@dataclass(frozen=True, slots=True)
class OfferDraft:
    """What a person has typed into the form of an offer. `guest`: the address of the only one who may join; empty for
    anybody. `relay`: where the game is offered; empty for the page's own."""

    game: str = ""
    stake: str = ""
    seats: str = "2"
    duration: str = "3600"
    move_time: str = "0"
    guest: str = ""
    relay: str = ""

    @property
    def terms(self) -> dict[str, str]:
        """The fields by their names, as the form has them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TableRow:
    """One of our tables.

    - `number`: of the table; `title`: of its game; `tone`; `lines`: how far it is.
    - `link`: to hand to a friend; `watch_link`: to hand to spectators. Both are empty where there is none.
    - `path`: of the channel's page, empty before there is one; `offer_path`: of the offer's page.
    - `is_played`: whether its channel is driven now; `can_withdraw`: whether the table can be given up.
    - `is_ended`: whether nothing more happens there.
    - `again`: what the form says that offers the same terms once more, to the same one of two; None before the game is
      over.
    """

    number: int
    title: str
    tone: str
    lines: tuple[str, ...]
    link: str
    watch_link: str
    path: str
    offer_path: str
    is_played: bool
    can_withdraw: bool
    is_ended: bool
    again: OfferDraft | None


@dataclass(frozen=True, slots=True)
class GameOption:
    """A game that can be offered. `name`, `title`; `seats`: how many can play it, in words."""

    name: str
    title: str
    seats: str


@dataclass(frozen=True, slots=True)
class LobbyView:
    """The lobby as its page shows it.

    - `url`: of the relay.
    - `problem`: why the open games are not known; empty where they are.
    - `offers`: the open games; `has_more`: whether there are more than are listed.
    - `tables`: ours.
    - `games`: those that can be offered.
    - `chain`: the chain's id in words; empty where there is no chain.
    - `token`: the name of the token that can be played for; empty where there is none.
    - `draft`: what the form begins with.
    - `made`: how many offers were made by the form; a form of before the last of them makes none.
    - `now`: Unix seconds.
    - `notice`: why the last action was refused; empty where it was not.
    - `form_token`: what a form must bring with it.
    """

    url: str
    problem: str
    offers: tuple[OfferRow, ...]
    has_more: bool
    tables: tuple[TableRow, ...]
    games: tuple[GameOption, ...]
    chain: str
    token: str
    draft: OfferDraft
    made: int
    now: int
    notice: str
    form_token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class OfferPage:
    """An offer as its page shows it.

    - `row`: the offer.
    - `host`: its full address, with the host's name.
    - `terms`: names and values of all terms.
    - `costs`: names and values of what it may cost; none where they were not asked for.
    - `problem`: why it cannot be joined, and what to do.
    - `table`: our table of this offer; None where we have not joined.
    - `is_open`: whether the lobby has it.
    - `notice`: why the last action was refused.
    - `form_token`: what a form must bring with it.
    """

    row: OfferRow
    host: str
    terms: tuple[tuple[str, str], ...]
    costs: tuple[tuple[str, str], ...]
    problem: tuple[str, ...]
    table: TableRow | None
    is_open: bool
    notice: str
    form_token: str = field(repr=False)

    @property
    def can_join(self) -> bool:
        """Whether the person may agree to the terms now."""
        is_free = self.table is None or self.table.tone == "bad"
        return self.is_open and is_free and not self.problem and bool(self.costs) and not self.row.is_ours


def offer_path(offer: bytes) -> str:
    """The page of an offer (its hash)."""
    return f"/offers/{hex_text(offer)}"


def offer_row(
    offer: Offer, shown: OfferStatus | None, title: str, ours: bytes, now: float, token: TokenFacts | None = None
) -> OfferRow:
    """A game that is offered.

    - `offer`: all terms.
    - `shown`: who has a seat; None where the lobby has the offer no more.
    - `title`: of the game.
    - `ours`: our address, 20 bytes.
    - `now`: Unix seconds.
    - `token`: what the offer's token says of itself, where it is known here.
    """
    left = max(0, int(offer.expires - now))
    return OfferRow(
        offer_path(offer.hash),
        harmless(title),
        _amount(offer, offer.stake, token),
        _amount(offer, offer.deposit, token),
        str(offer.seats) if shown is None else seats_text(shown),
        full_name(offer.name, offer.host) if shown is None else who_waits(shown),
        "none" if offer.is_friendly else str(offer.chain_id),
        "-" if offer.is_friendly else duration_text(offer.duration),
        offer.expires,
        duration_text(left),
        offer.host == ours,
        _whom(offer, ours),
    )


def _whom(offer: Offer, ours: bytes) -> str:
    if not offer.guest:
        return ""
    return "for you alone" if offer.guest == ours else f"for {short_address(offer.guest)} alone"


def _amount(offer: Offer, amount: int, token: TokenFacts | None) -> str:
    return FRIENDLY if offer.is_friendly else offered_amount(offer, amount, token)


def table_row(table: RunningTable, token: TokenFacts | None) -> TableRow:
    """One of our tables. `token`: what it is played for, where that is one."""
    offer, agreement = table.offer, table.agreement
    is_playing = table.state is TableState.PLAYING
    return TableRow(
        table.number,
        harmless(table.title),
        {TableState.FAILED: "bad", TableState.PLAYING: "good"}.get(table.state, ""),
        tuple(map(harmless, _lines(table))),
        table.invitation if table.can_withdraw else "",
        _watch_link(table),
        f"/c/{hex_text(agreement.channel_id)}" if agreement is not None and table.is_driven else "",
        "" if offer is None else offer_path(offer.hash),
        is_playing,
        table.can_withdraw,
        table.is_ended,
        _again(table, offer, token) if offer is not None and table.state is TableState.OVER else None,
    )


def _again(table: RunningTable, offer: Offer, token: TokenFacts | None) -> OfferDraft:
    """The same terms, at the same relay; of two players for the same other one."""
    unit, decimals = ("ether", 18) if token is None else ("tokens", token.decimals)
    stake, agreement = exact_amount(offer.stake, unit, decimals), table.agreement
    others = () if agreement is None else agreement.fixed_part.participants
    guest = show_address(others[1 if table.is_ours else 0]) if len(others) == MIN_SEATS else ""
    return OfferDraft(
        offer.game, stake, str(offer.seats), str(offer.duration), str(offer.move_time), guest, table.relay
    )


def _watch_link(table: RunningTable) -> str:
    """It has what the relay knows: anyone who reads it can see the states, and nothing that is secret."""
    agreement = table.agreement
    if agreement is None or not table.is_driven:
        return ""
    return str(WatchLink(table.relay, table.game_name, agreement.domain, agreement.fixed_part))


def _lines(table: RunningTable) -> Sequence[str]:
    """How far a table is."""
    if table.error is not None:
        return error_lines(table.error)
    match table.state:
        case TableState.WAITING:
            return [table.waits_for or "Asking the relay"]
        case TableState.PLAYING:
            return ["It is being played."]
        case _:
            lines = (line.partition(" ") for line in table.lines)
            return [text.strip() for head, _, text in lines if head in _ENDING][-2:] or [GAME_OVER]


_ENDING = ("result", "paid")


def error_lines(error: Exception) -> tuple[str, ...]:
    """What has happened, and what to do."""
    if isinstance(error, ForcemoveError):
        return tuple(explain(error).splitlines())
    return (f"This is a bug in Forcemove: {type(error).__name__}.",)
