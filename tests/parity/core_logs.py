"""The bytecode's logs as the model has them, so that `==` compares them; and the model's as a chain may write them."""

from __future__ import annotations

from functools import cache

from msgspec.structs import fields, replace

from forcemove import ETHER, keccak256
from forcemove.chain.answers import LogPlace, RawLog
from forcemove.chain.codec import decode_log
from forcemove.protocol.codec.packed_writer import checkpoint_call, respond_call
from forcemove.protocol.encoding import word
from forcemove.protocol.logs import ChallengeRegistered, Checkpointed, Deposited, Log, Responded
from forcemove.protocol.types import FixedPart, Signature, SupportProof, VariablePart
from tests.evm import artifact, signature_of
from tests.parity import core_abi as abi
from tests.parity.core_chain import ChainLog

_PLACE = LogPlace(1, bytes(32), bytes(32), 0)


@cache
def _topic(name: str) -> bytes:
    (entry,) = (e for e in artifact("Adjudicator")["abi"] if e["type"] == "event" and e["name"] == name)
    return keccak256(signature_of(entry).encode())


def decoded(log: ChainLog) -> Log:
    """What was logged."""
    return decode_log(RawLog(*log, _PLACE))


def as_chain_log(adjudicator: bytes, log: Log) -> ChainLog:
    """One log of the model, encoded: its first value is the indexed one, the others are the data. Of a proof there is
    no more than its last state, and as many participants as it has signatures."""
    indexed, *others = _values(log)
    assert isinstance(indexed, bytes)
    topics = _topic(_event(log)), indexed.rjust(32, b"\0")
    return ChainLog(adjudicator, topics, abi.arguments(*map(_encoded, others)))


def _event(log: Log) -> str:
    if isinstance(log, Deposited):
        return "EtherDeposited" if log.asset == ETHER else "TokenDeposited"
    return type(log).__name__


def _values(log: Log) -> list[object]:
    """The values of a log, with a state and its signatures as the arguments of a call."""
    match log:
        case Deposited(id_, asset, held):
            return [id_, held] if asset == ETHER else [id_, asset, held]
        case ChallengeRegistered(id_, finalizes_at, state, signatures):
            return [id_, finalizes_at, abi.text(_arguments(state, signatures))]
        case Responded(id_, state, signature):
            before = replace(state, turn_num=state.turn_num - 1)
            arguments = respond_call(_channel(2), before, state, signature)[4:]
            return [id_, abi.text(state.turn_num.to_bytes(6) + arguments)]
        case Checkpointed(id_, state, signatures):
            return [id_, abi.text(_arguments(state, signatures))]
    return [getattr(log, field.name) for field in fields(log)]


def _arguments(state: VariablePart, signatures: tuple[Signature, ...]) -> bytes:
    return checkpoint_call(_channel(max(2, len(signatures))), SupportProof((state,), signatures, 0))[4:]


def _channel(count: int) -> FixedPart:
    return FixedPart(tuple(bytes(19) + bytes((1 + each,)) for each in range(count)), 0, bytes(20), 60)


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
