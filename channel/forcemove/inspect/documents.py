"""What `--json` prints, as values: the fields of a document's class are its members, in camelCase.

Every member is always there, null where there is nothing to say, so that a program need not ask. Amounts, chain ids,
nonces and prices are decimal digits in quotes, since programs in many languages could not hold them otherwise.

`Document.of` makes a document of values: the types of its members say how each is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from types import NoneType
from typing import Annotated, Any, Self, get_args, get_origin

from msgspec import Meta, Struct, to_builtins
from msgspec.structs import fields

from forcemove.chain.addresses import show_address
from forcemove.protocol.codec.json_text import hex_text

Address = Annotated[str, Meta(pattern="^0x[0-9a-fA-F]{40}$", description="20 bytes, with the checksum of EIP-55")]
Hash = Annotated[str, Meta(pattern="^0x[0-9a-f]{64}$", description="32 bytes in hex")]
Hex = Annotated[str, Meta(pattern="^0x([0-9a-f]{2})*$", description="bytes in hex")]
Decimal = Annotated[str, Meta(pattern="^[0-9]+$", description="decimal digits")]
Amount = Annotated[str, Meta(pattern="^-?[0-9]+$", description="decimal digits, in the asset's smallest unit")]
Seconds = Annotated[int, Meta(description="Unix seconds, or a number of seconds")]


_TEXTS: dict[Any, Callable[[Any], str]] = {
    Address: show_address,
    Hash: hex_text,
    Hex: hex_text,
    Decimal: str,
    Amount: str,
}
"""How the members of these types are written; text is taken as it is."""


class Document(Struct, rename="camel"):
    """What is printed, or a part of it."""

    @classmethod
    def of(cls, *sources: object, **members: object) -> Self:
        """A document in which each member that is not among `members` is the attribute of its name of the first of the
        `sources` that has one. Values are written as the member's type says: bytes as an address or hex, numbers as
        digits, an enum's member as its value, and an object where a document is wanted as the document of it. Raises
        `AttributeError` where a member is nowhere."""
        written: dict[str, object] = {}
        for name, write in _writers(cls).items():
            source = next((each for each in sources if hasattr(each, name)), None)
            written[name] = write(members[name] if name in members else getattr(source, name))
        return cls(**written)


Write = Callable[[Any], Any]


@cache
def _writers(document: type[Document]) -> dict[str, Write]:
    return {each.name: _writer(each.type) for each in fields(document)}


def _writer(kind: Any) -> Write:
    """How a value is written as a member of this type."""
    inner = [each for each in get_args(kind) if each is not NoneType]
    if kind in _TEXTS:
        return lambda value: value if isinstance(value, str) else _TEXTS[kind](value)
    if get_origin(kind) is list:
        write = _writer(inner[0])
        return lambda values: [write(each) for each in values]
    if NoneType in get_args(kind) and len(inner) == 1:
        write = _writer(inner[0])
        return lambda value: None if value is None else write(value)
    if isinstance(kind, type) and issubclass(kind, Document):
        return lambda value: value if isinstance(value, Document) else kind.of(value)
    return lambda value: value.value if isinstance(value, Enum) else value


class AssetAmount(Document):
    """An amount of an asset; the asset's address is zero for ether."""

    asset: Address
    amount: Amount


class CommandErrorJson(Document):
    """How a command has failed. `type`: the error's class, of a rule the name that it has in Solidity; `message`: the
    words, which standard error has, too; `details`: the error's fields."""

    type: str
    message: str
    details: dict[str, Any]


class FailureDocument(Document):
    """What a command prints instead of its document."""

    error: CommandErrorJson


class KeyDocument(Document):
    """A key file, and its account's address."""

    address: Address
    file: str


class FundedKeyDocument(KeyDocument):
    """What the account had, and has, of ether in wei."""

    before: Amount
    after: Amount


def amounts(pairs: Iterable[tuple[bytes, int]]) -> list[AssetAmount]:
    """Amounts of assets (20 bytes each)."""
    return [AssetAmount(show_address(asset), str(amount)) for asset, amount in pairs]


def document_json(document: Document, indent: int | None = 2) -> str:
    """The text: ASCII alone, since a name or a move in it may have characters that a terminal obeys. `indent`: None for
    a single line."""
    return json.dumps(to_builtins(document), indent=indent)
