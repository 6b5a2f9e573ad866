"""A line of chat as bytes: what a table takes for one, and what it does not."""

from __future__ import annotations

import secrets

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from hypothesis import example, given
from hypothesis import strategies as st

from forcemove import UINT64_MAX, ForcemoveError, InvalidValue, MalformedBytes, UnknownVersion, local_keys
from forcemove.transport.chat import CHAT_MARK, MAX_CHAT, ChatLine, SignedChat

ALICE = local_keys()[1]
TABLE = bytes(range(32))


def signed(text: str = "hello") -> SignedChat:
    """A line of Alice's."""
    return SignedChat.sign(ChatLine(TABLE, 7, text), ALICE)


@pytest.mark.parametrize("text", ["hello", "x" * MAX_CHAT, "\N{GRINNING FACE}" * MAX_CHAT, "Grüße, 你好 ☺"])
def test_a_line_comes_back_from_its_bytes_with_its_sender(text: str) -> None:
    said = SignedChat.decode(signed(text).encode())

    assert (said.line, said.sender) == (ChatLine(TABLE, 7, text), ALICE.address)


def test_what_is_signed_is_what_other_software_signs_for_this_type() -> None:
    typed = {
        "types": {
            "EIP712Domain": [{"name": "name", "type": "string"}, {"name": "version", "type": "string"}],
            "Chat": [
                {"name": "table", "type": "bytes32"},
                {"name": "number", "type": "uint64"},
                {"name": "text", "type": "string"},
            ],
        },
        "primaryType": "Chat",
        "domain": {"name": "Forcemove relay", "version": "1"},
        "message": {"table": TABLE, "number": 7, "text": "Grüße"},
    }

    message = encode_typed_data(full_message=typed)

    assert Account.sign_message(message, ALICE.secret).message_hash == ChatLine(TABLE, 7, "Grüße").digest


@pytest.mark.parametrize("text", ["   ", "x" * (MAX_CHAT + 1), "u\N{COMBINING DIAERESIS}", "\udcff"], ids=ascii)
def test_no_line_has_such_a_text(text: str) -> None:
    with pytest.raises(InvalidValue):
        ChatLine(TABLE, 7, text)


@pytest.mark.parametrize(("table", "number"), [(TABLE[1:], 7), (TABLE, -1), (TABLE, UINT64_MAX + 1)])
def test_no_line_has_such_a_table_or_number(table: bytes, number: int) -> None:
    with pytest.raises(InvalidValue):
        ChatLine(table, number, "hello")


def test_a_long_entry_is_refused_before_it_is_read() -> None:
    with pytest.raises(MalformedBytes):
        SignedChat.decode(CHAT_MARK + bytes(2_000))


def test_an_entry_of_another_kind_or_version_is_refused() -> None:
    entry = signed().encode()

    with pytest.raises(MalformedBytes):
        SignedChat.decode(b"{" + entry[1:])
    with pytest.raises(UnknownVersion):
        SignedChat.decode(CHAT_MARK + entry[len(CHAT_MARK) :].replace(b"\x92\x01", b"\x92\x02", 1))


@given(st.data())
def test_a_changed_entry_is_refused_or_is_nobodys_that_we_know(data: st.DataObject) -> None:
    entry = bytearray(signed().encode())
    place = data.draw(st.integers(0, len(entry) - 1))
    entry[place] ^= data.draw(st.integers(1, 255))

    try:
        sender = SignedChat.decode(bytes(entry)).sender
    except ForcemoveError:
        return
    assert sender != ALICE.address


@given(st.binary(max_size=300).map(lambda rest: CHAT_MARK + rest))
@example(CHAT_MARK)
def test_rubbish_is_refused_by_a_typed_error(entry: bytes) -> None:
    with pytest.raises(ForcemoveError):
        SignedChat.decode(entry)


def test_equal_lines_have_equal_bytes_but_for_the_table() -> None:
    other = ChatLine(secrets.token_bytes(32), 7, "hello")

    assert signed().encode() == signed().encode()
    assert other.digest != signed().line.digest
