"""A sender's journal in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from forcemove.sender.transactions import PendingTx

__all__ = ["MemoryTxStore"]


class MemoryTxStore:
    """A `TxStore` in memory, for transactions that may be forgotten when the process ends."""

    def __init__(self) -> None:
        self._store: dict[int, PendingTx] = {}

    def update(self, changed: Collection[PendingTx], forgotten: Collection[int]) -> None:
        """As in `TxStore`."""
        for nonce in forgotten:
            self._store.pop(nonce, None)
        self._store.update({each.nonce: each for each in changed})

    def all(self) -> Sequence[PendingTx]:
        """As in `TxStore`."""
        return [pending for _, pending in sorted(self._store.items())]
