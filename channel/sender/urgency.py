"""How urgent the transactions of an account are that wait together. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove.channel.sender.pricing import Urgency
from forcemove.channel.sender.transactions import Flying

__all__ = ["urgency_of"]

_PATIENCES = 60
"""How often a transaction without a deadline may try our patience before the highest price is offered."""


def urgency_of(waiting: Sequence[Flying], now: int, seconds: float, patience: float) -> Urgency:
    """Of all together: the nearest deadline, the largest cap. What has no deadline has 60 times our patience.
    `waiting`: by their nonces. `now`: the block time; `seconds`: our clock's."""
    lowest, wanted = waiting[0], [flying.wanted for flying in waiting]
    most = max(each.most for each in wanted)
    nearest = min((each.deadline for each in wanted if each.deadline is not None), default=None)
    if nearest is None:
        return Urgency(most, (seconds - lowest.versions[0].signed_at) / (_PATIENCES * patience))
    return Urgency(most, 1.0 if now >= nearest else (now - lowest.begun_at) / (nearest - lowest.begun_at))
