"""States as text: what goes out comes back, and nothing else comes in."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from forcemove import ForcemoveError, InvalidValue, MalformedBytes, SignedState, UnknownVersion, VariablePart
from forcemove.protocol.codec.limits import MAX_FILE, MAX_MESSAGE, MAX_RECORD, MAX_STATE_FILE
from forcemove.protocol.codec.wire import (
    SignedStateFile,
    decode_file,
    decode_message,
    encode_file,
    encode_greeting,
    encode_message,
    parse_hex,
)
from forcemove.protocol.encoding import Domain, encode_record
from forcemove.protocol.machine.inputs import Greeted, StateReceived
from forcemove.protocol.types import (
    MAX_ALLOCATIONS,
    MAX_APP_DATA,
    MAX_CHALLENGE_DURATION,
    MAX_PARTICIPANTS,
    MIN_CHALLENGE_DURATION,
    UINT48_MAX,
    UINT256_MAX,
    Allocation,
    FixedPart,
    Signature,
)
from tests.expected import raising
from tests.protocol.builders import ALICE, BOB, DOMAIN, fixed_part, signed, state

ID = bytes(range(32))

allocations = st.builds(
    Allocation,
    st.binary(min_size=20, max_size=20),
    st.binary(min_size=32, max_size=32),
    st.integers(0, UINT256_MAX),
)
states = st.builds(
    VariablePart,
    st.lists(allocations, min_size=1, max_size=5).map(tuple),
    st.binary(max_size=300),
    st.integers(0, UINT48_MAX),
    st.booleans(),
)
signed_states = st.builds(
    SignedState,
    states,
    st.dictionaries(
        st.integers(0, MAX_PARTICIPANTS - 1), st.binary(min_size=64, max_size=64).map(Signature), max_size=4
    ),
)
fixed_parts = st.builds(
    FixedPart,
    st.lists(st.binary(min_size=20, max_size=20).filter(any), min_size=2, max_size=4, unique=True).map(tuple),
    st.integers(0, 2**64 - 1),
    st.binary(min_size=20, max_size=20),
    st.integers(MIN_CHALLENGE_DURATION, MAX_CHALLENGE_DURATION),
)
domains = st.builds(Domain, st.integers(0, UINT256_MAX), st.binary(min_size=20, max_size=20))


def message() -> bytes:
    return encode_message(ID, signed(state(), ALICE, BOB))


def file() -> str:
    return encode_file(
        SignedStateFile(DOMAIN, fixed_part(total=20), signed(replace(state(), evidence=b"why"), ALICE, BOB))
    )


# ---------------------------------------------------------------------------------------------------------- there, back


@given(id_=st.binary(min_size=32, max_size=32), sent=signed_states)
def test_a_message_arrives_as_it_was(id_: bytes, sent: SignedState) -> None:
    assert decode_message(encode_message(id_, sent)) == (id_, StateReceived(sent))


@given(st.builds(SignedStateFile, domains, fixed_parts, signed_states))
def test_a_file_is_read_as_it_was_written(written: SignedStateFile) -> None:
    assert decode_file(encode_file(written)) == written
    assert decode_file(encode_file(written).encode()) == written


def test_the_largest_state_with_all_its_signatures_goes_into_a_message_and_a_file() -> None:
    """Both are as large as they may be, but for longer version numbers."""
    largest = largest_state()
    assert len(encode_record(largest.state, [*largest.signatures.values()])) == MAX_RECORD
    sent = encode_message(ID, largest)
    assert len(sent) == MAX_MESSAGE - len("65535") + len("1")
    assert decode_message(sent) == (ID, StateReceived(largest))
    channel = FixedPart(
        tuple(bytes([index + 1]) * 20 for index in range(MAX_PARTICIPANTS)),
        2**64 - 1,
        bytes(20),
        MAX_CHALLENGE_DURATION,
    )
    written = SignedStateFile(Domain(UINT256_MAX, bytes(20)), channel, largest)
    text = encode_file(written)
    assert 0.95 * MAX_STATE_FILE < len(text) <= MAX_STATE_FILE <= MAX_FILE / 4
    assert decode_file(text) == written
    assert decode_file(json.dumps(json.loads(text), indent=16)) == written


@pytest.mark.parametrize(
    "impossible",
    [
        VariablePart((), b"", 0),
        VariablePart((Allocation(bytes(20), bytes(32), 0),) * (MAX_ALLOCATIONS + 1), b"", 0),
        VariablePart((Allocation(bytes(20), bytes(32), 0),), bytes(MAX_APP_DATA + 1), 0),
    ],
    ids=["no allocation", "too many allocations", "too much appData"],
)
def test_what_no_channel_can_have_is_not_written(impossible: VariablePart) -> None:
    with pytest.raises(InvalidValue):
        encode_message(ID, SignedState(impossible))


@pytest.mark.parametrize("signer", [-1, MAX_PARTICIPANTS])
def test_nobody_signs_whom_no_channel_has(signer: int) -> None:
    with pytest.raises(InvalidValue):
        encode_message(ID, SignedState(state(), {signer: Signature(bytes(64))}))


def test_a_state_travels_once() -> None:
    """The state of a two-player game, 640 bytes as ABI encodes it, and two signatures."""
    sent = encode_message(ID, signed(state(app_data=bytes(224)), ALICE, BOB))
    assert len(sent) < 1_300


@given(st.binary(min_size=32, max_size=32), st.integers(0, MAX_PARTICIPANTS - 1), st.integers(0, UINT48_MAX + 1))
def test_a_greeting_arrives_as_it_was(id_: bytes, sender: int, next_turn: int) -> None:
    assert decode_message(encode_greeting(id_, sender, next_turn)) == (id_, Greeted(sender, next_turn))


@pytest.mark.parametrize(
    ("sender", "next_turn"),
    [(-1, 0), (MAX_PARTICIPANTS, 0), (0, -1), (0, UINT48_MAX + 2), (True, 0), (0, 1.0), ("0", 0)],
)
def test_a_greeting_of_nobody_or_of_no_turn_is_refused(sender: object, next_turn: object) -> None:
    good = json.loads(encode_greeting(ID, 1, 1))
    assert canonical(good) == encode_greeting(ID, 1, 1)
    assert refused(canonical({**good, "sender": sender, "nextTurn": next_turn}))
    assert refused(canonical({**json.loads(message()), "sender": 0}))
    assert refused(canonical({**good, "record": "0x"}))


def test_one_message_has_one_encoding() -> None:
    for good in (message(), encode_greeting(ID, 1, 17)):
        content = json.loads(good)
        assert canonical(content) == good
        assert refused(json.dumps(content, sort_keys=True).encode())
        assert refused(json.dumps(dict(reversed(content.items())), separators=(",", ":")).encode())
        assert refused(good + b"\n")
        assert refused(b" " + good)
        assert refused(canonical({**content, "channelId": "0x" + content["channelId"][2:].upper()}))
        assert refused(good.replace(b'"kind"', b'"\\u006bind"'))
        assert refused(canonical({**content, "record": "0x" + content.get("record", "0x")[2:].upper()}))
        assert refused(good.replace(b'"version":1}', b'"version":1,"version":1}'))
        assert refused(good.replace(b'"version":1}', b'"version":1.0}'))
        assert refused(good.replace(b'"version":1}', b'"version":1e0}'))


@pytest.mark.parametrize("version", [2, 65_535])
def test_a_message_of_another_version_says_which(version: int) -> None:
    """Whatever else is in it, as long as it is not larger than ours may be."""
    contents: tuple[dict[str, Any], ...] = (json.loads(message()), json.loads(encode_greeting(ID, 1, 1)), {"new": [{}]})
    for content in contents:
        with pytest.raises(UnknownVersion) as raised:
            decode_message(json.dumps({**content, "version": version}).encode())
        assert raised.value == UnknownVersion("message", version, 1)
        assert raised.value.is_newer


@pytest.mark.parametrize("version", [None, 0, -1, 65_536, 10**400, True, "1", 1.0, [1], {"a": 1}])
def test_a_version_is_a_number(version: object) -> None:
    assert refused(canonical({**json.loads(message()), "version": version}))


def test_what_has_no_version_is_malformed() -> None:
    content, written = json.loads(message()), json.loads(file())
    del content["version"], written["format"]
    assert refused(canonical(content))
    with pytest.raises(MalformedBytes):
        decode_file(json.dumps(written))


@pytest.mark.parametrize("version", [1, 3, 10, 65_535])
def test_a_file_of_another_version_says_which(version: int) -> None:
    written = {**json.loads(file()), "format": f"forcemove-signed-state/{version}", "new": 1, "state": None}
    with raising(UnknownVersion("signed-state file", version, 2)):
        decode_file(json.dumps(written))


FAMILY = "forcemove-signed-state"


@pytest.mark.parametrize(
    "format_",
    [
        "",
        "/",
        "1",
        FAMILY,
        FAMILY + "/",
        FAMILY + "/0",
        FAMILY + "/01",
        FAMILY + "/-1",
        FAMILY + "/65536",
        FAMILY + "/\u0661",
        "forcemove-address-book/1",
        FAMILY + "/1/1",
        FAMILY + "/" + "1" * 5_000,
        None,
        1,
        ["forcemove-signed-state/1"],
    ],
)
def test_a_file_says_what_it_is(format_: object) -> None:
    with pytest.raises(MalformedBytes):
        decode_file(json.dumps({**json.loads(file()), "format": format_}))


def test_numbers_that_other_languages_cannot_hold_stand_in_quotes() -> None:
    largest = SignedStateFile(Domain(UINT256_MAX, bytes(20)), fixed_part(nonce=2**64 - 1), signed(state(), ALICE))
    content = json.loads(encode_file(largest))
    assert content["chainId"] == str(UINT256_MAX)
    assert content["fixedPart"]["channelNonce"] == str(2**64 - 1)
    assert all(number <= 2**53 for number in numbers_in(content))


def numbers_in(content: Any) -> list[int]:
    """Every number of a JSON value that is not in quotes."""
    if isinstance(content, dict | list):
        inside = content.values() if isinstance(content, dict) else content
        return [number for each in inside for number in numbers_in(each)]
    return [content] if type(content) is int else []


@pytest.mark.parametrize(
    "digits", ["", "01", "-1", "+1", " 1", "1 ", "1_0", "1e3", "0x1", "\u0661", str(2**256), "9" * 5_000, 7]
)
@pytest.mark.parametrize("place", ["chainId", "channelNonce", "amount"])
def test_numbers_in_quotes_have_one_form(place: str, digits: object) -> None:
    content = json.loads(file())
    {"chainId": content, "channelNonce": content["fixedPart"], "amount": content["state"]["outcome"][0]}[place][
        place
    ] = digits
    with pytest.raises(MalformedBytes):
        decode_file(json.dumps(content))


# ----------------------------------------------------------------------------------------------------------- strictness


def canonical(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":"), sort_keys=True).encode()


def largest_state() -> SignedState:
    """Of an outcome, appData and signatures as large as they may be."""
    outcome = tuple(Allocation(bytes(20), bytes(32), UINT256_MAX) for _ in range(MAX_ALLOCATIONS))
    signatures = {index: Signature(b"\xff" * 64) for index in range(MAX_PARTICIPANTS)}
    return SignedState(VariablePart(outcome, b"\xff" * MAX_APP_DATA, UINT48_MAX), signatures)


def refused(data: bytes) -> bool:
    try:
        decode_message(data)
    except MalformedBytes:
        return True
    return False


def test_threat_25_whatever_byte_is_changed_is_refused_or_another_message() -> None:
    """Every byte, each with a few other values: never another error, never the same message."""
    good = message()
    expected = decode_message(good)
    for place in range(len(good)):
        for value in (0x00, 0x22, 0x30, 0x39, 0x61, 0x7B, 0x80, 0xFF, good[place] ^ 0x01, good[place] ^ 0x20):
            if value != good[place]:
                changed = good[:place] + bytes((value,)) + good[place + 1 :]
                try:
                    assert decode_message(changed) != expected
                except (MalformedBytes, UnknownVersion):
                    continue


def test_threat_25_whatever_is_cut_off_is_missed() -> None:
    good = message()
    assert all(refused(good[:length]) for length in range(len(good)))
    assert all(refused(good[start:]) for start in range(1, len(good)))


@given(st.binary(max_size=200))
@settings(max_examples=300)
def test_threat_25_rubbish_is_malformed(data: bytes) -> None:
    assert refused(data)
    with pytest.raises(MalformedBytes):
        decode_file(data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_threat_25_any_json_is_malformed(value: object) -> None:
    assert refused(json.dumps(value).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 40_000,
        b'{"a":' * 10_000,
        b"1" * 60_000,
        b" " * (MAX_MESSAGE + 1),
        message() + b" " * MAX_MESSAGE,
        b'{"new":"' + b"x" * MAX_MESSAGE + b'","version":2}',
        b"\xff\xfe" + message(),
        message() + b"{}",
        message().replace(b'{"ch', b'{"state":"0x","ch', 1),
        b'{"channelId":NaN}',
        b'{"\\ud800":1}',
        b"",
    ],
    ids=lambda data: str(data[:12]),
)
def test_threat_25_traps_for_parsers(data: bytes) -> None:
    assert refused(data)


def walk(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every part of a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(way for name, part in inside for way in walk(part, (*path, name)))]


def variants(content: Any, path: tuple[Any, ...]) -> list[str]:
    """The JSON with one part replaced by each wrong value, left out, or joined by an unknown one."""
    name = path[-1]
    changes: list[Callable[[Any], object]] = [partial(_set, name, other) for other in OTHERS]
    changes.append(lambda part: part.pop(name))
    if isinstance(name, str):
        changes.append(partial(_set, "more", 1))
    return [_changed(content, path, change) for change in changes]


def _set(name: Any, value: object, part: Any) -> None:
    part[name] = value


def _changed(content: Any, path: tuple[Any, ...], change: Callable[[Any], object]) -> str:
    copy = json.loads(json.dumps(content))
    part = copy
    for name in path[:-1]:
        part = part[name]
    change(part)
    return json.dumps(copy)


OTHERS: tuple[object, ...] = (
    None,
    True,
    -1,
    2**300,
    1.5,
    "",
    "0x",
    "0xzz",
    "0x 0",
    "1e3",
    "\u0663",
    [],
    {},
    [1],
    {"a": 1},
)


@pytest.mark.parametrize("kind", ["message", "file"])
def test_threat_25_every_part_is_of_its_type(kind: str) -> None:
    text = message().decode() if kind == "message" else file()
    decode: Callable[[bytes], object] = decode_message if kind == "message" else decode_file
    content, good = json.loads(text), decode(text.encode())
    for path in walk(content)[1:]:
        for variant in variants(content, path):
            try:
                assert decode(variant.encode()) != good
            except (MalformedBytes, UnknownVersion):
                continue


@pytest.mark.parametrize("name", [str(MAX_PARTICIPANTS), "-1", "00", "01", "1 ", "", "a", "\u0661", "1.0"])
def test_signatures_are_named_by_participants(name: str) -> None:
    content = json.loads(file())
    content["signatures"] = {name: content["signatures"]["0"]}
    with pytest.raises(MalformedBytes):
        decode_file(json.dumps(content))


@pytest.mark.parametrize(
    "signers",
    [
        [],
        [0],
        [1, 0],
        [0, 0],
        [0, 1, 2],
        [0, MAX_PARTICIPANTS],
        [-1, 0],
        [0, True],
        [0, 1.0],
        ["0", "1"],
        {"0": 1},
        2**70,
    ],
    ids=str,
)
def test_signers_are_as_many_as_signatures_and_rise(signers: object) -> None:
    content = json.loads(message())
    assert content["signers"] == [0, 1]
    assert refused(canonical({**content, "signers": signers}))


def test_a_file_with_a_channel_that_cannot_be_is_malformed() -> None:
    content = json.loads(file())
    content["fixedPart"]["participants"][1] = content["fixedPart"]["participants"][0]
    with pytest.raises(MalformedBytes):
        decode_file(json.dumps(content))


@pytest.mark.parametrize("name", ["\ud800\x1b[2J", "\x1b[2J", "é" * 1_000])
def test_what_a_stranger_calls_his_members_does_no_harm(name: str) -> None:
    content = json.loads(message())
    for named in (content | {name: 1}, content | {"kind": name}):
        with pytest.raises(MalformedBytes) as caught:
            decode_message(canonical(named))
        assert "\x1b" not in str(caught.value)
        assert len(str(caught.value)) < 300
        str(caught.value).encode()


@pytest.mark.parametrize(
    "text", [None, 7, b"0x00", "", "00", "0X00", "0x0", "0xg0", "0x0 0", "0x00\n", "0x\u0660\u0660"]
)
def test_hex_is_hex(text: object) -> None:
    with pytest.raises(MalformedBytes):
        parse_hex(text, "something")


def test_hex_may_be_asked_for_by_length() -> None:
    assert parse_hex("0xaAbB", "something") == parse_hex("0xAABB", "something", 2) == b"\xaa\xbb"
    with pytest.raises(ForcemoveError):
        parse_hex("0xaabb", "something", 3)


def test_the_state_travels_as_the_adjudicator_logs_it() -> None:
    content, sent = json.loads(message()), signed(state(), ALICE, BOB)
    record = "0x" + encode_record(state(), [sent.signatures[0], sent.signatures[1]]).hex()
    assert content["record"] == record
    for spoilt in (record + "00" * 32, record + "00" * 64, record[:-64], record[:-128], record[:-1], "0x", record[2:]):
        assert refused(canonical(content | {"record": spoilt}))
