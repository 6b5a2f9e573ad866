"""Whatever is written is read again; whatever else is read, is refused in words that the contract has."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove import ForcemoveError, InvalidValue, MalformedBytes, RuleError
from forcemove.protocol.codec.packed import SELECTORS, BatchCall, Call, RespondCall, TransferCall
from forcemove.protocol.codec.packed_reader import decode_call
from forcemove.protocol.rule_errors import (
    DuplicateParticipant,
    LengthMismatch,
    NotCanonical,
    NotInABatch,
    ParticipantCountOutOfRange,
    StateCountOutOfRange,
    TotalTooHigh,
)
from forcemove.protocol.types import ETHER, Signature, VariablePart
from tests.protocol.builders import ALICE, APP, BOB, TOKEN
from tests.protocol.calls import as_read, calls, write


@settings(max_examples=150)
@given(calls)
def test_what_is_written_is_read(call: Call) -> None:
    written = write(call)
    assert decode_call(written) == as_read(call)
    assert write(decode_call(written)) == written


def effect(data: bytes) -> Call | ForcemoveError:
    """What is read, or why nothing is. Any other error is raised."""
    try:
        return decode_call(data)
    except (RuleError, MalformedBytes) as error:
        return error


@given(calls, st.data())
def test_a_call_that_is_cut_is_refused(call: Call, data: st.DataObject) -> None:
    written = write(call)
    cut = data.draw(st.integers(0, len(written) - 1))
    found = effect(written[:cut])
    if cut < 4:
        assert isinstance(found, MalformedBytes)
    elif isinstance(found, LengthMismatch):
        assert found.submitted == cut
    else:
        assert found != as_read(call)


@given(calls, st.binary(min_size=1, max_size=70))
def test_a_call_that_goes_on_is_refused_or_another(call: Call, more: bytes) -> None:
    found = effect(write(call) + more)
    if isinstance(call, (BatchCall, TransferCall)) or len(more) == 64:
        assert found != as_read(call)
    else:
        assert isinstance(found, LengthMismatch)


@settings(max_examples=30)
@given(calls, st.integers(0, 2**32))
def test_a_call_with_another_byte_is_refused_or_another(call: Call, seed: int) -> None:
    """Or it is another way to write it, which is read and written as this one."""
    written, rng = write(call), random.Random(seed)
    for at in range(len(written)):
        changed = bytearray(written)
        changed[at] ^= rng.choice((1, 2, 0x40, 0x80, rng.randrange(1, 256)))
        found = effect(bytes(changed))
        assert isinstance(found, ForcemoveError) or found != as_read(call) or write(found) == written
        if not isinstance(found, ForcemoveError):
            assert decode_call(write(found)) == as_read(found)


@given(st.sampled_from(sorted(SELECTORS.values())), st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(selector: bytes, data: bytes) -> None:
    found = effect(selector + data)
    assert isinstance(found, ForcemoveError) or decode_call(write(found)) == as_read(found)


# ------------------------------------------------------------------------- what means nothing, each with its offset

HEAD = f"0000000000000000{APP.hex()}00015180"
FIXED = f"82{HEAD}0114{ALICE.address.hex()}{BOB.address.hex()}"
"""Two participants, ether, a total of 20; 75 bytes, so that a proof begins at 79."""
HASH, SIGNED = "ab" * 32, "cc" * 128
PAID = "02010a3f"


def call(name: str, *parts: str) -> bytes:
    return SELECTORS[name] + bytes.fromhex("".join(parts))


def checkpoint(*parts: str) -> bytes:
    """A proof with the last turn 11 begins at 79, its head is at 85, and its states begin at 86."""
    return call("checkpoint", FIXED, "00000000000b", *parts)


def respond(*parts: str) -> bytes:
    """States begin at 79."""
    return call("respond", FIXED, *parts)


def transfer(*parts: str) -> bytes:
    """The size of the asset is at 36."""
    return call("transfer", "11" * 32, *parts)


def one(state: str) -> bytes:
    return checkpoint("01", state, SIGNED)


def two(first: str, second: str, *more: str) -> bytes:
    return checkpoint("02", first, second, *more or ("0001", SIGNED))


FIRST = f"00{PAID}0000"
"""Seven bytes."""
NOT_CANONICAL = {
    "a head with bit 4": (call("checkpoint", "92", HEAD), 4),
    "a head with bit 5": (call("challenge", "a2", HEAD), 4),
    "a head with bit 6": (call("respond", "42", HEAD), 4),
    "a total of 33 bytes": (call("conclude", "82", HEAD, "21"), 4 + 33),
    "a total of 33 bytes, of a token": (call("conclude", "02", HEAD, TOKEN.hex(), "21"), 4 + 53),
    "more states than there were turns": (call("checkpoint", FIXED, "000000000000", "02"), 85),
    "a destination of the fourth kind": (one("0001c1"), 88),
    "an amount of 33 bytes": (one("000121"), 88),
    "an amount of 61 bytes": (one("00013d"), 88),
    "an amount of 62 bytes to an address": (one("00017e"), 88),
    "an asset, and then another": (one(f"00013e{TOKEN.hex()}3e"), 88 + 21),
    "a participant in the third place": (one("0003000000"), 90),
    "the rest of another asset": (one(f"00013e{TOKEN.hex()}3f"), 88 + 21),
    "the rest of no total": (call("conclude", "82", HEAD, "00", "01" * 40, "00" * 6, "013f"), 4 + 34 + 40 + 6 + 1),
    "the rest of less than nothing": (one("000201153f"), 90),
    "flag 5": (one("20"), 86),
    "flag 6": (one("40"), 86),
    "flag 7": (one("80"), 86),
    "evidence and its hash": (two("18", ""), 86),
    "the outcome of no state": (one("02"), 86),
    "the hash of the only evidence": (one("08"), 86),
    "the hash of the last evidence": (two(FIRST, "0a"), 93),
    "the hash of a response's evidence": (respond(FIRST, "0a"), 86),
    "a final state with a hash": (two("09", ""), 86),
    "evidence of no bytes": (one(f"10{PAID}00000000"), 86 + 7),
    "the mark 0x21": (one(f"04{PAID}ff21"), 92),
    "the mark 0x3f": (one(f"04{PAID}ff3f"), 92),
    "more zeros than words": (one(f"04{PAID}0141"), 92),
    "more whole words than words": (one(f"04{PAID}0200c1"), 93),
    "words as in no state": (one(f"04{PAID}0180"), 92),
    "words as in a shorter state": (two(f"04{PAID}0140", "06024080"), 96),
    "words as in a state of 31 bytes": (two(f"00{PAID}001f" + "11" * 31, "060180"), 86 + 7 + 31 + 2),
    "more words as before than words": (two(f"04{PAID}0241", "060181"), 95),
    "an asset of a byte": (transfer("01"), 36),
    "an asset of 21 bytes": (transfer("15"), 36),
    "a participant in a transfer": (transfer("00", HASH, "0100"), 70),
    "the rest in a transfer": (transfer("00", HASH, "017f"), 70),
    "no indices": (transfer("00", HASH, "01", "40" + "11" * 20, "00", "07"), 91),
}


@pytest.mark.parametrize("name", NOT_CANONICAL)
def test_what_means_nothing_is_refused_where_it_stands(name: str) -> None:
    data, at = NOT_CANONICAL[name]
    assert effect(data) == NotCanonical(at)


def state_count(data: bytes) -> int:
    found = effect(data)
    assert isinstance(found, StateCountOutOfRange)
    return found.count


def test_a_count_of_states_is_refused_at_once() -> None:
    assert state_count(checkpoint("00")) == 0
    assert state_count(checkpoint("80")) == 0
    assert state_count(checkpoint("03")) == 3
    assert state_count(checkpoint("ff")) == 127
    assert state_count(call("checkpoint", FIXED, "00" * 6, "03")) == 3, "before it is compared with the turn"


OTHER_ENCODINGS = {
    "an amount with zeros": (f"00{PAID}0000", "000202000a010a0000"),
    "an amount in place of the rest": (f"00{PAID}0000", "0002010a010a0000"),
    "an address in place of a participant": (f"00{PAID}0000", f"000241{ALICE.address.hex()}0a3f0000"),
    "32 bytes in place of an address": (f"00{PAID}0000", f"000281{'00' * 12}{ALICE.address.hex()}0a3f0000"),
    "the home asset, named": (f"00{PAID}0000", f"00023e{'00' * 20}010a3f0000"),
    "no appData in words": (f"00{PAID}0000", f"04{PAID}00"),
    "words one by one": (f"00{PAID}0040" + "00" * 63 + "07", f"04{PAID}024001{'07'}"),
    "a word with zeros in front": (f"00{PAID}0020" + "00" * 31 + "07", f"04{PAID}01020007"),
    "a word of 32 low bytes": (f"00{PAID}0020" + "77" * 32, f"04{PAID}0120" + "77" * 32),
}


@pytest.mark.parametrize("name", OTHER_ENCODINGS)
def test_other_ways_to_say_a_state(name: str) -> None:
    usual, other = OTHER_ENCODINGS[name]
    assert not isinstance(effect(one(usual)), ForcemoveError)
    assert effect(one(other)) == effect(one(usual))


def test_a_zero_asset_is_ether() -> None:
    tail = f"0114{ALICE.address.hex()}{BOB.address.hex()}", "00000000000a", "01", FIRST, SIGNED
    assert effect(call("checkpoint", "82", HEAD, *tail)) == effect(call("checkpoint", "02", HEAD, "00" * 20, *tail))


def test_amounts_so_far_go_round_at_2_to_the_256() -> None:
    """So that the rest may be of a sum that no rule allows."""
    found = effect(call("conclude", FIXED, "00" * 6, "03", "20" + "ff" * 32, "0105", "7f" + "11" * 20, SIGNED, "07"))
    assert not isinstance(found, ForcemoveError)
    assert [each.amount for each in found.outcome] == [2**256 - 1, 5, 16]  # type: ignore[union-attr]


def test_a_response_has_no_turns() -> None:
    found = effect(respond(f"08{PAID}0000{HASH}", "020000", "cc" * 64))
    assert isinstance(found, RespondCall)
    outcome = found.challenged.outcome
    assert found.challenged == VariablePart(outcome, b"", 0, evidence_hash=bytes.fromhex(HASH))
    assert found.response == VariablePart(outcome, b"", 1)
    assert found.signature == Signature(b"\xcc" * 64)


# ----------------------------------------------------------------------------------------------- length, then the rest


def test_the_length_counts_what_was_read_and_what_is_there() -> None:
    whole = one(FIRST)
    for length in range(len(whole) - 128, len(whole)):
        assert effect(whole[:length]) == LengthMismatch(len(whole), length)
    assert effect(whole + b"\0") == LengthMismatch(len(whole), len(whole) + 1)


def test_a_challengers_signature_is_there_or_not() -> None:
    body = ("00000000000a", "01", FIRST, SIGNED)
    bare = call("challenge", FIXED, *body)
    assert getattr(effect(bare), "challenger_signature", "") is None
    assert getattr(effect(bare + b"\x05" * 64), "challenger_signature", "") == Signature(b"\x05" * 64)
    assert effect(bare + b"\x05") == LengthMismatch(len(bare) + 64, len(bare) + 1)
    assert effect(bare + b"\x05" * 65) == LengthMismatch(len(bare) + 64, len(bare) + 65)
    assert effect(bare[:-1]) == LengthMismatch(len(bare), len(bare) - 1)


def test_a_transfer_whose_push_is_missing() -> None:
    data = transfer("00", HASH, "01", "40" + "11" * 20)
    assert effect(data) == LengthMismatch(len(data) + 1, len(data))
    assert effect(data + b"\x07\x07") == LengthMismatch(len(data) + 9, len(data) + 2), "seven indices and the push"


def test_a_fixed_part_is_refused_last() -> None:
    """After the bytes were found to mean something, and to be as many as they should."""
    alone = call("conclude", "81", HEAD, "00", ALICE.address.hex(), "00" * 6, "00", "cc" * 64, "07")
    assert effect(alone) == ParticipantCountOutOfRange(1)
    assert effect(alone[:-1]) == LengthMismatch(len(alone), len(alone) - 1)
    crowd = call("conclude", "8f", HEAD, "00", "01" * 300, "00" * 6, "00", "cc" * 960, "07")
    assert effect(crowd) == ParticipantCountOutOfRange(15)
    twins = call("conclude", "82", HEAD, "00", "01" * 40, "00" * 6, "00", SIGNED, "07")
    assert effect(twins) == DuplicateParticipant(0, 1)
    rich = call("conclude", "82", HEAD, "20", "ff" * 32, "01" * 20, "02" * 20, "00" * 6, "00", SIGNED, "07")
    assert effect(rich) == TotalTooHigh(2**256 - 1)
    nobody = call("conclude", "80", HEAD, "00", "00" * 6, "00", "07")
    assert effect(nobody) == ParticipantCountOutOfRange(0)
    assert state_count(call("checkpoint", "80", HEAD, "00", "00" * 6, "01")) == 1


# ------------------------------------------------------------------------------------------------------------- batches


def test_items_of_a_batch_are_not_looked_into() -> None:
    item = SELECTORS["checkpoint"] + b"rubbish"
    found = effect(call("batch", "00c350", "000b", item.hex()))
    assert found == BatchCall(((50_000, item),))  # type: ignore[arg-type]
    assert isinstance(effect(item), RuleError)


def test_what_is_not_in_a_batch() -> None:
    for inside in (SELECTORS["batch"].hex(), "12345678", "1234567800"):
        assert effect(call("batch", "000000", f"{len(inside) // 2:04x}", inside)) == NotInABatch(
            bytes.fromhex(inside[:8])
        )
    assert effect(call("batch", "000000", "0002", "1234", "00" * 5)) == NotInABatch(bytes(4)), "too short for one"
    assert effect(call("batch", "000000", "0000")) == NotInABatch(bytes(4))


def test_an_item_beyond_the_end() -> None:
    item = SELECTORS["conclude"].hex()
    assert effect(call("batch", "000000", "0005", item)) == LengthMismatch(14, 13)
    assert effect(call("batch", "000000", "0004", item, "00")) == LengthMismatch(18, 14)
    assert effect(call("batch", "000000", "0005", "12345678")) == LengthMismatch(14, 13), "whatever it is"
    assert effect(call("batch")) == BatchCall(())


@pytest.mark.parametrize("data", [b"", SELECTORS["challenge"][:3], b"\xff" * 40])
def test_other_calldata_is_no_call(data: bytes) -> None:
    with pytest.raises(MalformedBytes):
        decode_call(data)


def test_ether_is_the_asset_of_a_transfer_that_names_none() -> None:
    found = effect(transfer("00", HASH, "01", "40" + "11" * 20, "07"))
    assert isinstance(found, TransferCall)
    assert (found.asset, found.indices, found.push) == (ETHER, (), 7)
    with pytest.raises(InvalidValue):
        write(TransferCall(b"", ETHER, b"", (), (), 0))
