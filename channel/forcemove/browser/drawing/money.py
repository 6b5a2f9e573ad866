"""Who has what: each balance, its change, and all of them as one bar. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.browser.view import ChannelView
from forcemove.protocol.machine.channel import OVER, Phase
from forcemove.text.amounts import amount_text
from forcemove.text.situation.balances import settled_shares
from forcemove.text.situation.moment import change_text, shown_names


@dataclass(frozen=True, slots=True)
class Balance:
    """One participant. `amount`: what it has by the rounds that are over, empty where nothing is at stake; `change`:
    since the beginning, `tone`: `good` or `bad` by it; `is_mover`: whether it is its turn; `silence`: seconds
    for which it was not heard from, None where that is not said."""

    seat: int
    name: str
    is_ours: bool
    amount: str
    change: str
    tone: str
    is_mover: bool
    silence: float | None


@dataclass(frozen=True, slots=True)
class BarPart:
    """A participant's part of the bar, in hundredths of it."""

    seat: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class MoneyBar:
    """`parts`: in order of seats, ours first; `start`: where ours ended in the beginning; `text`: the bar in words;
    `in_play`: what the running round has moved, empty for nothing."""

    parts: tuple[BarPart, ...]
    start: float
    text: str
    in_play: str


def balances_of(view: ChannelView) -> tuple[Balance, ...]:
    """Of each participant, by seat."""
    seen, names = view.seen, shown_names(view.names)
    shared = () if view.channel.agreement.is_friendly else settled_shares(view)[0]
    found, silences = [], view.silences or (None,) * view.channel.agreement.count
    for seat in range(view.channel.agreement.count):
        shares = [each for each in shared if each.participant == seat]
        changes = [(each.asset, each.payable - each.deposited) for each in shares]
        total = sum(change for _, change in changes)
        found.append(
            Balance(
                seat,
                names[seat],
                seat == view.channel.index,
                ", ".join(amount_text(each.asset, each.payable, view.tokens) for each in shares),
                ", ".join(filter(None, (change_text(*each, view.tokens) for each in changes))),
                "good" if total > 0 else "bad" if total < 0 else "",
                seen.phase in (Phase.PLAYING, Phase.CHALLENGED) and seen.mover == seat,
                silences[seat] if seat != view.channel.index and seen.phase not in OVER else None,
            )
        )
    return tuple(found)


def bar_of(view: ChannelView) -> MoneyBar | None:
    """The shares of the first asset; None where there is nothing to share."""
    all_shares, in_play = settled_shares(view)
    shares = [each for each in all_shares if each.asset == all_shares[0].asset]
    total, deposited = sum(each.payable for each in shares), sum(each.deposited for each in shares)
    if not total:
        return None
    ordered = sorted(shares, key=lambda each: (each.participant != view.channel.index, each.participant))
    parts, x = list[BarPart](), 0.0
    for each in ordered:
        width = 100 * each.payable / total
        parts.append(BarPart(each.participant, round(x, 2), round(width, 2)))
        x += width
    names = shown_names(view.names)
    text = ", ".join(
        f"{names[each.participant]} {amount_text(each.asset, each.payable, view.tokens)}" for each in ordered
    )
    start = 100 * ordered[0].deposited / deposited if deposited else 0.0
    return MoneyBar(tuple(parts), round(start, 2), text, in_play)
