"""What `--json` prints, as values: the fields of a document's class are its members, in camelCase.

Every member is always there, null where there is nothing to say, so that a program need not ask. Amounts, chain ids,
nonces and prices are decimal digits in quotes, since programs in many languages could not hold them otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct, to_builtins

from forcemove.chain.addresses import show_address

__all__ = [
    "Address",
    "Amount",
    "AssetAmount",
    "Decimal",
    "Document",
    "CommandErrorJson",
    "FailureDocument",
    "FundedKeyDocument",
    "Hash",
    "Hex",
    "KeyDocument",
    "Seconds",
    "amounts",
    "document_json",
]

Address = Annotated[str, Meta(pattern="^0x[0-9a-fA-F]{40}$", description="20 bytes, with the checksum of EIP-55")]
Hash = Annotated[str, Meta(pattern="^0x[0-9a-f]{64}$", description="32 bytes in hex")]
Hex = Annotated[str, Meta(pattern="^0x([0-9a-f]{2})*$", description="bytes in hex")]
Decimal = Annotated[str, Meta(pattern="^[0-9]+$", description="decimal digits")]
Amount = Annotated[str, Meta(pattern="^-?[0-9]+$", description="decimal digits, in the asset's smallest unit")]
Seconds = Annotated[int, Meta(description="Unix seconds, or a number of seconds")]


class Document(Struct, rename="camel"):
    """What is printed, or a part of it."""


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
