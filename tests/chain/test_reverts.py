"""Where revert data hide: every shape in which nodes and libraries report a failed call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest
from eth_abi.abi import encode
from eth_tester.exceptions import TransactionFailed
from web3.exceptions import ContractCustomError, ContractLogicError, Web3RPCError
from web3.types import RPCResponse

from forcemove import AppError, InvalidValue, keccak256
from forcemove.chain.errors import CallRefused, Panicked, RevertedWithText, UnknownRevert
from forcemove.chain.reverts import NO_ERRORS, ErrorTable, adjudicator_errors, app_errors, revert_data
from forcemove.contracts import artifact
from forcemove.protocol.rule_errors import ADJUDICATOR_ERRORS, NotAChannelId, TotalChanged
from tests.protocol.builders import MalformedCount, WrongCount

TO = b"\x22" * 20
DATA = keccak256(b"NotAChannelId(bytes32)")[:4] + b"\x11" * 32
HEX = "0x" + DATA.hex()


def test_every_error_of_the_adjudicators_abi_is_in_the_table() -> None:
    declared = {entry["name"] for entry in artifact("Adjudicator").abi if entry["type"] == "error"}

    assert declared == set(ADJUDICATOR_ERRORS)
    assert len(adjudicator_errors().entries) == len(declared)


@pytest.mark.parametrize("entry", [each for each in artifact("Adjudicator").abi if each["type"] == "error"], ids=str)
def test_every_error_takes_its_solidity_values_in_order(entry: dict[str, object]) -> None:
    error = ADJUDICATOR_ERRORS[str(entry["name"])]
    (selector,) = (key for key, (known, _) in adjudicator_errors().entries.items() if known is error)
    types = adjudicator_errors().entries[selector][1]
    given = [
        {"address": TO, "bytes32": DATA[4:], "bytes4": DATA[:4]}.get(kind, 7 + index)
        for index, kind in enumerate(types)
    ]

    assert adjudicator_errors().decode(selector + encode(types, given), TO) == error(*given)


def test_an_error_with_an_address_has_its_twenty_bytes() -> None:
    selector = keccak256(b"TotalChanged(address,uint256,uint256)")[:4]
    values = encode(["address", "uint256", "uint256"], [TO, 1, 2])

    assert adjudicator_errors().decode(selector + values, TO) == TotalChanged(TO, 1, 2)


def test_tables_merge_and_the_left_one_speaks_first() -> None:
    counting = app_errors(artifact("CountingApp"), {"WrongCount": WrongCount, "MalformedCount": MalformedCount})
    selector = keccak256(b"WrongCount(uint256,uint256)")[:4]

    @dataclass(eq=False)
    class Other(AppError):
        first: int
        second: int

    other = ErrorTable({selector: (Other, ("uint256", "uint256"))})
    data = selector + encode(["uint256", "uint256"], [1, 2])

    assert (adjudicator_errors() | counting).decode(data, TO) == WrongCount(1, 2)
    assert (counting | other).decode(data, TO) == WrongCount(1, 2)
    assert (other | counting).decode(data, TO) == Other(1, 2)


def test_a_class_without_an_error_is_refused() -> None:
    with pytest.raises(InvalidValue):
        app_errors(artifact("CountingApp"), {"NoSuchError": WrongCount})


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", CallRefused(TO)),
        (keccak256(b"Panic(uint256)")[:4] + encode(["uint256"], [0x11]), Panicked(0x11)),
        (keccak256(b"Error(string)")[:4] + encode(["string"], ["no"]), RevertedWithText("no")),
        (keccak256(b"Error(string)")[:4] + b"\xff" * 40, UnknownRevert(keccak256(b"Error(string)")[:4] + b"\xff" * 40)),
        (DATA[:3], UnknownRevert(DATA[:3])),
        (DATA[:20], UnknownRevert(DATA[:20])),
        (b"\x12\x34\x56\x78", UnknownRevert(b"\x12\x34\x56\x78")),
    ],
)
def test_what_no_table_explains_keeps_its_bytes(data: bytes, error: object) -> None:
    assert (NO_ERRORS | adjudicator_errors()).decode(data, TO) == error


def rpc_error(**error: object) -> Web3RPCError:
    return Web3RPCError("failed", rpc_response=cast("RPCResponse", {"jsonrpc": "2.0", "id": 1, "error": error}))


@pytest.mark.parametrize(
    "failure",
    [
        TransactionFailed(repr(DATA)),
        TransactionFailed(f"execution reverted: {DATA!r}"),
        ContractCustomError(HEX, data=HEX),
        ContractLogicError("execution reverted", data=HEX),
        {"code": 3, "message": "execution reverted", "data": HEX},
        {"code": -32015, "message": "VM execution error.", "data": f"Reverted {HEX}"},
        {"code": -32603, "message": "Internal error", "data": {"message": "reverted", "data": HEX}},
        rpc_error(code=3, message="execution reverted", data=HEX),
    ],
    ids=str,
)
def test_the_data_are_found_wherever_they_hide(failure: object) -> None:
    assert revert_data(failure) == DATA
    assert adjudicator_errors().decode(revert_data(failure) or b"", TO) == NotAChannelId(b"\x11" * 32)


def test_the_data_are_found_behind_what_a_library_raised_while_explaining_them() -> None:
    # As web3 fails on a panic code that it does not know.
    failure = KeyError("99")
    failure.__context__ = TransactionFailed(repr(DATA))

    assert revert_data(failure) == DATA


@pytest.mark.parametrize(
    "failure",
    [
        TransactionFailed("b''"),
        ContractLogicError("execution reverted", data="0x"),
        ContractLogicError("execution reverted"),
        {"code": -32000, "message": "execution reverted"},
        {"code": 3, "message": "execution reverted", "data": "0x"},
    ],
    ids=str,
)
def test_a_revert_without_a_word_has_empty_data(failure: object) -> None:
    assert revert_data(failure) == b""


@pytest.mark.parametrize(
    "failure",
    [
        TransactionFailed("Out of gas: Needed 8 - Remaining 6 - Reason: JUMP"),
        TransactionFailed(),
        OSError("no such file"),
        {"code": -32000, "message": "insufficient funds for gas * price + value"},
        {"code": -32601, "message": "method not found", "data": None},
        rpc_error(code=-32005, message="limit exceeded"),
        "execution reverted",
        None,
    ],
    ids=str,
)
def test_what_is_no_revert_has_none(failure: object) -> None:
    assert revert_data(failure) is None
