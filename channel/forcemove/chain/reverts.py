"""Reverts become typed errors: whatever a node or eth-tester makes of a failed call, the same error is raised.

Knows error tables (selector to class) and the places where nodes put revert data; knows no contract in particular.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from typing import Any

from forcemove.artifact import Artifact
from forcemove.chain.abi import abi_type, decode, encode
from forcemove.chain.errors import CallRefused, Panicked, RevertedWithText, UnknownRevert
from forcemove.chain.quirks import Meaning, means
from forcemove.contracts import artifact
from forcemove.errors import ForcemoveError, InvalidValue, MalformedBytes, RuleError
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.rule_errors import ADJUDICATOR_ERRORS

_PANIC = keccak256(b"Panic(uint256)")[:4]
_ERROR = keccak256(b"Error(string)")[:4]


@dataclass(frozen=True, slots=True, eq=False)
class ErrorTable:
    """Custom errors by selector (4 bytes): the class, and the types of its values in their order. Channels share it."""

    entries: Mapping[bytes, tuple[type[ForcemoveError], tuple[str, ...]]]

    @classmethod
    def of(cls, abi: Iterable[Mapping[str, Any]], classes: Mapping[str, type[ForcemoveError]]) -> ErrorTable:
        """The errors of an ABI that have a class of their name. Raises `InvalidValue` on a class without an error."""
        entries, missing = {}, set(classes)
        for entry in abi:
            if entry["type"] == "error" and entry["name"] in classes:
                types = tuple(abi_type(parameter) for parameter in entry["inputs"])
                entries[_selector(f"{entry['name']}({','.join(types)})")] = (classes[entry["name"]], types)
                missing.discard(entry["name"])
        if missing:
            raise InvalidValue("error classes", sorted(missing), "errors that the ABI has")
        return cls(entries)

    def __or__(self, other: ErrorTable) -> ErrorTable:
        """Both tables; this one wins where they share a selector."""
        return _united(self, other)

    def encode(self, error: RuleError) -> bytes:
        """The revert data of an error whose class the table has. Raises `InvalidValue` of another one."""
        for selector, (kind, types) in self.entries.items():
            if kind is type(error):
                return selector + encode(types, [getattr(error, each.name) for each in fields(error)])
        raise InvalidValue("error", type(error).__name__, "an error of the table")

    def decode(self, data: bytes, to: bytes) -> ForcemoveError:
        """The error that the revert data of a call to `to` (20 bytes) stand for.

        A class of the table; `Panicked`, `RevertedWithText`; `CallRefused` where there are no data; else
        `UnknownRevert`.
        """
        if not data:
            return CallRefused(to)
        entry = self.entries.get(data[:4]) or _BUILT_IN.get(data[:4])
        values = _decode(entry[1], data[4:]) if entry else None
        return entry[0](*values) if entry and values is not None else UnknownRevert(data)


@lru_cache(64)
def _united(one: ErrorTable, other: ErrorTable) -> ErrorTable:
    return one if other.entries.keys() <= one.entries.keys() else ErrorTable({**other.entries, **one.entries})


@cache
def _selector(signature: str) -> bytes:
    return keccak256(signature.encode())[:4]


_BUILT_IN: dict[bytes, tuple[type[ForcemoveError], tuple[str, ...]]] = {
    _PANIC: (Panicked, ("uint256",)),
    _ERROR: (RevertedWithText, ("string",)),
}
NO_ERRORS = ErrorTable({})
"""Explains only what Solidity itself reverts with."""


def _decode(types: tuple[str, ...], data: bytes) -> tuple[Any, ...] | None:
    try:
        return decode(types, data)
    except MalformedBytes:  # a contract, or a node in its name, may revert with anything
        return None


@cache
def adjudicator_errors() -> ErrorTable:
    """The adjudicator's own errors."""
    return ErrorTable.of(artifact("Adjudicator").abi, ADJUDICATOR_ERRORS)


def app_errors(contract: Artifact, classes: Mapping[str, type[ForcemoveError]]) -> ErrorTable:
    """The errors of an app, given by its contract and its classes by name. Raises as `ErrorTable.of`."""
    return _app_errors(contract, tuple(classes.items()))


@lru_cache(64)
def _app_errors(contract: Artifact, classes: tuple[tuple[str, type[ForcemoveError]], ...]) -> ErrorTable:
    return ErrorTable.of(contract.abi, dict(classes))


# ----------------------------------------------------------------------------------------------- where revert data hide


def revert_data(failure: object) -> bytes | None:
    """The revert data in a failure of a call, or None where the failure is not a revert (and may be the node's own).

    `failure`: an exception of eth-tester or of web3's provider for it, or the `error` object of a JSON-RPC response.
    """
    if isinstance(failure, BaseException):
        return next((data for link in _chain(failure) if (data := _of_exception(link)) is not None), None)
    return _of_rpc_error(failure) if isinstance(failure, Mapping) else None


def _chain(failure: BaseException | None) -> Iterator[BaseException]:
    while failure is not None:
        yield failure
        failure = failure.__cause__ or failure.__context__


def _of_exception(failure: BaseException) -> bytes | None:
    if type(failure).__name__ == "TransactionFailed":
        return _of_eth_tester(str(failure.args[0]) if failure.args else "")
    response = getattr(failure, "rpc_response", None)
    if isinstance(response, Mapping):
        return revert_data(response.get("error"))
    if type(failure).__name__.startswith("Contract"):
        return _hex(getattr(failure, "data", None)) or b""
    return None


def _of_eth_tester(text: str) -> bytes | None:
    """eth-tester prints the bytes as Python would; its other texts are not a revert (out of gas, an invalid opcode)."""
    shown = text.removeprefix("execution reverted: ")
    if not re.fullmatch(r"""b'.*'|b".*\"""", shown, re.DOTALL):
        return None
    data = ast.literal_eval(shown)
    return data if isinstance(data, bytes) else None


def _of_rpc_error(error: Mapping[str, Any]) -> bytes | None:
    """Nodes put the data into `data`, plain, after a word ("Reverted 0x...") or one level deeper."""
    data = error.get("data")
    if isinstance(data, Mapping):
        data = data.get("data", data.get("result"))
    found = _hex(data)
    if found is not None:
        return found
    is_revert = means(Meaning.REVERTED, message=error.get("message", ""), code=error.get("code"))
    return b"" if is_revert else None


def _hex(text: object) -> bytes | None:
    match = re.search(r"(?:^|\s)0x((?:[0-9a-fA-F]{2})*)$", text) if isinstance(text, str) else None
    return bytes.fromhex(match.group(1)) if match else None
