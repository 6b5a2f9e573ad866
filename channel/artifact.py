"""A compiled contract as a value. Knows neither where artifacts lie nor what compiles them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Artifact", "ReadableText", "load_artifact"]


class ReadableText(Protocol):
    """A file, or a resource of a package (`importlib.resources.files`)."""

    def read_text(self, encoding: str) -> str:
        """All of it."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Artifact:
    """One compiled contract, as the compiler left it.

    `abi`: the ABI's entries. `bytecode`: the creation code, from whose Keccak-256, `creation_code_hash` (32 bytes), the
    contract's address follows. `runtime_bytecode`: what then stands on the chain, with zeros in place of immutables,
    which are the `immutable_references` (start, length in bytes). `source_hash`: SHA-256 over sources and settings, 32
    bytes. `compiler_version`, `compiler_settings`: what it was compiled with.
    """

    name: str
    source_name: str
    abi: tuple[Mapping[str, Any], ...]
    bytecode: bytes
    creation_code_hash: bytes
    runtime_bytecode: bytes
    immutable_references: tuple[tuple[int, int], ...]
    source_hash: bytes
    compiler_version: str
    compiler_settings: Mapping[str, Any]


def load_artifact(file: ReadableText) -> Artifact:
    """Read an artifact as `forcemove compile` writes it: JSON."""
    return _parse(json.loads(file.read_text("utf-8")))


def _parse(content: Mapping[str, Any]) -> Artifact:
    return Artifact(
        name=content["contractName"],
        source_name=content["sourceName"],
        abi=tuple(content["abi"]),
        bytecode=_bytes(content["bytecode"]),
        creation_code_hash=_bytes(content["creationCodeHash"]),
        runtime_bytecode=_bytes(content["runtimeBytecode"]),
        immutable_references=tuple((start, length) for start, length in content["immutableReferences"]),
        source_hash=bytes.fromhex(content["sourceHash"]),
        compiler_version=content["compiler"]["version"],
        compiler_settings=content["compiler"]["settings"],
    )


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))
