"""Looks at an adjudicator's chain through one endpoint, for all channels. Viewers share nothing.

A look goes on in the owner's thread, between what the endpoint's worker asks: what is shown changes at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.asking import Steps
from forcemove.chain.errors import EndpointHangs
from forcemove.chain.prices import Prices
from forcemove.chain.task_queue import Priority
from forcemove.chain.worker import Look, waiting_for
from forcemove.errors import ForcemoveError, PassingError
from forcemove.follower.blocks import Block
from forcemove.follower.cross_check import EndpointHealth
from forcemove.follower.errors import AnotherChain
from forcemove.follower.follow_request import FollowRequest
from forcemove.follower.follower import Follower, FollowerLook
from forcemove.follower.on_chain_view import OnChainView


@dataclass
class _Checked:
    genuine: set[bytes] = field(default_factory=set)
    not_genuine: dict[bytes, ForcemoveError] = field(default_factory=dict)


@dataclass
class _Requested:
    begun: dict[bytes, FollowRequest] = field(default_factory=dict)
    ended: set[bytes] = field(default_factory=set)


class EndpointViewer:
    """What one endpoint shows, as of the last look that was taken. `adjudicator`: through this endpoint. `views`: of
    each channel; `genuine`, `not_genuine`: the channels whose contracts the endpoint shows to be genuine, or not;
    `errors`: what is wrong with channels here; `failure`: of the last look, None where it was answered; `statuses`: of
    watched channels, packed, by id. `cursor`: the last block that was read; `number`, `time`: of the head, -1 and 0
    before there is one. `looks`: how many were taken.

    Seconds of the clock: `answered_at` (None before the first answer), `moved_at`, when the head last changed.
    `has_answered`: whether it has answered since the start, and since `start_again`. `changed`: the channels that have
    changed since `take_changed`; `has_looked`, `is_at_new_head`: whether a look was taken since then, and whether one
    has shown another head. `is_quiet`: set by the owner, see `PollingWorker`."""

    endpoints, is_idle = 1, False  # a chain is looked at whatever happens

    def __init__(
        self,
        adjudicator: Adjudicator,
        confirmations: int,
        clock: Callable[[], float],
        find_uncertain: Callable[[], tuple[bytes, ...]],
        pending_every: float = 0.0,
    ) -> None:
        """Of one endpoint.

        - `adjudicator`: through this endpoint.
        - `confirmations`: as of `Follower`.
        - `clock`: seconds.
        - `find_uncertain`: returns the channels that are `uncertain` to the next look, as of `Follower.look`.
        - `pending_every`: as of `HeadReader`.
        """
        self.adjudicator, self._confirmations, self._clock = adjudicator, confirmations, clock
        self._find_uncertain, self._pending_every = find_uncertain, pending_every
        self.views: dict[bytes, OnChainView] = {}
        self.genuine: set[bytes] = set()
        self.not_genuine: dict[bytes, ForcemoveError] = {}
        self.errors: Mapping[bytes, ForcemoveError] = {}
        self.failure: ForcemoveError | None = None
        self.statuses: Mapping[bytes, int] = {}
        self.changed: set[bytes] = set()
        self.cursor: Block | None = None
        self.number, self.time, self.looks = -1, 0, 0
        self.is_at_new_head = self.has_looked = self.is_quiet = False
        self.moved_at = clock()
        self.answered_at: float | None = None
        self.has_answered = self._is_outdated = False
        self._asked_at: float | None = None
        self._followings: dict[bytes, FollowRequest] = {}
        self._requested = _Requested()
        self._watched: Mapping[bytes, bytes] = {}
        self._start()

    def _start(self) -> None:
        self._follower = Follower(
            self.adjudicator,
            confirmations=self._confirmations,
            clock=self._clock,
            pending_every=self._pending_every,
        )
        self._taken_up: Mapping[bytes, bytes] = self._watched
        self._unchecked: dict[bytes, FollowRequest] = {}
        self._checked: set[Hashable] = set()

    @property
    def endpoint(self) -> str:
        """The endpoint's name, without secrets."""
        return self.adjudicator.chain.endpoint

    @property
    def prices(self) -> Prices:
        """What gas costs, by the endpoint's word."""
        return self.adjudicator.chain.prices

    def health(self) -> EndpointHealth:
        """How the endpoint does now."""
        now = self._clock()
        silent = 0.0 if self._asked_at is None else now - self._asked_at
        return EndpointHealth(self.endpoint, silent, now - self.moved_at, self.number)

    def start_again(self) -> None:
        """Our own process stood still: only a look that begins from now on counts, and silence from now on."""
        self.has_answered, self._is_outdated = False, True
        self.moved_at = self._clock()
        self._asked_at = None if self._asked_at is None else self.moved_at

    def follow(self, following: FollowRequest) -> None:
        """Follow a channel from the next look on; one that is followed already is read from its beginning."""
        self._followings[following.id] = self._requested.begun[following.id] = following
        self._requested.ended.discard(following.id)
        self._forget(following.id)

    def unfollow(self, channel_id: bytes) -> None:
        """Follow a channel no more, from the next look on."""
        self._followings.pop(channel_id, None)
        self._requested.begun.pop(channel_id, None)
        self._requested.ended.add(channel_id)
        self._forget(channel_id)
        self.changed.discard(channel_id)

    def watch(self, home_assets: Mapping[bytes, bytes]) -> None:
        """Read the `statuses` of these channels, and of no others, from the next look on. `home_assets`: by channel
        id."""
        self._watched = dict(home_assets)

    def _forget(self, channel_id: bytes) -> None:
        self.views.pop(channel_id, None)
        self.genuine.discard(channel_id)
        self.not_genuine.pop(channel_id, None)

    @property
    def with_errors(self) -> set[bytes]:
        """The channels with which something is wrong here."""
        return {*self.errors, *self.not_genuine}

    def take_changed(self) -> set[bytes]:
        """The channels that have changed since the last call."""
        changed, self.changed = self.changed, set()
        self.is_at_new_head = self.has_looked = False
        return changed

    # ------------------------------------------------------------------------------------------------------- one look

    def look(self) -> Look[None]:
        """Ask the endpoint for what has changed. Raises `ChainError`; what was read before is taken in all the same.
        After one that hangs, or is closed before its end, the next look reads all again."""
        try:
            yield from self._look()
        except ForcemoveError as error:
            self.failure = error
            raise
        self.failure = None

    def _look(self) -> Look[None]:
        uncertain, checked = self._find_uncertain(), _Checked()
        self._prepare()
        try:
            look = yield from self._follower.look(uncertain)
            if look.failure is None and self._unchecked:
                check = self._check(checked)
                yield from waiting_for(self.adjudicator.chain.worker, check, Priority.CATCH_UP)
        except (EndpointHangs, GeneratorExit):
            self._start()
            self._requested = _Requested(dict(self._followings))
            raise
        self._take(look, checked)
        if look.failure is not None:
            raise look.failure

    def _prepare(self) -> None:
        """Have the follower take up what was asked for since the last look."""
        requested, self._requested = self._requested, _Requested()
        self._is_outdated, self._asked_at = False, self._clock() if self._asked_at is None else self._asked_at
        for each in requested.begun.values():
            self._follower.follow(each)
            if each.is_genuine is not None:
                self._unchecked[each.id] = each
        if self._taken_up is not self._watched:
            self._taken_up = self._watched
            self._follower.watch(self._watched)
        for id_ in requested.ended:
            self._follower.unfollow(id_)
            self._unchecked.pop(id_, None)

    def _check(self, checked: _Checked) -> Steps[None]:
        """Ask what gas costs, and whether contracts are genuine. At the first failure the rest is left to the next
        look, so that only one request waits in vain."""
        for id_, each in tuple(self._unchecked.items()):
            try:
                if (yield from self._is_genuine(each)):
                    checked.genuine.add(id_)
            except PassingError:
                break
            except ForcemoveError as error:
                checked.not_genuine[id_] = error

    def _is_genuine(self, each: FollowRequest) -> Steps[bool]:
        ask = each.is_genuine
        if each.contracts not in self._checked and ask is not None:
            yield from self.adjudicator.chain.ask_prices.steps()
            if (yield from ask(self.adjudicator)):
                self._checked.add(each.contracts)
        return each.contracts in self._checked

    def _take(self, look: FollowerLook, checked: _Checked) -> None:
        """Take in what a look has found."""
        now = self._clock()
        self.looks += 1
        if look.failure is None:
            self.answered_at, self._asked_at = now, None
            self.has_answered = self.has_answered or not self._is_outdated
        self.is_at_new_head, self.has_looked = self.is_at_new_head or look.is_new, True
        if look.head.number != self.number:
            self.moved_at = now
        if not self._is_elsewhere(look):
            self.number, self.time = look.head.number, look.head.next_time
            self.cursor = look.read_up_to or self.cursor
        for id_ in checked.genuine:
            self._unchecked.pop(id_, None)
        self.genuine |= {id_ for id_ in checked.genuine if id_ in self._followings}
        self.not_genuine = {id_: each for id_, each in checked.not_genuine.items() if id_ in self._followings}
        self.errors, self.statuses = look.errors, look.statuses
        views = {id_: each for id_, each in look.views.items() if id_ in self._followings}
        views = {id_: each for id_, each in views.items() if id_ not in self._requested.begun}
        self.views |= views
        self.changed |= views.keys() | checked.genuine | self.not_genuine.keys()

    def _is_elsewhere(self, look: FollowerLook) -> bool:
        """Whether the look has shown another chain than that of any channel: its time is not our channels'."""
        followed = self._followings
        return bool(followed) and all(isinstance(look.errors.get(id_), AnotherChain) for id_ in followed)
