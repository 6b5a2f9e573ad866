"""Packed calldata, byte by byte as its page says, and as short as can be. `contracts/README.md` has the page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from forcemove import InvalidValue, keccak256
from forcemove.protocol.codec.packed_writer import (
    batch_call,
    challenge_call,
    checkpoint_call,
    conclude_call,
    respond_call,
    transfer_call,
)
from forcemove.protocol.encoding import word
from forcemove.protocol.rule_errors import StateCountOutOfRange
from forcemove.protocol.types import ETHER, Signature, SupportProof, VariablePart
from forcemove_games.tic_tac_toe.position import Position, PositionType
from tests.protocol.builders import (
    ALICE,
    APP,
    BOB,
    CAROL,
    MALLORY,
    TOKEN,
    allocation,
    fixed_part,
    outcome,
    pack_pattern,
    players,
    state,
)

S1, S2, S3 = (Signature(bytes((number,)) * 64) for number in (1, 2, 3))
FUNDED = fixed_part(nonce=7, total=20)
FIXED = (
    "82"  # two participants, ether
    "0000000000000007"
    f"{APP.hex()}"
    "00015180"  # a day
    "0114"  # a total of 20
    f"{ALICE.address.hex()}{BOB.address.hex()}"
)
OUTCOME = (
    "02"  # two allocations
    "010a"  # 10 to the participant of the first place
    "3f"  # the rest to the one of the second
)
LONG = b"why this was right, said at length"


def selector(name: str) -> str:
    return keccak256(f"{name}()".encode())[:4].hex()


def test_a_challenge_with_two_states() -> None:
    proof = SupportProof((state(10), state(11)), (S1, S2), pack_pattern((0, 1)))
    expected = (
        selector("challenge"),
        FIXED,
        "00000000000b",  # the last turn
        "02",  # two states
        "04" + OUTCOME + "01" + "010a",  # appData in words: one, of which a byte is not zero
        "06" + "01" + "010b",  # the same with the outcome of the state before
        "0001",  # the first has signed the first state, the second the second
        "01" * 64 + "02" * 64,
    )
    assert challenge_call(FUNDED, proof).hex() == "".join(expected)
    assert len(challenge_call(FUNDED, proof)) == 228
    assert challenge_call(FUNDED, proof, S3) == challenge_call(FUNDED, proof) + S3.compact


def test_a_challenge_with_two_states_of_tic_tac_toe() -> None:
    first = Position(PositionType.X_PLAYING, 10**15, 0, 0b100000000)
    second = Position(PositionType.O_PLAYING, 10**15, 0b000010000, 0b100000000)
    states = (state(10, app_data=first.encode()), state(11, app_data=second.encode()))
    written = challenge_call(FUNDED, SupportProof(states, (S1, S2), pack_pattern((0, 1))))
    words = (
        "04" + "40" + "07" + (10**15).to_bytes(7).hex() + "40" + "020100",  # zero, the stake, zero, crosses
        "04" + "0101" + "80" + "0110" + "80",  # another type, the stake as before, noughts, crosses as before
    )
    assert f"04{OUTCOME}{words[0]}06{words[1]}0001" in written.hex()
    assert len(written) == 228 + len("".join(words)) // 2 - 6


def test_the_recorded_state_again() -> None:
    written = challenge_call(FUNDED, SupportProof((state(10),), (), 0))
    assert written.hex() == selector("challenge") + FIXED + "00000000000a" + "81" + "04" + OUTCOME + "01010a"


def test_a_checkpoint_with_one_state() -> None:
    written = checkpoint_call(FUNDED, SupportProof((state(10),), (S1, S2), 0))
    expected = selector("checkpoint") + FIXED + "00000000000a" + "01" + "04" + OUTCOME + "01010a"
    assert written.hex() == expected + "01" * 64 + "02" * 64


def test_a_checkpoint_from_the_record_with_evidence() -> None:
    """Of the first state the evidence is hashed, of the last it is there."""
    states = (replace(state(10), evidence=LONG), replace(state(11), evidence=LONG))
    expected = (
        selector("checkpoint"),
        FIXED,
        "00000000000b",
        "82",  # two states, the first of them recorded
        "0c" + OUTCOME + "01010a" + keccak256(LONG).hex(),
        "16" + "01010b" + "0022" + LONG.hex(),
        "02" * 64,
    )
    assert checkpoint_call(FUNDED, SupportProof(states, (S2,), 0)).hex() == "".join(expected)
    known = (states[0].with_hashed_evidence(), states[1])
    assert checkpoint_call(FUNDED, SupportProof(known, (S2,), 0)).hex() == "".join(expected)


def test_a_response() -> None:
    challenged, response = replace(state(10), evidence=LONG[:30]), state(11, outcome(4, 16))
    expected = (
        selector("respond"),
        FIXED,
        "14" + OUTCOME + "01010a" + "001e" + LONG[:30].hex(),  # no longer than its hash
        "04" + "0201043f" + "01010b",
        "03" * 64,
    )
    assert respond_call(FUNDED, challenged, response, S3).hex() == "".join(expected)


def test_evidence_is_hashed_where_that_is_shorter() -> None:
    for length, flags, written in ((30, "14", "001e" + LONG[:30].hex()), (31, "0c", keccak256(LONG[:31]).hex())):
        call = respond_call(FUNDED, replace(state(10), evidence=LONG[:length]), state(11), S3)
        assert f"{flags}{OUTCOME}01010a{written}06" in call.hex()


def test_a_conclusion() -> None:
    written = conclude_call(FUNDED, outcome(), 14, (S1, S2), 7)
    expected = selector("conclude") + FIXED + "00000000000e" + OUTCOME + "01" * 64 + "02" * 64 + "07"
    assert written.hex() == expected


def test_destinations_and_assets() -> None:
    """Participants are named by their places alone; other assets than the home asset are named once."""
    there = b"\xee" * 32
    paid = (
        allocation(BOB, 256),
        allocation(there, 0),
        allocation(CAROL, 1),
        allocation(ALICE, 5, TOKEN),
        allocation(there, 2**256 - 1, TOKEN),
    )
    written = conclude_call(fixed_part(players(3), total=257), paid, 0, (S1, S2, S3), 255)
    expected = (
        "05",
        "42" + BOB.address.hex() + "0100",
        "80" + there.hex(),
        "3f",
        "3e" + TOKEN.hex() + "41" + ALICE.address.hex() + "05",
        "a0" + there.hex() + "ff" * 32,
    )
    assert "000000000000" + "".join(expected) + "01" * 64 in written.hex()


def test_a_token_is_named_in_the_fixed_part_and_holds_in_the_outcome() -> None:
    fixed = fixed_part(asset=TOKEN)
    written = conclude_call(fixed, (allocation(ALICE, 1), allocation(BOB, 2, TOKEN)), 0, (S1, S2), 0).hex()
    assert written.startswith(f"{selector('conclude')}020000000000000000{APP.hex()}00015180{TOKEN.hex()}00")
    assert f"000000000000023e{'00' * 20}01013e{TOKEN.hex()}0102" in written


def test_amounts_that_do_not_add_up_are_written_out() -> None:
    assert "02010a010b" in conclude_call(FUNDED, outcome(10, 11), 0, (S1, S2), 0).hex()
    assert "020000" + "01" * 64 in conclude_call(fixed_part(), outcome(0, 0), 0, (S1, S2), 0).hex()


def test_a_transfer() -> None:
    id_, hash_ = b"\x11" * 32, b"\x22" * 32
    paid = "02" + "410a"[:2] + ALICE.address.hex() + "0a" + "41" + BOB.address.hex() + "0a"
    all_of_it = transfer_call(id_, ETHER, hash_, outcome(), (), 18).hex()
    assert all_of_it == selector("transfer") + id_.hex() + "00" + hash_.hex() + paid + "12"
    some = transfer_call(id_, TOKEN, hash_, outcome(asset=TOKEN), (1, 3), 18).hex()
    assert some == selector("transfer") + id_.hex() + "14" + TOKEN.hex() + hash_.hex() + paid + "020103" + "12"


def test_a_batch() -> None:
    assert batch_call([(1, b"abcd"), (2**24 - 1, b"")]).hex() == selector("batch") + "000001" + "0004" + "61626364" + (
        "ffffff" + "0000"
    )
    assert batch_call([]).hex() == selector("batch")


# ------------------------------------------------------------------------------------------------------------- words

W, V = b"\xff" * 32, b"\xee" * 32
ZERO = bytes(32)


@pytest.mark.parametrize(
    ("app_data", "before", "expected"),
    [
        (b"", b"", "00"),
        (ZERO, b"", "01" + "40"),
        (ZERO * 65, b"", "41" + "7f" + "40"),
        (word(0x1234), b"", "01" + "021234"),
        (b"\0\0" + W[2:], b"", "01" + "1e" + "ff" * 30),
        (ZERO + b"\0" + W[1:] + W, b"", "03" + "40" + "c1" + "00" + "ff" * 31 + W.hex()),
        (W * 2, b"", None),
        (ZERO + W * 2, b"", "03" + "40" + "c1" + W.hex() * 2),
        (ZERO + W * 65, b"", "42" + "40" + "ff" + W.hex() * 64 + "c0" + W.hex()),
        (W + ZERO + V, b"", "03" + "c0" + W.hex() + "40" + "c0" + V.hex()),
        (W * 66, W * 66, "42" + "bf" + "81"),
        (ZERO * 2, ZERO, "02" + "41"),
        (ZERO * 2, ZERO * 2, "02" + "81"),
        (ZERO + W, ZERO + W, "02" + "81"),
        (W + V, W, "02" + "80" + "c0" + V.hex()),
        (W, W[:31], None),
        (word(5), W[:31], "01" + "0105"),
    ],
)
def test_app_data_in_words(app_data: bytes, before: bytes, expected: str | None) -> None:
    states = (state(10, app_data=before), state(11, app_data=app_data))
    written = respond_call(FUNDED, *states, S1).hex().removesuffix("01" * 64)
    plain = "02" + f"{len(app_data):04x}" + app_data.hex()
    assert written.endswith(plain if expected is None else "06" + expected)


@pytest.mark.parametrize("app_data", [b"", b"x", W, ZERO + b"x", ZERO * 256])
def test_app_data_that_is_longer_in_words_is_written_out(app_data: bytes) -> None:
    written = checkpoint_call(FUNDED, SupportProof((state(10, app_data=app_data),), (S1, S2), 0)).hex()
    flags, sized = ("04", "00") if not app_data else ("00", f"{len(app_data):04x}" + app_data.hex())
    assert f"01{flags}{OUTCOME}{sized}{'01' * 64}" in written


def test_a_state_of_255_words_is_written_in_words() -> None:
    written = checkpoint_call(FUNDED, SupportProof((state(10, app_data=ZERO * 255),), (S1, S2), 0)).hex()
    assert f"04{OUTCOME}ff7f7f7f7e{'01' * 64}" in written


def test_a_final_state_with_evidence_is_written_out() -> None:
    """No rule allows one; but the layout can say it, so that the contract refuses it for what it is."""
    first = VariablePart(outcome(), b"", 10, True, LONG)
    written = respond_call(FUNDED, first, state(11, is_final=True), S1).hex()
    assert "15" + OUTCOME + "00" + "0022" + LONG.hex() + "0700" in written


# ---------------------------------------------------------------------------------------- what the layout cannot say

TWO = SupportProof((state(10), state(11)), (S1, S2), pack_pattern((0, 1)))
ONE = SupportProof((state(10),), (S1, S2), 0)
HASHED = replace(state(11), evidence=LONG).with_hashed_evidence()
STRANGE_PROOFS = {
    "no states": replace(TWO, states=()),
    "more states than participants": replace(TWO, states=(state(9), state(10), state(11))),
    "a signature too few": replace(TWO, signatures=(S1,)),
    "a signature too many": replace(TWO, signatures=(S1, S2, S3)),
    "no signatures": replace(TWO, signatures=()),
    "a signature too many, from the record": SupportProof((state(10),), (S1,), 0),
    "signed by nobody who plays": replace(TWO, signed_states=1 << 16),
    "another state than the only one": replace(ONE, signed_states=1),
    "a negative number": replace(TWO, signed_states=-1),
    "turns that do not follow": replace(TWO, states=(state(10), state(12))),
    "the same turn": replace(TWO, states=(state(10), state(10))),
    "turns that go back": replace(TWO, states=(state(11), state(10))),
    "only a hash of the last evidence": replace(TWO, states=(state(10), HASHED)),
    "only a hash of the single evidence": replace(ONE, states=(HASHED,)),
    "only a hash of the recorded evidence": SupportProof((HASHED,), (), 0),
    "too long a position": replace(ONE, states=(state(10, app_data=b"x" * 65_536),)),
    "too long a proof": replace(ONE, states=(replace(state(10), evidence=b"x" * 65_536),)),
    "too many allocations": replace(ONE, states=(state(10, outcome() * 128),)),
}


@pytest.mark.parametrize("name", STRANGE_PROOFS)
@pytest.mark.parametrize("write", [challenge_call, checkpoint_call])
def test_a_proof_that_cannot_be_written(write: Callable[..., bytes], name: str) -> None:
    with pytest.raises((InvalidValue, StateCountOutOfRange)):
        write(FUNDED, STRANGE_PROOFS[name])


def test_the_longest_that_can_be_written() -> None:
    assert checkpoint_call(FUNDED, replace(ONE, states=(state(10, app_data=b"x" * 65_535),)))
    assert checkpoint_call(FUNDED, replace(ONE, states=(state(10, (outcome() * 128)[:255]),)))


@pytest.mark.parametrize(
    "write",
    [
        lambda: respond_call(FUNDED, state(10), state(12), S1),
        lambda: respond_call(FUNDED, state(10), HASHED, S1),
        lambda: conclude_call(FUNDED, outcome(), 14, (S1,), 7),
        lambda: conclude_call(FUNDED, outcome(), 14, (S1, S2, S3), 7),
        lambda: conclude_call(FUNDED, outcome(), 2**48, (S1, S2), 7),
        lambda: conclude_call(FUNDED, outcome(), 14, (S1, S2), 256),
        lambda: transfer_call(bytes(31), ETHER, bytes(32), outcome(), (), 7),
        lambda: transfer_call(bytes(32), bytes(21), bytes(32), outcome(), (), 7),
        lambda: transfer_call(bytes(32), ETHER, bytes(33), outcome(), (), 7),
        lambda: transfer_call(bytes(32), ETHER, bytes(32), outcome(), (256,), 7),
        lambda: transfer_call(bytes(32), ETHER, bytes(32), outcome(), (1,) * 256, 7),
        lambda: transfer_call(bytes(32), ETHER, bytes(32), outcome(), (), -1),
        lambda: batch_call([(2**24, b"")]),
        lambda: batch_call([(1, bytes(2**16))]),
    ],
)
def test_a_call_that_cannot_be_written(write: Callable[[], bytes]) -> None:
    with pytest.raises(InvalidValue):
        write()


def test_that_mallory_is_no_participant_is_no_matter_of_the_layout() -> None:
    paid = (allocation(MALLORY, 20), allocation(ALICE, 0))
    assert (
        f"027f{MALLORY.address.hex()}40{ALICE.address.hex()}" not in conclude_call(FUNDED, paid, 0, (S1, S2), 0).hex()
    )
    assert f"0241{MALLORY.address.hex()}147f{ALICE.address.hex()}" in conclude_call(FUNDED, paid, 0, (S1, S2), 0).hex()
