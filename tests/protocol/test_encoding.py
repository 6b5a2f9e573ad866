"""Byte layouts: golden values, and only what is canonical decodes. That the contracts agree, tests/parity shows."""

from __future__ import annotations

import contextlib

import pytest
from eth_abi.abi import encode
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove import InvalidValue, MalformedBytes, VariablePart
from forcemove.protocol.encoding import (
    Domain,
    challenge_hash,
    channel_id,
    decode_record,
    decode_variable_part,
    digest,
    encode_record,
    encode_variable_part,
    fingerprint,
    hash_state,
    word,
)
from forcemove.protocol.types import (
    MAX_ALLOCATIONS,
    MAX_APP_DATA,
    MAX_PARTICIPANTS,
    UINT48_MAX,
    UINT256_MAX,
    Allocation,
    FixedPart,
    Signature,
)
from tests.protocol.builders import ALICE, BOB, DOMAIN, fixed_part, sign, sign_all, state

ABI_TYPE = "((address,bytes32,uint256)[],bytes,bytes,uint48,bool)"
allocations = st.builds(
    Allocation, st.binary(min_size=20, max_size=20), st.binary(min_size=32, max_size=32), st.integers(0, UINT256_MAX)
)
states = st.builds(
    VariablePart,
    st.lists(allocations, max_size=5).map(tuple),
    st.binary(max_size=100),
    st.integers(0, UINT48_MAX),
    st.booleans(),
    st.binary(max_size=100),
)

# ----------------------------------------------------------------------------------------------------------- hashes

ID = bytes.fromhex("2523ea2fd031281d2c9d7bd5eed7aac899c48e43cf0d0bcc981b707378c7baa4")
HASHES = hash_state(ID, state())


def test_the_separator_of_a_domain() -> None:
    assert DOMAIN.separator.hex() == "18aea6a9fe7ddb37241b5df3115e22b6ffa00d934e64a055e84f57cef623af8b"


def test_the_id_of_a_channel() -> None:
    assert channel_id(fixed_part(), DOMAIN) == ID


def test_the_hashes_of_a_state() -> None:
    assert HASHES.outcome.hex() == "ef1c4715bafb7c6b4365a76b6faebe0aa14956cdb52fc9f1295b8f2b8e8dfdfb"
    assert HASHES.app_data.hex() == "c65a7bb8d6351c1cf70c95a316cc6a92839c986682d98bc35f958f4883f9d2a8"
    assert HASHES.state.hex() == "0ed70974c7f6d781e59d5164784b42161b5dea6e11a6e4aeb219fae12843cc77"


def test_what_is_signed_of_a_state() -> None:
    assert digest(DOMAIN, HASHES.state).hex() == "97d8b8b556bf2d27f43d77365980fe19d479481f5ae37fe337408ab814bb3e2a"


def test_the_hash_of_a_challenge() -> None:
    expected = "10f836e7b06f70518393dc931f1fd080ac62fe1e3b74d6628f132a0b7ece96e1"
    assert challenge_hash(ID, 10, HASHES.state).hex() == expected


def test_the_fingerprint_of_a_state() -> None:
    assert fingerprint(HASHES.state, HASHES.outcome) == 0x16D254B3461A4B56484A4129771D52A2232C3D367E78285


@pytest.mark.parametrize(
    "other",
    [fixed_part((BOB, ALICE)), fixed_part(nonce=1), fixed_part(app=bytes(20)), fixed_part(duration=61)],
    ids=["participants", "nonce", "app", "duration"],
)
def test_everything_in_a_fixed_part_tells_channels_apart(other: FixedPart) -> None:
    assert channel_id(other, DOMAIN) != ID


@pytest.mark.parametrize("domain", [Domain(1, DOMAIN.adjudicator), Domain(DOMAIN.chain_id, bytes(20))])
def test_another_chain_or_adjudicator_is_another_channel_and_another_signature(domain: Domain) -> None:
    assert channel_id(fixed_part(), domain) != ID
    assert digest(domain, HASHES.state) != digest(DOMAIN, HASHES.state)


@pytest.mark.parametrize("values", [(-1, bytes(20)), (2**256, bytes(20)), (1, bytes(19))])
def test_a_domain_has_soliditys_widths(values: tuple[int, bytes]) -> None:
    with pytest.raises(InvalidValue):
        Domain(*values)


# ------------------------------------------------------------------------------------------------------------ states


@settings(max_examples=100)
@given(states)
def test_states_are_encoded_as_solidity_does(value: VariablePart) -> None:
    outcome = [("0x" + entry.asset.hex(), entry.destination, entry.amount) for entry in value.outcome]
    expected = encode([ABI_TYPE], [(outcome, value.app_data, value.evidence, value.turn_num, value.is_final)])
    assert encode_variable_part(value) == expected


