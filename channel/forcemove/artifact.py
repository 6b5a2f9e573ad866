"""A compiled contract as a value. Does not know where artifacts are or what compiles them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from forcemove.errors import MalformedBytes
from forcemove.protocol.hashing import keccak256

ADJUDICATOR = "Adjudicator"
"""The name of the one contract that is always ours."""

_WHAT = "contract's artifact"


class ReadableText(Protocol):
    """A file, or a resource of a package (`importlib.resources.files`)."""

    def read_text(self, encoding: str) -> str:
        """All of it."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Artifact:
    """One compiled contract, as the compiler left it.

    `abi`: the ABI's entries. `bytecode`: the creation code, from whose Keccak-256, `creation_code_hash` (32 bytes), the
    contract's address follows. `runtime_bytecode`: what is then on the chain, with zeros in place of immutables,
    which are the `immutable_references` (start, length in bytes). `source_hash`: SHA-256 over sources and settings, 32
    bytes. `compiler_version`, `compiler_settings`: what it was compiled with. `standard_json`: the compiler's standard
    JSON input with all sources, which block explorers want; None where the artifact came without it.
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
    standard_json: Mapping[str, Any] | None = None

    @property
    def standard_json_text(self) -> str | None:
        """The standard JSON input as the text of a file."""
        if self.standard_json is None:
            return None
        return json_file_text(self.standard_json)


def json_file_text(value: object) -> str:
    """The text of a JSON file that the compilation writes: indented, names in order."""
    return json.dumps(value, indent=1, sort_keys=True) + "\n"


class _Compiler(msgspec.Struct, frozen=True):
    version: str
    settings: dict[str, Any]


class _File(msgspec.Struct, frozen=True, rename="camel"):
    contract_name: str
    source_name: str
    compiler: _Compiler
    source_hash: str
    abi: tuple[dict[str, Any], ...]
    bytecode: str
    creation_code_hash: str
    runtime_bytecode: str
    immutable_references: tuple[tuple[int, int], ...]
    standard_json: dict[str, Any] | None = None


def load_artifact(file: ReadableText) -> Artifact:
    """Read an artifact as `forcemove compile` writes it: JSON. Raises what reading raises, and `MalformedBytes`."""
    return parse_artifact(file.read_text("utf-8"))


def parse_artifact(text: str) -> Artifact:
    """The artifact in the text of its file. Raises `MalformedBytes` where a value in the text is missing or wrong, and
    where the creation code is not the one whose hash is given: the contract's address would be another."""
    try:
        artifact = _artifact(msgspec.json.decode(text, type=_File))
    except (msgspec.DecodeError, ValueError) as error:
        raise MalformedBytes(_WHAT, str(error)) from None
    if not artifact.name.isidentifier():
        raise MalformedBytes(_WHAT, f"{artifact.name!a:.80} is not a name of a contract")
    if keccak256(artifact.bytecode) != artifact.creation_code_hash:
        raise MalformedBytes(_WHAT, f"the creation code of {artifact.name} does not have the hash that is given for it")
    return artifact


def _artifact(file: _File) -> Artifact:
    return Artifact(
        file.contract_name,
        file.source_name,
        file.abi,
        _bytes(file.bytecode),
        _bytes(file.creation_code_hash),
        _bytes(file.runtime_bytecode),
        file.immutable_references,
        bytes.fromhex(file.source_hash),
        file.compiler.version,
        file.compiler.settings,
        file.standard_json,
    )


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))
