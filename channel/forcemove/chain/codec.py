"""What the adjudicator has an ABI for, by the compiled one: the calldata of payments and views, results, and logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, assert_never, get_args

from msgspec.structs import astuple

from forcemove.chain.abi import abi_type, decode, encode
from forcemove.chain.chain import RawLog
from forcemove.contracts import artifact
from forcemove.errors import MalformedBytes, RuleError
from forcemove.protocol import logs
from forcemove.protocol.codec.packed_reader import decode_proof_log, decode_response_log
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import ETHER, Allocation, Outcome, Signature, VariablePart


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the adjudicator: its selector (4 bytes), and the types of its parameters and results."""

    name: str
    selector: bytes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def encode(self, *values: Any) -> bytes:
        """The calldata of a call with these values."""
        return self.selector + encode(self.inputs, values)

    def arguments(self, calldata: bytes) -> tuple[Any, ...]:
        """The values of a call. Raises `MalformedBytes`."""
        return decode(self.inputs, calldata[len(self.selector) :], self.name)

    def decode(self, data: bytes) -> tuple[Any, ...]:
        """What the function has returned. Raises `MalformedBytes`."""
        return decode(self.outputs, data, self.name)


@cache
def function(name: str, contract: str = "Adjudicator") -> Function:
    """A function of a compiled contract, by name."""
    (entry,) = (each for each in artifact(contract).abi if each["type"] == "function" and each["name"] == name)
    inputs, outputs = tuple(map(abi_type, entry["inputs"])), tuple(map(abi_type, entry["outputs"]))
    return Function(name, keccak256(f"{name}({','.join(inputs)})".encode())[:4], inputs, outputs)


# --------------------------------------------------------------------------------------------------------------- logs


def decode_log(log: RawLog) -> logs.Log:
    """A log of the adjudicator. Raises `MalformedBytes` and `InvalidValue` on what no adjudicator has emitted."""
    event = _events().get(log.topics[0] if log.topics else b"")
    if event is None or len(log.topics) != 2:
        raise MalformedBytes("log", "it is not an event of the adjudicator")
    try:
        return event.build(log.topics[1], *decode(event.types, log.data, event.name))
    except RuleError as error:  # of packed arguments
        raise MalformedBytes("log", str(error)) from None


def encode_log(log: logs.Log, proof: bytes = b"") -> tuple[tuple[bytes, bytes], bytes]:
    """The topics and the data that `decode_log` decodes as this log. `proof`: the packed arguments that the event has
    of a log with a state."""
    subject, *values = astuple(log)
    name = type(log).__name__
    match log:
        case logs.Deposited(asset=asset):
            name, values = ("EtherDeposited", [log.held]) if asset == ETHER else ("TokenDeposited", values)
        case logs.ChallengeRegistered():
            values = [log.finalizes_at, proof]
        case logs.Responded() | logs.Checkpointed():
            values = [proof]
        case logs.PartlyPaid():
            values = [log.state_hash, tuple(map(astuple, log.remaining))]
    topic, event = next((topic, event) for topic, event in _events().items() if event.name == name)
    return (topic, subject.rjust(32, b"\0")), encode(event.types, values)


@dataclass(frozen=True, slots=True)
class _Event:
    """An event. Every event of the adjudicator has one indexed value, its first."""

    name: str
    types: tuple[str, ...]
    build: Callable[..., logs.Log]


@cache
def _events() -> dict[bytes, _Event]:
    kinds: dict[str, type[logs.Log]] = {kind.__name__: kind for kind in get_args(logs.Log)}
    events = {}
    for entry in artifact("Adjudicator").abi:
        if entry["type"] == "event" and entry["name"] != _OF_A_BATCH:
            name, types = entry["name"], tuple(map(abi_type, entry["inputs"]))
            topic = keccak256(f"{name}({','.join(types)})".encode())
            build = _builder(kinds[_KIND_NAMES.get(name, name)])
            events[topic] = _Event(name, types[1:], build)
    return events


_OF_A_BATCH = "BatchFailed"
"""The one event that is of no channel and no account; who sends a batch looks for it."""
_KIND_NAMES = {"EtherDeposited": "Deposited", "TokenDeposited": "Deposited"}
"""The kind of log that an event is, where its name is another."""


def _builder(kind: type[logs.Log]) -> Callable[..., logs.Log]:
    """What makes a log of this kind of its event's values. A new kind without a line here fails the type check."""
    if issubclass(kind, logs.Deposited):
        return _deposited
    if issubclass(kind, logs.ChallengeRegistered):
        return lambda id_, finalizes_at, arguments: logs.ChallengeRegistered(id_, finalizes_at, *_proved(arguments))
    if issubclass(kind, logs.Responded):
        return _responded
    if issubclass(kind, logs.Checkpointed):
        return lambda id_, arguments: logs.Checkpointed(id_, *_proved(arguments))
    if issubclass(kind, logs.PartlyPaid):
        return lambda id_, state_hash, remaining: logs.PartlyPaid(id_, state_hash, _outcome(remaining))
    if issubclass(kind, logs.Credited):
        return lambda account, asset, amount: logs.Credited(_indexed_address(account), asset, amount)
    if issubclass(kind, logs.Claimed):
        return lambda account, asset, to, amount: logs.Claimed(_indexed_address(account), asset, to, amount)
    if issubclass(kind, logs.Concluded | logs.Closed):
        return kind
    assert_never(kind)


def _indexed_address(topic: bytes) -> bytes:
    if any(topic[:12]):
        raise MalformedBytes("log", "an account is wider than an address")
    return topic[12:]


def _outcome(values: Iterable[tuple[bytes, bytes, int]]) -> Outcome:
    return tuple(Allocation(*each) for each in values)


def _deposited(id_: bytes, *values: Any) -> logs.Deposited:
    """Of `EtherDeposited`, whose one value is what is held, or of `TokenDeposited`, which names the asset before it."""
    *assets, held = values
    return logs.Deposited(id_, assets[0] if assets else ETHER, held)


def _proved(arguments: bytes) -> tuple[VariablePart, tuple[Signature, ...]]:
    _, proof = decode_proof_log(arguments)
    return proof.last, proof.signatures


def _responded(id_: bytes, arguments: bytes) -> logs.Responded:
    call = decode_response_log(arguments)
    return logs.Responded(id_, call.response, call.signature)
