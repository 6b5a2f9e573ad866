"""An amount that accounts share, such as the bytes of a store: accounts with more than an equal share are refused
first. Pure."""

from __future__ import annotations

from collections import Counter

__all__ = ["Quota"]


class Quota:
    """`used`: how much of `most` all accounts have; it may be set by a measurement, since deleted bytes are not free at
    once."""

    def __init__(self, most: int, most_of_one: int) -> None:
        """`most`: of all accounts; `most_of_one`: of one account, however much is free."""
        self.most, self._most_of_one = most, most_of_one
        self.used = 0
        self._held: Counter[bytes] = Counter()

    @property
    def is_tight(self) -> bool:
        """Whether less than a quarter is free, so that room should be made. With less than an eighth, see `lacks`."""
        return self.used > self.most - self.most // 4

    @property
    def is_full(self) -> bool:
        """Whether nothing is free."""
        return self.used >= self.most

    def lacks(self, account: bytes, amount: int) -> bool:
        """Whether an account may not have this amount more: with less than an eighth free, no account may come to have
        more than an equal share."""
        held, used = self._held[account] + amount, self.used + amount
        is_too_much = used > self.most or held > self._most_of_one
        return is_too_much or (used > self.most - self.most // 8 and held > self._share())

    def greedy(self) -> list[bytes]:
        """Accounts that have more than an equal share, the largest first."""
        share = self._share()
        return [account for account, held in self._held.most_common() if held > share]

    def take(self, account: bytes, amount: int) -> None:
        """Count this amount more for an account."""
        self._held[account] += amount
        self.used += amount

    def give_back(self, account: bytes, amount: int) -> None:
        """Count this amount less for an account."""
        self._held[account] -= amount
        self.used -= amount
        if self._held[account] <= 0:
            del self._held[account]

    def _share(self) -> int:
        return self.most // max(1, len(self._held))
