"""Recursive Length Prefix, the encoding of transactions (Ethereum's yellow paper, appendix B): numbers, bytes, and
lists of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from forcemove.errors import MalformedBytes

RlpItem: TypeAlias = "int | bytes | Sequence[RlpItem]"
_BYTES, _LIST = 0x80, 0xC0
_MOST_SHORT = 55
"""Bytes of content whose length is in the first byte; behind it stands a longer one's length."""
_DEEPEST = 16
"""Lists within each other that are decoded: a transaction has three."""


def encode(item: RlpItem) -> bytes:
    """The bytes of an item. A number, from 0, is its big-endian bytes without leading zeros."""
    if isinstance(item, int):
        item = item.to_bytes((item.bit_length() + 7) // 8)
    if isinstance(item, bytes):
        return item if len(item) == 1 and item[0] < _BYTES else _head(_BYTES, len(item)) + item
    content = b"".join(map(encode, item))
    return _head(_LIST, len(content)) + content


def _head(kind: int, length: int) -> bytes:
    if length <= _MOST_SHORT:
        return bytes((kind + length,))
    size = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes((kind + _MOST_SHORT + len(size),)) + size


def decode(data: bytes) -> RlpItem:
    """The item of which these are the bytes: bytes, and lists of them. Raises `MalformedBytes` where no item has
    them."""
    item, end = _item(data, 0, _DEEPEST)
    if end != len(data) or encode(item) != data:
        raise MalformedBytes("RLP", "these are not the bytes of one item")
    return item


def _item(data: bytes, at: int, depth: int) -> tuple[RlpItem, int]:
    first = data[at] if at < len(data) else _BYTES
    if first < _BYTES:
        return data[at : at + 1], at + 1
    start, end = _content(data, at + 1, first - (_LIST if first >= _LIST else _BYTES))
    if first < _LIST:
        return data[start:end], end
    if not depth:
        raise MalformedBytes("RLP", "its lists are too deep within each other")
    items = []
    while start < end:
        item, start = _item(data[:end], start, depth - 1)
        items.append(item)
    return items, end


def _content(data: bytes, at: int, length: int) -> tuple[int, int]:
    """Where the content begins and ends. `length`: as the first byte has it."""
    if length > _MOST_SHORT:
        size = length - _MOST_SHORT
        at, length = at + size, int.from_bytes(data[at : at + size])
    if at + length > len(data):
        raise MalformedBytes("RLP", "it is shorter than it says")
    return at, at + length
