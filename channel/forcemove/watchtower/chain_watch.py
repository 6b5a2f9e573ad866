"""What a tower sees of one adjudicator: a view through each endpoint, for all channels that it watches there, and which
of them there may be something to do for. A channel for which there is nothing costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.chain import Call
from forcemove.chain.prices import dearest
from forcemove.follower.endpoint_quorum import EndpointQuorum
from forcemove.follower.errors import LogsLeftOut
from forcemove.follower.follow_request import FollowRequest
from forcemove.watchtower.acceptance import AcceptedAppointment
from forcemove.watchtower.appointment import Appointment
from forcemove.watchtower.watched_channel import Due, WatchedChannel
from forcemove.workers.tx_requests import operation_of


class ChainWatch:
    """Watches one adjudicator on one chain. `channels`: those that are watched, by id; `looks`: how many times a new
    block was seen, through any endpoint; `workers`: one for each endpoint; `confirmations`: as of `EndpointQuorum`."""

    def __init__(
        self,
        adjudicators: Sequence[Adjudicator],
        first_block: int,
        confirmations: int,
        clock: Callable[[], float],
        own_time: Callable[[], float] | None,
    ) -> None:
        """Watch no channel yet.

        - `adjudicators`: the same one through each endpoint.
        - `first_block`: a block before all of the adjudicator's logs.
        - `confirmations`: as of `EndpointQuorum`.
        - `clock`: as of `EndpointQuorum`.
        - `own_time`: as of `EndpointQuorum`.
        """
        self.adjudicator, self.confirmations = adjudicators[0], confirmations
        self._chains = tuple(each.chain for each in adjudicators)
        self.channels: dict[bytes, WatchedChannel] = {}
        self.looks = 0
        self._changed: set[bytes] = set()
        self._waiting: set[bytes] = set()
        self._heap: list[tuple[int, bytes]] = []
        self._moment: tuple[int, ...] = ()
        self._first_block = first_block
        self._views = EndpointQuorum(adjudicators, confirmations, clock, own_time)
        self.workers = self._views.viewers

    @property
    def time(self) -> int:
        """The block time (seconds) by which deadlines are judged; 0 before a block was read."""
        return self._views.time

    @property
    def latest_time(self) -> int:
        """The latest block time (seconds) that any endpoint shows."""
        return max(each.time for each in self._views.viewers)

    @property
    def number(self) -> int:
        """The number of the newest block that all answering endpoints have shown; -1 before there is one."""
        cursor = self._views.cursor
        return -1 if cursor is None else cursor.number

    @property
    def looked_at(self) -> float | None:
        """When the chain was last read through any endpoint (seconds of the tower's clock), None before that."""
        return max((each.answered_at for each in self._views.viewers if each.answered_at is not None), default=None)

    def guard(self, accepted: AcceptedAppointment, appointment: Appointment) -> bool:
        """Watch a channel with a client's appointment, instead of that client's appointment before; returns whether the
        client had none. `appointment`: its content."""
        watched = self.channels.get(accepted.channel_id)
        if watched is None:
            watched = WatchedChannel(appointment.agreement, max(appointment.from_block, self._first_block))
            self._follow(watched)
            self.channels[watched.id] = watched
        is_new = accepted.client not in watched.accepted
        watched.accepted[accepted.client] = accepted
        self._changed.add(watched.id)
        return is_new

    def _follow(self, watched: WatchedChannel) -> None:
        self._views.follow(FollowRequest(watched.agreement, None, watched.from_block, is_new=False))
        self._views.uncertain.discard(watched.id)

    def remove(self, channel_id: bytes) -> WatchedChannel:
        """Watch a channel no more, and know nothing of it any more; returns it."""
        self._views.unfollow(channel_id)
        self._changed.discard(channel_id)
        self._waiting.discard(channel_id)
        removed = self.channels.pop(channel_id)
        if len(self._heap) > 2 * len(self.channels):  # most of it is of channels that are gone
            waking = [(each.wakes_at, id_) for id_, each in self.channels.items()]
            self._heap = sorted((at, id_) for at, id_ in waking if at is not None)
        return removed

    # ---------------------------------------------------------------------------------------------- what is to be done

    def mark(self, channel_id: bytes) -> None:
        """Something has happened to this channel: the next `take_due` returns it, if it is watched."""
        if channel_id in self.channels:
            self._changed.add(channel_id)

    def take_due(self) -> list[WatchedChannel]:
        """The channels for which there may be something to do: those to which something has happened, those whose time
        has come, and, after another block or where the time is another one, those for which `settle` was not called or
        has found something. None before the chain was read."""
        if self.looked_at is None:
            return []
        due, self._changed = self._changed, set()
        moment = (self.looks, self.number, self.time, self.latest_time)
        if moment != self._moment:
            self._moment = moment
            due |= self._waiting
        while self._heap and self._heap[0][0] <= self.time:
            _, id_ = heappop(self._heap)
            if id_ in self.channels:
                self.channels[id_].wakes_at = None
                due.add(id_)
        self._waiting |= due
        return [self.channels[id_] for id_ in sorted(due)]

    def settle(self, watched: WatchedChannel) -> None:
        """All was done for a channel that there is to do now: leave it alone until something happens to it or its time
        comes."""
        at = watched.next_due(self.time)
        if at is not None and at <= self.time:
            return
        self._waiting.discard(watched.id)
        if at is not None and watched.wakes_at != at:
            watched.wakes_at = at
            heappush(self._heap, (at, watched.id))

    def call_of(self, watched: WatchedChannel, due: Due) -> Call:
        """The call of the adjudicator that a due submission is."""
        prices = dearest(each.prices for each in self._chains)
        operation = operation_of(watched.agreement, due.submission, self.adjudicator, prices)
        return self.adjudicator.call_of(operation)

    def take_in(self) -> tuple[bool, list[Exception]]:
        """Take in what looks have found. Returns whether any channel has an update, and the errors of channels and of
        endpoints. A channel whose update fails concerns no other channel: it is followed again.

        Where a channel's logs are not what the adjudicator says, its client may have given a wrong `from_block`: from
        then on its logs are read from `first_block` on.
        """
        update = self._views.take_in()
        self.looks += update.is_new
        failed = list[Exception]()
        for id_ in update.records.keys() | update.differences.keys():
            self._changed.add(id_)
            try:
                self.channels[id_].on_chain_update(update.records.get(id_), update.differences.get(id_))
            except Exception as fault:
                failed.append(fault)
                self._follow(self.channels[id_])
        wrong = {id_: error for each in self._views.viewers for id_, error in each.errors.items()}
        for id_, error in wrong.items():
            watched = self.channels.get(id_)
            if watched is not None and isinstance(error, LogsLeftOut) and watched.from_block > self._first_block:
                watched.from_block = self._first_block
                self._follow(watched)
        return bool(update.updates or update.differences), [*failed, *update.channel_errors.values(), *update.errors]
