"""A channel's history as documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from msgspec.structs import asdict

from forcemove.chain.addresses import show_address
from forcemove.history import entries
from forcemove.history.history import ChannelHistory
from forcemove.inspect.documents import Address, Amount, Decimal, Document, Hash, Hex, Seconds
from forcemove.inspect.journal_channel import JournalChannel
from forcemove.inspect.onchain import turn_of
from forcemove.protocol.types import SignedState


class StateSummaryJson(Document):
    """A signed state in short. `signedBy`: the participants whose signatures it has; `description`: for people."""

    turn_num: int
    is_final: bool
    signed_by: list[Address]
    description: str


class HistoryEntryJson(Document, tag_field="kind", tag=lambda name: name.removesuffix("Json")):
    """An entry of a channel's history. `time`: of our own clock, when this was learned; `isReorged`: whether a
    reorganisation has removed it."""

    time: Seconds
    is_reorged: bool


class StateSignedJson(HistoryEntryJson):
    """We have signed a state."""

    turn_num: int
    is_final: bool
    signed_by: list[Address]
    description: str


class StateAcceptedJson(StateSignedJson):
    """A counterparty's state was accepted. `fromChain`: whether the chain has shown it."""

    from_chain: bool


class SignatureAddedJson(HistoryEntryJson):
    """A further signature of a state."""

    turn_num: int
    participant: int
    signature: Hex


class LogIncludedJson(HistoryEntryJson):
    """The chain has logged this."""

    log: str
    turn_num: int | None
    block_number: int
    block_hash: Hash
    transaction_hash: Hash
    log_index: int


class LogReorgedJson(LogIncludedJson):
    """A log is gone from the chain."""


class FaultFoundJson(HistoryEntryJson):
    """A counterparty has sent what it must not send. `participant`: null where that is not known; `fault`: the error's
    name; `refused`: the state, null where it was none."""

    participant: int | None
    fault: str
    facts: str
    refused: StateSummaryJson | None


class AppointmentAcknowledgedJson(HistoryEntryJson):
    """A watchtower has an appointment up to this turn."""

    watchtower: str
    turn_num: int


class ConnectionLostJson(HistoryEntryJson):
    """No message goes or comes."""

    url: str


class ConnectionRestoredJson(ConnectionLostJson):
    """Messages go and come again."""


class TxRequestedJson(HistoryEntryJson):
    """The channel has asked for a transaction, which 32 bytes name."""

    request: Hash
    operation: str


class TxSentJson(TxRequestedJson):
    """A transaction was sent: fees in wei for a unit of gas. `replaces`: the one with its nonce that it replaces."""

    transaction_hash: Hash
    nonce: Decimal
    max_fee_per_gas: Amount
    max_priority_fee_per_gas: Amount
    replaces: Hash | None


class TxMinedJson(TxRequestedJson):
    """A transaction is in a block, and has succeeded. `gasPrice`: in wei for a unit of gas."""

    transaction_hash: Hash
    block_number: int
    block_hash: Hash
    gas_used: int
    gas_price: Amount


class TxReorgedJson(TxRequestedJson):
    """The block that had a transaction is gone."""

    transaction_hash: Hash
    block_hash: Hash


class TxRefusedJson(TxRequestedJson):
    """The chain has refused a transaction. `error`: its name; `cost`: of the gas that was lost, in wei."""

    error: str
    facts: str
    cost: Amount


AnyEntryJson = (
    StateSignedJson
    | StateAcceptedJson
    | SignatureAddedJson
    | LogIncludedJson
    | LogReorgedJson
    | FaultFoundJson
    | AppointmentAcknowledgedJson
    | ConnectionLostJson
    | ConnectionRestoredJson
    | TxRequestedJson
    | TxSentJson
    | TxMinedJson
    | TxReorgedJson
    | TxRefusedJson
)


Summarise = Callable[[SignedState], StateSummaryJson]
"""Tells a signed state in short."""


def summaries_of(stored: JournalChannel, history: ChannelHistory) -> Summarise:
    """Tells signed states of a channel in short, by its history."""
    participants, words = stored.channel.agreement.fixed_part.participants, stored.words(history)

    def summarise(signed: SignedState) -> StateSummaryJson:
        known = [show_address(participants[at]) for at in sorted(signed.signatures) if at < len(participants)]
        return StateSummaryJson(signed.state.turn_num, signed.state.is_final, known, words(signed))

    return summarise


def history_entries(history: ChannelHistory, summarise: Summarise) -> list[AnyEntryJson]:
    """The entries, oldest first. `summarise`: see `summaries_of`."""
    reorged = history.reorged
    return [
        _SHAPES[type(each).__name__].of(each, **_particulars(summarise, each), is_reorged=place in reorged)
        for place, each in enumerate(history.entries)
    ]


_SHAPES: dict[str, type[AnyEntryJson]] = {each.__name__.removesuffix("Json"): each for each in get_args(AnyEntryJson)}


def _particulars(summarise: Summarise, entry: entries.Entry) -> dict[str, object]:
    """What a document says of an entry otherwise than the entry itself."""
    match entry:
        case entries.StateSigned(signed=signed) | entries.StateAccepted(signed=signed):
            return asdict(summarise(signed))
        case entries.SignatureAdded(signature=signature):
            return {"signature": signature.compact}
        case entries.LogIncluded(log=log, position=position) | entries.LogReorged(log=log, position=position):
            return {**asdict(position), "log": type(log).__name__, "turn_num": turn_of(log)}
        case entries.FaultFound(kind=fault, refused=refused):
            return {"fault": fault, "refused": None if refused is None else summarise(refused)}
        case entries.AppointmentAcknowledged(url=url):
            return {"watchtower": url}
        case entries.TxSent(max_fee=max_fee, tip=tip):
            return {"max_fee_per_gas": max_fee, "max_priority_fee_per_gas": tip}
        case entries.TxRefused(kind=error):
            return {"error": error}
        case _:
            return {}
