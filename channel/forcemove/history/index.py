"""What a process must know of a history so that it enters nothing twice: the logs and transactions that stand. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from forcemove.history.entries import Entry, LogIncluded, LogReorged, TxMined, TxRefused, TxReorged, TxRequested

LogKey = tuple[bytes, int]
"""The hash of a log's block, and the log's index in the block."""


class HistoryIndex:
    """What stands of a history's logs and transactions, as of the last entry that was taken.

    `logs`: those that no reorganisation has removed, by block and index, in the order in which they were entered.
    `requested`: requests without a mined transaction. `mined`: by request, the mined transaction. `refusals`: by
    request, the kind and the facts of the last refusal.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.logs: dict[LogKey, LogIncluded] = {}
        self.requested: set[bytes] = set()
        self.mined: dict[bytes, TxMined] = {}
        self.refusals: dict[bytes, tuple[str, str]] = {}
        for each in entries:
            self.take(each)

    def take(self, entry: Entry) -> None:
        """Take in one more entry."""
        match entry:
            case LogIncluded(position=position):
                self.logs[position.block_hash, position.log_index] = entry
            case LogReorged(position=position):
                self.logs.pop((position.block_hash, position.log_index), None)
            case TxRequested(request=request):
                self.requested.add(request)
            case TxMined(request=request):
                self.requested.discard(request)
                self.refusals.pop(request, None)
                self.mined[request] = entry
            case TxReorged(request=request):
                self.mined.pop(request, None)
            case TxRefused(request=request, kind=kind, facts=facts):
                self.refusals[request] = kind, facts
