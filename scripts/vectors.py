#!/usr/bin/env python3
"""Writes what clients in other languages are made with: `contracts/eip712.json`, `contracts/vectors.json`,
`contracts/cards-vectors.json` and `contracts/discard-vectors.json`.

    scripts/vectors.py              bring all up to date
    scripts/vectors.py --check      only say which is stale (exit status 1)

The first holds the EIP-712 types and the domain as `eth_signTypedData_v4` takes them, the others golden vectors: inputs
with what must come out. All of it comes from the Python twins (`forcemove.protocol`, `forcemove_games`). What is
to be refused, and with which error, is also in `scripts/vector_proofs.py` and `scripts/vector_messages.py`, and must be
what the twin says. `contracts/README.md` explains every part. Runs in the project's environment."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forcemove import Allocation, Outcome, VariablePart, address_destination, keccak256  # noqa: E402
from forcemove.chain.create2 import CUSTOMARY_FACTORY, SALT, create2_address  # noqa: E402
from forcemove.protocol import encoding, words  # noqa: E402
from forcemove.protocol.types import ETHER, MAX_AMOUNT, UINT48_MAX, UINT256_MAX, FixedPart, Signature  # noqa: E402
from scripts.vector_calls import call_vectors  # noqa: E402
from scripts.vector_cards import card_vectors, discard_vectors  # noqa: E402
from scripts.vector_messages import file_vectors, message_vectors  # noqa: E402
from scripts.vector_proofs import proof_vectors  # noqa: E402
from scripts.vector_records import holdings_vectors, record_vectors, signature_vectors, status_vectors  # noqa: E402
from scripts.vector_values import (  # noqa: E402
    CHANNELS,
    ELSEWHERE,
    HERE,
    KEYS,
    TOKENS,
    allocation_to,
    fingerprint_to_json,
    fixed_part_to_json,
    hex_,
    id_of,
    sign,
    state_to_json,
)

EIP712 = ROOT / "contracts" / "eip712.json"
VECTORS = ROOT / "contracts" / "vectors.json"
CARDS = ROOT / "contracts" / "cards-vectors.json"
DISCARD = ROOT / "contracts" / "discard-vectors.json"


# -------------------------------------------------------------------------------------------------------------- EIP-712


def eip712() -> dict[str, Any]:
    """The types, each with its members in their order, and the domain's two members that are always the same."""
    written = {
        "EIP712Domain": encoding.DOMAIN_TYPE,
        "State": encoding.STATE_TYPE,
        "Allocation": encoding.ALLOCATION_TYPE,
        "Challenge": encoding.CHALLENGE_TYPE,
    }
    types = {name: _members(text) for name, text in written.items()}
    return {"types": types, "domain": {"name": "Forcemove", "version": "2"}}


def _members(text: bytes) -> list[dict[str, str]]:
    """Of the first type in an encoded type: `State(bytes32 channelId,...)`."""
    inside = text.decode().partition("(")[2].partition(")")[0]
    return [{"name": name, "type": kind} for kind, _, name in (each.partition(" ") for each in inside.split(","))]


def typed_data(domain: encoding.Domain, primary: str, message: dict[str, Any]) -> dict[str, Any]:
    """What `eth_signTypedData_v4` is given: with only the types that it needs."""
    parts = eip712()
    needed = ("EIP712Domain", "State", "Allocation") if primary == "State" else ("EIP712Domain", "Challenge")
    place = {"chainId": str(domain.chain_id), "verifyingContract": hex_(domain.adjudicator)}
    return {
        "types": {name: parts["types"][name] for name in needed},
        "primaryType": primary,
        "domain": parts["domain"] | place,
        "message": message,
    }


# -------------------------------------------------------------------------------------------------------------- vectors


def vectors() -> dict[str, Any]:
    """All golden vectors."""
    return {
        "version": 2,
        "keys": [{"privateKey": hex_(key.secret), "address": hex_(key.address)} for key in KEYS],
        "domains": [_domain_vector(domain) for domain in (HERE, ELSEWHERE)],
        "channels": [_channel_vector(domain, fixed) for domain, fixed in CHANNELS],
        "noChannels": _no_channels(),
        "states": [_state_vector(channel, state) for channel, state in _states()],
        "statuses": status_vectors(),
        "holdings": holdings_vectors(),
        "signatures": signature_vectors(),
        "records": record_vectors(),
        "proofs": proof_vectors(),
        "calls": call_vectors(),
        "deployments": _deployments(),
        "messages": message_vectors(),
        "files": file_vectors(),
    }


def _domain_vector(domain: encoding.Domain) -> dict[str, Any]:
    return {
        "chainId": str(domain.chain_id),
        "adjudicator": hex_(domain.adjudicator),
        "separator": hex_(domain.separator),
    }


def _channel_vector(domain: encoding.Domain, fixed: FixedPart) -> dict[str, Any]:
    id_ = encoding.channel_id(fixed, domain)
    return {
        "domain": (HERE, ELSEWHERE).index(domain),
        "fixedPart": fixed_part_to_json(fixed),
        "channelId": hex_(id_),
        "wordKey": hex_(words.word_key(id_, fixed.asset)),
        "lateKey": hex_(words.late_key(id_, fixed.asset)),
    }


