"""A queue that is fair by address: whoever asks for much waits for itself, and for nobody else. Pure: no clock.

Addresses take turns. Work is whatever both sides count, such as bytes. What an address has taken beyond its share in
one turn, since its next item was large, it owes, and pays in the turns that follow.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["FairQueue"]

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@dataclass(slots=True)
class _Line(Generic[T]):
    """What one address waits for; `work`: of all of it; `weight`: how many turns in one it has; `credit`: what it may
    take now, or owes where it is below 0."""

    items: deque[tuple[T, int]] = field(default_factory=deque)
    work: int = 0
    weight: int = 1
    credit: int = 0


class FairQueue(Generic[K, T]):
    """Items wait by address, in the order in which that address has added them."""

    def __init__(self, most: int, turn: int) -> None:
        """`most`: work of all addresses that may wait; `turn`: work that one address may take before the next one has
        its turn. The nearer the queue is to its bound, the less room has each address, so that one that has nothing
        in it always finds some."""
        self._most, self._turn = most, turn
        self._lines: OrderedDict[K, _Line[T]] = OrderedDict()
        self._count = self._work = 0

    def __len__(self) -> int:
        return self._count

    @property
    def work(self) -> int:
        """Of all items that wait."""
        return self._work

    def has_room(self, address: K) -> bool:
        """Whether an address may add one more item: it has no more here than is still free. Ask before each `add`;
        who is refused waits until something was taken."""
        line = self._lines.get(address)
        return (0 if line is None else line.work) < self._most - self._work

    def add(self, address: K, item: T, work: int, weight: int = 1) -> None:
        """Let an item wait, which is so much work, 1 or more. `weight`: how many others' turns this address' is as long
        as, from now on."""
        line = self._lines.setdefault(address, _Line())
        line.weight = weight
        line.items.append((item, work))
        line.work += work
        self._work += work
        self._count += 1

    def take(self, most: int) -> list[T]:
        """The next items, address after address, until they are so much work; at least one of those that there are."""
        taken: list[T] = []
        limit = self._work - most
        while self._count and (not taken or self._work > limit):
            address, line = next(iter(self._lines.items()))
            if line.credit <= 0:
                line.credit += self._turn * line.weight
            while line.items and line.credit > 0 and (not taken or self._work > limit):
                taken.append(self._next(line))
            if not line.items and line.credit >= 0:
                del self._lines[address]
            elif line.credit <= 0:  # else its turn goes on with the next call
                self._lines.move_to_end(address)
        return taken

    def _next(self, line: _Line[T]) -> T:
        item, work = line.items.popleft()
        line.work -= work
        line.credit -= work
        self._work -= work
        self._count -= 1
        return item
