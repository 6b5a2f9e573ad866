"""Addresses with the checksum of EIP-55; the vectors are the standard's own."""

from __future__ import annotations

import pytest

from forcemove.chain.addresses import parse_address, show_address
from forcemove.errors import MalformedBytes

VECTORS = (
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
)


@pytest.mark.parametrize("text", VECTORS)
def test_addresses_are_shown_with_their_checksum_and_read_back(text: str) -> None:
    assert show_address(bytes.fromhex(text[2:])) == text
    assert parse_address(text) == parse_address(text.lower()) == bytes.fromhex(text[2:])


@pytest.mark.parametrize(
    "text",
    ["", "0x", VECTORS[2][2:], VECTORS[2][:-1], VECTORS[2] + "0", VECTORS[2].replace("5aA", "5aa"), "0x" + "g" * 40],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(MalformedBytes):
        parse_address(text)
