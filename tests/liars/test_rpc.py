"""What is made of a node's answers: a value in its bounds, or that endpoint's failure. And when asking ends."""

from __future__ import annotations

import pytest

from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint
from forcemove.chain.rpc import Reverted, as_bytes, as_hash, as_number, making_sense
from forcemove.errors import CounterpartyError, InvalidValue, MalformedBytes

# -------------------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "0x",
        "12",
        "0xg",
        "0x1_000",
        " 0x1",
        "0x1 ",
        "+0x1",
        "-0x1",
        "0x-1",
        "0b1",
        "0x" + "f" * 65,
        "0x1\n",
        "0x\u0661",
    ],
)
def test_what_is_no_quantity(answer: str) -> None:
    with pytest.raises(ValueError, match="quantity"):
        as_number(answer)


@pytest.mark.parametrize("answer", [None, 1.5, True, [], {}, b"\x01"])
def test_what_is_of_no_quantitys_type(answer: object) -> None:
    with pytest.raises(TypeError):
        as_number(answer)


@pytest.mark.parametrize("answer", [2**48, hex(2**48), -1])
def test_a_quantity_has_its_bounds(answer: object) -> None:
    with pytest.raises(ValueError, match="48 bits"):
        as_number(answer, 48)


def test_quantities_on_the_wire_and_of_eth_tester() -> None:
    assert [as_number("0xfF"), as_number("0x00"), as_number(7), as_number(hex(2**48 - 1), 48)] == [255, 0, 7, 2**48 - 1]


@pytest.mark.parametrize("answer", ["0x1", "0x 12", "0x12 ", "0xzz", "0x1\n2"])
def test_what_is_no_hex(answer: str) -> None:
    with pytest.raises(ValueError, match="not bytes"):
        as_bytes(answer)


@pytest.mark.parametrize("answer", ["0x" + "00" * 31, "0x" + "00" * 33, b"", "0x"])
def test_a_hash_has_32_bytes(answer: object) -> None:
    with pytest.raises(ValueError, match="not 32"):
        as_hash(answer)


@pytest.mark.parametrize(
    "error",
    [
        OverflowError(),
        RecursionError(),
        MemoryError(),
        AttributeError(),
        MalformedBytes("a", "b"),
        InvalidValue("a", 1, "b"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_decoder_raises_is_the_endpoints_failure(error: Exception) -> None:
    with pytest.raises(NotAnEthereumEndpoint), making_sense("node"):
        raise error


@pytest.mark.parametrize("error", [EndpointFailed("a", "b"), CounterpartyError(), Reverted(b""), KeyboardInterrupt()])
def test_what_has_a_meaning_of_its_own_keeps_it(error: BaseException) -> None:
    with pytest.raises(type(error)), making_sense("node"):
        raise error
