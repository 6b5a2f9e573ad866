"""JSON from strangers: files and messages that may be anything. Of the protocol it knows the limits alone.

Parsers in C, Python's own and msgspec's, descend as deep as the interpreter's recursion limit lets them, and libraries
for Ethereum raise that limit until some kilobytes of brackets overflow the stack and end the process. So depth and
length are bounded first.
"""

from __future__ import annotations

import json
import re
from typing import Any

from forcemove.errors import MalformedBytes, UnknownVersion
from forcemove.protocol.codec.limits import MAX_DEPTH, MAX_FILE, MAX_UINT256_DIGITS, MAX_VERSION

MAX_LENGTH = MAX_FILE
"""Characters."""
# A string that does not end is taken to the end of the text, and nothing that was read is ever given back (possessive
# quantifiers): otherwise each of its quotes would be tried as the beginning of a string of its own.
_MARKS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_STEPS = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}


def parse_json(text: str, what: str) -> Any:
    """The value of a JSON text. Raises `MalformedBytes` (of a `what`) on anything else: too long or too deep a text, a
    name given twice, the numbers that only Python knows (NaN, Infinity)."""
    if len(text) > MAX_LENGTH:
        raise MalformedBytes(what, f"it is longer than {MAX_LENGTH} characters")
    require_shallow(text.encode("utf-8", "surrogatepass"), what)
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
    except ValueError as error:
        raise MalformedBytes(what, f"it is not JSON: {error}") from None


def require_shallow(data: bytes, what: str, most: int = MAX_DEPTH) -> None:
    """Raise `MalformedBytes` (of a `what`) where JSON, as UTF-8, has more than `most` arrays and objects inside each
    other. Bytes that are not JSON may pass."""
    if data.count(b"[") + data.count(b"{") <= most:
        return
    depth = 0
    for mark in _MARKS.finditer(data):
        depth += _STEPS.get(mark.group(), 0)
        if depth > most:
            raise MalformedBytes(what, f"it is nested deeper than {most}")


def require_version(version: object, what: str, known: int) -> None:
    """Refuse the version that a `what` names where it is not `known`. Raises `UnknownVersion`, and `MalformedBytes`
    where the version is not a whole number from 1 to 65,535."""
    if type(version) is not int or not 1 <= version <= MAX_VERSION:
        raise MalformedBytes(what, f"its version is missing, or no number from 1 to {MAX_VERSION}")
    if version != known:
        raise UnknownVersion(what, version, known)


def require_format(format_: object, family: str, known: int, what: str) -> None:
    """Refuse the format that a file names where it is not `family/known`. Raises `UnknownVersion` where it is another
    version of the family, else `MalformedBytes` (of a `what`)."""
    found, _, version = format_.rpartition("/") if isinstance(format_, str) else ("", "", "")
    digits = version if version.isascii() and version.isdecimal() and not version.startswith("0") else ""
    if found != family or not 0 < len(digits) <= len(str(MAX_VERSION)):
        raise MalformedBytes(what, f"its format is {format_!a:.60}, not {family}/{known}")
    require_version(int(digits), what, known)


def parse_decimal(text: str, what: str, name: str) -> int:
    """The number that `name` of a `what` has as decimal digits in quotes, because other languages could not hold it
    otherwise. Raises `MalformedBytes` where there are too many digits, or the number is written in another way."""
    is_decimal = text.isascii() and text.isdecimal() and (text == "0" or not text.startswith("0"))
    if not (is_decimal and len(text) <= MAX_UINT256_DIGITS):
        raise MalformedBytes(what, f'"{name}" is not a decimal number in quotes')
    return int(text)


def hex_text(data: bytes) -> str:
    """Bytes as JSON has them: hex in lower case after 0x."""
    return "0x" + data.hex()


def parse_hex_text(text: str, what: str, length: int) -> bytes:
    """This many bytes as `hex_text` writes them. Raises `MalformedBytes` on any other way to write them."""
    try:
        data = bytes.fromhex(text[2:])
    except ValueError:
        data = b""
    if len(data) != length or text != hex_text(data):
        raise MalformedBytes(what, f"it is not hex of {length} bytes, in lower case after 0x")
    return data


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a name is given twice")
    return content


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")
