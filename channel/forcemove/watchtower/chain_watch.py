"""What a tower sees of one adjudicator: a view through each endpoint, for all channels that it guards there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.chain import Call
from forcemove.follower.endpoint_quorum import EndpointQuorum
from forcemove.follower.endpoint_viewer import FollowRequest
from forcemove.follower.errors import LogsLeftOut
from forcemove.node.chain_worker import ViewWorker
from forcemove.node.tx_requests import operation_of
from forcemove.watchtower.acceptance import AcceptedAppointment
from forcemove.watchtower.watched_channel import Due, WatchedChannel

__all__ = ["ChainWatch"]


class ChainWatch:
    """Of one adjudicator on one chain. `channels`: those that are guarded, by id; `looks`: so many times another block
    was seen, by whichever endpoint; `workers`: one for each endpoint."""

    def __init__(
        self,
        adjudicators: Sequence[Adjudicator],
        first_block: int,
        confirmations: int,
        clock: Callable[[], float],
        own_time: Callable[[], float] | None,
    ) -> None:
        """`adjudicators`: the same one through each endpoint. `first_block`: one before all of its logs; the other
        arguments as of `EndpointQuorum`."""
        self.adjudicator = adjudicators[0]
        self.channels: dict[bytes, WatchedChannel] = {}
        self.looks = 0
        self._first_block = first_block
        self._views = EndpointQuorum(adjudicators, confirmations, clock, own_time)
        self.workers = [ViewWorker(self._views, each) for each in self._views.viewers]

    @property
    def time(self) -> int:
        """The block time (seconds) by which deadlines are judged; 0 before anything was read."""
        return self._views.time

    @property
    def latest_time(self) -> int:
        """The latest block time (seconds) that any endpoint shows."""
        return max(each.time for each in self._views.viewers)

    @property
    def number(self) -> int:
        """The number of the newest block that all endpoints have shown, which answer; -1 before there is one."""
        cursor = self._views.cursor
        return -1 if cursor is None else cursor.number

    @property
    def looked_at(self) -> float | None:
        """When it has last read the chain through any endpoint (seconds of the tower's clock)."""
        return max((each.answered_at for each in self._views.viewers if each.answered_at is not None), default=None)

    def guard(self, accepted: AcceptedAppointment) -> None:
        """Guard a channel with what a client has handed over, instead of what it has handed over before."""
        watched = self.channels.get(accepted.channel_id)
        if watched is None:
            appointment = accepted.appointment
            watched = WatchedChannel(appointment.agreement, max(appointment.from_block, self._first_block))
            self._follow(watched)
            self.channels[watched.id] = watched
        watched.accepted[accepted.client] = accepted

    def _follow(self, watched: WatchedChannel) -> None:
        self._views.follow(FollowRequest(watched.agreement, None, watched.from_block, is_new=False))
        self._views.uncertain.discard(watched.id)

    def remove(self, channel_id: bytes) -> None:
        """Guard it no more."""
        self.channels.pop(channel_id)
        self._views.unfollow(channel_id)

    def call_of(self, watched: WatchedChannel, due: Due) -> Call:
        """What the chain is asked for it."""
        return self.adjudicator.call_of(operation_of(watched.agreement, due.submission, self.adjudicator))

    def take_in(self) -> tuple[bool, list[Exception]]:
        """Take in what looks have found. Returns whether there was news of a channel, and what is wrong with channels,
        or between endpoints. What goes wrong with one channel is no other's concern: it is told anew.

        Where a channel's logs are not what the adjudicator says, its client may have said wrongly where they begin:
        from then on they are read from the adjudicator's own first block on.
        """
        update = self._views.take_in()
        self.looks += update.is_new
        failed = list[Exception]()
        for id_ in update.records.keys() | update.differences.keys():
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
