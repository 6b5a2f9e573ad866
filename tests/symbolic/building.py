"""Compiles proofs with the project's compiler and settings, and writes them in the form in which halmos reads them.

The contracts that the proofs are about are not compiled with them: the proofs deploy the creation code that is
committed, and everything else is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from forcemove.contracts import compiler
from forcemove.protocol.hashing import keccak256
from scripts.compile_contracts import ARTIFACTS, CONTRACTS, PINNED

__all__ = ["PROVED", "CodeNotCommitted", "ProofsRefused", "build", "committed_codes"]

ROOT = CONTRACTS.parent
PROOFS = Path(__file__).resolve().parent
PROVED = ("Adjudicator", "RockPaperScissors", "TicTacToe")
"""The contracts that the proofs are about."""

_OUTPUTS = ["abi", "evm.bytecode.object", "evm.deployedBytecode.object", "evm.methodIdentifiers"]


@dataclass(eq=False)
class CodeNotCommitted(Exception):
    """The creation code of a contract is not the committed one: a proof about it says nothing about what is deployed.
    The hashes are Keccak-256, as hex."""

    contract: str
    committed: str
    found: str


@dataclass(eq=False)
class ProofsRefused(Exception):
    """The compiler warns about the proofs: its own words."""

    messages: str


def committed_codes() -> dict[str, bytes]:
    """The creation code in the artifact of each contract that the proofs are about, by its name."""
    texts = {name: (ARTIFACTS / f"{name}.json").read_text("utf-8") for name in PROVED}
    return {name: bytes.fromhex(json.loads(text)["bytecode"].removeprefix("0x")) for name, text in texts.items()}


def build(folder: Path, source: str, codes: Mapping[str, bytes], *, faulty: bool = False) -> None:
    """Write to `folder` what halmos needs for the proofs in `source`, a file beside this one, about contracts with
    these creation codes. `faulty`: the codes may be other than the committed ones, as tests of faults need it.

    Raises `CodeNotCommitted`, `ProofsRefused`, and what the compiler raises.
    """
    if not faulty:
        require_committed(codes)
    for name, code in codes.items():
        _write(folder / "codes" / f"{name}.json", {"bytecode": {"object": "0x" + code.hex()}})
    for name, artifact in _compiled(source).items():
        _write(folder / "out" / source / f"{name}.json", artifact)


def require_committed(codes: Mapping[str, bytes]) -> None:
    """Refuse codes that are not those which are pinned. Raises `CodeNotCommitted`."""
    pinned = json.loads(PINNED.read_text("utf-8"))
    for name, code in codes.items():
        found = "0x" + keccak256(code).hex()
        if found != pinned[name]["creationCodeHash"]:
            raise CodeNotCommitted(name, pinned[name]["creationCodeHash"], found)


@cache
def _compiled(source: str) -> dict[str, dict[str, Any]]:
    name = f"{PROOFS.relative_to(ROOT)}/{source}"
    given = compiler.standard_json([name], compiler.project_files(ROOT))
    given["settings"] = given["settings"] | {"outputSelection": {name: {"*": _OUTPUTS}}}
    compiled = compiler.compile_standard_json(given, CONTRACTS)
    if compiled.warnings:
        raise ProofsRefused("\n".join(said for _, said in compiled.warnings))
    return {contract: _artifact(name, contract, output) for contract, output in compiled.contracts[name].items()}


def _artifact(source: str, contract: str, output: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a foundry artifact that halmos looks at, the syntax tree cut down to the one node that it wants."""
    evm = output["evm"]
    definition = {"nodeType": "ContractDefinition", "name": contract, "contractKind": "contract", "abstract": False}
    return {
        "abi": output["abi"],
        "bytecode": {"object": "0x" + evm["bytecode"]["object"], "linkReferences": {}},
        "deployedBytecode": {"object": "0x" + evm["deployedBytecode"]["object"], "linkReferences": {}},
        "methodIdentifiers": evm["methodIdentifiers"],
        "metadata": {"compiler": {"version": compiler.SOLC_VERSION}, "output": {}},
        "ast": {"absolutePath": source, "nodes": [definition]},
    }


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
