"""What a look shows of the channels to which something has happened: views, and what is wrong with each. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from forcemove.chain.adjudicator import Adjudicator
from forcemove.errors import ForcemoveError
from forcemove.follower.blocks import Block
from forcemove.follower.errors import AnotherChain, LogsLeftOut, StillReading
from forcemove.follower.followed_channel import FollowedChannel
from forcemove.follower.on_chain_view import OnChainView
from forcemove.protocol.errors import ChannelIdUsed


class ShownChannels:
    """What one follower has shown of its channels last."""

    def __init__(self, adjudicator: Adjudicator, open_: Mapping[bytes, FollowedChannel]) -> None:
        """`adjudicator`: through the follower's endpoint. `open_`: the channels that are not `is_quiet`, by id."""
        self._adjudicator, self._open = adjudicator, open_
        self._with_errors: set[bytes] = set()

    @property
    def has_errors(self) -> bool:
        """Whether something is wrong with a channel, or one is not read yet."""
        return bool(self._with_errors)

    def take(
        self, last: Block, read_to: int, elsewhere: Mapping[bytes, AnotherChain]
    ) -> tuple[dict[bytes, OnChainView], dict[bytes, ForcemoveError]]:
        """Note what is wrong with each channel, and return, by id, the views that have changed and what is wrong.

        - `last`: the block up to which is read.
        - `read_to`: as of `LogRangeReader`.
        - `elsewhere`: the channels that have begun on another chain.
        """
        open_ids = self._with_errors | elsewhere.keys()
        concerned = [each for each in self._open.values() if each.has_changed or each.id in open_ids]
        for each in concerned:
            each.take_error(elsewhere.get(each.id) or self._error(each, last, read_to))
        self._with_errors = {each.id for each in concerned if each.error is not None}
        errors = {each.id: each.error for each in concerned if each.error is not None and each.is_wrong}
        views = {each.id: each.view(last.number) for each in concerned if each.has_changed and _has_view(each)}
        return views, errors

    def _error(self, each: FollowedChannel, last: Block, read_to: int) -> ForcemoveError | None:
        endpoint = self._adjudicator.chain.endpoint
        is_checked = each.status_time.block_hash == last.hash or each.record.closed
        is_read = each.is_begun and not each.missing and not each.wants_holdings and read_to >= last.number
        if not (is_checked and is_read) or (each.is_doubted and each.is_unheard_of):
            return each.error or StillReading(endpoint, each.id, last.number)
        if each.was_used_before:
            return ChannelIdUsed(each.id)
        return None if each.is_sound else LogsLeftOut(endpoint, each.id, last.number)


def _has_view(each: FollowedChannel) -> bool:
    return each.is_begun or each.status is not None or each.is_wrong
