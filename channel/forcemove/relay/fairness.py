"""A queue that is fair by address: an address with many items delays its own, and no other's. Pure: no clock.

Addresses take turns. Work is whatever the callers count, such as bytes. An address whose last item in a turn was larger
than the rest of its share owes the difference, and pays it in its next turns.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@dataclass(slots=True)
class _Line(Generic[T]):
    """The items of one address. `work`: of all of them; `weight`: how many turns in one the address has; `credit`:
    work that the address may take now, or owes where it is below 0."""

    items: deque[tuple[T, int]] = field(default_factory=deque)
    work: int = 0
    weight: int = 1
    credit: int = 0


class FairQueue(Generic[K, T]):
    """Items wait by address, in the order in which that address has added them."""

    def __init__(self, most: int, turn: int) -> None:
        """`most`: work of all addresses that may wait; `turn`: work that one address may take before the next one has
        its turn. The fuller the queue is, the less room has each address, so that an address without items always
        finds some."""
        self._most, self._turn = most, turn
        self._lines: OrderedDict[K, _Line[T]] = OrderedDict()
        self._count = self._work = 0

    def __len__(self) -> int:
        return self._count

    @property
    def work(self) -> int:
        """The work of all items that wait."""
        return self._work

    def has_room(self, address: K) -> bool:
        """Whether an address may add one more item: the work of its items is less than what is still free. Ask before
        each `add`; a caller that is refused waits until `take` was called."""
        line = self._lines.get(address)
        return (0 if line is None else line.work) < self._most - self._work

    def add(self, address: K, item: T, work: int, weight: int = 1) -> None:
        """Append an item. `work`: of the item, 1 or more; `weight`: how many others' turns a turn of this address is as
        long as, from now on."""
        line = self._lines.setdefault(address, _Line())
        line.weight = weight
        line.items.append((item, work))
        line.work += work
        self._work += work
        self._count += 1

    def take(self, most: int) -> list[T]:
        """Remove and return the next items, address after address, until their work is `most`; at least one, if any
        waits."""
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
            elif line.credit <= 0:  # else its turn goes on at the next call
                self._lines.move_to_end(address)
        return taken

    def _next(self, line: _Line[T]) -> T:
        item, work = line.items.popleft()
        line.work -= work
        line.credit -= work
        self._work -= work
        self._count -= 1
        return item
