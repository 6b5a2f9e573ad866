"""A channel's history as lines for people, and as values for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, assert_never

import click

from forcemove.chain.addresses import short_address, show_address
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
from forcemove.text.durations import local_time
from forcemove.text.entries import entry_line, name_at

__all__ = ["describe_state", "timeline_json", "timeline_lines"]


def describe_state(stored: JournalChannel, signed: SignedState) -> str:
    """A state in a few words, by its game."""
    if signed.state.is_final:
        return "the final state"
    return stored.game.describe(signed.state) if stored.game else f"{len(signed.state.app_data)} bytes of app data"


# -------------------------------------------------------------------------------------------------------------- people


def timeline_lines(stored: JournalChannel, history: ChannelHistory) -> Iterator[str]:
    """A line for each entry, oldest first, and one for each day."""
    reorged, day = history.reorged, ""
    for place, entry in enumerate(history.entries):
        date, clock = local_time(entry.time)
        if date != day:
            day = date
            yield f"  {click.style(date, underline=True)}"
        mark = click.style("  (a reorganisation has removed it)", fg="yellow") if place in reorged else ""
        yield f"  {clock}  {_line(stored, entry)}{mark}"
    if history.unreadable:
        yield f"  {history.unreadable} pieces of the history cannot be read: they are damaged, or of another version"


def _line(stored: JournalChannel, entry: Entry) -> str:
    return entry_line(entry, stored.channel, partial(_called, stored), partial(describe_state, stored), stored.tokens)


def _called(stored: JournalChannel, index: int | None) -> str:
    """A participant: `we`, or the short form of its address."""
    addresses = tuple(map(short_address, stored.channel.agreement.fixed_part.participants))
    return name_at(index, addresses, stored.channel.index, "we")


# ---------------------------------------------------------------------------------------------------------------- JSON


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
        "description": describe_state(stored, signed),
    }


def _position(position: LogPosition) -> dict[str, Any]:
    return {
        "blockNumber": position.block_number,
        "blockHash": hex_text(position.block_hash),
        "transactionHash": hex_text(position.transaction_hash),
        "logIndex": position.log_index,
    }
