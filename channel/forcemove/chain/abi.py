"""The encoding of the contract ABI, for all types but fixed-point numbers and functions. Knows no contract.

A type is what selectors hash, such as `(address,uint256)[]`. Values are integers, booleans, text, bytes (also of
addresses, 20), and for tuples and arrays tuples of these. Decoding is strict: what is padded is padded with zeros, an
offset leads behind the head that it stands in, and no length is believed that the data are too short for. Bytes after
what was asked for are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from forcemove.errors import InvalidValue, MalformedBytes

_WORD = 32
_ARRAY = re.compile(r"(.+)\[(\d*)\]")
_FIXED = re.compile(r"(u?int|bytes)(\d+)")
_DYNAMIC = ("bytes", "string")


def abi_type(parameter: Mapping[str, Any]) -> str:
    """The type of a parameter of a compiled contract's ABI, tuples written out."""
    kind: str = parameter["type"]
    if not kind.startswith("tuple"):
        return kind
    return f"({','.join(map(abi_type, parameter['components']))})" + kind.removeprefix("tuple")


def encode(kinds: Sequence[str], values: Sequence[Any]) -> bytes:
    """The bytes of values, one of each type. Raises `InvalidValue` where one is none of its type, `ValueError` where
    there are more or fewer."""
    heads, tails, end = list[bytes](), list[bytes](), sum(map(_head_size, kinds))
    for kind, value in zip(kinds, values, strict=True):
        data = _encoded(kind, value)
        heads.append(end.to_bytes(_WORD) if _is_dynamic(kind) else data)
        if _is_dynamic(kind):
            tails.append(data)
            end += len(data)
    return b"".join((*heads, *tails))


def decode(kinds: Sequence[str], data: bytes, what: str = "ABI data") -> tuple[Any, ...]:
    """The values of these types at the beginning of the data. `what`: what it is, for errors. Raises
    `MalformedBytes`."""
    try:
        return _values(kinds, data, 0)
    except ValueError as error:  # a Unicode error is one, too
        raise MalformedBytes(what, f"{error!s:.200}") from None


# ------------------------------------------------------------------------------------------------------------- types


@cache
def _item(kind: str) -> tuple[str, int | None] | None:
    """Of an array the type of an item, and how many there are, None for any number; None of any other type."""
    found = _ARRAY.fullmatch(kind)
    return None if found is None else (found[1], int(found[2]) if found[2] else None)


@cache
def _parts(kind: str) -> tuple[str, ...]:
    """The types in a tuple."""
    found, depth = [""], 0
    for each in kind[1:-1]:
        depth += (each == "(") - (each == ")")
        if each == "," and not depth:
            found.append("")
        else:
            found[-1] += each
    return tuple(found) if kind != "()" else ()


@cache
def _is_dynamic(kind: str) -> bool:
    """Whether only an offset stands in the head."""
    if (array := _item(kind)) is not None:
        return array[1] is None or _is_dynamic(array[0])
    return any(map(_is_dynamic, _parts(kind))) if kind.startswith("(") else kind in _DYNAMIC


@cache
def _head_size(kind: str) -> int:
    """Bytes in the head."""
    if _is_dynamic(kind):
        return _WORD
    if (array := _item(kind)) is not None:
        return (array[1] or 0) * _head_size(array[0])
    return sum(map(_head_size, _parts(kind))) if kind.startswith("(") else _WORD


@cache
def _width(kind: str) -> tuple[str, int]:
    """Of a type of one word what it is, and of how many bytes."""
    found = {"bool": ("uint", 1), "address": ("address", 20)}.get(kind)
    if found is None and (fixed := _FIXED.fullmatch(kind)) is not None:
        found = fixed[1], int(fixed[2]) // (1 if fixed[1] == "bytes" else 8)
    if found is None or not 0 < found[1] <= _WORD:
        raise ValueError(f"there is no type {kind:.100}")
    return found


# ---------------------------------------------------------------------------------------------------------- encoding


