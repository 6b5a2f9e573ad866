"""What all accounts share, such as the bytes of a store: who has more than an equal share is refused first. Pure."""

from __future__ import annotations

from collections import Counter

__all__ = ["Quota"]


class Quota:
    """`used`: of `most`, by all; it may be measured, since what is deleted takes a while to be free."""

    def __init__(self, most: int, most_of_one: int) -> None:
        """`most_of_one`: of one account, however much is free."""
        self.most, self._most_of_one = most, most_of_one
        self.used = 0
        self._held: Counter[bytes] = Counter()

    @property
    def is_tight(self) -> bool:
        """Less than a quarter is free: room should be made. With less than an eighth, see `lacks`."""
        return self.used > self.most - self.most // 4

    @property
    def is_full(self) -> bool:
        """Nobody gets more."""
        return self.used >= self.most

    def lacks(self, account: bytes, amount: int) -> bool:
        """Whether an account may not have so much more: with less than an eighth free, none that would have more than
        an equal share."""
        held, used = self._held[account] + amount, self.used + amount
        is_too_much = used > self.most or held > self._most_of_one
        return is_too_much or (used > self.most - self.most // 8 and held > self._share())

    def greedy(self) -> list[bytes]:
        """Accounts that have more than an equal share, the largest first."""
        share = self._share()
        return [account for account, held in self._held.most_common() if held > share]

    def take(self, account: bytes, amount: int) -> None:
        """An account has so much more."""
        self._held[account] += amount
        self.used += amount

    def give_back(self, account: bytes, amount: int) -> None:
        """An account has so much less."""
        self._held[account] -= amount
        self.used -= amount
        if self._held[account] <= 0:
            del self._held[account]

    def _share(self) -> int:
        return self.most // max(1, len(self._held))
