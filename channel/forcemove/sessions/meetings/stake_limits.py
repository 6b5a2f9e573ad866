"""How much a player lets lie in channels at a time, and how long a challenge has to last: for a place that is trusted
with little, such as a page. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.results import is_over, is_unpaid
from forcemove.protocol.types import ETHER
from forcemove.sessions.errors import ChallengeTooShort, DepositsOverLimit, StakesRefused


@dataclass(frozen=True, slots=True)
class StakeLimits:
    """What a new channel has to keep. `most`: wei of our deposits in all channels together that are not closed;
    `least_duration`: seconds of a challenge; `refusal`: why no channel for a stake may begin at all, empty where one
    may."""

    most: int
    least_duration: int
    refusal: str = ""

    def require(self, asset: bytes, deposit: int, duration: int, others: int) -> None:
        """Refuse a channel. Raises `StakesRefused`, `ChallengeTooShort` and `DepositsOverLimit`.

        - `asset`: of the stake; any but ether is refused, since no limit says how much of it.
        - `deposit`: ours in it, in wei.
        - `duration`: of its challenges, in seconds.
        - `others`: what we have deposited elsewhere, in wei, see `deposited_in`.
        """
        if self.refusal:
            raise StakesRefused(self.refusal)
        if asset != ETHER:
            raise StakesRefused("it is for tokens, and your limit is one of ether")
        if duration < self.least_duration:
            raise ChallengeTooShort(duration, self.least_duration)
        if deposit + others > self.most:
            raise DepositsOverLimit(deposit, others, self.most)


def deposited_in(channels: Iterable[Channel]) -> int:
    """Our deposits in those of these channels that are not over, in wei, whether they are paid in or may still be. One
    that is given twice counts once."""
    found: Mapping[bytes, int] = {each.agreement.channel_id: _deposit_of(each) for each in channels}
    return sum(found.values())


def _deposit_of(channel: Channel) -> int:
    """Nothing where it is over, and where we have left before anybody has paid in: then we do not, either."""
    if channel.agreement.is_friendly or is_over(channel, 0) or (channel.leaving and is_unpaid(channel)):
        return 0
    return sum(amounts[channel.index] for asset, amounts in channel.agreement.deposits if asset == ETHER)