@settings(max_examples=100)
@given(states)
def test_what_is_encoded_decodes(value: VariablePart) -> None:
    assert decode_variable_part(encode_variable_part(value)) == value


ENCODED = encode_variable_part(VariablePart(state().outcome, b"12345", 10))


def test_a_state_that_ends_early_is_malformed() -> None:
    for length in range(len(ENCODED)):
        with pytest.raises(MalformedBytes):
            decode_variable_part(ENCODED[:length])


def test_a_state_that_goes_on_is_malformed() -> None:
    with pytest.raises(MalformedBytes):
        decode_variable_part(ENCODED + bytes(32))


@settings(max_examples=300)
@given(st.integers(0, len(ENCODED) - 1), st.integers(1, 255))
def test_a_changed_byte_gives_another_state_or_none(position: int, change: int) -> None:
    """One value has one encoding: padding, offsets and widths leave no room."""
    changed = bytearray(ENCODED)
    changed[position] ^= change
    try:
        decoded = decode_variable_part(bytes(changed))
    except MalformedBytes:
        return
    assert decoded != decode_variable_part(ENCODED)
    assert encode_variable_part(decoded) == changed


@settings(max_examples=300)
@given(st.binary(max_size=700))
def test_random_bytes_are_malformed(data: bytes) -> None:
    with pytest.raises(MalformedBytes):
        decode_variable_part(data)


@pytest.mark.parametrize(
    ("position", "value"),
    [(128, 2**48), (160, 2), (192, 65), (192, 2**255), (224, 2**160), (0, 64), (32, 192), (96, 2**255)],
)
def test_a_number_out_of_range_is_malformed(position: int, value: int) -> None:
    with pytest.raises(MalformedBytes):
        decode_variable_part(ENCODED[:position] + word(value) + ENCODED[position + 32 :])


# ----------------------------------------------------------------------------------------------------------- records


@settings(max_examples=100)
@given(states.filter(lambda value: value.outcome != ()), st.integers(0, 3))
def test_records_decode_to_what_was_recorded(value: VariablePart, count: int) -> None:
    signatures = (sign(ALICE, state()),) * count
    assert decode_record(encode_record(value, signatures)) == (value, signatures)


def test_the_layout_of_a_record() -> None:
    value = VariablePart(state().outcome[:1], b"abc", 258, True, b"proof")
    (entry,) = value.outcome
    signature = sign(ALICE, state())
    assert encode_record(value, [signature]) == b"".join(
        (
            bytes((0, 0, 0, 0, 1, 2)),
            b"\x01\x01\x00\x03\x00\x05",
            entry.asset + entry.destination + word(entry.amount),
            b"abc",
            b"proof",
            signature.compact,
        )
    )


RECORD = encode_record(state(), sign_all(state()))


def test_a_record_that_ends_early_is_malformed_or_has_fewer_signatures() -> None:
    without = len(encode_record(state(), []))
    for length in range(len(RECORD)):
        if length in (without, without + 64):
            assert decode_record(RECORD[:length])[0] == state()
        else:
            with pytest.raises(MalformedBytes):
                decode_record(RECORD[:length])


@pytest.mark.parametrize(
    ("allocations", "app_data", "signatures"),
    [(0, 0, 1), (MAX_ALLOCATIONS + 1, 0, 1), (1, MAX_APP_DATA + 1, 1), (1, 0, MAX_PARTICIPANTS + 1)],
)
def test_a_record_has_bounds(allocations: int, app_data: int, signatures: int) -> None:
    """Those of the protocol; none of these could have been logged."""
    allocation = Allocation(bytes(20), bytes(32), 1)
    recorded = VariablePart((allocation,) * allocations, bytes(app_data), 1)
    with pytest.raises(InvalidValue):
        encode_record(recorded, [Signature(bytes(64))] * signatures)
    head = bytes((0, 0, 0, 0, 0, 1, 0, allocations)) + app_data.to_bytes(2, "big")
    words = bytes(10) + (bytes(64) + word(1)) * allocations + bytes(app_data + 64 * signatures)
    with pytest.raises(MalformedBytes):
        decode_record(head + words[10:] if allocations else head + bytes(64 * signatures))


def test_a_record_has_one_encoding() -> None:
    """A message is compared with its own record, not with one that is written anew."""
    read = 0
    for position in range(len(RECORD)):
        for bit in range(8):
            changed = bytearray(RECORD)
            changed[position] ^= 1 << bit
            with contextlib.suppress(MalformedBytes):
                assert encode_record(*decode_record(bytes(changed))) == bytes(changed)
                read += 1
    assert read > len(RECORD)


@pytest.mark.parametrize(("position", "value"), [(6, 2), (7, 3), (9, 33), (10, 1)])
def test_a_head_that_does_not_fit_is_malformed(position: int, value: int) -> None:
    changed = bytearray(RECORD)
    changed[position] = value
    with pytest.raises(MalformedBytes):
        decode_record(bytes(changed))
