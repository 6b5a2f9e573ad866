"""Our bytes of transactions are eth_account's, and are read as they were signed; others are refused."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

import pytest
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st

from forcemove.chain import rlp
from forcemove.chain.transactions import Call, Fees, SignedTransaction, read_signed, sign_transaction
from forcemove.errors import MalformedBytes
from forcemove.protocol.signing import Key

SIZES = (0, 1, 8, 54, 55, 56, 57, 255, 256, 700)
KEY = Key(b"\x07" * 32)


def some_number(random: Random) -> int:
    return random.choice((0, 1, 127, 128, 255, 256, random.getrandbits(random.randrange(1, 250))))


def some_call(random: Random) -> Call:
    data = random.choice((random.randbytes(random.choice(SIZES)), bytes((random.randrange(256),))))
    return Call(random.choice((None, random.randbytes(20), bytes(20))), data, some_number(random) >> 40)


def by_eth_account(chain_id: int, call: Call, key: Key, nonce: int, gas: int, fees: Fees) -> tuple[bytes, bytes]:
    fields: dict[str, Any] = {"chainId": chain_id, "nonce": nonce, "gas": gas, "value": call.value, "data": call.data}
    if call.to is not None:
        fields["to"] = call.to
    if fees.is_legacy:
        fields["gasPrice"] = fees.max_fee_per_gas
    else:
        fields |= {"type": 2, "maxFeePerGas": fees.max_fee_per_gas}
        fields["maxPriorityFeePerGas"] = fees.max_priority_fee_per_gas
    signed = Account.sign_transaction(fields, key.secret)
    return bytes(signed.raw_transaction), bytes(signed.hash)


def test_1000_transactions_have_the_bytes_that_eth_account_gives_them() -> None:
    random = Random(44)
    for _ in range(1_000):
        key = Key(random.randbytes(32))
        price = some_number(random) >> 130
        fees = Fees(price, price, True) if random.random() < 0.3 else Fees(price, random.randrange(price + 1))
        arguments = random.randrange(1, 2**60), some_call(random), key, random.getrandbits(30), 21_000, fees
        signed = sign_transaction(*arguments)

        assert (signed.raw, signed.hash) == by_eth_account(*arguments)
        if not fees.is_legacy:
            assert read_signed(signed.raw, arguments[0]) == signed


def signed() -> SignedTransaction:
    return sign_transaction(1_337, Call(bytes(20), b"data", 5), KEY, 3, 50_000, Fees(10**9, 10**8))


@pytest.mark.parametrize("chain_id", [1, 1_338, 0])
def test_a_transaction_for_another_chain_is_refused(chain_id: int) -> None:
    with pytest.raises(MalformedBytes, match="it is for chain 1337"):
        read_signed(signed().raw, chain_id)


def test_each_changed_bit_is_refused_or_changes_who_has_signed() -> None:
    ours = signed()
    for place in range(8 * len(ours.raw)):
        changed = bytearray(ours.raw)
        changed[place // 8] ^= 1 << place % 8
        with suppress(MalformedBytes):
            assert read_signed(bytes(changed), 1_337).sender != KEY.address


def test_a_transaction_that_is_cut_or_longer_is_refused() -> None:
    raw = signed().raw
    for other in [*(raw[:size] for size in range(len(raw))), raw + b"\0"]:
        with pytest.raises(MalformedBytes):
            read_signed(other, 1_337)


ITEMS = st.recursive(st.binary(max_size=80), lambda items: st.lists(items, max_size=6), max_leaves=20)


@given(ITEMS)
def test_what_is_encoded_is_decoded(item: Any) -> None:
    assert rlp.decode(rlp.encode(item)) == item


@given(st.binary(max_size=80))
def test_bytes_are_refused_or_are_those_of_what_they_say(data: bytes) -> None:
    try:
        item = rlp.decode(data)
    except MalformedBytes:
        return
    assert rlp.encode(item) == data


@pytest.mark.parametrize(
    "data", ["", "8100", "b800", "b801ff", "f800", "c1", "83ffff", "c0c0", "bf" + "ff" * 8, "ff" * 9, "b90001ff"]
)
def test_what_is_not_the_shortest_form_of_one_item_is_refused(data: str) -> None:
    with pytest.raises(MalformedBytes):
        rlp.decode(bytes.fromhex(data))


def test_lists_within_lists_without_end_are_refused() -> None:
    nested = b""
    for _ in range(2_000):
        nested = rlp.encode([nested]) if not nested else rlp._head(0xC0, len(nested)) + nested
    with pytest.raises(MalformedBytes, match="too deep"):
        rlp.decode(nested)
