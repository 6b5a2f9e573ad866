"""The entries of a channel's history: frozen values.

Each entry has a `time`: Unix seconds of our own clock when this process learned of it. No entry has anything secret:
states are those that participants send each other, and a player's salts, seeds and keys are not part of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag

from msgspec import Struct

from forcemove.protocol.logs import Log
from forcemove.protocol.types import Signature, SignedState


class EntryKinds(IntFlag):
    """Kinds of entries, so that a journal can be asked for some of them. The numbers are in the journal."""

    STATES = 1
    """States and signatures."""
    CHAIN = 2
    """Logs and transactions."""
    OTHERS = 4
    """Faults, receipts and connections."""


class _Entry(Struct, frozen=True, array_like=True, tag=True):
    time: int


class _OfRequest(_Entry, frozen=True):
    request: bytes
    operation: str


class StateSigned(_Entry, frozen=True):
    """We have signed this state: the next one, or one that lacked our signature."""

    signed: SignedState


class StateAccepted(_Entry, frozen=True):
    """A state of a counterparty was accepted. `from_chain`: the chain has shown the state, else a message has brought
    it."""

    signed: SignedState
    from_chain: bool


class SignatureAdded(_Entry, frozen=True):
    """The state of this turn, which is in the history already, was signed by one more participant (its index)."""

    turn_num: int
    participant: int
    signature: Signature


class LogPosition(Struct, frozen=True, array_like=True):
    """The place of a log on the chain; the hashes have 32 bytes each."""

    block_number: int
    block_hash: bytes
    transaction_hash: bytes
    log_index: int


class LogIncluded(_Entry, frozen=True):
    """The adjudicator has logged something about the channel, at this position."""

    log: Log
    position: LogPosition


class LogReorged(_Entry, frozen=True):
    """A reorganisation has removed the log at this position."""

    log: Log
    position: LogPosition


class TxRequested(_OfRequest, frozen=True):
    """The channel has asked for a transaction. `request`: 32 bytes that name what was asked for; `operation`: the
    adjudicator's operation in one word in lower case."""


class TxSent(_OfRequest, frozen=True):
    """A transaction for a request was signed, to be offered to the chain.

    - `request`: see `TxRequested`.
    - `operation`: see `TxRequested`; `approval` where a token's allowance is set for the request.
    - `nonce`: of the account.
    - `transaction_hash`: 32 bytes.
    - `max_fee`, `tip`: wei for a unit of gas.
    - `replaces`: the hash of the transaction of this nonce that it replaces, None where it is the first.
    """

    nonce: int
    transaction_hash: bytes
    max_fee: int
    tip: int
    replaces: bytes | None


class TxMined(_OfRequest, frozen=True):
    """The transaction for a request is in a block, and has succeeded. `gas_price`: what a unit of gas has cost, in
    wei."""

    transaction_hash: bytes
    block_number: int
    block_hash: bytes
    gas_used: int
    gas_price: int


class TxReorged(_OfRequest, frozen=True):
    """A reorganisation has removed the transaction for a request, which was mined."""

    transaction_hash: bytes
    block_hash: bytes


class TxRefused(_OfRequest, frozen=True):
    """The chain refuses a request's transaction, or the transaction was mined and has failed, which has cost `cost`
    wei. `kind`: the class of the error; `facts`: the error as text."""

    kind: str
    facts: str
    cost: int


class FaultFound(_Entry, frozen=True):
    """A counterparty has sent what it must not send. `participant`: whose fault it is, None where that is not known.
    `kind`, `facts`: the error, as in the journal's evidence. `refused`: the state that was refused, None where it was
    not a state."""

    participant: int | None
    kind: str
    facts: str
    refused: SignedState | None


class AppointmentAcknowledged(_Entry, frozen=True):
    """The watchtower at `url` has given its receipt for the appointment up to turn `turn_num`."""

    url: str
    turn_num: int


class ConnectionLost(_Entry, frozen=True):
    """The connection to the table's log at `url` is lost: no message goes or comes."""

    url: str


class ConnectionRestored(_Entry, frozen=True):
    """The connection to the table's log at `url` is there again."""

    url: str


EntryWithoutState = (
    SignatureAdded
    | LogIncluded
    | LogReorged
    | TxRequested
    | TxSent
    | TxMined
    | TxReorged
    | TxRefused
    | FaultFound
    | AppointmentAcknowledged
    | ConnectionLost
    | ConnectionRestored
)
"""The entries that are written as they are: a state is written more shortly, see `packing`."""
Entry = StateSigned | StateAccepted | EntryWithoutState
"""Everything that a history has."""


_CHAIN = int(EntryKinds.CHAIN)
_NOT_OF_THE_CHAIN: dict[type, int] = {
    **dict.fromkeys((StateSigned, StateAccepted, SignatureAdded), int(EntryKinds.STATES)),
    **dict.fromkeys((FaultFound, AppointmentAcknowledged, ConnectionLost, ConnectionRestored), int(EntryKinds.OTHERS)),
}
"""The kinds of those entries that are not of the chain. Plain numbers: flags are slow, and every commit asks."""


def kinds_of(entries: Sequence[Entry]) -> int:
    """The kinds of these entries, or-ed: see `EntryKinds`."""
    found = 0
    for each in entries:
        found |= _NOT_OF_THE_CHAIN.get(type(each), _CHAIN)
    return found
