"""The machine's values as bytes: what is decoded is what was encoded, whatever happens to a channel, and nothing else
is decoded at all."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from msgspec.structs import replace

from forcemove import ETHER, UINT256_MAX, Allocation, Channel, SignedState, VariablePart
from forcemove.errors import InvalidValue, MalformedBytes, UnknownVersion
from forcemove.protocol import logs
from forcemove.protocol.codec.depth import most_headers, require_shallow
from forcemove.protocol.codec.limits import MAX_DEPTH
from forcemove.protocol.codec.msgpack_codec import CHANNELS, SUBMISSIONS, VERSION, Codec
from forcemove.protocol.errors import ChannelOfOlderContracts
from forcemove.protocol.machine import inputs, machine, record
from forcemove.protocol.machine.effects import (
    ChooseMove,
    Effect,
    SendGreeting,
    SendState,
    Submission,
    SubmitChallenge,
    SubmitCheckpoint,
    SubmitConclude,
    SubmitDeposit,
    SubmitPayCredit,
    SubmitRespond,
    SubmitTransfer,
)
from forcemove.protocol.words import Status
from tests.expected import raising
from tests.protocol import table as table_module
from tests.protocol.builders import ALICE, BOB, chain, final, outcome, proof, sign, sign_all, signed, state
from tests.protocol.table import open_table, seated
from tests.protocol.test_machine_random import AwakeAlice
from tests.sampled import sampled

INPUTS: Codec[inputs.Input] = Codec("input", inputs.Input)
EFFECTS: Codec[Effect] = Codec("effect", Effect)
CHAIN_CHANGES: Codec[inputs.ChainChange] = Codec("piece of news", inputs.ChainChange)

ID, HASH = b"\x11" * 32, b"\x22" * 32
SIGNED = signed(state(6), ALICE, BOB)
SUBMITTED: list[Submission] = [
    SubmitDeposit(ETHER, 5, UINT256_MAX),
    SubmitChallenge(proof(*chain(5, 6))),
    SubmitRespond(state(5), state(6), sign(ALICE, state(6))),
    SubmitCheckpoint(proof(*chain(6, 7))),
    SubmitConclude(outcome(7, 13), 8, sign_all(final(8))),
    SubmitTransfer(HASH, outcome(7, 13), ((ETHER, 2**64),)),
    SubmitPayCredit(ALICE.address, ETHER, 2**64 - 1),
]
LOGGED: list[logs.Log] = [
    logs.Deposited(ID, ETHER, 20),
    logs.ChallengeRegistered(ID, 2**48 - 1, state(6), sign_all(state(6))),
    logs.Responded(ID, state(7), sign(BOB, state(7))),
    logs.Checkpointed(ID, state(6), ()),
    logs.Concluded(ID, 9),
    logs.PartlyPaid(ID, HASH, outcome(0, 2**200)),
    logs.Closed(ID),
    logs.Credited(BOB.address, ETHER, 1),
    logs.Claimed(BOB.address, ETHER, ALICE.address, 1),
]
LEARNED: list[inputs.ChainChange] = [
    inputs.HoldingsSeen(ETHER, 2**254),
    inputs.CreditSeen(ETHER, 0),
    *map(inputs.LogSeen, LOGGED),
    *map(inputs.SubmissionFailed, SUBMITTED),
]
DIFFERENCES = inputs.ViewsDiffer(
    True, (inputs.Clock(Status(5, 9, 7)),), (inputs.Payout(record.Owed(HASH, outcome(7, 13)), ((ETHER, 2**64),)),)
)
FED: list[inputs.Input] = [
    inputs.ContractsGenuine(),
    inputs.StateReceived(SIGNED),
    inputs.Greeted(1, 7),
    inputs.Reconnected(),
    inputs.MoveChosen(outcome(1, 19), b"\x00position\xff"),
    inputs.ConcludeWanted(),
    inputs.ChallengeWanted(),
    inputs.ChainUpdate(tuple(LEARNED), from_scratch=True),
    inputs.Tick(),
    *LEARNED,
    DIFFERENCES,
]
ASKED: list[Effect] = [
    SendState(SIGNED, again=True),
    SendState(SignedState(state(0))),
    SendGreeting(4),
    ChooseMove(state(6), None),
    ChooseMove(state(6), 1_700_000_000),
    *SUBMITTED,
]
SAMPLES: list[tuple[Codec[Any], list[Any]]] = [
    (SUBMISSIONS, SUBMITTED),
    (CHAIN_CHANGES, LEARNED),
    (INPUTS, FED),
    (EFFECTS, ASKED),
]
PAIRS = [pytest.param(codec, each, id=type(each).__name__) for codec, samples in SAMPLES for each in samples]


def again(codec: Codec[Any], value: Any) -> Any:
    """What is left of a value after it was stored."""
    stored = codec.encode(value)
    restored = codec.decode(stored)
    assert restored == value
    assert codec.encode(restored) == stored
    return restored


_RUNS = 8
"""Of random histories at most: a few of them sometimes have no deposit."""


def some_channel() -> Channel:
    """In a challenge, with everything remembered that there is to remember."""
    table, alice, _ = seated(open_table(until=6))
    table.challenge(*table.setup_states()[2:])
    alice.poll()
    channel = alice.channel
    return replace(channel, superseded=channel.accepted[:1], conclude_at=7, requested=tuple(SUBMITTED), asked=(7, None))


# ------------------------------------------------------------------------------------------------------- there and back


@pytest.mark.parametrize(("codec", "value"), PAIRS)
def test_a_value_is_decoded_as_it_was(codec: Codec[Any], value: Any) -> None:
    assert type(again(codec, value)) is type(value)


def test_a_channel_is_decoded_as_it_was() -> None:
    channel = some_channel()
    assert channel.record.recorded is not None
    assert again(CHANNELS, channel) == channel


def test_what_the_endpoints_do_not_agree_on_is_not_stored() -> None:
    """It is asked anew after a start, and what older programs have stored is read as it was."""
    channel = some_channel()
    restored = CHANNELS.decode(CHANNELS.encode(replace(channel, views=DIFFERENCES)))
    assert restored == channel
    assert restored.differences == inputs.ViewsDiffer()
    assert CHANNELS.encode(replace(channel, views=DIFFERENCES)) == CHANNELS.encode(channel)


@pytest.mark.parametrize(
    ("samples", "union"),
    [(SUBMITTED, Submission), (LOGGED, logs.Log), (LEARNED, inputs.ChainChange), (FED, inputs.Input), (ASKED, Effect)],
)
def test_every_member_of_a_union_is_among_the_samples(samples: list[object], union: Any) -> None:
    assert {type(each) for each in samples} == set(get_args(union))


def test_whatever_happens_to_a_channel_survives_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machines run on what was decoded, through histories at random."""
    seen: Counter[str] = Counter()

    def journalled(channel: Channel, input_: inputs.Input, *rest: Any) -> Any:
        seen[type(input_).__name__] += 1
        channel, effects = machine.step(again(CHANNELS, channel), again(INPUTS, input_), *rest)
        seen.update(type(each).__name__ for each in effects)
        return again(CHANNELS, channel), tuple(again(EFFECTS, each) for each in effects)

    monkeypatch.setattr(table_module, "step", journalled)
    needed = {"ChainUpdate", "StateReceived", "Tick", "SendState", "ChooseMove", "SubmitDeposit"}
    few = settings(max_examples=settings().max_examples // 8, stateful_step_count=30)
    for _ in range(_RUNS):
        run_state_machine_as_test(AwakeAlice, settings=few)
        if needed <= set(seen):
            return
    raise AssertionError(f"{needed - set(seen)} did not happen")


addresses = st.binary(min_size=20, max_size=20)
amounts = st.integers(0, UINT256_MAX) | st.integers(2**64 - 2, 2**64 + 2)
outcomes = st.lists(st.builds(Allocation, addresses, st.binary(min_size=32, max_size=32), amounts), max_size=3).map(
    tuple
)


@given(asset=addresses, held=amounts)
def test_no_amount_is_too_large(asset: bytes, held: int) -> None:
    again(INPUTS, inputs.HoldingsSeen(asset, held))


@given(outcome_=outcomes, app_data=st.binary(max_size=200), turn=st.integers(0, 2**48 - 1), is_final=st.booleans())
def test_no_state_is_too_strange(outcome_: tuple[Allocation, ...], app_data: bytes, turn: int, is_final: bool) -> None:
    again(EFFECTS, ChooseMove(VariablePart(outcome_, app_data, turn, is_final), None))


# --------------------------------------------------------------------------------------------------------- nothing else


def test_an_integer_of_more_than_256_bits_is_not_stored() -> None:
    with pytest.raises(InvalidValue):
        INPUTS.encode(inputs.HoldingsSeen(ETHER, 2**256))


@pytest.mark.parametrize("version", [3, 200])
def test_another_version_says_so(version: int) -> None:
    stored = msgspec.msgpack.encode((version, {"whatever": "it has"}))
    with raising(UnknownVersion("channel", version, 2)):
        CHANNELS.decode(stored)


def test_a_channel_of_older_contracts_says_which_release_knows_them() -> None:
    stored = msgspec.msgpack.encode((1, {"whatever": "it has"}))
    with raising(ChannelOfOlderContracts("channel", 1, 2, "0.3.0")):
        CHANNELS.decode(stored)


@pytest.mark.parametrize("version", [0, -1, True, 1.0, None, "1", 2**40])
def test_a_version_is_a_small_number(version: object) -> None:
    with pytest.raises(MalformedBytes):
        CHANNELS.decode(msgspec.msgpack.encode((version, {})))


def test_a_value_of_another_union_is_malformed() -> None:
    for codec, value in (
        (EFFECTS, inputs.Tick()),
        (SUBMISSIONS, SendGreeting(1)),
        (CHAIN_CHANGES, inputs.Tick()),
    ):
        with pytest.raises(MalformedBytes):
            codec.decode(INPUTS.encode(value) if isinstance(value, inputs.Tick) else EFFECTS.encode(value))


def _stored(change: dict[str, object], without: str = "") -> bytes:
    """A submission's bytes with some fields changed, and one left out."""
    fields = {"type": "SubmitPayCredit", "account": ALICE.address, "asset": ETHER, "amount": 5} | change
    return msgspec.msgpack.encode((VERSION, {name: value for name, value in fields.items() if name != without}))


def test_the_submission_that_is_changed_below_is_one() -> None:
    assert SUBMISSIONS.decode(_stored({})) == SubmitPayCredit(ALICE.address, ETHER, 5)


@pytest.mark.parametrize(
    "stored",
    [
        _stored({"amount": "5"}),
        _stored({"amount": 5.0}),
        _stored({"amount": None}),
        _stored({"asset": "ether"}),
        _stored({"type": "SubmitNothing"}),
        _stored({"memo": "a field too many"}),
        _stored({}, without="amount"),
        _stored({}, without="type"),
        _stored({"amount": msgspec.msgpack.Ext(1, b"\x05")}),
        _stored({"amount": msgspec.msgpack.Ext(1, b"\x00" + b"\xff" * 32)}),
        _stored({"amount": msgspec.msgpack.Ext(2, b"\xff" * 9)}),
        _stored({}) + b"\x00",
        b"\x93" + _stored({})[1:] + b"\x00",
        b"\x92\x01\x81\x91\x90\x00",
        b"\x92\x01\x81\x80\x00",
        b"",
    ],
)
def test_what_is_not_quite_a_value_is_malformed(stored: bytes) -> None:
    with pytest.raises(MalformedBytes):
        SUBMISSIONS.decode(stored)


DEEP = {
    "arrays": b"\x92\x01" + b"\x91" * 300_000 + b"\x00",
    "maps": b"\x92\x01" + b"\x81\xa1a" * 300_000 + b"\x00",
    "maps as names": b"\x92\x01" + b"\x81" * 300_000 + b"\x00" * 300_001,
    "arrays after a value": b"\x92\x01\x82\xa4type\xa4Tick\xa1a" + b"\xdd\x00\x00\x00\x01" * 300_000 + b"\x00",
    "arrays without an end": b"\x91" * 300_000,
}


@pytest.mark.parametrize("kind", sampled([*DEEP], every=2))
def test_threat_39_no_depth_of_stored_bytes_ends_the_process(kind: str) -> None:
    """However much of the stack Python may use: py-evm, for one, raises that limit to 100,000."""
    program = f"""
import sys
sys.setrecursionlimit(100_000)
from forcemove.errors import MalformedBytes
from tests.protocol.test_msgpack_codec import DEEP, INPUTS
try:
    INPUTS.decode(DEEP[{kind!r}])
except MalformedBytes as error:
    print(error.reason)
"""
    done = subprocess.run(  # noqa: S603  # this very interpreter
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert (done.returncode, done.stdout) == (0, f"it is nested deeper than {MAX_DEPTH}\n"), done.stderr


@pytest.mark.parametrize("most", [1_000, 100_000])
@pytest.mark.parametrize("depth", [MAX_DEPTH, 500, 2_045])
def test_threat_39_few_bytes_that_are_deep_are_malformed(depth: int, most: int) -> None:
    """Whether or not Python lets them be decoded."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(most)
    try:
        with pytest.raises(MalformedBytes):
            INPUTS.decode(b"\x92\x01" + b"\x91" * depth + b"\x00")
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("kind", DEEP)
def test_threat_39_no_array_and_no_map_is_left_out_of_their_number(kind: str) -> None:
    """Bytes that have fewer are decoded as they are."""
    assert most_headers(DEEP[kind]) >= 300_000


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
@pytest.mark.parametrize(
    "leaf",
    [
        None,
        -(2**63),
        2**64 - 1,
        1.5,
        b"\x91" * 70_000,
        "a" * 300,
        msgspec.msgpack.Ext(5, b"\x91" * 16),
        msgspec.msgpack.Ext(5, b"\x91" * 300),
        [[]] * 70_000,
        {number: {} for number in range(70_000)},
    ],
    ids=lambda leaf: type(leaf).__name__,
)
def test_a_depth_is_counted_past_whatever_is_beside_it(depth: int, leaf: object) -> None:
    nested: object = 0
    for _ in range(depth - 1):
        nested = [nested]
    data = msgspec.msgpack.encode([leaf, [], nested, leaf])
    if depth > MAX_DEPTH:
        with pytest.raises(MalformedBytes):
            require_shallow(data, "value")
    else:
        require_shallow(data, "value")


def test_nothing_that_is_absent_is_filled_in() -> None:
    """A field with a default is not taken for what nobody has stored."""
    whole: Any = msgspec.msgpack.decode(CHANNELS.encode(some_channel()))
    for name in whole[1]:
        cut = {key: value for key, value in whole[1].items() if key != name}
        with pytest.raises(MalformedBytes):
            CHANNELS.decode(msgspec.msgpack.encode((whole[0], cut)))


def test_what_breaks_a_rule_of_the_protocol_is_malformed() -> None:
    """A state whose turn number has more than 48 bits."""
    stored = EFFECTS.encode(ChooseMove(state(6), None))
    whole: Any = msgspec.msgpack.decode(stored)
    whole[1]["state"]["turn_num"] = 2**48
    with pytest.raises(MalformedBytes, match="turn_num"):
        EFFECTS.decode(msgspec.msgpack.encode(whole))


def test_no_part_of_a_channel_is_a_channel() -> None:
    stored = CHANNELS.encode(some_channel())
    for length in range(0, len(stored), 7):
        with pytest.raises(MalformedBytes):
            CHANNELS.decode(stored[:length])


@given(place=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_a_changed_byte_is_another_value_or_none(place: int, byte: int) -> None:
    stored = bytearray(INPUTS.encode(FED[7]))
    stored[place % len(stored)] = byte
    try:
        value = INPUTS.decode(bytes(stored))
    except (MalformedBytes, UnknownVersion):
        return
    assert INPUTS.encode(value) == stored


@given(data=st.binary(max_size=100))
def test_bytes_at_random_are_malformed(data: bytes) -> None:
    for stored in (data, b"\x92\x01" + data):
        with pytest.raises((MalformedBytes, UnknownVersion)):
            INPUTS.decode(stored)


def test_the_format_of_this_version_stays_as_it_is() -> None:
    """Where this fails, what older programs have stored can no longer be read: raise `VERSION`, and read both.
    (Differences between endpoints are never stored, nor are the effects that are not submissions.)"""
    values = [(codec, each) for codec, samples in SAMPLES for each in samples if each is not DIFFERENCES]
    stored = [CHANNELS.encode(some_channel()), *(codec.encode(each) for codec, each in values)]
    assert VERSION == 1
    assert sha256(b"".join(stored)).hexdigest()[:16] == "84a95ce90f19a742"
