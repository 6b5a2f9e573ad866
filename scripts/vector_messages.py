"""The messages and files of the golden vectors, whole ones and such as are refused. See `scripts/vectors.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from forcemove import ForcemoveError, SignedState, VariablePart, word
from forcemove.protocol.codec import wire
from scripts.vector_values import CHANNELS, KEYS, TOKENS, allocation_to, hex_, id_of, sign, state_to_json

Refused = Iterator[tuple[str, str, str]]
"""What is wrong, the text, and the error."""


def message_vectors() -> dict[str, Any]:
    """Messages of both kinds. Raises `ValueError` where the twin takes one that is to be refused."""
    signed = _signed(0, evidence=b"why")
    state = wire.encode_message(id_of(0), signed).decode()
    greeting = wire.encode_greeting(id_of(0), 1, 12).decode()
    return {
        "states": [
            {"channel": 0, "message": wire.encode_message(id_of(0), each).decode()} | _contents(each)
            for each in (signed, SignedState(signed.state, {1: signed.signatures[1]}))
        ],
        "greetings": [{"channel": 0, "message": greeting, "sender": 1, "nextTurn": 12}],
        "refused": [_refused(name, text, error, wire.decode_message) for name, text, error in _no_messages(state)],
    }


def file_vectors() -> dict[str, Any]:
    """Signed-state files. Raises as `message_vectors`."""
    shown = [(0, _signed(0)), (3, _signed(3, evidence=b"why")), (4, _signed(4))]
    texts = [wire.encode_file(wire.SignedStateFile(*CHANNELS[channel], signed)) for channel, signed in shown]
    return {
        "whole": [
            {"channel": channel, "file": text} | _contents(signed)
            for (channel, signed), text in zip(shown, texts, strict=True)
        ],
        "refused": [_refused(name, text, error, wire.decode_file) for name, text, error in _no_files(texts[0])],
    }


def _signed(channel: int, evidence: bytes = b"") -> SignedState:
    """By both players, with a total that the channel takes."""
    total = CHANNELS[channel][1].total
    ether = (allocation_to(0, 10**18), allocation_to(1, 2**53 + 1))
    outcome = (*ether, replace(allocation_to(0, total), asset=TOKENS[0])) if total else ether
    state = VariablePart(outcome, word(11), 11, evidence=evidence)
    return SignedState(state, {index: sign(KEYS[index], channel, state) for index in (0, 1)})


def _contents(signed: SignedState) -> dict[str, Any]:
    signatures = {str(index): hex_(signature.compact) for index, signature in signed.signatures.items()}
    return {"state": state_to_json(signed.state), "signatures": signatures}


def _refused(name: str, text: str, error: str, decode: Any) -> dict[str, str]:
    try:
        decode(text.encode())
    except ForcemoveError as refusal:
        if type(refusal).__name__ == error:
            return {"name": name, "text": text, "error": error}
        raise
    raise ValueError(f"{name}: the twin takes it")


def _no_messages(good: str) -> Refused:
    content = json.loads(good)

    def changed(**members: Any) -> str:
        return json.dumps(content | members, sort_keys=True, separators=(",", ":"))

    record = content["record"]
    yield "of a newer version", changed(version=wire.MESSAGE_VERSION + 1), "UnknownVersion"
    yield "of version 0", changed(version=0), "MalformedBytes"
    yield "without a version", good.replace(',"version":1', ""), "MalformedBytes"
    yield "its version is a text", changed(version="1"), "MalformedBytes"
    yield "no JSON", good[:-1], "MalformedBytes"
    yield "no object", "[]", "MalformedBytes"
    yield "of an unknown kind", changed(kind="move"), "MalformedBytes"
    yield "a member too many", changed(hint=""), "MalformedBytes"
    yield "a member too few", good.replace(',"signers":[0,1]', ""), "MalformedBytes"
    backwards = {name: content[name] for name in sorted(content, reverse=True)}
    yield "members in another order", json.dumps(backwards, separators=(",", ":")), "MalformedBytes"
    yield "a space", good.replace(",", ", ", 1), "MalformedBytes"
    yield "hex in capitals", good.replace(record, "0x" + record[2:].upper()), "MalformedBytes"
    yield "a channel's id that is too short", changed(channelId=content["channelId"][:-2]), "MalformedBytes"
    yield "signers that do not rise", changed(signers=[1, 0]), "MalformedBytes"
    yield "a signer too few", changed(signers=[0]), "MalformedBytes"
    yield "a signer whom no channel has", changed(signers=[0, 8]), "MalformedBytes"
    yield "a record that is cut", changed(record=record[:-2]), "MalformedBytes"
    yield "half a byte", changed(record=record[:-1]), "MalformedBytes"


def _no_files(good: str) -> Refused:
    def changed(*path: str, value: Any) -> str:
        content = inner = json.loads(good)
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = value
        return json.dumps(content)

    yield "of a newer version", changed("format", value="forcemove-signed-state/3"), "UnknownVersion"
    yield "of an older version", changed("format", value="forcemove-signed-state/1"), "UnknownVersion"
    yield "of another format", changed("format", value="forcemove-address-book/1"), "MalformedBytes"
    yield "a chain id that is not text", changed("chainId", value=31_337), "MalformedBytes"
    yield "a nonce with a zero before it", changed("fixedPart", "channelNonce", value="07"), "MalformedBytes"
    yield "a nonce that is too large", changed("fixedPart", "channelNonce", value=str(2**64)), "MalformedBytes"
    yield "a total with a zero before it", changed("fixedPart", "total", value="00"), "MalformedBytes"
    yield "a total that is too large", changed("fixedPart", "total", value=str(2**253)), "MalformedBytes"
    yield "a home asset of 21 bytes", changed("fixedPart", "asset", value="0x" + "11" * 21), "MalformedBytes"
    yield "evidence in half a byte", changed("state", "evidence", value="0x1"), "MalformedBytes"
    yield "one participant", changed("fixedPart", "participants", value=["0x" + "11" * 20]), "MalformedBytes"
    yield "an unknown member", changed("state", "hint", value=""), "MalformedBytes"
    yield "a turn in quotes", changed("state", "turnNum", value="11"), "MalformedBytes"
    yield "a signature of 65 bytes", changed("signatures", "0", value="0x" + "11" * 65), "MalformedBytes"
    yield "a signer whom no channel has", changed("signatures", "8", value="0x" + "11" * 64), "MalformedBytes"
