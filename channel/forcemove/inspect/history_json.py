"""A channel's history as values for JSON."""

from __future__ import annotations

from typing import Any, assert_never

from forcemove.chain.addresses import show_address
from forcemove.history.entries import (
    AppointmentAcknowledged,
    ConnectionLost,
    ConnectionRestored,
    Entry,
    FaultFound,
    LogIncluded,
    LogPosition,
    LogReorged,
    SignatureAdded,
    StateAccepted,
    StateSigned,
    TxMined,
    TxRefused,
    TxReorged,
    TxRequested,
    TxSent,
)
from forcemove.history.history import ChannelHistory
from forcemove.inspect.journal_channel import JournalChannel
from forcemove.inspect.onchain import turn_of
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.state import SignedState

__all__ = ["timeline_json"]


def timeline_json(stored: JournalChannel, history: ChannelHistory) -> list[dict[str, Any]]:
    """For each entry, oldest first, `{"time", "kind", "isReorged", ...}`: Unix seconds of our own clock, the entry's
    name, and its facts. Hashes are hex; nonces and amounts of wei are decimal digits in quotes."""
    reorged = history.reorged
    return [
        {"time": each.time, "kind": type(each).__name__, "isReorged": place in reorged} | _facts(stored, each)
        for place, each in enumerate(history.entries)
    ]


def _facts(stored: JournalChannel, entry: Entry) -> dict[str, Any]:
    match entry:
        case StateSigned(signed=signed):
            return _state(stored, signed)
        case StateAccepted(signed=signed, from_chain=from_chain):
            return _state(stored, signed) | {"fromChain": from_chain}
        case SignatureAdded(turn_num=turn, participant=index, signature=signature):
            return {"turnNum": turn, "participant": index, "signature": hex_text(signature.compact)}
        case LogIncluded(log=log, position=position) | LogReorged(log=log, position=position):
            return {"log": type(log).__name__, "turnNum": turn_of(log)} | _position(position)
        case FaultFound(participant=index, kind=kind, facts=facts, refused=refused):
            state = None if refused is None else _state(stored, refused)
            return {"participant": index, "fault": kind, "facts": facts, "refused": state}
        case AppointmentAcknowledged(url=url, turn_num=turn):
            return {"watchtower": url, "turnNum": turn}
        case ConnectionLost(url=url) | ConnectionRestored(url=url):
            return {"url": url}
        case _:
            return {"request": hex_text(entry.request), "operation": entry.operation} | _transaction(entry)


def _transaction(entry: TxRequested | TxSent | TxMined | TxReorged | TxRefused) -> dict[str, Any]:
    match entry:
        case TxRequested():
            return {}
        case TxSent():
            return {
                "transactionHash": hex_text(entry.transaction_hash),
                "nonce": str(entry.nonce),
                "maxFeePerGas": str(entry.max_fee),
                "maxPriorityFeePerGas": str(entry.tip),
                "replaces": None if entry.replaces is None else hex_text(entry.replaces),
            }
        case TxMined():
            return {
                "transactionHash": hex_text(entry.transaction_hash),
                "blockNumber": entry.block_number,
                "blockHash": hex_text(entry.block_hash),
                "gasUsed": entry.gas_used,
                "gasPrice": str(entry.gas_price),
            }
        case TxReorged():
            return {"transactionHash": hex_text(entry.transaction_hash), "blockHash": hex_text(entry.block_hash)}
        case TxRefused():
            return {"error": entry.kind, "facts": entry.facts, "cost": str(entry.cost)}
        case _:
            assert_never(entry)


def _state(stored: JournalChannel, signed: SignedState) -> dict[str, Any]:
    participants = stored.channel.agreement.fixed_part.participants
    known = [index for index in sorted(signed.signatures) if index < len(participants)]
    return {
        "turnNum": signed.state.turn_num,
        "isFinal": signed.state.is_final,
        "signedBy": [show_address(participants[index]) for index in known],
        "description": stored.describe(signed),
    }


def _position(position: LogPosition) -> dict[str, Any]:
    return {
        "blockNumber": position.block_number,
        "blockHash": hex_text(position.block_hash),
        "transactionHash": hex_text(position.transaction_hash),
        "logIndex": position.log_index,
    }
