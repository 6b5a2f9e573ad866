"""What a tower sees of one adjudicator: a follower for all channels that it guards there.

`prepare` before a look and `take` after it are called by the tower; a look itself may take as long as an endpoint does,
and touches nothing that these touch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forcemove.channel.chain.adjudicator import Adjudicator
from forcemove.channel.chain.chain import Call
from forcemove.channel.errors import ForcemoveError
from forcemove.channel.follower.errors import LogsLeftOut
from forcemove.channel.follower.follower import Follower, Look
from forcemove.channel.follower.head import Head
from forcemove.channel.node.orders import operation_of
from forcemove.channel.tower.guarded import Due, Guarded, Held
from forcemove.channel.tower.handover import HandOver

__all__ = ["Post"]


class Post:
    """Of one adjudicator on one chain. `channels`: those that are guarded, by id; `head`: the newest block that was
    seen, None before the first; `looked_at`: when (seconds of the tower's clock)."""

    def __init__(
        self, adjudicators: Sequence[Adjudicator], first_block: int, confirmations: int, clock: Callable[[], float]
    ) -> None:
        """`adjudicators`: the same one through each endpoint. `first_block`: one before all of its logs; the other
        arguments as of `Follower`."""
        self.adjudicator = adjudicators[0]
        self.channels: dict[bytes, Guarded] = {}
        self.head: Head | None = None
        self.looked_at: float | None = None
        self._first_block = first_block
        self._follower = Follower(*adjudicators, confirmations=confirmations, clock=clock)
        self._begun: dict[bytes, Guarded] = {}
        self._ended: set[bytes] = set()

    def hold(self, client: bytes, held: Held, given: HandOver) -> Guarded:
        """Guard a channel with what a client has handed over. Raises `MalformedBytes`, `UnknownVersion`."""
        guarded = self.channels.get(given.agreement.channel_id)
        if guarded is None:
            guarded = Guarded(given.agreement, max(given.from_block, self._first_block))
            self._begin(guarded)
        guarded.hold(client, held)
        self.channels[guarded.id] = guarded
        return guarded

    def let_go(self, channel_id: bytes) -> None:
        """Guard it no more."""
        self.channels.pop(channel_id)
        self._begun.pop(channel_id, None)
        self._ended.add(channel_id)

    def call_of(self, guarded: Guarded, due: Due) -> Call:
        """What the chain is asked for it."""
        return self.adjudicator.call_of(operation_of(guarded.agreement, due.submission, self.adjudicator))

    def _begin(self, guarded: Guarded) -> None:
        self._begun[guarded.id] = guarded
        self._ended.discard(guarded.id)

    def prepare(self) -> None:
        """Hand over to the follower what has begun and ended."""
        for guarded in self._begun.values():
            self._follower.follow(guarded.agreement, None, guarded.from_block, is_new=False)
        for id_ in self._ended:
            self._follower.let_go(id_)
        self._begun, self._ended = {}, set()

    def look(self) -> Look:
        """What is new on the chain. Raises `ChainError`; nothing is lost then."""
        self._follower.expire()
        return self._follower.look()

    def take(self, look: Look) -> list[ForcemoveError]:
        """Take in what a look has found. Returns what is wrong with channels, of which nothing new is believed.

        Where a channel's logs are not what the adjudicator says, its client may have said wrongly where they begin:
        from then on they are read from the adjudicator's own first block on.
        """
        self.head = look.head
        for id_, read in look.news.items():
            if id_ in self.channels:
                self.channels[id_].see(read, look.head.next_time)
        for id_, error in look.wrong.items():
            guarded = self.channels.get(id_)
            if guarded is not None and isinstance(error, LogsLeftOut) and guarded.from_block > self._first_block:
                guarded.from_block = self._first_block
                self._begin(guarded)
        return list(look.wrong.values())
