"""Workers look at things outside for a node: at a chain through one endpoint, for all channels of an adjudicator, and
at an account's transactions. A look goes on in the node's thread, and waits for what endpoints' workers ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from forcemove.chain.worker import Look
from forcemove.follower.blocks import Block
from forcemove.follower.endpoint_quorum import EndpointQuorum, QuorumUpdate
from forcemove.follower.endpoint_viewer import EndpointViewer, FollowRequest

__all__ = ["ChainWorker", "PollingWorker", "UpdateSource"]

_KEEP_EVERY = 1_000
"""Blocks after which channels in which nothing has happened are saved."""


class PollingWorker(Protocol):
    """What looks at something outside, again and again. `endpoints`: how many it can ask, the next where one fails."""

    endpoints: int

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to look for."""
        ...

    def look(self) -> Look[None]:
        """Look, with what the node has asked for since the last look, and give it what was found. Raises `ChainError`;
        nothing is lost then."""
        ...


class UpdateSource(Protocol):
    """Where the chain updates of channels come from."""

    @property
    def viewers(self) -> Sequence[EndpointViewer]:
        """What looks at the chain, one for each endpoint, and what it shows."""
        ...

    @property
    def time(self) -> int:
        """The block time (seconds) by which deadlines are judged."""
        ...

    @property
    def cursor(self) -> Block | None:
        """The last block up to which all logs are known; None where none is."""
        ...

    def follow(self, following: FollowRequest) -> None:
        """Follow a channel: `take_in` returns its updates from the next look on."""
        ...

    def unfollow(self, channel_id: bytes) -> None:
        """Follow this channel no more."""
        ...

    def mark_uncertain(self, channel_id: bytes, *, is_uncertain: bool) -> None:
        """Say whether a channel's holdings are to be read even where nothing is logged."""
        ...

    def take_in(self) -> QuorumUpdate:
        """What has changed since the last call."""
        ...

    def is_snapshot_due(self) -> bool:
        """Whether channels in which nothing has happened are to be saved now, too."""
        ...


class ChainWorker(EndpointQuorum):
    """The `UpdateSource` of one adjudicator on one chain, through all endpoints."""

    _keep_at = 0

    def mark_uncertain(self, channel_id: bytes, *, is_uncertain: bool) -> None:
        """See `UpdateSource`."""
        (self.uncertain.add if is_uncertain else self.uncertain.discard)(channel_id)

    def is_snapshot_due(self) -> bool:
        """Whether 1,000 blocks have been read since channels in which nothing has happened were last saved: after a
        restart their logs are read from the block that was saved."""
        cursor = self.cursor
        if cursor is None or cursor.number < self._keep_at:
            return False
        is_first, self._keep_at = self._keep_at == 0, cursor.number + _KEEP_EVERY
        return not is_first