def _no_channels() -> list[dict[str, Any]]:
    """Fixed parts that are refused, with the error."""
    good = fixed_part_to_json(CHANNELS[0][1])
    first, second = good["participants"]
    eight = fixed_part_to_json(CHANNELS[2][1])["participants"]
    cases: list[tuple[str, dict[str, Any]]] = [
        ("ParticipantCountOutOfRange", {"participants": [first]}),
        ("ParticipantCountOutOfRange", {"participants": [*eight, "0x" + "99" * 20]}),
        ("ZeroParticipant", {"participants": [first, "0x" + "00" * 20]}),
        ("DuplicateParticipant", {"participants": [first, second, first]}),
        ("ChallengeDurationOutOfRange", {"challengeDuration": 59}),
        ("ChallengeDurationOutOfRange", {"challengeDuration": 31_536_001}),
        ("TotalTooHigh", {"total": str(MAX_AMOUNT + 1)}),
        ("TotalTooHigh", {"total": str(UINT256_MAX), "asset": hex_(TOKENS[0])}),
    ]
    return [{"fixedPart": good | changed, "error": error} for error, changed in cases]


def _states() -> tuple[tuple[int, VariablePart], ...]:
    """States with the number of their channel: small, final, of many assets, wide, with and without evidence, and the
    first one elsewhere."""
    stakes = (allocation_to(0, 10**18), allocation_to(1, 2**53 + 1))
    first = VariablePart(stakes, encoding.word(3), 0)
    return (
        (0, first),
        (0, VariablePart(stakes, b"", 11)),
        (0, VariablePart(stakes, b"", 14, True)),
        (1, VariablePart(_mixed(), bytes(range(33)), UINT48_MAX)),
        (2, VariablePart(_wide(), bytes(range(256)) * 2, 2**40)),
        (3, first),
        (0, VariablePart(stakes, encoding.word(12), 12, evidence=b"why")),
        (0, VariablePart(stakes, b"", 13, evidence=bytes(range(64)))),
        (4, VariablePart(_of_tokens(), bytes(300), 2**32 - 1, evidence=bytes(range(1, 200)))),
    )


def _mixed() -> Outcome:
    """Four assets; to addresses, to a channel; nothing, and the most that there is."""
    return (
        allocation_to(0, 0),
        Allocation(ETHER, id_of(0), 20),
        Allocation(TOKENS[0], address_destination(KEYS[1].address), UINT256_MAX),
        Allocation(TOKENS[1], b"\xff" * 32, 1),
        Allocation(TOKENS[1], address_destination(KEYS[2].address), 2),
        Allocation(TOKENS[2], address_destination(KEYS[0].address), 2**128),
    )


def _of_tokens() -> Outcome:
    """All that a channel can have of its home asset, which is a token, and some ether."""
    shares = zip(KEYS, (1, MAX_AMOUNT - 1), strict=False)
    return (
        allocation_to(1, 5),
        *(Allocation(TOKENS[0], address_destination(key.address), each) for key, each in shares),
    )


def _wide() -> Outcome:
    """As many allocations as there may be."""
    return tuple(allocation_to(index % 8, index) for index in range(32))


def _state_vector(channel: int, state: VariablePart) -> dict[str, Any]:
    domain, fixed = CHANNELS[channel]
    id_ = encoding.channel_id(fixed, domain)
    hashes = encoding.hash_state(id_, state)
    challenged = encoding.challenge_hash(id_, state.turn_num, hashes.state)
    signers = KEYS[: len(fixed.participants)]
    signatures = [sign(key, channel, state) for key in signers]
    message = {"channelId": hex_(id_)} | state_to_json(state)
    challenge = {"channelId": hex_(id_), "turnNum": state.turn_num, "stateHash": hex_(hashes.state)}
    return {
        "channel": channel,
        "state": state_to_json(state),
        "outcomeHash": hex_(hashes.outcome),
        "appDataHash": hex_(hashes.app_data),
        "evidenceHash": hex_(hashes.evidence),
        "stateHash": hex_(hashes.state),
        "digest": hex_(encoding.digest(domain, hashes.state)),
        "fingerprint": fingerprint_to_json(encoding.fingerprint(hashes.state, hashes.outcome)),
        "typedData": typed_data(domain, "State", message),
        "signatures": [hex_(each.compact) for each in signatures],
        "longSignature": hex_(_long(signatures[0])),
        "abiEncoding": hex_(encoding.encode_variable_part(state)),
        "record": hex_(encoding.encode_record(state, signatures)),
        "challengeHash": hex_(challenged),
        "challengeDigest": hex_(encoding.digest(domain, challenged)),
        "challengeTypedData": typed_data(domain, "Challenge", challenge),
        "challengeSignature": hex_(KEYS[0].sign(encoding.digest(domain, challenged)).compact),
    }


def _long(signature: Signature) -> bytes:
    """The 65 bytes that most libraries give: r, s, and v, which is 27 or 28."""
    vs = int.from_bytes(signature.vs, "big")
    return signature.r + encoding.word(vs & 2**255 - 1) + bytes([27 + (vs >> 255)])


def _deployments() -> list[dict[str, Any]]:
    """Where factories put contracts, under the project's salt."""
    codes = (b"", bytes.fromhex("deadbeef"), bytes(range(256)) * 4)
    return [
        {
            "factory": hex_(factory),
            "creationCode": hex_(code),
            "address": hex_(create2_address(factory, SALT, keccak256(code))),
        }
        for factory in (CUSTOMARY_FACTORY, bytes.fromhex("fa" * 20))
        for code in codes
    ]


# ---------------------------------------------------------------------------------------------------------------- files


def build_files() -> dict[Path, str]:
    """Each file with its text."""
    contents = ((EIP712, eip712()), (VECTORS, vectors()), (CARDS, card_vectors()), (DISCARD, discard_vectors()))
    return {path: json.dumps(content, indent=1) + "\n" for path, content in contents}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(description="Write the files for clients in other languages.")
    parser.add_argument("--check", action="store_true", help="only say which files are stale; exit status 1 if any is")
    check = parser.parse_args(arguments).check
    files = build_files()
    stale = [path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        if not check:
            path.write_text(files[path], "utf-8")
        print(f"{path.relative_to(ROOT)} {'is stale: run scripts/vectors.py' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
