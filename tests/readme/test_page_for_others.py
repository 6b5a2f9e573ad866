"""What contracts/README.md says is so: its names, types and numbers are those of contracts and twin."""

from __future__ import annotations

import json
import re

import pytest

from forcemove.contracts import artifact
from forcemove.protocol import encoding, signing, types, words
from forcemove.protocol.codec.packed import SELECTORS
from tests.readme.text import ROOT, code_spans

PAGE = ROOT / "contracts" / "README.md"
TEXT = PAGE.read_text("utf-8")
SPANS = code_spans(PAGE)
ABI = artifact("Adjudicator").abi
NAMES = {kind: {each["name"] for each in ABI if each["type"] == kind} for kind in ("function", "event", "error")}
APP_ERRORS = {"MalformedCount", "WrongCount"}
NO_ERRORS = {"MalformedBytes", "UnknownVersion", "FixedPart", "VariablePart", "Allocation", "State", "Challenge"}


def parameters(kind: str, name: str) -> list[str]:
    (entry,) = (each for each in ABI if each["type"] == kind and each["name"] == name)
    return [each["name"] for each in entry["inputs"]]


@pytest.mark.parametrize("kind", ["function", "event"])
def test_calls_and_events_are_spelt_as_in_the_abi(kind: str) -> None:
    found = dict(re.findall(r"^(\w+)\(([\w, ]*)\)$", span)[0] for span in SPANS if re.match(r"^\w+\([\w, ]*\)$", span))
    shown = {name: re.findall(r"\w+", values) for name, values in found.items() if name in NAMES[kind]}
    assert shown == {name: parameters(kind, name) for name in shown}
    least = {"deposit", "claim", "payCredit", "statusOf"}
    assert shown.keys() >= (least if kind == "function" else NAMES["event"])


def test_the_bytes_of_every_packed_call_are_listed() -> None:
    packed = {name for name in SELECTORS if parameters("function", name) == []}
    table = TEXT.partition("| operation | after the selector |")[2].partition("\n\n")[0]
    assert packed == set(SELECTORS) == set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))


def test_errors_are_those_of_the_abi() -> None:
    """All of a proof's are there; the rest is in the interface."""
    words = {span for span in SPANS if re.fullmatch(r"(?:[A-Z][a-z]+){2,}\d*", span)}
    known = NAMES["error"] | NAMES["event"] | APP_ERRORS | NO_ERRORS | {"SafeERC20FailedOperation"}
    assert words - known == set()
    assert {
        "WrongSigner",
        "FingerprintMismatch",
        "SignedStateOutOfRange",
        "TransitionRefused",
        "AppDataChanged",
    } <= words


def test_views_that_are_named_exist() -> None:
    named = ("statusOf", "holdingsOf", "wordsOf", "creditOf", "channelIdOf", "stateHashOf", "eip712Domain")
    assert [name for name in named if name not in TEXT or name not in NAMES["function"]] == []


def test_the_members_are_those_of_the_abi() -> None:
    """Of fixed parts and states, in their order."""
    (channel,) = (each for each in ABI if each.get("name") == "channelIdOf")
    (move,) = (each for each in artifact("TicTacToe").abi if each.get("name") == "validTransition")
    for name, given in (("FixedPart", channel["inputs"][0]), ("VariablePart", move["inputs"][1])):
        table = TEXT.partition(f"**{name}**")[2].partition("\n\n")[2].partition("\n\n")[0]
        assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [each["name"] for each in given["components"]]


def test_types_are_those_that_are_hashed() -> None:
    lines = {line.strip() for line in TEXT.splitlines()}
    state = encoding.STATE_TYPE.removesuffix(encoding.ALLOCATION_TYPE)
    assert {each.decode() for each in (state, encoding.ALLOCATION_TYPE, encoding.CHALLENGE_TYPE)} <= lines


@pytest.mark.parametrize(
    "said",
    [
        f"{types.MIN_PARTICIPANTS} to {types.MAX_PARTICIPANTS}, distinct",
        f"seconds, {types.MIN_CHALLENGE_DURATION} to {types.MAX_CHALLENGE_DURATION:,}",
        f"1 to {types.MAX_ALLOCATIONS}, grouped by asset in rising order, at most {types.MAX_ASSETS} assets",
        f"at most {types.MAX_APP_DATA:,}; empty in a final state",
        f"d + e is at most {types.MAX_APP_DATA:,}",
        f"at most 2**{types.MAX_AMOUNT.bit_length()} - 1 |",
        f"a channel holds less than 2**{types.MAX_AMOUNT.bit_length()} of an asset",
        f"only turns below 2**{words.MAX_TURN_RECORD.bit_length()} can be recorded",
        f"0x{signing.HALF_ORDER:x}",
        f"the number of allocations, 1 to {types.MAX_ALLOCATIONS}",
    ],
)
def test_bounds_are_those_of_the_twin(said: str) -> None:
    assert said in TEXT


def test_the_file_that_is_shown_is_json() -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert json.loads(shown)["chainId"] == "31337"
