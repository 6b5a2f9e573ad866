"""An EVM in process, for verdicts: deploys an artifact, answers static calls, names the errors it reverts with.

pyrevm answers tens of thousands of calls a second, but its gas over successive calls is wrong and it knows neither
nonces nor signatures. Take gas and transactions from `forcemove.chain` instead. Nothing is committed here on
purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import pyrevm

from forcemove.artifact import Artifact
from forcemove.chain.abi import abi_type
from forcemove.protocol.hashing import keccak256

__all__ = ["Evm", "RevertName", "decode_error", "errors_of", "function_selector", "selector", "signature_of"]

CALLER = "0x00000000000000000000000000000000000ca11e"
_GAS = 2**62


class RevertName(NamedTuple):
    """A custom error as the bytecode gave it; addresses and fixed bytes are `bytes`, the rest integers."""

    name: str
    values: tuple[object, ...]


@dataclass
class Evm:
    """A fresh chain without blocks."""

    _evm: Any = field(default_factory=lambda: pyrevm.EVM(gas_limit=_GAS, spec_id="CANCUN"))

    def deploy(self, artifact: Artifact, constructor_arguments: bytes = b"") -> str:
        """Run the creation code of an artifact; returns the address as 0x-hex."""
        address: str = self._evm.deploy(CALLER, artifact.bytecode + constructor_arguments)
        return address

    def call(self, address: str, calldata: bytes) -> tuple[bool, bytes]:
        """A static call with raw bytes: whether it returned, and the bytes that it returned or reverted with."""
        try:
            return True, bytes(self._evm.message_call(CALLER, address, calldata, is_static=True))
        except RuntimeError as error:
            return False, _revert_data(str(error))


def _revert_data(text: str) -> bytes:
    """The revert data, which pyrevm gives only inside the text of its exception."""
    before, found, after = text.partition("output: 0x")
    if not found or not before.startswith("Revert"):
        raise AssertionError(f"the EVM halted: {text}")
    return bytes.fromhex(after.removesuffix(" }"))


def selector(signature: str) -> bytes:
    """The four bytes that stand for a function or an error, such as `f(uint256,bytes)`."""
    return keccak256(signature.encode())[:4]


def signature_of(entry: Mapping[str, Any]) -> str:
    """The canonical signature of an ABI entry."""
    return f"{entry['name']}({','.join(abi_type(item) for item in entry['inputs'])})"


@cache
def function_selector(artifact: Artifact, function: str) -> bytes:
    """The selector of a contract's function of this name."""
    (entry,) = (each for each in artifact.abi if each["type"] == "function" and each["name"] == function)
    return selector(signature_of(entry))


@cache
def errors_of(artifact: Artifact) -> Mapping[bytes, tuple[str, tuple[str, ...]]]:
    """The custom errors in a contract's ABI: name and parameter types by selector."""
    return {
        selector(signature_of(entry)): (entry["name"], tuple(item["type"] for item in entry["inputs"]))
        for entry in artifact.abi
        if entry["type"] == "error"
    }


def decode_error(artifact: Artifact, data: bytes) -> RevertName | None:
    """The custom error in revert data; None for the empty data with which the ABI decoder refuses calldata.

    Raises `KeyError` on an error that the contract's ABI does not declare, a panic for instance.
    """
    if not data:
        return None
    name, types = errors_of(artifact)[data[:4]]
    words = [data[start : start + 32] for start in range(4, len(data), 32)]
    if len(words) != len(types):
        raise AssertionError(f"{name} came with {len(words)} values: {data.hex()}")
    return RevertName(name, tuple(_value(kind, word) for kind, word in zip(types, words, strict=True)))


def _value(kind: str, word: bytes) -> object:
    if kind == "address":
        return word[12:]
    if kind.startswith("bytes"):
        return word[: int(kind.removeprefix("bytes"))]
    if not kind.startswith("uint"):
        raise AssertionError(f"errors carry static values only, not {kind}")
    return int.from_bytes(word, "big")
