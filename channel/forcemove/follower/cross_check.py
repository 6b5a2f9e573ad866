"""What follows from what all endpoints show of a channel: defend by union, commit by intersection. Pure.

| decision | rule |
| --- | --- |
| a clock runs against us: answer | any view shows it, by a log or by the status alone, at that view's own time |
| what is final: collect | any view shows it; the sender simulates it |
| pay in, sign, play on, call it over | all live views show the same; one that is late is waited for |
| the time | the earliest of the live views', 0 while one is missing |

A view is live while its endpoint answers, and for half a minute in which it is asked and does not. One that is not is
left out of what all views must agree on, never of what any view may show. After a start, and after our own process
stood still, each must be shown anew: who answers first decides nothing alone. Comparing changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from forcemove.chain.block_time import believed_alone
from forcemove.follower.errors import AnotherChain, EndpointLeftOut, EndpointStuck, StillReading
from forcemove.follower.on_chain_view import OnChainView
from forcemove.protocol.machine.inputs import Clock, Payout, ViewsDiffer
from forcemove.protocol.words import Mode

_SILENT = 30.0
"""Seconds after which an endpoint that is asked and answers nothing is left out."""
_STUCK = 120.0
"""Seconds after which it is reported that an endpoint shows no new block, while another is some blocks further."""
_BLOCKS = 3


@dataclass(frozen=True, slots=True)
class EndpointHealth:
    """How one endpoint does. `silent`: seconds for which it has been asked and has not answered; `still`: since its
    head has changed. `number`: of its head, -1 before there is one."""

    endpoint: str
    silent: float
    still: float
    number: int


@dataclass(frozen=True, slots=True)
class EndpointView:
    """What one endpoint shows of one channel. `view`: None where the channel was not read there yet. `read_up_to`: the
    number of the last block that was read; `time`: the block time (seconds) of a transaction that is sent now, by this
    endpoint's word. `is_live`: whether all must agree with this view; `has_answered`: whether the endpoint has answered
    since the start, and since our own process last stood still."""

    endpoint: str
    view: OnChainView | None
    read_up_to: int
    time: int
    is_live: bool = True
    has_answered: bool = True


@dataclass(frozen=True, slots=True)
class Combined:
    """What follows from all views. `agreed`: the views that all show the same, None where nothing new may be committed
    to. `differences`: the clocks to answer and payouts to collect that are not agreed on, and whether views contradict
    each other, or were never compared. `disagreeing`: two views that do."""

    agreed: tuple[EndpointView, ...] | None = None
    differences: ViewsDiffer = field(default_factory=ViewsDiffer)
    disagreeing: tuple[EndpointView, EndpointView] | None = None


def is_live(health: EndpointHealth) -> bool:
    """Whether an endpoint answers, so that all must agree with its views, whatever blocks it shows."""
    return health.silent < _SILENT


def wrong_with(health: EndpointHealth, furthest: int) -> EndpointLeftOut | EndpointStuck | None:
    """The error to report of an endpoint, or None. `furthest`: the number of the newest head that any endpoint
    shows."""
    if not is_live(health):
        return EndpointLeftOut(health.endpoint, health.silent)
    if health.still >= _STUCK and furthest >= health.number + _BLOCKS:
        return EndpointStuck(health.endpoint, health.number, furthest)
    return None


def combine(views: Sequence[EndpointView], now: int, *, was_agreed: bool = True) -> Combined:
    """Combine the views of one channel. `now`: the `combined_time` of all views. Times are block times, seconds. A view
    whose chain is another one, by the origin that our journal has, does not count. `was_agreed`: whether all live views
    have agreed on the channel since the start, and since our own process last stood still."""
    views = [each for each in views if each.view is None or not isinstance(each.view.error, AnotherChain)]
    live = [each for each in views if each.is_live]
    differing = _differing(live)
    agreed = None if differing or not _are_complete(live) else tuple(live)
    is_denied = differing is not None or not (agreed or was_agreed)
    return Combined(agreed, ViewsDiffer(is_denied, _clocks(views, agreed), _payouts(views, agreed, now)), differing)


def combined_time(times: Sequence[int | None], own_time: int | None = None) -> int:
    """The block time (seconds) by which deadlines are judged: the earliest that a live view shows, so that no answer is
    given up on one endpoint's word; 0 where there is none, or one is missing. `times`: of the live views, None of one
    that is missing, 0 of one that shows another chain. `own_time`: our own clock's, None on chains whose clock is moved
    by hand: a view that is alone is believed as far as `believed_alone` says, and what is lost by waiting is what the
    challenged state pays anyway."""
    shown = [each for each in times if each]
    if not shown or None in times:
        return 0
    return believed_alone(shown[0], own_time) if len(shown) == 1 else min(shown)


def _differing(live: Sequence[EndpointView]) -> tuple[EndpointView, EndpointView] | None:
    """Two views that have both read so far that they should show the same, and do not. A view with an error
    contradicts all, and is returned twice; one of which not all is read yet contradicts none."""
    shown = [each for each in live if each.view is not None and not isinstance(each.view.error, StillReading)]
    newest = max((each.view.at for each in shown if each.view), default=0)
    current = [each for each in shown if each.read_up_to >= newest]
    for each in current:
        if each.view is not None and each.view.error is not None:
            return each, each
    return next((pair for pair in combinations(current, 2) if not _fit(*pair)), None)


def _fit(one: EndpointView, other: EndpointView) -> bool:
    return one.view is not None and other.view is not None and one.view.shows_the_same_as(other.view)


def _are_complete(live: Sequence[EndpointView]) -> bool:
    """Whether there are views, none of them missing and none with an error, and all show the same."""
    return (
        bool(live)
        and all(each.has_answered for each in live)
        and all(each.view is not None and each.view.error is None for each in live)
        and all(_fit(live[0], each) for each in live[1:])
    )


def _clocks(views: Sequence[EndpointView], agreed: Sequence[EndpointView] | None) -> tuple[Clock, ...]:
    found: dict[Clock, None] = {}
    for each in views:
        if each.view is None or not each.view.shows_clock(each.time) or _is_among(each, agreed):
            continue
        found |= dict.fromkeys(_clocks_of(each.view, each.time))
    return tuple(found)


def _clocks_of(view: OnChainView, time: int) -> list[Clock]:
    """The clock that the adjudicator's status shows, and that of the logs, where it is another one."""
    record, clocks = view.record, []
    if view.shown_status.mode(time) is Mode.CHALLENGE:
        clocks.append(Clock(view.shown_status, record.recorded if view.shown_status == record.status else None))
    if view.logged_status != view.shown_status and view.logged_status.mode(time) is Mode.CHALLENGE:
        clocks.append(Clock(view.logged_status, record.recorded))
    return clocks


def _payouts(views: Sequence[EndpointView], agreed: Sequence[EndpointView] | None, now: int) -> tuple[Payout, ...]:
    """The payouts that views show, without one that all agree on and whose time has come for all: the client collects
    that by itself."""
    found: dict[Payout, None] = {}
    for each in views:
        if each.view is None or not each.view.is_payable(each.time) or each.view.record.owed is None:
            continue
        if not (_is_among(each, agreed) and each.view.is_payable(now)):
            found[Payout(each.view.record.owed, each.view.holdings)] = None
    return tuple(found)


def _is_among(view: EndpointView, agreed: Sequence[EndpointView] | None) -> bool:
    """Whether all views agree on what this view shows."""
    if agreed is None or view.view is None or view.view.error is not None:
        return False
    return _fit(view, agreed[0])
