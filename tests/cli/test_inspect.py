"""`forcemove inspect` without a chain: signed-state files, bare hex, and whatever is neither."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from forcemove import Allocation, Key, SignedState, VariablePart
from forcemove.chain.addresses import show_address
from forcemove.chain.create2 import CUSTOMARY_FACTORY, SALT
from forcemove.inspect.possibilities import ACTIONS
from forcemove.protocol.codec.packed_writer import batch_call, challenge_call, checkpoint_call
from forcemove.protocol.encoding import encode_record, encode_variable_part
from forcemove.protocol.types import Signature, SupportProof
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.cli.command import Command
from tests.cli.saved import Saved, final_of, state_of
from tests.installed import each_game
from tests.protocol import builders

SAVED = Saved()
A, B = show_address(builders.ALICE.address), show_address(builders.BOB.address)


def found(forcemove: Command, *arguments: str, code: int = 0) -> Any:
    """What is found, and that people read it with the same exit code."""
    said = forcemove("inspect", *arguments, "--json")
    assert (said.code, said.err) == (code, "")
    assert forcemove("inspect", *arguments).code == code
    return json.loads(said.out)


def words(finding: Any) -> list[list[str]]:
    """What each participant could do, in words."""
    return [[action["action"] for action in each["actions"]] for each in finding["could"]]


# -------------------------------------------------------------------------------------------------------------- files


def test_a_file_is_told_field_by_field(forcemove: Command) -> None:
    finding = found(forcemove, SAVED.save(state_of(5)))

    assert finding["kind"] == "signed-state"
    assert (finding["chainId"], finding["adjudicator"].lower()) == ("31337", "0x" + "ad" * 20)
    assert finding["channelId"] == "0x" + SAVED.id.hex()
    assert finding["fixedPart"] == {
        "participants": [A, B],
        "channelNonce": "0",
        "appDefinition": show_address(builders.APP),
        "challengeDuration": builders.DAY,
        "asset": show_address(bytes(20)),
        "total": "0",
    }
    assert finding["state"] == {
        "turnNum": 5,
        "isFinal": False,
        "stage": "app",
        "mover": 1,
        "outcome": [_entry(A, 0, 8), _entry(B, 1, 12)],
        "appData": "0x" + state_of(5).app_data.hex(),
        "evidence": "0x",
        "evidenceHash": "0x",
    }
    assert (finding["problem"], finding["refused"], finding["channel"]) == (None, None, None)


def _entry(address: str, participant: int, amount: int) -> dict[str, Any]:
    return {
        "asset": "0x" + "00" * 20,
        "destination": "0x" + "00" * 12 + address[2:].lower(),
        "account": address,
        "participant": participant,
        "amount": str(amount),
    }


def test_json_has_the_names_that_are_documented(forcemove: Command) -> None:
    finding = found(forcemove, SAVED.save(state_of(5)))

    assert set(finding) == {
        *("kind", "chainId", "adjudicator", "channelId", "fixedPart", "state", "app", "position", "signatures"),
        *("problem", "support", "could", "refused", "channel"),
    }
    assert set(finding["app"]) == {"game", "title", "contract", "knownBy"}
    assert set(finding["position"]) == {"description", "board", "stake", "data", "problem"}
    assert {*finding["signatures"][0]} == {"participant", "address", "verdict", "recovered", "problem"}
    assert {*finding["could"][0]} == {"participant", "address", "actions"}


def test_people_see_the_board_and_amounts_in_ether_and_wei(forcemove: Command) -> None:
    state = replace(state_of(5), outcome=builders.outcome(15 * 10**17, 5 * 10**17))

    said = forcemove("inspect", SAVED.save(state))

    assert (said.code, said.err) == (0, "")
    assert f"1.5 ether (1,500,000,000,000,000,000 wei) to {A} (participant 0)" in said.out
    for line in TIC_TAC_TOE.board(state).splitlines():
        assert line in said.out
    assert "Participant 1 placed an O." in said.out
    assert "\x1b" not in said.out


def test_evidence_is_shown_where_there_is_some(forcemove: Command) -> None:
    file = SAVED.save(replace(state_of(5), evidence=b"why"))

    assert re.search(r"^  evidence +3 bytes: 0x776879$", forcemove("inspect", file).out, re.MULTILINE)
    assert found(forcemove, file)["state"]["evidence"] == "0x776879"
    assert "evidence" not in forcemove("inspect", SAVED.save(state_of(5))).out


def test_an_asset_is_not_taken_for_ether(forcemove: Command) -> None:
    state = replace(state_of(5), outcome=builders.outcome(1_000, 1, asset=builders.TOKEN))

    said = forcemove("inspect", SAVED.save(state))

    assert f"1,000 of the smallest unit of {show_address(builders.TOKEN)} to {A}" in said.out
    assert "ether" not in said.out


def test_each_signature_is_recovered_and_wrong_ones_are_named(forcemove: Command) -> None:
    state = state_of(5)
    right, forged = SAVED.signature(builders.ALICE, state), SAVED.signature(builders.MALLORY, state)

    finding = found(forcemove, SAVED.save(SignedState(state, {0: right, 1: forged})), code=1)
    said = forcemove("inspect", "state.json")

    assert [each["verdict"] for each in finding["signatures"]] == ["signed", "wrong"]
    assert finding["signatures"][1]["recovered"] == show_address(builders.MALLORY.address)
    assert f"WRONG signature, made by {show_address(builders.MALLORY.address)}" in said.out


def test_a_signature_of_another_state_of_the_channel_is_wrong(forcemove: Command) -> None:
    state = state_of(5)

    finding = found(forcemove, SAVED.save(SignedState(state, {1: SAVED.signature(builders.BOB, state_of(6))})), code=1)

    assert [each["verdict"] for each in finding["signatures"]] == ["missing", "wrong"]
    assert words(finding) == [["wait"], ["sign"]]


@pytest.mark.parametrize(
    ("compact", "problem"),
    [(bytes(64), "SignatureUnrecoverable"), (b"\x11" * 32 + b"\x7f" + b"\xff" * 31, "SignatureMalleable")],
    ids=["zero", "high s"],
)
def test_a_signature_that_nobody_can_have_made_is_wrong(forcemove: Command, compact: bytes, problem: str) -> None:
    finding = found(forcemove, SAVED.save(SignedState(state_of(5), {1: Signature(compact)})), code=1)

    assert finding["signatures"][1] == {
        "participant": 1,
        "address": B,
        "verdict": "wrong",
        "recovered": None,
        "problem": problem,
    }
    assert problem in forcemove("inspect", "state.json").out


def test_a_signature_for_nobody_is_wrong(forcemove: Command) -> None:
    state = state_of(5)

    name = SAVED.save(SignedState(state, {1: SAVED.signature(builders.BOB, state), 7: Signature(bytes(64))}))
    finding = found(forcemove, name, code=1)

    assert finding["signatures"][2]["verdict"] == "wrong"
    assert finding["signatures"][2]["address"] is None
    assert "there is no such participant" in forcemove("inspect", "state.json").out


DISPUTE = ["challenge", "checkpoint"]


@pytest.mark.parametrize(
    ("state", "signers", "alice", "bob"),
    [
        (state_of(0), [], ["sign"], ["wait"]),
        (state_of(0), [builders.BOB], ["sign"], ["wait"]),
        (state_of(0), [builders.ALICE], ["wait"], ["move", "countersign"]),
        (state_of(0), [builders.ALICE, builders.BOB], ["wait", *DISPUTE], ["move", *DISPUTE]),
        (
            state_of(1),
            [builders.BOB],
            ["deposit", "move", "finish", "countersign", *DISPUTE],
            ["deposit", "wait", *DISPUTE],
        ),
        (state_of(2), [builders.ALICE], ["wait", *DISPUTE], ["deposit", "move", "finish", "countersign", *DISPUTE]),
        (state_of(3), [builders.BOB], ["move", "finish", "countersign", *DISPUTE], ["wait", *DISPUTE]),
        (state_of(6), [builders.ALICE], ["wait", *DISPUTE], ["move", "finish", "countersign", *DISPUTE]),
        (state_of(6), [builders.ALICE, builders.BOB], ["wait", *DISPUTE], ["move", "finish", *DISPUTE]),
        (final_of(7), [], ["wait"], ["sign"]),
        (final_of(7), [builders.BOB], ["countersign", *DISPUTE], ["wait", *DISPUTE]),
        (final_of(7), [builders.ALICE, builders.BOB], ["conclude"], ["conclude"]),
    ],
)
def test_what_each_participant_could_do(
    forcemove: Command, state: VariablePart, signers: list[Key], alice: list[str], bob: list[str]
) -> None:
    signatures = {(builders.ALICE, builders.BOB).index(key): SAVED.signature(key, state) for key in signers}

    finding = found(forcemove, SAVED.save(SignedState(state, signatures)))

    assert words(finding) == [alice, bob]
    assert {*alice, *bob} <= set(ACTIONS)


@pytest.mark.parametrize(
    ("turn_num", "signers", "support"),
    [
        (7, [builders.BOB], "the states of turns 5 to 6, with the signature of participant 0, 2"),
        (7, [builders.BOB, builders.CAROL], "the state of turn 6, with the signature of participant 0"),
        (7, [builders.ALICE, builders.BOB], "the states of turns 5 to 6, with the signature of participant 2"),
        (7, [builders.ALICE, builders.BOB, builders.CAROL], None),
        (1, [builders.BOB, builders.CAROL], "the state of turn 0, with the signature of participant 0"),
        (1, [builders.BOB, builders.ALICE], "the state of turn 0, with the signature of participant 2"),
        (0, [builders.ALICE], "the signature of participant 1, 2 under this very state"),
    ],
)
def test_what_a_proof_still_takes(forcemove: Command, turn_num: int, signers: list[Key], support: str | None) -> None:
    keys = (builders.ALICE, builders.BOB, builders.CAROL)
    state = VariablePart(builders.outcome(1, 2, 3), b"", turn_num)
    channel = Saved(builders.fixed_part(keys))

    finding = found(forcemove, channel.save(builders.signed(state, *signers, keys=keys)))

    assert finding["support"] == support


def test_a_state_that_breaks_a_rule_is_of_no_use(forcemove: Command) -> None:
    upside_down = (builders.allocation(builders.ALICE, 1, builders.TOKEN), builders.allocation(builders.BOB, 1))
    state = replace(state_of(5), outcome=upside_down)

    finding = found(forcemove, SAVED.save(SAVED.signed(state, builders.ALICE, builders.BOB)))

    assert finding["problem"].startswith("AssetsNotSorted(")
    assert words(finding) == [["nothing"], ["nothing"]]
    assert "AssetsNotSorted" in forcemove("inspect", "state.json").out


def test_allocations_to_other_channels_are_told(forcemove: Command) -> None:
    state = replace(state_of(5), outcome=(Allocation(bytes(20), b"\x77" * 32, 1),))

    finding = found(forcemove, SAVED.save(state))

    (entry,) = finding["state"]["outcome"]
    assert (entry["account"], entry["participant"]) == (None, None)
    assert "to channel 0x7777" in forcemove("inspect", "state.json").out


def test_bytes_that_are_no_position_are_no_games(forcemove: Command) -> None:
    finding = found(forcemove, SAVED.save(replace(state_of(5), app_data=b"\x01" * 128)))

    assert (finding["app"], finding["position"]) == (None, None)
    assert "none of the games that are installed" in forcemove("inspect", "state.json").out


def test_the_book_names_the_game_and_its_broken_positions(forcemove: Command) -> None:
    Path("forcemove-31337.json").write_text(json.dumps(_book(show_address(builders.APP))))

    healthy = found(forcemove, SAVED.save(state_of(5)))
    broken = found(forcemove, SAVED.save(replace(state_of(5), app_data=b"")))

    assert healthy["app"]["knownBy"] == broken["app"]["knownBy"] == "book"
    assert broken["position"]["problem"] == "WrongPositionLength(expected=128, submitted=0)"
    assert "this is not a position of the game" in forcemove("inspect", "state.json").out


def test_a_book_is_named(forcemove: Command) -> None:
    Path("book.json").write_text(json.dumps(_book(show_address(builders.APP))))

    assert found(forcemove, SAVED.save(state_of(5)))["app"]["knownBy"] == "bytes"
    assert found(forcemove, "state.json", "--book", "book.json")["app"]["knownBy"] == "book"


def _book(tic_tac_toe: str, chain_id: int = 31_337) -> dict[str, Any]:
    entry = {
        "address": tic_tac_toe,
        "block": 1,
        "creationCodeHash": "0x" + "22" * 32,
        "sourceHash": "0x" + "00" * 32,
        "standardJson": "a.json",
    }
    return {
        "format": "forcemove-address-book/2",
        "chainId": str(chain_id),
        "factory": show_address(CUSTOMARY_FACTORY),
        "salt": "0x" + SALT.hex(),
        "deploymentBlock": 1,
        "contracts": {"TicTacToe": entry},
        "pending": None,
        "compiler": {"version": "0.8.37", "settings": {}},
    }


# ---------------------------------------------------------------------------------------------------------------- hex


@pytest.mark.parametrize("state", [state_of(0), state_of(6), final_of(7)])
def test_a_state_in_hex(forcemove: Command, state: VariablePart) -> None:
    finding = found(forcemove, "0x" + encode_variable_part(state).hex())

    assert (finding["kind"], finding["signatures"], len(finding["missing"])) == ("state", [], 3)
    assert finding["state"]["turnNum"] == state.turn_num
    assert finding["state"]["mover"] is None
    assert [entry["amount"] for entry in finding["state"]["outcome"]] == [str(entry.amount) for entry in state.outcome]
    assert (finding["position"] is None) is state.is_final


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_record_in_hex(forcemove: Command, count: int) -> None:
    signatures = [SAVED.signature(key, state_of(6)) for key in (builders.ALICE, builders.BOB)[:count]]

    finding = found(forcemove, "0X" + encode_record(state_of(6), signatures).hex().upper())

    assert finding["kind"] == "record"
    assert finding["signatures"] == ["0x" + signature.compact.hex() for signature in signatures]
    assert finding["position"]["board"] == TIC_TAC_TOE.board(state_of(6))


def test_calldata_in_hex(forcemove: Command) -> None:
    """Of a challenge with two moves, and of a batch in which one call means nothing."""
    states = (state_of(5), state_of(6))
    signatures = tuple(SAVED.signature(key, states[1]) for key in (builders.ALICE, builders.BOB))
    challenge = challenge_call(SAVED.fixed, SupportProof(states, signatures, 0x0101))
    batch = batch_call([(50_000, challenge), (7, challenge[:-1])])

    finding, of_batch = found(forcemove, "0x" + challenge.hex()), found(forcemove, "0x" + batch.hex())
    said = forcemove("inspect", "0x" + batch.hex()).out

    assert (finding["kind"], finding["operation"], finding["fromRecord"]) == ("call", "challenge", False)
    assert finding["signatures"] == ["0x" + signature.compact.hex() for signature in signatures]
    assert [each["state"]["turnNum"] for each in finding["states"]] == [5, 6]
    assert finding["states"][1]["position"]["board"] == TIC_TAC_TOE.board(states[1])
    good, bad = of_batch["items"]
    assert good == {"gas": 50_000, "call": finding, "problem": None}
    assert (bad["gas"], bad["call"]) == (7, None)
    assert "LengthMismatch" in bad["problem"]
    assert "A call of the adjudicator: batch" in said
    assert "A call of the adjudicator: challenge" in said
    assert "PROBLEM" in said


def test_calldata_that_means_nothing(forcemove: Command) -> None:
    data = checkpoint_call(SAVED.fixed, SupportProof((state_of(6),), (), 0))
    said = forcemove("inspect", "0x" + data[:-1].hex())

    assert said.code == 1
    assert "LengthMismatch" in said.err


@each_game
def test_a_position_in_hex(forcemove: Command, game: Any) -> None:
    position = "0x" + game.initial_app_data(builders.terms(7)).hex()

    finding = found(forcemove, position)
    said = forcemove("inspect", position)

    assert (finding["kind"], finding["state"], finding["app"]["game"]) == ("position", None, game.name)
    assert finding["position"]["stake"] == finding["position"]["data"]["stake"] == "7"
    assert finding["position"]["data"]["type"] == game.table[0].from_type.label
    assert finding["position"]["board"].splitlines()[0] in said.out
    for each in finding["missing"]:
        assert each in said.out


def test_hex_in_a_file(forcemove: Command) -> None:
    Path("state.hex").write_text("0x" + encode_variable_part(state_of(6)).hex() + "\n")

    assert found(forcemove, "state.hex")["state"]["turnNum"] == 6


# ---------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "said_of_it"),
    [
        (("0x",), "not a state"),
        (("0x0",), "not a whole number of hex bytes"),
        (("0xzz",), "not hex digits"),
        (("0x" + "11" * 20,), "these 20 bytes are not a state"),
        (("0x" + "00" * 10,), "not a state"),
        (("0x12",), "these 1 bytes are not a state (it ends inside the offset of the state)"),
        (("0x" + "11" * 128,), "nor a position of Tic-tac-toe"),
        (("0x" + "11" * 32,), "--chain"),
        (("0x" + "11" * 64, "--chain", "http://127.0.0.1:1"), "names neither its chain nor its channel"),
        (("0x" + "00" * 31 + "11", "--chain", "http://127.0.0.1:1"), "not a channel's id"),
        (("0x" + "11" * 32, "--chain", "http://127.0.0.1:1"), "Nobody answers"),
        (("0x" + "11" * 32, "--chain", "eth-tester"), "ends with this command"),
        (("0x" + "11" * 32, "--adjudicator", "0x11"), "not a well-formed address"),
        (("state.json", "--chain", "http://127.0.0.1:1"), "Nobody answers"),
        (("state.json", "--book", "none.json"), "There is no address book"),
        (("state.json", "--book", "state.json"), "not a well-formed address book"),
        (("state.json", "--book", "other.json"), "is of chain 5"),
        (("state.json", "--adjudicator", "0x" + "11" * 20), "Leave --adjudicator out"),
        (("none.json",), "There is no file"),
        (("none/none.json",), "There is no file"),
        (("state.json/none.json",), "cannot be read"),
        (("",), "cannot be read"),
        (("a" * 5_000,), "cannot be read"),
        (("\0",), "cannot be read"),
        (("directory",), "cannot be read"),
        (("/dev/zero",), "longer than any file to inspect"),
        (("huge.json",), "longer than any file to inspect"),
        (("binary",), "not text"),
        (("empty.json",), "not a well-formed signed state"),
        (("words.json",), "not a well-formed signed state"),
        (("deep.json",), "nested deeper"),
        (("half.json",), "not a well-formed signed state"),
        (("hex.txt",), "not hex digits"),
    ],
)
def test_bad_input_is_told(forcemove: Command, arguments: tuple[str, ...], said_of_it: str) -> None:
    text = Path(SAVED.save(state_of(5))).read_text()
    Path("directory").mkdir()
    Path("huge.json").write_text(" " * 2**20 + text)
    Path("binary").write_bytes(bytes(range(256)))
    Path("empty.json").write_text("")
    Path("words.json").write_text("hello")
    Path("deep.json").write_text("[" * 100_000)
    Path("half.json").write_text(text[: len(text) // 2])
    Path("hex.txt").write_text("0xhello")
    Path("other.json").write_text(json.dumps(_book(show_address(builders.APP), chain_id=5)))

    said = forcemove("inspect", *arguments)

    assert (said.code, said.out) == (1, "")
    assert said_of_it in said.err
    assert "Forcemove made a mistake" not in said.err


@pytest.mark.parametrize("arguments", [(), ("a", "b"), ("a", "--key", "b")])
def test_wrong_usage_exits_with_two(forcemove: Command, arguments: tuple[str, ...]) -> None:
    assert forcemove("inspect", *arguments).code == 2


_FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
_BAD_VALUES = st.sampled_from(
    [None, True, -1, 0, 2, 2**48, 2**256, 1.5, "", "0x", "0x00", "1", "9" * 79, "é", [], {}, [None], {"0": "0x"}]
)


@_FUZZ
@given(data=st.data())
def test_no_file_makes_it_stumble(forcemove: Command, data: st.DataObject) -> None:
    content = json.loads(Path(SAVED.save(SAVED.signed(state_of(5), builders.ALICE, builders.BOB))).read_text())
    holder = content
    while True:
        name = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else list(range(len(holder)))))
        if not isinstance(holder[name], dict | list) or not holder[name] or data.draw(st.booleans()):
            break
        holder = holder[name]
    holder[name] = data.draw(_BAD_VALUES)
    Path("fuzzed.json").write_text(json.dumps(content))

    said = forcemove("inspect", "fuzzed.json")

    assert said.code in (0, 1)
    assert "Forcemove made a mistake" not in said.err


@_FUZZ
@given(data=st.binary(max_size=300), cut=st.integers(0, 400), mode=st.sampled_from(["random", "state", "record"]))
def test_no_hex_makes_it_stumble(forcemove: Command, data: bytes, cut: int, mode: str) -> None:
    whole = {"random": b"", "state": encode_variable_part(state_of(5)), "record": encode_record(state_of(5), ())}[mode]

    said = forcemove("inspect", "0x" + (whole[:cut] + data).hex())

    assert said.code in (0, 1)
    assert "Forcemove made a mistake" not in said.err


def test_without_a_chain_nothing_heavy_is_imported(forcemove: Command) -> None:
    program = (
        "import sys\n"
        "from forcemove.cli.main import forcemove\n"
        f"forcemove.main(['inspect', {SAVED.save(state_of(5))!r}], standalone_mode=False)\n"
        "print(sorted({'web3', 'rich', 'eth_account', 'eth_abi', 'eth_tester', 'requests'} & set(sys.modules)))\n"
    )
    said = subprocess.run(  # noqa: S603  # this very interpreter
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(Path(__file__).parents[2] / "channel")},
        check=True,
        capture_output=True,
        text=True,
    )

    assert said.stdout.splitlines()[-1] == "[]"
