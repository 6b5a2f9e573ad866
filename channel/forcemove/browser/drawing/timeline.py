"""The timeline: a lane for each participant and one for the chain, and a sign for each entry, placed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from forcemove.browser.drawing.happenings import Happening
from forcemove.browser.view import ChannelView
from forcemove.protocol.logs import ChallengeRegistered, Checkpointed, Closed, Concluded, PartlyPaid, Responded
from forcemove.protocol.machine.channel import Phase
from forcemove.text.situation.moment import shown_names

_LEFT, _STEP, _TOP, _LANE, _HALF = 88, 36, 30, 42, 11
_ENDS = (Responded, Checkpointed, Concluded, Closed, PartlyPaid)
"""The logs after which no clock runs."""


@dataclass(frozen=True, slots=True)
class Lane:
    """`name`: of a participant, or of the chain; `y`: of its line."""

    name: str
    y: int


class Sign(NamedTuple):
    """`x`, `y`: of its middle; `shape`: `dot`, `box` or `cross`; `tone`: the class of its colour; `is_shown`: whether
    the inspector shows it."""

    x: int
    y: int
    shape: str
    tone: str
    happening: Happening
    is_shown: bool


class TimelineLink(NamedTuple):
    """A line from one state to the next one."""

    x1: int
    y1: int
    x2: int
    y2: int


@dataclass(frozen=True, slots=True)
class Bar:
    """A clock that runs, from a challenge to what ended it. `width`: None while it runs."""

    x: int
    y: int
    width: int | None


@dataclass(frozen=True, slots=True)
class Bracket:
    """Around the signs of the newest proof."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """`width`, `height`: of all of it, in pixels."""

    width: int
    height: int
    left: int
    lanes: tuple[Lane, ...]
    links: tuple[TimelineLink, ...]
    bars: tuple[Bar, ...]
    bracket: Bracket | None
    signs: tuple[Sign, ...]


def timeline_of(view: ChannelView, happenings: Sequence[Happening], shown: int | None) -> Timeline:
    """The timeline of a window of the history. `shown`: the entry that the inspector shows."""
    names = shown_names(view.names)[: view.channel.agreement.count]
    lanes = tuple(Lane(_short(name), _y(index)) for index, name in enumerate((*names, "Chain")))
    signs = _signs(happenings, len(names), shown)
    width = _LEFT + _STEP * (len(signs) + 1)
    is_newest = bool(happenings) and happenings[-1].place >= len(view.history.entries) - 1
    runs = view.seen.phase is Phase.CHALLENGED and is_newest
    height = lanes[-1].y + _TOP - 4
    links, bars = _links(signs), _bars(signs, runs=runs)
    return Timeline(width, height, _LEFT - 16, lanes, links, bars, _bracket(view, signs), signs)


def _y(lane: int) -> int:
    return _TOP + lane * _LANE


def _short(name: str) -> str:
    return name if len(name) <= 9 else f"{name[:8]}\N{HORIZONTAL ELLIPSIS}"


def _signs(happenings: Sequence[Happening], count: int, shown: int | None) -> tuple[Sign, ...]:
    found = list[Sign]()
    for each in happenings:
        if not each.sign:
            continue
        lane = count if each.lane is None or each.lane >= count else each.lane
        is_state = each.log is None and each.sign.isdecimal()
        shape = "dot" if is_state else "cross" if each.log is None else "box"
        tone = f"seat-{lane}" if is_state else each.tone or "muted"
        x = _LEFT + _STEP // 2 + _STEP * len(found)
        found.append(Sign(x, _y(lane), shape, tone, each, each.place == shown))
    return tuple(found)


def _links(signs: Sequence[Sign]) -> tuple[TimelineLink, ...]:
    dots = [each for each in signs if each.shape == "dot"]
    return tuple(TimelineLink(one.x, one.y, other.x, other.y) for one, other in pairwise(dots) if one.y != other.y)


def _bars(signs: Sequence[Sign], *, runs: bool) -> tuple[Bar, ...]:
    """A bar from each challenge that stands to the next log that ends a clock. `runs`: whether the last one still
    does."""
    found, start = list[Bar](), None
    for each in signs:
        log = each.happening.log
        if log is None or each.happening.is_gone:
            continue
        if start is not None and log in (*_ENDS, ChallengeRegistered):
            found.append(Bar(start.x, start.y, each.x - start.x))
            start = None
        if log is ChallengeRegistered:
            start = each
    if start is not None:
        end = signs[-1].x + _STEP // 2
        found.append(Bar(start.x, start.y, None if runs else end - start.x))
    return tuple(found)


def _bracket(view: ChannelView, signs: Sequence[Sign]) -> Bracket | None:
    """Around the states of the newest proof: as many as there are participants, or one that all have signed."""
    turn = view.seen.safety.provable_turn
    if turn is None:
        return None
    turns = {str(each) for each in range(max(0, turn - view.channel.agreement.count + 1), turn + 1)}
    if any(each.happening.is_ring and each.happening.sign == str(turn) for each in signs):
        turns = {str(turn)}
    dots = [each for each in signs if each.shape == "dot" and each.happening.sign in turns]
    if not dots:
        return None
    left, right = min(each.x for each in dots), max(each.x for each in dots)
    top, bottom = min(each.y for each in dots), max(each.y for each in dots)
    pad = _HALF + 6
    return Bracket(left - pad, top - pad, right - left + 2 * pad, bottom - top + 2 * pad)
