"""What the adjudicator itself says of channels at a block: one request for a thousand channels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import chain
from typing import TypeVar

from forcemove.chain.adjudicator import Adjudicator, ChannelHoldings
from forcemove.follower.followed_channel import FollowedChannel

__all__ = ["ChannelAsset", "holdings", "read_credits", "read_holdings", "statuses"]

Value = TypeVar("Value")
_AT_ONCE = 1_000
"""How many channels are asked for in one call."""
ChannelAsset = tuple[bytes, bytes]
"""A channel's id and an asset."""


def statuses(adjudicator: Adjudicator, ids: Sequence[bytes], block: int) -> dict[bytes, int]:
    """The status of each channel, packed."""
    words = (adjudicator.status_words(part, block=block) for part in _parts(ids))
    return dict(zip(ids, chain.from_iterable(words), strict=True))


def holdings(adjudicator: Adjudicator, keys: Sequence[ChannelAsset], block: int) -> dict[ChannelAsset, ChannelHoldings]:
    """What each of these channels holds of each of these assets."""
    found = (adjudicator.holdings_of_list(part, block=block) for part in _parts(keys))
    return dict(zip(keys, chain.from_iterable(found), strict=True))


def read_holdings(adjudicator: Adjudicator, followed: Sequence[FollowedChannel], block: int) -> None:
    """Let each of these channels take in what it holds."""
    held = holdings(adjudicator, [(each.id, asset) for each in followed for asset in each.assets], block)
    for each in followed:
        for asset in each.assets:
            each.take_holdings(asset, held[each.id, asset])


def read_credits(adjudicator: Adjudicator, followed: Iterable[FollowedChannel], block: int) -> None:
    """Let each of these channels take in what could not be pushed to its payee. Each payee is asked for once."""
    credit_of = cache(partial(adjudicator.credit_of, block=block))
    for each in followed:
        for asset in each.assets if each.payee is not None else ():
            each.take_credit(asset, credit_of(each.payee, asset))
        each.wants_credits = False


def _parts(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))
