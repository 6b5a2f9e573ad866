"""Actions as bytes: one action has one encoding, and nothing else decodes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forcemove.flow.actions import Action, ActionCodec, MalformedAction, client_of
from forcemove.protocol.codec.limits import MAX_ACTION
from tests.flow.table import CODEC, Left, Said

said = st.builds(Said, st.text(min_size=1, max_size=64), st.integers(-(2**63), 2**63 - 1))
left = st.builds(Left, st.text(min_size=1, max_size=64))


class Note(Action, frozen=True):
    text: str


@given(st.one_of(said, left))
def test_an_action_comes_back_from_its_bytes(action: Said | Left) -> None:
    try:
        data = CODEC.encode(action)
    except MalformedAction:
        action.client_id.encode("utf-8", "surrogatepass").decode("utf-8", "ignore")
        raise
    assert CODEC.decode(data) == action
    assert client_of(data) == action.client_id


def test_the_bytes_are_sorted_json_without_spaces() -> None:
    assert CODEC.encode(Said("alice", 7)) == b'{"client_id":"alice","number":7,"type":"Said"}'


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"null",
        b"[]",
        b'{"client_id":"alice","number":7}',
        b'{"client_id":"alice","number":7,"type":"Shouted"}',
        b'{"number":7,"type":"Said"}',
        b'{"client_id":"alice","number":"7","type":"Said"}',
        b'{"client_id":"alice","number":true,"type":"Said"}',
        b'{"client_id":"alice","number":7.0,"type":"Said"}',
        b'{"client_id":"alice","number":7,"type":"Said","x":1}',
        b'{"client_id":"alice", "number":7,"type":"Said"}',
        b'{"number":7,"client_id":"alice","type":"Said"}',
        b'{"client_id":"alice","number":8,"number":7,"type":"Said"}',
        b'{"client_id":"","number":7,"type":"Said"}',
        b'{"client_id":"' + b"a" * 65 + b'","number":7,"type":"Said"}',
        b'{"client_id":"\\u0061lice","number":7,"type":"Said"}',
        b"[" * 20_000,
    ],
)
def test_what_no_client_of_ours_would_write_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedAction):
        CODEC.decode(data)


def test_a_refusal_names_the_client_that_is_named() -> None:
    with pytest.raises(MalformedAction) as refused:
        CODEC.decode(b'{"client_id":"mallory","type":"Shouted"}')
    assert refused.value.client_id == "mallory"


def test_an_action_has_a_size() -> None:
    codec = ActionCodec(Note)
    largest = Note("alice", "x" * (MAX_ACTION - len(codec.encode(Note("alice", "")))))
    assert codec.decode(codec.encode(largest)) == largest
    with pytest.raises(MalformedAction):
        codec.encode(Note("alice", largest.text + "x"))


def test_what_does_not_decode_is_not_encoded() -> None:
    with pytest.raises(MalformedAction):
        CODEC.encode(Said("", 1))
    with pytest.raises(MalformedAction):
        CODEC.encode(Said("alice", "1"))  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [b"", b"{}", b'{"client_id":1}', b"\xff", b'{"client_id":""}'])
def test_bytes_that_name_no_client(data: bytes) -> None:
    with pytest.raises(MalformedAction):
        client_of(data)
