"""The golden vectors of Discard, read from their file by Python and by the bytecode."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from forcemove import AppError
from forcemove.contracts import artifact
from forcemove.testing.calls import ID, TO, Bench, TransitionCall
from forcemove_games.cards.curve import times_g
from forcemove_games.discard import rules
from forcemove_games.discard.position import PositionType, decode
from scripts.vectors import DISCARD
from tests.contracts.test_vectors import state_of

CONTENT: dict[str, Any] = json.loads(DISCARD.read_text("utf-8"))
BENCH = Bench(artifact("Discard"), rules)


def data(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))


STATES = [state_of(each) for each in CONTENT["states"]]


def test_every_state_may_follow_the_one_before_it() -> None:
    assert data(CONTENT["channelId"]) == ID
    for from_, to in pairwise(STATES):
        BENCH.require_accepted(TransitionCall(from_, to))
    types = [decode(state.app_data).position_type for state in STATES]
    assert [kind.label for kind in types] == [each["type"] for each in CONTENT["states"]]
    assert set(types) == set(PositionType) - {PositionType.OVER}


def test_the_keys_are_those_of_the_secrets() -> None:
    keys = decode(STATES[-2].app_data).core.keys
    for secret, key in zip(CONTENT["secrets"], keys, strict=True):
        point = times_g(int(secret, 16))
        assert (point.x, point.y) == key


@pytest.mark.parametrize("number", range(len(CONTENT["refusals"])))
def test_a_changed_word_is_refused_as_it_says(number: int) -> None:
    refusal = CONTENT["refusals"][number]
    call = TransitionCall(STATES[refusal["state"] - 1], STATES[refusal["state"]])
    word, value, in_app_data = refusal["word"], int(refusal["value"], 16), len(call.to.app_data) // 32
    changed = call.word(TO, word, value) if word < in_app_data else call.evidence_word(word - in_app_data, value)
    found: tuple[str | None, list[object]] = None, []
    try:
        rules.require_legal(ID, changed.from_, changed.to, 2)
    except AppError as error:
        values = error.values().values()
        found = type(error).__name__, [int.from_bytes(each) if isinstance(each, bytes) else each for each in values]
    assert found == (refusal["error"], [int(each, 16) for each in refusal["values"]])
    assert BENCH.compare(call, [changed]) == [refusal["error"] is None]
