"""A friendly channel: one without a chain, played for nothing. Rules, signatures, journal and messenger are those of
any other channel, and the same node drives it. It ends with the final state that all have signed, and nobody can be
forced to sign one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from forcemove.errors import InvalidValue
from forcemove.follower.endpoint_quorum import EndpointQuorum, QuorumUpdate
from forcemove.follower.endpoint_viewer import EndpointViewer
from forcemove.follower.follow_request import FollowRequest
from forcemove.game import PlayableApp
from forcemove.node.events import Event
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.effects import Submission
from forcemove.protocol.machine.inputs import ChainUpdate, ViewsDiffer
from forcemove.sender.transactions import TxOutcome

_NOTHING = ChainUpdate((), from_scratch=True)
"""The chain update of a channel without a chain."""


@dataclass(frozen=True, slots=True)
class FriendlyAssembly:
    """One friendly channel of an app. Raises `InvalidValue` where the agreement names a chain."""

    app: PlayableApp
    agreement: Agreement

    def __post_init__(self) -> None:
        if not self.agreement.is_friendly:
            raise InvalidValue("chain_id", self.agreement.domain.chain_id, "0: a channel without a chain")


class NullChainWorker:
    """An `EndpointQuorum` without a chain: its only update of each channel says that the channel's contracts are
    genuine, that nothing was logged, and that nobody denies it. Its time is our own clock's."""

    viewers: tuple[EndpointViewer, ...] = ()
    cursor = None

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock`: Unix seconds."""
        self._clock = clock
        self._new: set[bytes] = set()
        self.uncertain: set[bytes] = set()

    @property
    def time(self) -> int:
        """Unix seconds."""
        return int(self._clock())

    def follow(self, following: FollowRequest) -> None:
        """See `EndpointQuorum`."""
        self._new.add(following.id)

    def unfollow(self, channel_id: bytes) -> None:
        """See `EndpointQuorum`."""
        self._new.discard(channel_id)
        self.uncertain.discard(channel_id)

    def take_in(self) -> QuorumUpdate:
        """See `EndpointQuorum`."""
        new, self._new = self._new, set()
        return QuorumUpdate(dict.fromkeys(new, _NOTHING), differences=dict.fromkeys(new, ViewsDiffer()), genuine=new)


ChainSource = EndpointQuorum | NullChainWorker
"""Where the chain updates of channels come from."""


class NullSubmitter:
    """Where the submissions of a channel without a chain go: nowhere. See `TxSubmitter`."""

    def submit(self, channel: Channel, submission: Submission, now: int) -> bool:  # noqa: ARG002  # see `TxSubmitter`
        """Drop the submission."""
        return True

    def event_of(self, submission: Submission, outcome: TxOutcome) -> Event | None:  # noqa: ARG002  # see `TxSubmitter`
        """None: there are no transactions."""
        return None
