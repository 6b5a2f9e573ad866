"""Whether a chain is the one on which channels began. Another chain may have the same id, and the same contracts at the
same addresses: a test chain that was started again, or put back to an earlier state.

A channel that the adjudicator knows is of this chain, whatever became of the block at which it began: a reorganisation
changes blocks, and what was paid in is to be defended. For other channels that block decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forcemove.chain.adjudicator import Adjudicator
from forcemove.errors import ForcemoveError
from forcemove.follower.errors import AnotherChain
from forcemove.follower.followed_channel import FollowedChannel, Origin
from forcemove.follower.head import Head

__all__ = ["Origins", "find_elsewhere"]


def find_elsewhere(
    adjudicator: Adjudicator, channel_id: bytes, assets: Iterable[bytes], origin: Origin
) -> AnotherChain | None:
    """The error where the chain is not the one of a channel that began at `origin`; None where it is. `assets`: those
    that the channel may hold. Raises `ChainError`."""
    chain = adjudicator.chain
    found = chain.block_hash(origin.number) if origin.number <= chain.block_number() else None
    if not origin.hash or found == origin.hash or _knows(adjudicator, channel_id, assets):
        return None
    return AnotherChain(chain.endpoint, channel_id, origin.number, origin.hash, found)


def _knows(adjudicator: Adjudicator, channel_id: bytes, assets: Iterable[bytes]) -> bool:
    if not adjudicator.chain.code(adjudicator.address):
        return False
    holdings = (adjudicator.holdings_of(channel_id, asset) for asset in assets)
    has_held = any(each.held or each.payout_begun or each.closed for each in holdings)
    return has_held or not adjudicator.status_of(channel_id).is_empty


class Origins:
    """The origins of channels at one look, which asks for each block once."""

    def __init__(self, adjudicator: Adjudicator, head: Head) -> None:
        self._adjudicator, self._head = adjudicator, head
        self._found: dict[int, bytes | None] = {}

    def elsewhere(self, followed: Iterable[FollowedChannel]) -> dict[bytes, ForcemoveError]:
        """The errors of doubted channels that are not of this chain; the others are not doubted any more. Raises
        `ChainError`."""
        errors: dict[bytes, ForcemoveError] = {}
        for each in followed:
            if each.is_doubted and each.is_unheard_of and not self._is_of_this_chain(each):
                errors[each.id] = self._error(each)
            else:
                each.is_doubted = False
        return errors

    def without_contract(self, followed: Sequence[FollowedChannel]) -> dict[bytes, ForcemoveError] | None:
        """The errors of all channels where there is no adjudicator on the chain; None where there is one, where no
        channel is doubted, or where any is of this chain all the same."""
        if not any(each.is_doubted for each in followed):
            return None
        chain = self._adjudicator.chain
        if chain.code(self._adjudicator.address) or any(map(self._is_of_this_chain, followed)):
            return None
        return {each.id: self._error(each) for each in followed}

    def _is_of_this_chain(self, followed: FollowedChannel) -> bool:
        """Whether the block at which the channel began is on this chain, or its hash is not known."""
        origin = followed.origin
        return not origin.hash or self._hash_at(origin.number) == origin.hash

    def _hash_at(self, number: int) -> bytes | None:
        if number not in self._found:
            is_there = number <= self._head.number
            self._found[number] = self._adjudicator.chain.block_hash(number) if is_there else None
        return self._found[number]

    def _error(self, followed: FollowedChannel) -> AnotherChain:
        origin, endpoint = followed.origin, self._adjudicator.chain.endpoint
        return AnotherChain(endpoint, followed.id, origin.number, origin.hash, self._hash_at(origin.number))