def _encoded(kind: str, value: Any) -> bytes:
    """A value without the offset of a dynamic one."""
    if (array := _item(kind)) is not None:
        item, count = array
        if count not in (None, len(value)):
            raise InvalidValue(kind, value, f"{count} values")
        return (b"" if count is not None else len(value).to_bytes(_WORD)) + encode((item,) * len(value), value)
    if kind.startswith("("):
        return encode(_parts(kind), value)
    if kind in _DYNAMIC:
        data = value.encode() if kind == "string" else value
        if not isinstance(data, bytes):
            raise InvalidValue(kind, value, "bytes")
        return len(data).to_bytes(_WORD) + data + bytes(-len(data) % _WORD)
    return _word(kind, value)


def _word(kind: str, value: Any) -> bytes:
    sort, width = _width(kind)
    if sort in ("bytes", "address"):
        if not isinstance(value, bytes) or len(value) != width:
            raise InvalidValue(kind, value, f"{width} bytes")
        return value.ljust(_WORD, b"\0") if sort == "bytes" else value.rjust(_WORD, b"\0")
    if not isinstance(value, int) or (kind == "bool") is not isinstance(value, bool):
        raise InvalidValue(kind, value, "an integer, or a boolean where that is the type")
    try:
        value.to_bytes(width, signed=sort == "int")
    except OverflowError:
        raise InvalidValue(kind, value, f"it has {8 * width} bits") from None
    return value.to_bytes(_WORD, signed=sort == "int")


# ---------------------------------------------------------------------------------------------------------- decoding


def _values(kinds: Sequence[str], data: bytes, start: int) -> tuple[Any, ...]:
    """The values whose heads begin at `start`, from which offsets count."""
    found, place, end = list[Any](), start, start + sum(map(_head_size, kinds))
    for kind in kinds:
        at = place
        if _is_dynamic(kind):
            at = start + _number(data, place)
            if not end <= at < len(data):
                raise ValueError(f"the offset at {place} leads to {at}")
        found.append(_value(kind, data, at))
        place += _head_size(kind)
    return tuple(found)


def _value(kind: str, data: bytes, at: int) -> Any:
    if (array := _item(kind)) is not None:
        item, count = array
        if count is None:
            count, at = _number(data, at), at + _WORD
        if count * (_head_size(item) or 1) > len(data) - at:
            raise ValueError(f"{count} values are more than there are at {at}")
        return _values((item,) * count, data, at)
    if kind.startswith("("):
        return _values(_parts(kind), data, at)
    if kind in _DYNAMIC:
        length, at = _number(data, at), at + _WORD
        found = _taken(data, at, length + -length % _WORD)
        _require_zeros(found[length:], at + length)
        return found[:length].decode() if kind == "string" else found[:length]
    return _of_word(kind, _taken(data, at, _WORD), at)


def _of_word(kind: str, word: bytes, at: int) -> Any:
    sort, width = _width(kind)
    if sort == "bytes":
        _require_zeros(word[width:], at + width)
        return word[:width]
    if sort == "int":
        number = int.from_bytes(word, signed=True)
        if not -(1 << 8 * width - 1) <= number < 1 << 8 * width - 1:
            raise ValueError(f"the number at {at} has more than {8 * width} bits")
        return number
    _require_zeros(word[:-width], at)
    if kind == "bool" and word[-1] > 1:
        raise ValueError(f"the boolean at {at} is {word[-1]}")
    return word[-width:] if sort == "address" else bool(word[-1]) if kind == "bool" else int.from_bytes(word)


def _number(data: bytes, at: int) -> int:
    return int.from_bytes(_taken(data, at, _WORD))


def _taken(data: bytes, at: int, length: int) -> bytes:
    if length > len(data) - at:
        raise ValueError(f"{length} bytes are more than there are at {at}")
    return data[at : at + length]


def _require_zeros(padding: bytes, at: int) -> None:
    if any(padding):
        raise ValueError(f"the padding at {at} is not of zeros")
