"""What the updates of one channel have said: a value, changed with each update. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forcemove.chain.adjudicator import PlacedLog
from forcemove.follower.endpoint_viewer import EndpointViewer
from forcemove.follower.follow_request import FollowRequest
from forcemove.follower.on_chain_view import Checkpoint, OnChainView
from forcemove.protocol.machine.inputs import ViewsDiffer


@dataclass(frozen=True)
class ReportedChannel:
    """What the updates have said: the `logs` after `checkpoint`, as the viewer `source` showed them in its `epoch`, and
    the rest. `differences`: None where nobody knows what was taken in of them."""

    following: FollowRequest
    source: EndpointViewer | None = None
    epoch: int = 0
    logs: tuple[PlacedLog, ...] = ()
    checkpoint: Checkpoint | None = None
    holdings: Mapping[bytes, int] = field(default_factory=dict)
    credits: Mapping[bytes, int] = field(default_factory=dict)
    differences: ViewsDiffer | None = field(default_factory=lambda: ViewsDiffer(is_denied=True))
    is_disputed: bool = False
    is_genuine: bool = False

    def changes_of(self, source: EndpointViewer, view: OnChainView) -> tuple[Sequence[PlacedLog], bool]:
        """The logs of this viewer's view that no update has had yet; and whether all earlier updates are void."""
        if self.source is None:
            return view.logs, view.checkpoint is None
        is_same = self.checkpoint == view.checkpoint and (source is not self.source or self.epoch == view.epoch)
        known = [each.log for each in self.logs]
        if is_same and [each.log for each in view.logs[: len(known)]] == known:
            return view.logs[len(known) :], False
        return view.logs, True
