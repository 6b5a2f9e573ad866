"""Whether a chain is the one on which channels began. Another chain may have the same id, and the same contracts at the
same addresses: a test chain that was started again, or put back to an earlier state.

A channel that the adjudicator knows is of this chain, whatever became of the block at which it began: a reorganisation
changes blocks, and what was paid in is to be defended. For other channels that block decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.asking import Steps
from forcemove.follower.errors import AnotherChain
from forcemove.follower.followed_channel import FollowedChannel, Origin
from forcemove.follower.head import Head
from forcemove.protocol.words import word_key


def find_elsewhere(
    adjudicator: Adjudicator, channel_id: bytes, assets: Iterable[bytes], origin: Origin
) -> Steps[AnotherChain | None]:
    """The error where the chain is not the one of a channel that began at `origin`; None where it is. `assets`: those
    that the channel may hold. Raises `ChainError`."""
    chain, found = adjudicator.chain, None
    if origin.number <= (yield from chain.block_number.steps()):
        found = yield from chain.block_hash.steps(origin.number)
    if not origin.hash or found == origin.hash or (yield from _knows(adjudicator, channel_id, assets)):
        return None
    return AnotherChain(chain.endpoint, channel_id, origin.number, origin.hash, found)


def _knows(adjudicator: Adjudicator, channel_id: bytes, assets: Iterable[bytes]) -> Steps[bool]:
    if not (yield from adjudicator.chain.code.steps(adjudicator.address)):
        return False
    words = yield from adjudicator.words.steps([word_key(channel_id, asset) for asset in assets])
    return any(words)


class Origins:
    """The blocks at which channels began, as one endpoint has them. Each is asked for once, until `forget`."""

    def __init__(self, adjudicator: Adjudicator) -> None:
        self._adjudicator = adjudicator
        self._found: dict[int, bytes] = {}

    def forget(self) -> None:
        """Another fork has won: what was asked for may be otherwise there."""
        self._found.clear()

    def error_of(self, followed: FollowedChannel, head: Head) -> Steps[AnotherChain | None]:
        """The error of a channel whose first block is not on this chain, or not yet; None where it is there, or its
        hash is not known. Raises `ChainError`."""
        origin, chain = followed.origin, self._adjudicator.chain
        if origin.hash and origin.number <= head.number and origin.number not in self._found:
            self._found[origin.number] = yield from chain.block_hash.steps(origin.number)
        found = self._found.get(origin.number)
        if not origin.hash or found == origin.hash:
            return None
        return AnotherChain(chain.endpoint, followed.id, origin.number, origin.hash, found)

    def without_contract(self, followed: Sequence[FollowedChannel], head: Head) -> Steps[dict[bytes, AnotherChain]]:
        """The errors of all channels where there is no adjudicator on the chain; none where there is one, where no
        channel is doubted, or where any is of this chain all the same."""
        errors: dict[bytes, AnotherChain] = {}
        if not any(each.is_doubted for each in followed):
            return errors
        if (yield from self._adjudicator.chain.code.steps(self._adjudicator.address)):
            return errors
        for each in followed:
            if (error := (yield from self.error_of(each, head))) is None:
                return {}
            errors[each.id] = error
        return errors
