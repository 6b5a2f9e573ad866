"""The adjudicator's calldata and logs: the protocol's values to and from ABI encodings, by the compiled ABI."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, assert_never, get_args

from forcemove.chain.chain import RawLog
from forcemove.chain.reverts import abi_type
from forcemove.contracts import artifact
from forcemove.errors import MalformedBytes
from forcemove.protocol.encoding import decode_record
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.logs import (
    ChallengeRegistered,
    Checkpointed,
    Claimed,
    Closed,
    Concluded,
    Credited,
    Deposited,
    Log,
    PartlyPaid,
    Responded,
)
from forcemove.protocol.outcome import Allocation, Outcome
from forcemove.protocol.state import SupportProof, VariablePart
from forcemove.protocol.types import ETHER, FixedPart, Signature

__all__ = [
    "EMPTY_SIGNATURE",
    "Function",
    "decode_log",
    "fixed_part_values",
    "function",
    "outcome_values",
    "proof_values",
    "signature_values",
    "signatures_values",
    "state_values",
]

EMPTY_SIGNATURE = Signature(bytes(64))
"""The signature for calls in which the contract ignores it."""


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the adjudicator: its selector (4 bytes), and the types of its parameters and results."""

    name: str
    selector: bytes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def encode(self, *values: Any) -> bytes:
        """The calldata of a call with these values."""
        from eth_abi.abi import encode

        return self.selector + encode(self.inputs, values)

    def decode(self, data: bytes) -> tuple[Any, ...]:
        """What the function has returned. Raises `MalformedBytes`."""
        return _decode(self.outputs, data, self.name)


@cache
def function(name: str, contract: str = "Adjudicator") -> Function:
    """A function of a compiled contract, by name."""
    (entry,) = (each for each in artifact(contract).abi if each["type"] == "function" and each["name"] == name)
    inputs, outputs = tuple(map(abi_type, entry["inputs"])), tuple(map(abi_type, entry["outputs"]))
    return Function(name, keccak256(f"{name}({','.join(inputs)})".encode())[:4], inputs, outputs)


def _decode(types: Sequence[str], data: bytes, what: str) -> tuple[Any, ...]:
    from eth_abi.abi import decode

    try:
        return tuple(decode(types, data))
    except Exception as error:  # the decoder raises OverflowError, too, on a length such as 2**256 - 1
        raise MalformedBytes(what, f"{error!s:.200}") from None


# ------------------------------------------------------------------------------------------------------- into the ABI


def fixed_part_values(fixed_part: FixedPart) -> tuple[Any, ...]:
    """The members of Solidity's FixedPart."""
    return (
        fixed_part.participants,
        fixed_part.channel_nonce,
        fixed_part.app_definition,
        fixed_part.challenge_duration,
        fixed_part.asset,
        fixed_part.total,
    )


def outcome_values(outcome: Outcome) -> list[tuple[Any, ...]]:
    """Allocations, each as the members of Solidity's Allocation."""
    return [(allocation.asset, allocation.destination, allocation.amount) for allocation in outcome]


def state_values(state: VariablePart) -> tuple[Any, ...]:
    """The members of Solidity's VariablePart."""
    return (outcome_values(state.outcome), state.app_data, state.evidence, state.turn_num, state.is_final)


def signature_values(signature: Signature) -> tuple[bytes, bytes]:
    """The members of Solidity's Signature."""
    return (signature.r, signature.vs)


def signatures_values(signatures: Iterable[Signature]) -> list[tuple[bytes, bytes]]:
    """Signatures, each as the members of Solidity's Signature."""
    return list(map(signature_values, signatures))


def proof_values(proof: SupportProof) -> tuple[Any, ...]:
    """The three arguments of a proof: signatures, states, signedStates."""
    return (signatures_values(proof.signatures), list(map(state_values, proof.states)), proof.signed_states)


# ------------------------------------------------------------------------------------------------------ out of the ABI


def decode_log(log: RawLog) -> Log:
    """A log of the adjudicator. Raises `MalformedBytes` and `InvalidValue` on what no adjudicator has emitted."""
    event = _events().get(log.topics[0] if log.topics else b"")
    if event is None or len(log.topics) != 2:
        raise MalformedBytes("log", "it is not an event of the adjudicator")
    return event.build(log.topics[1], *_decode(event.types, log.data, event.name))


@dataclass(frozen=True, slots=True)
class _Event:
    """An event. Every event of the adjudicator has one indexed value, its first."""

    name: str
    types: tuple[str, ...]
    build: Callable[..., Log]


@cache
def _events() -> dict[bytes, _Event]:
    kinds: dict[str, type[Log]] = {kind.__name__: kind for kind in get_args(Log)}
    events = {}
    for entry in artifact("Adjudicator").abi:
        if entry["type"] == "event":
            name, types = entry["name"], tuple(map(abi_type, entry["inputs"]))
            topic = keccak256(f"{name}({','.join(types)})".encode())
            build = _builder(kinds[_KIND_NAMES.get(name, name)])
            events[topic] = _Event(name, types[1:], build)
    return events


_KIND_NAMES = {"EtherDeposited": "Deposited", "TokenDeposited": "Deposited"}
"""The kind of log that an event is, where its name is another."""


def _builder(kind: type[Log]) -> Callable[..., Log]:
    """What makes a log of this kind of its event's values. A new kind without a line here fails the type check."""
    if issubclass(kind, Deposited):
        return _deposited
    if issubclass(kind, ChallengeRegistered):
        return lambda id_, finalizes_at, record: ChallengeRegistered(id_, finalizes_at, *decode_record(record))
    if issubclass(kind, Responded):
        return lambda id_, record: _responded(id_, *decode_record(record))
    if issubclass(kind, Checkpointed):
        return lambda id_, record: Checkpointed(id_, *decode_record(record))
    if issubclass(kind, PartlyPaid):
        return lambda id_, state_hash, remaining: PartlyPaid(id_, state_hash, _outcome(remaining))
    if issubclass(kind, Credited):
        return lambda account, asset, amount: Credited(_indexed_address(account), _address(asset), amount)
    if issubclass(kind, Claimed):
        return lambda account, asset, to, amount: Claimed(
            _indexed_address(account), _address(asset), _address(to), amount
        )
    if issubclass(kind, Concluded | Closed):
        return kind
    assert_never(kind)


def _address(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def _indexed_address(topic: bytes) -> bytes:
    if any(topic[:12]):
        raise MalformedBytes("log", "an account is wider than an address")
    return topic[12:]


def _outcome(values: Iterable[tuple[str, bytes, int]]) -> Outcome:
    return tuple(Allocation(_address(asset), destination, amount) for asset, destination, amount in values)


def _deposited(id_: bytes, *values: Any) -> Deposited:
    """Of `EtherDeposited`, whose one value is what is held, or of `TokenDeposited`, which names the asset before it."""
    *assets, held = values
    return Deposited(id_, _address(*assets) if assets else ETHER, held)


def _responded(id_: bytes, state: VariablePart, signatures: tuple[Signature, ...]) -> Responded:
    if len(signatures) != 1:
        raise MalformedBytes("log", "a response has one signature")
    return Responded(id_, state, signatures[0])
