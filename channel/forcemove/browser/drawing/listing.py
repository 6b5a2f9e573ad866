"""The list of channels: a row each, those with a deadline first, then those from which money is still to come. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from forcemove.inspect.listed_channel import ListedChannel
from forcemove.protocol.machine.channel import Phase
from forcemove.protocol.machine.results import Ending
from forcemove.store.records import Ownership
from forcemove.text.amounts import amount_text
from forcemove.text.durations import local_time
from forcemove.text.harmless import harmless
from forcemove.text.names import full_name
from forcemove.text.situation.moment import clock_text
from forcemove.text.situation.turn import PHASE_WORDS


@dataclass(frozen=True, slots=True)
class ListingRow:
    """A channel in the list.

    - `path`: of its page; `replay`: of the page that shows its game again.
    - `others`: their names and addresses.
    - `begun`: the date, empty where it is not known.
    - `rounds`: the score.
    - `phase`: with its `tone`.
    - `until`: the block time (seconds) of its deadline, 0 for none; `left` until then.
    - `money`: to come, at stake, or won.
    """

    path: str
    replay: str
    title: str
    others: str
    begun: str
    rounds: str
    phase: str
    tone: str
    until: int
    left: str
    money: str


def listed_rows(channels: Iterable[ListedChannel], now: int) -> tuple[ListingRow, ...]:
    """A row for each channel. `now`: the chain's time, seconds."""
    return tuple(_row(each, now) for each in sorted(channels, key=lambda each: each.urgency))


def _row(listed: ListedChannel, now: int) -> ListingRow:
    summary = listed.summary
    until = summary.finalizes_at if summary.phase is Phase.CHALLENGED else 0
    is_away = listed.ownership is Ownership.PUT_AWAY
    turn = ", your turn" if summary.phase is Phase.PLAYING and summary.is_our_turn else ""
    return ListingRow(
        f"/c/0x{listed.id.hex()}",
        f"/games/0x{listed.id.hex()}",
        harmless(listed.title),
        ", ".join(full_name(*each) for each in summary.others),
        local_time(summary.begun_at)[0] if summary.begun_at else "",
        harmless(listed.score),
        "put away" if is_away else PHASE_WORDS[summary.phase] + turn,
        "bad" if until else "muted" if is_away or summary.phase is Phase.CLOSED else "",
        until,
        clock_text(until - now) if until else "",
        _money(listed),
    )


def _money(listed: ListedChannel) -> str:
    summary = listed.summary
    if summary.is_friendly:
        return "nothing"
    if summary.result is not None:
        ours = [each for each in summary.result.shares if each.participant == summary.index]
        paid = " and ".join(amount_text(each.asset, each.payable, summary.tokens) for each in ours)
        back = "paid back" if summary.result.ending is Ending.UNFUNDED else "paid"
        return f"{paid or 'not known what was'} {back}" if summary.phase is Phase.CLOSED else f"{paid} to come"
    return " and ".join(amount_text(*each, summary.tokens) for each in summary.ours) + " if it ended now"
