"""The model's logs as the chain writes them, so that `==` compares them with what the bytecode logged."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

from channel.protocol.encoding import word
from channel.protocol.hashing import keccak256
from channel.protocol.logs import Log
from channel.protocol.outcome import Allocation
from channel.protocol.state import VariablePart
from channel.protocol.types import Signature
from tests.evm import artifact, signature_of
from tests.parity import core_abi as abi
from tests.parity.core_chain import ChainLog


@cache
def _topic(name: str) -> bytes:
    (entry,) = (e for e in artifact("Adjudicator")["abi"] if e["type"] == "event" and e["name"] == name)
    return keccak256(signature_of(entry).encode())


def as_chain_log(adjudicator: bytes, log: Log) -> ChainLog:
    """One log of the model, encoded: its first value is the indexed one, the others are the data."""
    indexed, *others = (_encoded(getattr(log, field.name)) for field in fields(log))
    assert isinstance(indexed, bytes)
    return ChainLog(adjudicator, (_topic(type(log).__name__), indexed), abi.arguments(*others))


def _encoded(value: object) -> bytes | abi.Tail:
    match value:
        case int():
            return word(value)
        case bytes():
            return value.rjust(32, b"\0")
        case VariablePart():
            return abi.state(value)
        case Signature():
            return abi.signature(value)
        case tuple() if value and isinstance(value[0], Allocation):
            return abi.outcome(value)
    assert isinstance(value, tuple)
    return abi.signatures(value)
