"""Packed calls of the golden vectors: what is written of values, and what no reader takes. See `scripts/vectors.py`.

Checkpoints are with the proofs, in `scripts/vector_proofs.py`. Nothing here has to keep a rule but those of the layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from forcemove import Outcome, RuleError
from forcemove.protocol.codec import packed_writer
from forcemove.protocol.codec.packed_reader import decode_call
from forcemove.protocol.encoding import hash_state, word
from forcemove.protocol.types import ETHER, Signature, SupportProof, VariablePart
from scripts.vector_values import (
    CHANNELS,
    KEYS,
    TOKENS,
    allocation_to,
    hex_,
    id_of,
    outcome_to_json,
    sign,
    state_to_json,
)

_TWO, _THREE, _TOKEN = 0, 1, 4
_W = b"\xff" * 32
_SHARES = (allocation_to(0, 10), allocation_to(1, 10))
_PUSH = 7
_DATA = {
    "none": b"",
    "not of words": b"forcemove",
    "zeros": bytes(32 * 70),
    "numbers": b"".join(map(word, (0, 1, 2**16, 2**240 - 1, 2**248 - 1))),
    "much": _W * 70 + bytes(64) + _W + word(5),
}
"""appData of each kind that is written in another way."""


def call_vectors() -> dict[str, list[dict[str, Any]]]:
    """Calls with their arguments, and calldata that means nothing."""
    whole = [*_challenges(), *_responses(), *_conclusions(), *_transfers()]
    return {"whole": [*whole, _batch(whole[:2])], "refused": [_refused(*each) for each in _meaningless()]}


def _call(name: str, operation: str, channel: int | None, arguments: dict[str, Any], calldata: bytes) -> dict[str, Any]:
    place = {} if channel is None else {"channel": channel}
    return {"name": name, "operation": operation, **place, **arguments, "calldata": hex_(calldata)}


def _signatures(channel: int, state: VariablePart) -> tuple[Signature, ...]:
    return tuple(sign(key, channel, state) for key in KEYS[: len(CHANNELS[channel][1].participants)])


def _texts(signatures: Sequence[Signature]) -> list[str]:
    return [hex_(each.compact) for each in signatures]


# ------------------------------------------------------------------------------------------------------------- whole


def _challenges() -> Iterator[dict[str, Any]]:
    before, after = (VariablePart(_SHARES, word(turn), turn, evidence=b"why" * turn) for turn in (10, 11))
    both = _signatures(_THREE, after)
    proofs = {
        "the recorded state again": SupportProof((after,), (), 0),
        "one state that all have signed": SupportProof((after,), both, 0),
        "two states, the evidence of the first by its hash": SupportProof((before, after), both, 0x010100),
        "short evidence of the first": SupportProof((replace(before, evidence=b"why"), after), both, 0x010100),
        "from the record": SupportProof((before, after), both[2:], 0),
    }
    fixed = CHANNELS[_THREE][1]
    for name, proof in proofs.items():
        for signature in (None, both[0]):
            arguments = {
                "signatures": _texts(proof.signatures),
                "states": [state_to_json(state) for state in proof.states],
                "signedStates": hex_(word(proof.signed_states)),
                "challengerSignature": signature and hex_(signature.compact),
            }
            calldata = packed_writer.challenge_call(fixed, proof, signature)
            by = "" if signature is None else ", signed by the challenger"
            yield _call(f"{name}{by}", "challenge", _THREE, arguments, calldata)


def _responses() -> Iterator[dict[str, Any]]:
    other = (allocation_to(1, 300), replace(allocation_to(0, 0), asset=TOKENS[1]))
    names = ("none", "numbers", "numbers", "not of words", "zeros", "much", "much", "numbers", "none")
    for before, after in pairwise(names):
        old, new = _DATA[before], _DATA[after]
        challenged = VariablePart(_SHARES, old, 20, evidence=old[:40])
        response = VariablePart(_SHARES if before == after else other, new, 21, evidence=new[:31])
        signature = sign(KEYS[1], _TWO, response)
        arguments = {
            "challenged": state_to_json(challenged),
            "response": state_to_json(response),
            "signature": hex_(signature.compact),
        }
        calldata = packed_writer.respond_call(CHANNELS[_TWO][1], challenged, response, signature)
        yield _call(f"from {before} to {after}", "respond", _TWO, arguments, calldata)


def _conclusions() -> Iterator[dict[str, Any]]:
    token = replace(allocation_to(1, 2**253 - 1), asset=TOKENS[0])
    outcomes: tuple[tuple[str, int, Outcome], ...] = (
        ("what adds up", _THREE, _SHARES),
        ("what adds up, all to the first", _THREE, (allocation_to(0, 20), allocation_to(1, 0))),
        ("what does not add up", _THREE, (allocation_to(0, 10), allocation_to(1, 11))),
        ("to another place than its own", _THREE, (allocation_to(1, 5), allocation_to(0, 15))),
        ("to another channel", _TWO, (replace(allocation_to(0, 2**64), destination=id_of(_THREE)),)),
        ("a token as home asset", _TOKEN, (token,)),
        ("ether before the token", _TOKEN, (allocation_to(0, 5), token)),
        ("two tokens after ether", _TWO, (allocation_to(0, 5), token, replace(token, asset=TOKENS[1], amount=0))),
        ("nothing", _TWO, ()),
    )
    for name, channel, outcome in outcomes:
        signatures = _signatures(channel, VariablePart(outcome, b"", 14, True))
        arguments = {
            "outcome": outcome_to_json(outcome),
            "turnNum": 14,
            "signatures": _texts(signatures),
            "push": _PUSH,
        }
        calldata = packed_writer.conclude_call(CHANNELS[channel][1], outcome, 14, signatures, _PUSH)
        yield _call(name, "conclude", channel, arguments, calldata)


def _transfers() -> Iterator[dict[str, Any]]:
    for name, asset, indices in (("all", ETHER, ()), ("some", ETHER, (0, 1)), ("of a token", TOKENS[0], (1,))):
        hash_ = hash_state(id_of(_TWO), VariablePart(_SHARES, b"", 14)).state
        arguments = {
            "channelId": hex_(id_of(_TWO)),
            "asset": hex_(asset),
            "stateHash": hex_(hash_),
            "outcome": outcome_to_json(_SHARES),
            "indices": indices,
            "push": _PUSH,
        }
        calldata = packed_writer.transfer_call(id_of(_TWO), asset, hash_, _SHARES, indices, _PUSH)
        yield _call(name, "transfer", None, arguments, calldata)


def _batch(calls: Sequence[dict[str, Any]]) -> dict[str, Any]:
    items = [(100_000, bytes.fromhex(call["calldata"][2:])) for call in calls]
    shown = [{"gas": gas, "calldata": hex_(calldata)} for gas, calldata in items]
    return _call("two challenges", "batch", None, {"items": shown}, packed_writer.batch_call(items))


# ----------------------------------------------------------------------------------------------------------- refused


def _meaningless() -> Iterator[tuple[str, bytes]]:
    """A good checkpoint with something changed. Its proof begins at 78, its states at 85 and 94."""
    fixed = CHANNELS[_TWO][1]
    states = tuple(VariablePart(_SHARES, word(turn), turn) for turn in (10, 11))
    good = packed_writer.checkpoint_call(fixed, SupportProof(states, _signatures(_TWO, states[1]), 0x0100))
    changes = {
        "a head with bit 4": (4, 0x92),
        "a total of 33 bytes": (37, 33),
        "no states": (84, 0),
        "more states than participants": (84, 3),
        "flag 5": (85, 0x24),
        "the outcome as before the first": (85, 0x06),
        "evidence and its hash": (85, 0x1C),
        "the hash of the last evidence": (94, 0x0E),
        "a destination of the fourth kind": (87, 0xC1),
        "an amount of 33 bytes": (87, 33),
        "the rest of no total": (89, 63),
        "the mark 0x21": (92, 0x21),
        "words as before the first": (92, 0x80),
        "more words than there are": (96, 0x41),
    }
    for name, (place, value) in changes.items():
        yield name, good[:place] + bytes((value,)) + good[place + 1 :]
    yield "a turn before the first", good[:78] + bytes(6) + good[84:]
    yield "a byte too few", good[:-1]
    yield "a byte too many", good + b"\0"


def _refused(name: str, calldata: bytes) -> dict[str, Any]:
    try:
        decode_call(calldata)
    except RuleError as error:
        return {
            "name": name,
            "calldata": hex_(calldata),
            "error": type(error).__name__,
            "values": [*error.values().values()],
        }
    raise ValueError(f"{name}: this means something")
