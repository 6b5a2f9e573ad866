"""The golden vectors are the same for JavaScript, and for a wallet that is given the typed data as they are there."""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from forcemove.chain.local import AnvilChain
from forcemove.protocol.signing import Key, recover
from forcemove.protocol.types import Signature
from scripts.vectors import VECTORS
from tests.sampled import sampled
from tests.viem.line import HERE

CONTENT: dict[str, Any] = json.loads(VECTORS.read_text("utf-8"))
WALLET = Key(bytes.fromhex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"))
"""The account that every anvil knows by itself, and signs for."""


def node(program: str, *arguments: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    command = ["node", str(HERE / program), *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)  # noqa: S603


def test_javascript_finds_every_vector_right() -> None:
    done = node("vectors.mjs")
    assert done.returncode == 0, done.stderr
    compared = json.loads(done.stdout)
    assert compared.keys() == CONTENT.keys()
    assert compared["proofs"] == sum(4 if proof["calldata"] else 1 for proof in CONTENT["proofs"])
    responses = sum(call["operation"] == "respond" for call in CONTENT["calls"]["whole"])
    assert compared["calls"] == sum(map(len, CONTENT["calls"].values())) + responses
    assert compared["channels"] == 2 * len(CONTENT["channels"])


FALSE = [
    (("version",), 1, "version, version: 1 instead of 2"),
    (("domains", 0, "chainId"), "31338", "domains, 0: "),
    (("channels", 1, "fixedPart", "channelNonce"), "18446744073709551614", "channels, 1: "),
    (("channels", 1, "fixedPart", "total"), "21", "channels, 1: "),
    (("channels", 4, "fixedPart", "asset"), "0x" + "00" * 20, "channels, 4: "),
    (("channels", 4, "lateKey"), "0x" + "00" * 32, "channels, 4 keys: "),
    (("states", 6, "state", "evidence"), "0x", "states, 6 stateHash: "),
    (("holdings", 8, "total"), "8", "holdings, recorded, full, and a surplus: "),
    (("states", 2, "state", "isFinal"), False, "states, 2 stateHash: "),
    (("states", 3, "state", "outcome", 2, "amount"), "1", "states, 3 outcomeHash: "),
    (("states", 0, "typedData", "message", "turnNum"), 1, "states, 0 typedData: "),
    (("statuses", 2, "finalizesAt"), 1_900_000_001, "statuses, 2: "),
    (("signatures", 0, "signer"), "0x" + "11" * 20, "signatures, as it was made: "),
    (("records", "refused", 0, "record"), CONTENT["records"]["whole"][0]["record"], "records, empty: null"),
    (("proofs", 0, "error"), "WrongSigner", "proofs, one state that both have signed: null"),
    (("proofs", 2, "calldata"), CONTENT["proofs"][0]["calldata"], "proofs, two states, each signed by its mover: "),
    (("calls", "whole", 0, "calldata"), "0x8a4068dd", "calls, the recorded state again: "),
    (("calls", "refused", 0, "values"), [5], "calls, a head with bit 4: "),
    (("surprise",), [], "there are parts that nobody checks: surprise"),
]
"""Where a value is false, which one it is, and what is told."""


@pytest.mark.parametrize(("place", "value", "told"), sampled(FALSE, every=4))
def test_a_wrong_vector_is_found(tmp_path: Path, place: tuple[str | int, ...], value: object, told: str) -> None:
    changed: Any = copy.deepcopy(CONTENT)
    inner = changed
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps(changed), "utf-8")

    done = node("vectors.mjs", path)
    assert done.returncode == 1
    assert done.stderr.startswith(told)


def sign_by_wallet(anvil: AnvilChain, typed_data: list[Any]) -> list[dict[str, str]]:
    """By anvil with eth_signTypedData_v4, and by viem."""
    task = {"rpc": anvil.endpoint, "address": "0x" + WALLET.address.hex(), "privateKey": "0x" + WALLET.secret.hex()}
    done = node("wallet.mjs", given=json.dumps(task | {"typedData": typed_data}))
    assert done.returncode == 0, done.stderr
    signed: list[dict[str, str]] = json.loads(done.stdout)
    return signed


def compact(long: str) -> Signature:
    """From the 65 bytes that wallets give."""
    r, s, v = bytes.fromhex(long[2:66]), int(long[66:130], 16), int(long[130:], 16)
    return Signature(r + (s | (v - 27) << 255).to_bytes(32, "big"))


def test_a_wallet_signs_the_typed_data_as_the_python_key_does(anvil: AnvilChain) -> None:
    cases = [(state[data], state[hash_]) for state in CONTENT["states"] for data, hash_ in _TYPED]
    signed = sign_by_wallet(anvil, [data for data, _ in cases])
    for (_, digest), by in zip(cases, signed, strict=True):
        expected = WALLET.sign(bytes.fromhex(digest[2:]))
        assert (compact(by["node"]), compact(by["viem"])) == (expected, expected)


_TYPED = (("typedData", "digest"), ("challengeTypedData", "challengeDigest"))


def test_another_type_gives_a_signature_that_is_nobodys(anvil: AnvilChain) -> None:
    state = copy.deepcopy(CONTENT["states"][0])
    (member,) = (each for each in state["typedData"]["types"]["State"] if each["name"] == "turnNum")
    member["type"] = "uint64"
    (signed,) = sign_by_wallet(anvil, [state["typedData"]])
    assert recover(bytes.fromhex(state["digest"][2:]), compact(signed["node"])) != WALLET.address
