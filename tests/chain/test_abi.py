"""The ABI's encoding, compared with eth_abi on every function, event and error of every artifact, and on damaged
data."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from eth_abi.abi import decode as their_decode
from eth_abi.abi import encode as their_encode

from forcemove import InvalidValue, MalformedBytes, load_artifact
from forcemove.chain.abi import abi_type, decode, encode
from forcemove.contracts.place import CONTRACTS

VALUES = 10_000
OTHERS = (
    ("int8", "int256", "bytes7", "bytes32", "uint8", "bool"),
    ("uint256[3]", "bytes[2]", "(bool,string)[2][]", "uint8[][2]"),
    ("((string,int16)[],address[2])", "uint256", "string[]"),
)
"""Types that errors of other people's games can have."""


def signatures() -> list[tuple[str, ...]]:
    """The types of every function, event and error, each once."""
    paths = (CONTRACTS / "artifacts").rglob("*.json")
    entries = (entry for path in paths for entry in load_artifact(path).abi)
    sides = (entry.get(side, ()) for entry in entries for side in ("inputs", "outputs"))
    return sorted({tuple(map(abi_type, side)) for side in sides if side} | set(OTHERS))


class Chance(random.Random):
    """Values of types, of which few are ordinary."""

    def value(self, kind: str) -> Any:
        if kind.endswith("]"):
            item, _, count = kind[:-1].rpartition("[")
            return tuple(self.value(item) for _ in range(int(count) if count else self.randrange(4)))
        if kind.startswith("("):
            return tuple(self.value(each) for each in parts(kind))
        if kind == "bool":
            return self.random() < 0.5
        if kind == "string":
            return "".join(self.choice("aé♠ \0") for _ in range(self.randrange(70)))
        if kind == "address":
            return self.randbytes(20)
        if kind.startswith("bytes"):
            return self.randbytes(int(kind[5:]) if kind[5:] else self.randrange(70))
        bits = int(kind.removeprefix("u").removeprefix("int"))
        number = self.choice((0, 1, self.getrandbits(bits), 2**bits - 1))
        return number if kind.startswith("u") else number - 2 ** (bits - 1)

    def damaged(self, data: bytes) -> bytes:
        """With one word, byte or length changed, mostly where offsets and lengths stand."""
        if self.random() < 0.2:
            return data[: self.randrange(len(data))]
        at = self.randrange(len(data)) // 32 * 32
        word = self.choice((0, 1, 31, 32, 33, 64, len(data) - 32, len(data), 2**255, 2**256 - 1)).to_bytes(32)
        if self.random() < 0.5:
            at, word = self.randrange(len(data)), self.randbytes(1)
        return data[:at] + word + data[at + len(word) :]


def parts(kind: str) -> Iterator[str]:
    """The types in a tuple."""
    depth, begin = 0, 1
    for at, each in enumerate(kind):
        depth += (each == "(") - (each == ")")
        if (each == "," and depth == 1) or not depth:
            yield kind[begin:at]
            begin = at + 1


def as_theirs(kind: str, value: Any) -> Any:
    """A value as eth_abi decodes it: addresses are hex."""
    if kind.endswith("]"):
        return tuple(as_theirs(kind.rpartition("[")[0], each) for each in value)
    if kind.startswith("("):
        return tuple(as_theirs(*each) for each in zip(parts(kind), value, strict=True))
    return "0x" + value.hex() if kind == "address" else value


def test_values_are_encoded_and_decoded_as_by_eth_abi() -> None:
    chance, kinds = Chance("values"), signatures()
    for number in range(VALUES):
        each = kinds[number % len(kinds)]
        values = tuple(map(chance.value, each))
        data = encode(each, values)
        assert data == their_encode(each, values)
        assert decode(each, data) == values
        assert tuple(map(as_theirs, each, values)) == their_decode(each, data)


def test_damaged_data_are_refused_where_eth_abi_refuses_them() -> None:
    chance, kinds, refused = Chance("damage"), signatures(), 0
    for number in range(VALUES):
        each = kinds[number % len(kinds)]
        data = chance.damaged(encode(each, tuple(map(chance.value, each))))
        try:
            theirs = their_decode(each, data)
        except Exception:  # it raises several kinds
            refused += 1
            with pytest.raises(MalformedBytes):
                decode(each, data)
        else:
            assert tuple(map(as_theirs, each, decode(each, data))) == theirs, (each, data.hex())
    assert VALUES / 4 < refused < VALUES * 3 / 4


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("uint8", 256),
        ("uint8", -1),
        ("uint8", True),
        ("uint8", "1"),
        ("int8", 128),
        ("bool", 1),
        ("address", bytes(19)),
        ("address", "0x" + "11" * 20),
        ("bytes4", bytes(5)),
        ("bytes", 5),
        ("uint256[2]", (1, 2, 3)),
    ],
)
def test_a_value_of_another_type_is_not_encoded(kind: str, value: object) -> None:
    with pytest.raises(InvalidValue):
        encode([kind], [value])


@pytest.mark.parametrize("kind", ["fixed128x18", "function", "uint264", "bytes33", "", "tuple"])
def test_data_of_a_type_that_is_not_known_are_refused(kind: str) -> None:
    with pytest.raises(MalformedBytes):
        decode([kind], bytes(64))


@pytest.mark.parametrize("kind", ["uint256[]", "bytes[]", "uint8[0][]"])
@pytest.mark.parametrize("count", [2**32, 2**64, 2**256 - 1])
def test_a_count_that_the_data_are_too_short_for_costs_nothing(kind: str, count: int) -> None:
    with pytest.raises(MalformedBytes):
        decode([kind], (32).to_bytes(32) + count.to_bytes(32) + bytes(32))
