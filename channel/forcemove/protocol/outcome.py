"""Outcomes: what a state would pay, to whom, in which order.

An outcome is a tuple of allocations, 1 to 32, grouped by asset in rising order, at most 4 assets. Shape is checked by
`require_valid_outcome`, in the order and with the errors of `Outcomes.sol`, because it depends on the channel.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter

from msgspec import Struct

from forcemove.errors import InvalidValue
from forcemove.protocol import rule_errors
from forcemove.protocol.types import UINT256_MAX, require_bytes, require_uint

__all__ = [
    "MAX_ALLOCATIONS",
    "MAX_ASSETS",
    "Allocation",
    "Outcome",
    "address_destination",
    "destination_address",
    "require_same_totals",
    "require_valid_outcome",
    "totals",
]

MAX_ALLOCATIONS = 32
MAX_ASSETS = 4
_ADDRESS_PREFIX = bytes(12)
_NOBODY = bytes(32)


class Allocation(Struct, frozen=True):
    """`amount` (uint256, the smallest unit) of `asset` (20 bytes; zero is ether) to `destination` (32 bytes)."""

    asset: bytes
    destination: bytes
    amount: int

    def __post_init__(self) -> None:
        require_bytes("asset", self.asset, 20)
        require_bytes("destination", self.destination, 32)
        require_uint("amount", self.amount, UINT256_MAX)


Outcome = tuple[Allocation, ...]


def address_destination(address: bytes) -> bytes:
    """The destination that pays an address: 12 zero bytes, then its 20."""
    require_bytes("address", address, 20)
    return _ADDRESS_PREFIX + address


def destination_address(destination: bytes) -> bytes | None:
    """The address that a destination pays, or None where it is a channel's id."""
    return destination[12:] if destination.startswith(_ADDRESS_PREFIX) else None


def totals(outcome: Outcome) -> dict[bytes, int]:
    """What an outcome allocates of each asset, in its order."""
    return {
        asset: sum(allocation.amount for allocation in group)
        for asset, group in groupby(outcome, key=attrgetter("asset"))
    }


def require_valid_outcome(
    outcome: Outcome, channel_id: bytes, adjudicator: bytes, home: bytes, home_total: int
) -> None:
    """Refuse an outcome of the channel that is not well formed, or adds up to another total. The twin of
    `Outcomes.requireValid`.

    - `outcome`: what a state would pay.
    - `channel_id`: 32 bytes.
    - `adjudicator`: its address, 20 bytes, which nothing may go to.
    - `home`: the channel's home asset, 20 bytes.
    - `home_total`: what the channel is funded with in it; 0: anything.
    """
    if type(outcome) is not tuple:
        raise InvalidValue("outcome", outcome, "a tuple of allocations")
    if not 1 <= len(outcome) <= MAX_ALLOCATIONS:
        raise rule_errors.AllocationCountOutOfRange(len(outcome))
    forbidden = (_NOBODY, channel_id, _ADDRESS_PREFIX + adjudicator)
    asset, assets, total = outcome[0].asset, 1, 0
    for index, allocation in enumerate(outcome):
        if allocation.asset != asset:
            if allocation.asset < asset:
                raise rule_errors.AssetsNotSorted(index)
            asset, assets, total = allocation.asset, assets + 1, 0
            if assets > MAX_ASSETS:
                raise rule_errors.TooManyAssets(assets)
        if allocation.destination in forbidden:
            raise rule_errors.ForbiddenDestination(index, allocation.destination)
        total += allocation.amount
        if total > UINT256_MAX:
            raise rule_errors.OutcomeTotalOverflow(asset)
    funded = totals(outcome).get(home, 0) if home_total else 0
    if funded != home_total:
        raise rule_errors.WrongTotal(home_total, funded)


def require_same_totals(from_: Outcome, to: Outcome) -> None:
    """Refuse two well-formed outcomes that name other assets or, of one asset, another total."""
    asset = from_[0].asset
    if from_[-1].asset == asset == to[0].asset == to[-1].asset:
        total_from, total_to = sum([each.amount for each in from_]), sum([each.amount for each in to])
        if total_from != total_to:
            raise rule_errors.TotalChanged(asset, total_from, total_to)
        return
    totals_from, totals_to = list(totals(from_).items()), list(totals(to).items())
    for (asset, total_from), (asset_to, total_to) in zip(totals_from, totals_to, strict=False):
        if asset != asset_to:
            raise rule_errors.AssetsChanged()
        if total_from != total_to:
            raise rule_errors.TotalChanged(asset, total_from, total_to)
    if len(totals_from) != len(totals_to):
        raise rule_errors.AssetsChanged()
