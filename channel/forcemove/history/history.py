"""A channel's whole history as it is read back: its entries in their order, and which of them stand. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from forcemove.errors import InvalidValue, MalformedBytes, UnknownVersion
from forcemove.history.entries import (
    Entry,
    LogIncluded,
    LogReorged,
    SignatureAdded,
    StateAccepted,
    StateSigned,
    TxMined,
    TxReorged,
)
from forcemove.history.packing import unpack
from forcemove.protocol.types import VariablePart

MAX_ENTRIES = 10_000
"""The newest entries of a channel that are kept."""
_SIGNED = frozenset({StateSigned, StateAccepted, SignatureAdded})


@dataclass(frozen=True, slots=True)
class ChannelHistory:
    """What has happened in a channel, oldest first. `unreadable`: how many pieces of it are damaged, or were written by
    another program; `notes`: the entries that are neither states nor signatures, found once: in a long game they are
    few."""

    entries: tuple[Entry, ...] = ()
    unreadable: int = 0
    notes: tuple[Entry, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple([each for each in self.entries if type(each) not in _SIGNED]))

    @property
    def states(self) -> tuple[VariablePart, ...]:
        """All states, in the order in which we have signed or accepted them."""
        return tuple([each.signed.state for each in self.entries if isinstance(each, StateSigned | StateAccepted)])

    @property
    def reorged(self) -> frozenset[int]:
        """The places in `entries` of those logs and transactions that a reorganisation has removed."""
        standing: dict[object, int] = {}
        gone: set[int] = set()
        for place, each in enumerate(self.entries):
            match each:
                case LogIncluded(position=position):
                    standing[position] = place
                case TxMined(request=request, block_hash=block):
                    standing[request, block] = place
                case LogReorged(position=position) if position in standing:
                    gone.add(standing.pop(position))
                case TxReorged(request=request, block_hash=block) if (request, block) in standing:
                    gone.add(standing.pop((request, block)))
        return frozenset(gone)


def decode_history(bodies: Iterable[bytes], damaged: int = 0) -> ChannelHistory:
    """The history of these bodies, which a journal has in their order. `damaged`: how many the journal could not give.
    A body that cannot be read is counted, and the others are shown."""
    entries: list[Entry] = []
    unreadable = damaged
    for body in bodies:
        try:
            entries += unpack(body)
        except (MalformedBytes, UnknownVersion, InvalidValue):
            unreadable += 1
    return ChannelHistory(tuple(entries[-MAX_ENTRIES:]), unreadable)
