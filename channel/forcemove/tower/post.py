"""What a tower sees of one adjudicator: a view through each endpoint, for all channels that it guards there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.chain import Call
from forcemove.follower.errors import LogsLeftOut
from forcemove.follower.viewer import Following
from forcemove.follower.views import Views
from forcemove.node.orders import operation_of
from forcemove.node.workers import ViewWorker
from forcemove.tower.guarded import Due, Guarded, Held
from forcemove.tower.handover import HandOver

__all__ = ["Post"]


class Post:
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
        arguments as of `Views`."""
        self.adjudicator = adjudicators[0]
        self.channels: dict[bytes, Guarded] = {}
        self.looks = 0
        self._first_block = first_block
        self._views = Views(adjudicators, confirmations, clock, own_time)
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
        reached = self._views.reached
        return -1 if reached is None else reached.number

    @property
    def looked_at(self) -> float | None:
        """When it has last read the chain through any endpoint (seconds of the tower's clock)."""
        return max((each.answered_at for each in self._views.viewers if each.answered_at is not None), default=None)

    def hold(self, client: bytes, held: Held, given: HandOver) -> Guarded:
        """Guard a channel with what a client has handed over. Raises `MalformedBytes`, `UnknownVersion`."""
        guarded = self.channels.get(given.agreement.channel_id)
        if guarded is None:
            guarded = Guarded(given.agreement, max(given.from_block, self._first_block))
            self._follow(guarded)
        guarded.hold(client, held)
        self.channels[guarded.id] = guarded
        return guarded

    def _follow(self, guarded: Guarded) -> None:
        self._views.follow(Following(guarded.agreement, None, guarded.from_block, is_new=False))
        self._views.uncertain.discard(guarded.id)

    def let_go(self, channel_id: bytes) -> None:
        """Guard it no more."""
        self.channels.pop(channel_id)
        self._views.let_go(channel_id)

    def call_of(self, guarded: Guarded, due: Due) -> Call:
        """What the chain is asked for it."""
        return self.adjudicator.call_of(operation_of(guarded.agreement, due.submission, self.adjudicator))

    def take_in(self) -> tuple[bool, list[Exception]]:
        """Take in what looks have found. Returns whether there was news of a channel, and what is wrong with channels,
        or between endpoints. What goes wrong with one channel is no other's concern: it is told anew.

        Where a channel's logs are not what the adjudicator says, its client may have said wrongly where they begin:
        from then on they are read from the adjudicator's own first block on.
        """
        told = self._views.take_in()
        self.looks += told.is_new
        failed = list[Exception]()
        for id_ in told.reads.keys() | told.differ.keys():
            try:
                self.channels[id_].see(told.reads.get(id_), told.differ.get(id_), self.time)
            except Exception as fault:
                failed.append(fault)
                self._follow(self.channels[id_])
        wrong = {id_: error for each in self._views.viewers for id_, error in each.wrong.items()}
        for id_, error in wrong.items():
            guarded = self.channels.get(id_)
            if guarded is not None and isinstance(error, LogsLeftOut) and guarded.from_block > self._first_block:
                guarded.from_block = self._first_block
                self._follow(guarded)
        return bool(told.reads or told.differ), [*failed, *told.wrong.values(), *told.errors]
