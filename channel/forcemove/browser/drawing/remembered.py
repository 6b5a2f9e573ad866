"""Remembers what a page says of each entry of a history: with the next move the same is said of all the others. Pure:
what is remembered is what would be made again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from forcemove.history.entries import Entry

__all__ = ["EntryMemo"]

MadeT = TypeVar("MadeT")
_MOST = 2_048


class EntryMemo(Generic[MadeT]):
    """What was made of entries. An entry is known by its identity: it has lists in it, which nobody can look up, and
    the reader of a history keeps its entries."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Entry, object, MadeT]] = {}

    def of(self, entry: Entry, context: object, make: Callable[[], MadeT]) -> MadeT:
        """What was made of an entry, or is made of it now.

        - `entry`: of a history.
        - `context`: all else that it is made from.
        - `make`: makes it.
        """
        found = self._made.get(id(entry))
        if found is not None and found[0] is entry and found[1] == context:
            return found[2]
        made = make()
        self._made.pop(id(entry), None)
        self._made[id(entry)] = entry, context, made
        if len(self._made) > _MOST:
            del self._made[next(iter(self._made))]
        return made
