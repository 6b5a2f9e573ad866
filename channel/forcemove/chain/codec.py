"""The adjudicator's calldata and logs: the protocol's values to and from ABI encodings, by the compiled ABI."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

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
    )


def outcome_values(outcome: Outcome) -> list[tuple[Any, ...]]:
    """Allocations, each as the members of Solidity's Allocation."""
    return [(allocation.asset, allocation.destination, allocation.amount) for allocation in outcome]


def state_values(state: VariablePart) -> tuple[Any, ...]:
    """The members of Solidity's VariablePart."""
    return (outcome_values(state.outcome), state.app_data, state.turn_num, state.is_final)


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
        raise MalformedBytes("log", "it is no event of the adjudicator")
    return event.build(log.topics[1], *_decode(event.types, log.data, event.name))


@dataclass(frozen=True, slots=True)
class _Event:
    """An event. Every event of the adjudicator has one indexed value, its first."""

    name: str
    types: tuple[str, ...]
    build: Callable[..., Log]


@cache
def _events() -> dict[bytes, _Event]:
    events = {}
    for entry in artifact("Adjudicator").abi:
        if entry["type"] == "event":
            types = tuple(map(abi_type, entry["inputs"]))
            topic = keccak256(f"{entry['name']}({','.join(types)})".encode())
            events[topic] = _Event(entry["name"], types[1:], _BUILDERS[entry["name"]])
    return events


_BUILDERS: dict[str, Callable[..., Log]] = {
    "EtherDeposited": lambda id_, held: Deposited(id_, ETHER, held),
    "TokenDeposited": lambda id_, asset, held: Deposited(id_, _address(asset), held),
    "ChallengeRegistered": lambda id_, finalizes_at, record: ChallengeRegistered(
        id_, finalizes_at, *decode_record(record)
    ),
    "Responded": lambda id_, record: _responded(id_, *decode_record(record)),
    "Checkpointed": lambda id_, record: Checkpointed(id_, *decode_record(record)),
    "Concluded": Concluded,
    "PartlyPaid": lambda id_, state_hash, remaining: PartlyPaid(id_, state_hash, _outcome(remaining)),
    "Closed": Closed,
    "Credited": lambda account, asset, amount: Credited(_indexed_address(account), _address(asset), amount),
    "Claimed": lambda account, asset, to, amount: Claimed(
        _indexed_address(account), _address(asset), _address(to), amount
    ),
}


def _address(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def _indexed_address(topic: bytes) -> bytes:
    if any(topic[:12]):
        raise MalformedBytes("log", "an account is wider than an address")
    return topic[12:]


def _outcome(values: Iterable[tuple[str, bytes, int]]) -> Outcome:
    return tuple(Allocation(_address(asset), destination, amount) for asset, destination, amount in values)


def _responded(id_: bytes, state: VariablePart, signatures: tuple[Signature, ...]) -> Responded:
    if len(signatures) != 1:
        raise MalformedBytes("log", "a response has one signature")
    return Responded(id_, state, signatures[0])
