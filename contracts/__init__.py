"""The compiled contracts, loaded by name. Playing and deploying need no compiler."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from forcemove.channel.errors import LocalError

__all__ = ["Artifact", "UnknownArtifact", "artifact", "artifact_names", "standard_json"]

_SUFFIX = ".json"
_STANDARD_JSON = "standard-json"


@dataclass(eq=False)
class UnknownArtifact(LocalError):
    """No compiled contract has this name; `known` are those that are there."""

    name: str
    known: tuple[str, ...]


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


@cache
def artifact(name: str) -> Artifact:
    """The artifact of the contract `name`; those of demonstrations too, and of tests where they are present.

    Raises `UnknownArtifact`.
    """
    found = _find(name)
    if found is None:
        raise UnknownArtifact(name, artifact_names())
    return _parse(json.loads(found.read_text("utf-8")))


@cache
def artifact_names() -> tuple[str, ...]:
    """The contracts of the product: what a deployment may deploy."""
    return tuple(
        sorted(entry.name.removesuffix(_SUFFIX) for entry in _folder().iterdir() if entry.name.endswith(_SUFFIX))
    )


@cache
def standard_json(name: str) -> str:
    """The compiler's standard JSON input of a contract of the product, as block explorers want it to verify a
    deployment. Raises `UnknownArtifact`."""
    if name not in artifact_names():
        raise UnknownArtifact(name, artifact_names())
    return _folder().joinpath(_STANDARD_JSON, name + _SUFFIX).read_text("utf-8")


def _folder() -> Traversable:
    return files(__name__).joinpath("artifacts")


def _find(name: str) -> Traversable | None:
    if not name.isidentifier():
        return None
    candidates = (_folder().joinpath(*place, name + _SUFFIX) for place in ((), ("demo",), ("test",)))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


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
