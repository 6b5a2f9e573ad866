"""The file of an address book, JSON: written whole or not at all, and read with every field checked."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from forcemove.chain.addresses import parse_address
from forcemove.chain.book import FORMAT, VERSION, AddressBook, Deployed, GameOfContract, Pending
from forcemove.chain.create2 import SALT
from forcemove.errors import ForcemoveError, LocalError, MalformedBytes, UnknownVersion
from forcemove.protocol.codec.json_text import MAX_LENGTH, hex_text, parse_decimal, parse_json, require_format

ValueT = TypeVar("ValueT")


class BookMissing(LocalError):
    """There is no address book at `path`."""

    path: str


class BookUnwritable(LocalError):
    """The file at `path` could not be written."""

    path: str
    reason: str


class BookOfOlderProgram(LocalError):
    """The book at `path` is of format `version`, whose contracts cannot be told from poisoned ones: their addresses do
    not follow from their creation code. This program writes and reads format `known`."""

    path: str
    version: int
    known: int


class BookOfNewerProgram(LocalError):
    """The book at `path` is of format `version`; this program is older and knows formats up to `known`."""

    path: str
    version: int
    known: int


def save_book(book: AddressBook, path: Path) -> None:
    """Write the book so that a reader finds the old one or the new one whole. Raises `BookUnwritable`."""
    write_atomically(path, json.dumps(book.to_json(), indent=2) + "\n")


def write_atomically(path: Path, text: str) -> None:
    """Write to another file of the same folder, flush it to the disk, and rename it. Raises `BookUnwritable`."""
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
    """Read a book. Raises `BookMissing`; `BookOfOlderProgram` and `BookOfNewerProgram` where it has another format;
    `MalformedBytes` where a value in it is missing, wrong or unknown."""
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
        return _parse(_Fields(parse_json(text, "book"), "the book"), path)
    except (BookOfOlderProgram, BookOfNewerProgram):
        raise
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

    def decimal(self, name: str) -> int:
        return parse_decimal(self.take(name, str), self.where, name)

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

    def text_or_none(self, name: str) -> str | None:
        if name in self._left and self._left[name] is None:
            self._left.pop(name)
            return None
        return self.take(name, str)

    def has(self, name: str) -> bool:
        return name in self._left

    def done(self) -> None:
        if self._left:
            raise MalformedBytes(self.where, f"{self.where} has unknown fields: {', '.join(sorted(self._left))}")


def _parse(fields: _Fields, path: Path) -> AddressBook:
    _require_version(fields.take("format", str), path)
    if fields.word("salt") != SALT:
        raise MalformedBytes("salt", f"its salt is not {hex_text(SALT)}, which this program derives addresses with")
    contracts = fields.take("contracts", dict)
    compiler = _Fields(fields.take("compiler", dict), "compiler")
    block = fields.number("deploymentBlock")
    book = AddressBook(
        chain_id=fields.decimal("chainId"),
        factory=fields.address("factory"),
        compiler_version=compiler.take("version", str),
        compiler_settings=compiler.take("settings", dict),
        contracts={name: _parse_deployed(_Fields(entry, name)) for name, entry in contracts.items()},
        pending=fields.optional("pending", _parse_pending),
    )
    compiler.done()
    fields.done()
    if book.deployment_block != block:
        raise MalformedBytes("deploymentBlock", "deploymentBlock is not the first block of its contracts")
    return book


def _require_version(format_: str, path: Path) -> None:
    """Check the version before anything else is read, since another version may have any content."""
    try:
        require_format(format_, FORMAT, VERSION, "format")
    except UnknownVersion as error:
        other = BookOfNewerProgram if error.is_newer else BookOfOlderProgram
        raise other(str(path), error.version, VERSION) from None


def _parse_deployed(fields: _Fields) -> Deployed:
    entry = Deployed(
        fields.address("address"),
        fields.word("creationCodeHash"),
        fields.word("sourceHash"),
        _file_name(fields.text_or_none("standardJson")),
        fields.number("block"),
        _parse_game(_Fields(fields.take("game", dict), "game")) if fields.has("game") else None,
    )
    fields.done()
    return entry


def _parse_game(fields: _Fields) -> GameOfContract:
    game = GameOfContract(
        fields.take("name", str), fields.text_or_none("distribution"), fields.take("compilerVersion", str)
    )
    fields.done()
    return game


def _parse_pending(fields: _Fields) -> Pending:
    entry = Pending(
        fields.take("contract", str), fields.address("address"), fields.word("transaction"), fields.number("block")
    )
    fields.done()
    return entry


def _file_name(text: str | None) -> str | None:
    if text is None:
        return None
    if not text or Path(text).name != text:
        raise MalformedBytes("standardJson", "standardJson is not the name of a file beside the book")
    return text


def chain_ids_of_books(book_file: Path | None) -> frozenset[int]:
    """The chain ids of the address books at hand: the one that was named, or all in this directory. Raises as
    `load_book` where a named one cannot be read."""
    if book_file is not None:
        return frozenset({load_book(book_file).chain_id}) if book_file.exists() else frozenset()
    numbers = (path.stem.removeprefix("forcemove-") for path in Path().glob("forcemove-*.json"))
    return frozenset(int(number) for number in numbers if number.isascii() and number.isdecimal())
