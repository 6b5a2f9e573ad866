"""The EVM of `forcemove.testing.evm`, with contracts given by the names of their artifacts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from forcemove.artifact import Artifact
from forcemove.contracts import artifact as artifact_of
from forcemove.testing import evm
from forcemove.testing.evm import RevertName, selector, signature_of
from scripts.compile_contracts import ARTIFACTS

__all__ = [
    "Evm",
    "RevertName",
    "artifact",
    "decode_error",
    "errors_of",
    "function_selector",
    "selector",
    "signature_of",
]


class Evm(evm.Evm):
    """A fresh chain without blocks."""

    def deploy(self, artifact: Artifact | str, constructor_arguments: bytes = b"") -> str:
        """Run the creation code of an artifact; returns the address as 0x-hex."""
        found = artifact_of(artifact) if isinstance(artifact, str) else artifact
        return super().deploy(found, constructor_arguments)


@cache
def artifact(name: str) -> dict[str, Any]:
    """A compiled contract as it is in its file: of the product, else of the test contracts."""
    path = ARTIFACTS / f"{name}.json"
    if not path.exists():
        path = ARTIFACTS / "test" / f"{name}.json"
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def function_selector(contract: str, function: str) -> bytes:
    """The selector of a contract's function of this name."""
    return evm.function_selector(artifact_of(contract), function)


def errors_of(contract: str) -> Mapping[bytes, tuple[str, tuple[str, ...]]]:
    """The custom errors in a contract's ABI: name and parameter types by selector."""
    return evm.errors_of(artifact_of(contract))


def decode_error(contract: str, data: bytes) -> RevertName | None:
    """See `forcemove.testing.evm.decode_error`."""
    return evm.decode_error(artifact_of(contract), data)
