"""A sender's journal in memory."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove.sender.transactions import PendingTx

__all__ = ["MemoryTxStore"]


class MemoryTxStore:
    """A `TxStore` in memory, for transactions that may be forgotten when the process ends."""

    def __init__(self) -> None:
        self._store: dict[int, PendingTx] = {}

    def put(self, pending: PendingTx) -> None:
        """As in `TxStore`."""
        self._store[pending.nonce] = pending

    def forget(self, nonce: int) -> None:
        """As in `TxStore`."""
        self._store.pop(nonce, None)

    def all(self) -> Sequence[PendingTx]:
        """As in `TxStore`."""
        return [pending for _, pending in sorted(self._store.items())]
