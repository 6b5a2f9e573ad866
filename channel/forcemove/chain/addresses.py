"""Addresses as people write them: hex with the checksum of EIP-55."""

from __future__ import annotations

import re
from functools import lru_cache

from forcemove.errors import MalformedBytes
from forcemove.protocol.hashing import keccak256


@lru_cache(maxsize=4_096)  # a list shows the same ones again and again, and each takes a hash
def show_address(address: bytes) -> str:
    """20 bytes as 0x and 40 digits; a letter is a capital where the hash of the digits has a nibble of 8 or more."""
    digits = address.hex()
    marks = keccak256(digits.encode()).hex()
    return "0x" + "".join(digit.upper() if mark >= "8" else digit for digit, mark in zip(digits, marks, strict=False))


def short_address(address: bytes) -> str:
    """The first and last four digits of an address (20 bytes), for a column or beside a name."""
    shown = show_address(address)
    return f"{shown[:6]}\N{HORIZONTAL ELLIPSIS}{shown[-4:]}"


def parse_address(text: str) -> bytes:
    """The inverse; letters of one case carry no checksum. Raises `MalformedBytes`."""
    if not re.fullmatch(r"0x[0-9a-fA-F]{40}", text):
        raise MalformedBytes("address", f"{text!r:.60} is not 0x and 40 hex digits")
    address = bytes.fromhex(text[2:])
    if text[2:] not in (text[2:].lower(), text[2:].upper()) and text != show_address(address):
        raise MalformedBytes("address", f"the checksum of {text} is wrong: a digit was mistyped")
    return address
