"""The model's logs as the chain writes them, so that `==` compares them with what the bytecode logged."""

from __future__ import annotations

from functools import cache

from msgspec.structs import fields

from forcemove import ETHER, keccak256
from forcemove.protocol.encoding import encode_record, word
from forcemove.protocol.logs import ChallengeRegistered, Checkpointed, Deposited, Log, Responded
from tests.evm import artifact, signature_of
from tests.parity import core_abi as abi
from tests.parity.core_chain import ChainLog


@cache
def _topic(name: str) -> bytes:
    (entry,) = (e for e in artifact("Adjudicator")["abi"] if e["type"] == "event" and e["name"] == name)
    return keccak256(signature_of(entry).encode())


def as_chain_log(adjudicator: bytes, log: Log) -> ChainLog:
    """One log of the model, encoded: its first value is the indexed one, the others are the data."""
    indexed, *others = _values(log)
    assert isinstance(indexed, bytes)
    topics = _topic(_event(log)), indexed.rjust(32, b"\0")
    return ChainLog(adjudicator, topics, abi.arguments(*map(_encoded, others)))


def _event(log: Log) -> str:
    if isinstance(log, Deposited):
        return "EtherDeposited" if log.asset == ETHER else "TokenDeposited"
    return type(log).__name__


def _values(log: Log) -> list[object]:
    """The values of a log, with a state and its signatures as one record."""
    match log:
        case Deposited(id_, asset, held):
            return [id_, held] if asset == ETHER else [id_, asset, held]
        case ChallengeRegistered(id_, finalizes_at, state, signatures):
            return [id_, finalizes_at, abi.text(encode_record(state, signatures))]
        case Responded(id_, state, signature):
            return [id_, abi.text(encode_record(state, [signature]))]
        case Checkpointed(id_, state, signatures):
            return [id_, abi.text(encode_record(state, signatures))]
    return [getattr(log, field.name) for field in fields(log)]


def _encoded(value: object) -> bytes | abi.Tail:
    match value:
        case int():
            return word(value)
        case bytes():
            return value.rjust(32, b"\0")
        case abi.Tail():
            return value
    assert isinstance(value, tuple)
    return abi.outcome(value)
