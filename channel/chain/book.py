"""The address book of a deployment: a JSON file that tells commands and clients what stands where on one chain."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from channel.chain.addresses import parse_address, show_address
from channel.errors import ForcemoveError, LocalError, MalformedBytes
from channel.protocol.json_text import MAX_LENGTH, parse_json

__all__ = [
    "AddressBook",
    "BookMissing",
    "BookUnwritable",
    "Deployed",
    "NotInBook",
    "Pending",
    "load_book",
    "save_book",
    "write_atomically",
]

FORMAT = "forcemove-address-book/1"
ValueT = TypeVar("ValueT")


@dataclass(eq=False)
class BookMissing(LocalError):
    """There is no address book at `path`."""

    path: str


@dataclass(eq=False)
class BookUnwritable(LocalError):
    """The file at `path` could not be written."""

    path: str
    reason: str


@dataclass(eq=False)
class NotInBook(LocalError):
    """The deployment has no such contract: it is unfinished, or of another version."""

    contract: str


@dataclass(frozen=True, slots=True)
class Deployed:
    """One contract: `address` (20 bytes), `runtime_code_hash` and `transaction_hash` (32 bytes), and its block."""

    address: bytes
    runtime_code_hash: bytes
    transaction_hash: bytes
    block_number: int


@dataclass(frozen=True, slots=True)
class Pending:
    """A deployment that was about to be sent: where it would stand, and a block that came before it."""

    contract: str
    address: bytes
    transaction_hash: bytes
    block_number: int


@dataclass(frozen=True, slots=True)
class AddressBook:
    """What was deployed on a chain, and from what.

    `source_hash`: 32 bytes, of the artifacts. `standard_json`: the name of the file beside the book that block
    explorers want. `pending` is not None while a deployment is unfinished.
    """

    chain_id: int
    source_hash: bytes
    compiler_version: str
    compiler_settings: Mapping[str, Any]
    standard_json: str
    contracts: Mapping[str, Deployed] = field(default_factory=dict)
    pending: Pending | None = None

    def find(self, contract: str) -> Deployed:
        """A contract by its name. Raises `NotInBook`."""
        if contract not in self.contracts:
            raise NotInBook(contract)
        return self.contracts[contract]

    @property
    def adjudicator(self) -> bytes:
        """The adjudicator's address. Raises `NotInBook`."""
        return self.find("Adjudicator").address

    @property
    def deployment_block(self) -> int:
        """From which block on logs can exist; 0 where nothing is deployed yet."""
        return min((entry.block_number for entry in self.contracts.values()), default=0)

    def to_json(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {
            "format": FORMAT,
            "chainId": self.chain_id,
            "deploymentBlock": self.deployment_block,
            "contracts": {name: _shown(self.contracts[name]) for name in sorted(self.contracts)},
            "pending": self.pending and {"contract": self.pending.contract} | _shown(self.pending),
            "compiler": {"version": self.compiler_version, "settings": dict(self.compiler_settings)},
            "sourceHash": _hex(self.source_hash),
            "standardJson": self.standard_json,
        }


def _shown(entry: Deployed | Pending) -> dict[str, Any]:
    shown = {
        "address": show_address(entry.address),
        "transaction": _hex(entry.transaction_hash),
        "block": entry.block_number,
    }
    return shown | {"runtimeCodeHash": _hex(entry.runtime_code_hash)} if isinstance(entry, Deployed) else shown


def _hex(data: bytes) -> str:
    return "0x" + data.hex()


# ------------------------------------------------------------------------------------------------------------ files


def save_book(book: AddressBook, path: Path) -> None:
    """Write the book so that whoever reads it finds the old one or the new one whole. Raises `BookUnwritable`."""
    write_atomically(path, json.dumps(book.to_json(), indent=2) + "\n")


def write_atomically(path: Path, text: str) -> None:
    """Write beside the file, flush to the disk, and rename. Raises `BookUnwritable`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise BookUnwritable(str(path), error.strerror or str(error)) from None


def load_book(path: Path) -> AddressBook:
    """Read a book. Raises `BookMissing`; `MalformedBytes` where anything in it is missing, wrong or unknown."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_LENGTH + 1)
    except FileNotFoundError:
        raise BookMissing(str(path)) from None
    except OSError as error:
        raise MalformedBytes(f"address book {path}", error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise MalformedBytes(f"address book {path}", "it is not UTF-8 text") from None
    try:
        return _parse(_Fields(parse_json(text, "book"), "the book"))
    except ForcemoveError as error:
        reason = error.reason if isinstance(error, MalformedBytes) else str(error)
        raise MalformedBytes(f"address book {path}", reason) from None


class _Fields:
    """A JSON object of which every field is taken once, and none is left over."""

    def __init__(self, content: object, where: str) -> None:
        if not isinstance(content, dict):
            raise MalformedBytes(where, f"{where} is not an object")
        self._left = dict(content)
        self.where = where

    def take(self, name: str, kind: type[ValueT]) -> ValueT:
        if name not in self._left:
            raise MalformedBytes(self.where, f"{self.where} lacks {name}")
        value = self._left.pop(name)
        if type(value) is not kind:
            raise MalformedBytes(self.where, f"{name} of {self.where} is not of type {kind.__name__}")
        return value

    def number(self, name: str) -> int:
        value = self.take(name, int)
        if value < 0:
            raise MalformedBytes(self.where, f"{name} of {self.where} is negative")
        return value

    def address(self, name: str) -> bytes:
        return parse_address(self.take(name, str))

    def word(self, name: str) -> bytes:
        text = self.take(name, str)
        if not re.fullmatch(r"0x[0-9a-f]{64}", text):
            raise MalformedBytes(self.where, f"{name} of {self.where} is not 0x and 64 hex digits")
        return bytes.fromhex(text[2:])

    def optional(self, name: str, parse: Callable[[_Fields], ValueT]) -> ValueT | None:
        if name in self._left and self._left[name] is None:
            self._left.pop(name)
            return None
        return parse(_Fields(self.take(name, dict), name))

    def done(self) -> None:
        if self._left:
            raise MalformedBytes(self.where, f"{self.where} has unknown fields: {', '.join(sorted(self._left))}")


def _parse(fields: _Fields) -> AddressBook:
    if fields.take("format", str) != FORMAT:
        raise MalformedBytes("format", f"its format is not {FORMAT}")
    contracts = fields.take("contracts", dict)
    compiler = _Fields(fields.take("compiler", dict), "compiler")
    block = fields.number("deploymentBlock")
    book = AddressBook(
        chain_id=fields.number("chainId"),
        source_hash=fields.word("sourceHash"),
        compiler_version=compiler.take("version", str),
        compiler_settings=compiler.take("settings", dict),
        standard_json=_file_name(fields.take("standardJson", str)),
        contracts={name: _parse_deployed(_Fields(entry, name)) for name, entry in contracts.items()},
        pending=fields.optional("pending", _parse_pending),
    )
    compiler.done()
    fields.done()
    if book.deployment_block != block:
        raise MalformedBytes("deploymentBlock", "deploymentBlock is not the first block of its contracts")
    return book


def _parse_deployed(fields: _Fields) -> Deployed:
    entry = Deployed(
        fields.address("address"), fields.word("runtimeCodeHash"), fields.word("transaction"), fields.number("block")
    )
    fields.done()
    return entry


def _parse_pending(fields: _Fields) -> Pending:
    entry = Pending(
        fields.take("contract", str), fields.address("address"), fields.word("transaction"), fields.number("block")
    )
    fields.done()
    return entry


def _file_name(text: str) -> str:
    if not text or Path(text).name != text:
        raise MalformedBytes("standardJson", "standardJson is not the name of a file beside the book")
    return text
