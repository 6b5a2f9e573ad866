"""A channel at one moment, as one participant sees it, and the words that its sentences share. Pure but for the
reader's own time zone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache

from forcemove.game import Game, Names, RoundResult
from forcemove.history.history import ChannelHistory
from forcemove.history.overview import ChainDepth, Overview
from forcemove.history.tokens import Tokens
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.results import Share
from forcemove.rounds import RoundCount
from forcemove.text.amounts import amount_text
from forcemove.text.durations import local_time
from forcemove.text.entries import name_at
from forcemove.text.explanations import headline
from forcemove.text.harmless import harmless

_LONGEST = 40
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Moment:
    """What the sentences are made of.

    - `game`: the channel's.
    - `channel`: as it is now.
    - `history`: of the channel.
    - `seen`: its overview at `now`.
    - `now`: the chain's time, or our own of a friendly game, in seconds.
    - `wall`: our own Unix seconds that go with `now`, for times of day.
    - `names`: of the participants, by seat.
    - `tokens`: what the channel's tokens say of themselves, as far as that is known.
    - `depth`: how far the chain goes, and how deep logs are believed; None where that is not known.
    - `rounds`: those that are over; None where nobody has counted them.
    - `silences`: seconds for which each participant was not heard from, by seat, None where that is not known; empty
      where nobody listens.
    - `silence_left`: seconds until our client challenges a silent counterparty; infinite where it does not.
    - `move_time`: seconds that each has for a move, 0 for any; `move_left`: those that the mover has left.
    - `to_sign`: the adjudicator's operations that our wallet elsewhere is to sign now; None where our own key signs.
    - `leave_cost`: the most that leaving with our next turn loses us, in the smallest unit.
    """

    game: Game
    channel: Channel
    history: ChannelHistory
    seen: Overview
    now: int
    wall: int
    names: Names
    _: KW_ONLY
    tokens: Tokens = ()
    depth: ChainDepth | None = None
    rounds: RoundCount | None = None
    silences: tuple[float | None, ...] = ()
    silence_left: float = math.inf
    move_time: int = 0
    move_left: float = math.inf
    leave_cost: int = 0
    to_sign: Sequence[str] | None = None


def by_itself(moment: Moment) -> str:
    """How our client sends transactions, after a verb."""
    return "by itself" if moment.to_sign is None else "with your wallet's signature"


def results_of(moment: Moment) -> Sequence[RoundResult]:
    """The results of the rounds that are over, as far as they were counted."""
    return () if moment.rounds is None else moment.rounds.results


@lru_cache(maxsize=64)
def shown_names(names: Names) -> Names:
    """The names as they may be shown: strangers choose their own."""
    return tuple(harmless(name[:_LONGEST]) for name in names)


def named(moment: Moment, seat: int | None) -> str:
    """A participant in a sentence: `you`, or a name."""
    return name_at(seat, shown_names(moment.names), moment.channel.index)


def change_text(asset: bytes, change: int, tokens: Tokens = ()) -> str:
    """A change with its sign; empty where nothing has changed."""
    if not change:
        return ""
    return f"{_MINUS if change < 0 else '+'}{amount_text(asset, abs(change), tokens)}"


def paid_text(moment: Moment, shares: Iterable[Share]) -> str:
    """Who is paid what, such as `you are paid 0.6 ether and Bob 0.4 ether`: we come first."""
    ordered = sorted(shares, key=lambda each: (each.participant != moment.channel.index, each.participant))
    parts = list[str]()
    for each in ordered:
        who = named(moment, each.participant)
        verb = "" if parts else " are paid" if each.participant == moment.channel.index else " is paid"
        parts.append(f"{who}{verb} {amount_text(each.asset, each.payable, moment.tokens)}")
    if len(parts) < 2:
        return "".join(parts) or "nobody is paid anything"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def gas_text(gas: int | None) -> str:
    """What something costs in gas."""
    if gas is None:
        return "gas: not known yet"
    return f"about {round(gas, -3):,} gas" if gas else "no gas"


def count_text(count: int, what: str) -> str:
    """Such as `1 transaction`, or `3 transactions`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def capitalised(text: str) -> str:
    """A sentence that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def clock_text(seconds: float) -> str:
    """Hours, minutes and seconds, such as 1:05:09, or 5:09; never below zero."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def clock_time(moment: Moment, block_time: int) -> str:
    """The time of day, on the reader's clock, at which the chain's clock shows this time; with the date where that is
    another day."""
    date, clock = local_time(moment.wall + block_time - moment.now)
    today, _ = local_time(moment.wall)
    return clock if date == today else f"{clock} on {date}"


def depth_text(block: int, depth: ChainDepth) -> str:
    """How deep a block is, of how deep it must be, such as `1 of 3 blocks`. `block`: its number."""
    found = min(max(depth.head - block + 1, 0), depth.needed)
    return f"{found:,} of {depth.needed:,} {'block' if depth.needed == 1 else 'blocks'}"


def deposit_text(block: int | None, depth: ChainDepth | None) -> str:
    """A sentence about our deposit, which is mined, and not yet as deep as it is believed. Empty where there is none.
    `block`: the number of its block."""
    return "" if block is None or depth is None else f"Your deposit is {depth_text(block, depth)} deep."


def failure_text(depth: ChainDepth) -> str:
    """Why no endpoint answers, a sentence; empty where that is not known."""
    return "" if depth.failure is None else headline(depth.failure)
