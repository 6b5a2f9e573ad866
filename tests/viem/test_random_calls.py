"""Random calls: the writer in JavaScript, which has no library, writes byte for byte what the one in Python writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, assert_never

import pytest
from hypothesis import given, settings

from forcemove.protocol.codec.packed import (
    BatchCall,
    Call,
    ChallengeCall,
    CheckpointCall,
    ConcludeCall,
    RespondCall,
    TransferCall,
)
from forcemove.protocol.encoding import word
from forcemove.protocol.types import Signature, SupportProof
from scripts.vector_values import fixed_part_to_json, hex_, outcome_to_json, state_to_json
from tests.protocol.calls import calls, write
from tests.viem.line import HERE
from tests.viem.test_javascript_vectors import node


def knows_evidence(call: Call) -> bool:
    """JavaScript hashes evidence itself."""
    match call:
        case ChallengeCall(_, proof) | CheckpointCall(_, proof):
            return not proof.states[0].evidence_hash
        case RespondCall(_, challenged):
            return not challenged.evidence_hash
        case _:
            return True


def to_json(call: Call) -> dict[str, Any]:
    match call:
        case ChallengeCall(fixed, proof, signature):
            by = {"challengerSignature": signature and hex_(signature.compact)}
            return {"operation": "challenge", "fixedPart": fixed_part_to_json(fixed), **proof_to_json(proof), **by}
        case CheckpointCall(fixed, proof):
            return {"operation": "checkpoint", "fixedPart": fixed_part_to_json(fixed), **proof_to_json(proof)}
        case RespondCall(fixed, challenged, response, signature):
            return {
                "operation": "respond",
                "fixedPart": fixed_part_to_json(fixed),
                "challenged": state_to_json(challenged),
                "response": state_to_json(response),
                "signature": hex_(signature.compact),
            }
        case ConcludeCall(fixed, outcome, turn_num, signatures, push):
            return {
                "operation": "conclude",
                "fixedPart": fixed_part_to_json(fixed),
                "outcome": outcome_to_json(outcome),
                "turnNum": turn_num,
                "signatures": texts(signatures),
                "push": push,
            }
        case TransferCall(id_, asset, state_hash, outcome, indices, push):
            return {
                "operation": "transfer",
                "channelId": hex_(id_),
                "asset": hex_(asset),
                "stateHash": hex_(state_hash),
                "outcome": outcome_to_json(outcome),
                "indices": indices,
                "push": push,
            }
        case BatchCall(items):
            shown = [{"gas": item.gas, "calldata": hex_(item.calldata)} for item in items]
            return {"operation": "batch", "items": shown}
        case _:
            assert_never(call)


def proof_to_json(proof: SupportProof) -> dict[str, Any]:
    return {
        "signatures": texts(proof.signatures),
        "states": [state_to_json(state) for state in proof.states],
        "signedStates": hex_(word(proof.signed_states)),
    }


def texts(signatures: tuple[Signature, ...]) -> list[str]:
    return [hex_(each.compact) for each in signatures]


@pytest.mark.parametrize("count", [100, pytest.param(10_000, marks=pytest.mark.long)])
def test_javascript_writes_what_python_writes(count: int) -> None:
    """One program writes all that were collected."""
    collected: list[Call] = []

    @settings(max_examples=count)
    @given(calls.filter(knows_evidence))
    def collect(call: Call) -> None:
        collected.append(call)

    collect()
    done = node("calls.mjs", given=json.dumps([to_json(call) for call in collected]))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [hex_(write(call)) for call in collected]
    assert len(collected) >= count


@pytest.mark.parametrize("name", ["calls.mjs", "packed.mjs", "keccak.mjs"])
def test_the_writer_has_no_library(name: str) -> None:
    text = Path(HERE / name).read_text("utf-8")
    imported = {line.rpartition(" from ")[2].strip('";') for line in text.splitlines() if line.startswith("import ")}
    assert imported <= {"node:fs", "./packed.mjs", "./keccak.mjs"}
