"""The golden vectors, read from their file: they are what the twin makes, and the bytecode says the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import astuple

from forcemove import ETHER, Allocation, ForcemoveError, MalformedBytes, RuleError, keccak256
from forcemove.chain import chain, codec, create2, local, reverts
from forcemove.chain.adjudicator import Adjudicator, Operation
from forcemove.contracts import artifact
from forcemove.protocol import adjudication, encoding, signing, types, words
from forcemove.protocol.codec import packed_writer, wire
from forcemove.protocol.codec.packed import ETHER_BIT, SELECTORS
from forcemove.protocol.codec.packed_reader import decode_call
from forcemove.protocol.machine.inputs import Greeted, StateReceived
from forcemove.protocol.rule_errors import StateCountOutOfRange
from forcemove.protocol.types import SignedState, SupportProof, VariablePart
from forcemove.protocol.words import Status
from scripts import vectors
from scripts.vectors import CARDS, DISCARD, EIP712, VECTORS
from tests.protocol.builders import COUNTING, MalformedCount, WrongCount
from tests.protocol.calls import write

CONTENT: dict[str, Any] = json.loads(VECTORS.read_text("utf-8"))
KEYS = [signing.Key(bytes.fromhex(each["privateKey"][2:])) for each in CONTENT["keys"]]
HERE = 0
"""The domain in which the bytecode is asked."""


def bytes_(text: str) -> bytes:
    assert text == text.lower()
    return bytes.fromhex(text.removeprefix("0x"))


def domain(index: int) -> encoding.Domain:
    content = CONTENT["domains"][index]
    return encoding.Domain(int(content["chainId"]), bytes_(content["adjudicator"]))


def fixed_part(content: dict[str, Any]) -> types.FixedPart:
    participants = tuple(map(bytes_, content["participants"]))
    app, nonce = bytes_(content["appDefinition"]), int(content["channelNonce"])
    asset, total = bytes_(content["asset"]), int(content["total"])
    return types.FixedPart(participants, nonce, app, content["challengeDuration"], asset, total)


def channel(vector: dict[str, Any]) -> tuple[encoding.Domain, types.FixedPart, bytes]:
    """Domain, fixed part and id of the channel that a vector is of."""
    content = CONTENT["channels"][vector["channel"]]
    return domain(content["domain"]), fixed_part(content["fixedPart"]), bytes_(content["channelId"])


def state_of(content: dict[str, Any]) -> VariablePart:
    outcome = tuple(
        Allocation(bytes_(each["asset"]), bytes_(each["destination"]), int(each["amount"]))
        for each in content["outcome"]
    )
    app_data, evidence = bytes_(content["appData"]), bytes_(content["evidence"])
    return VariablePart(outcome, app_data, content["turnNum"], content["isFinal"], evidence)


def signatures_of(texts: list[str]) -> tuple[types.Signature, ...]:
    return tuple(types.Signature(bytes_(text)) for text in texts)


def proof_of(vector: dict[str, Any]) -> SupportProof:
    states = tuple(map(state_of, vector["states"]))
    return SupportProof(states, signatures_of(vector["signatures"]), int(vector["signedStates"], 16))


def status_of(vector: dict[str, Any]) -> Status:
    """What is recorded on chain."""
    return Status.unpack(int(vector["recorded"]["status"], 16)) if vector["recorded"] else Status(0, 0, 0)


# --------------------------------------------------------------------------------------------------------- up to date


def test_the_files_are_what_the_twin_makes() -> None:
    built = vectors.build_files()
    assert built.keys() == {CARDS, DISCARD, EIP712, VECTORS}
    assert [path.name for path, text in built.items() if path.read_text("utf-8") != text] == []


def test_a_stale_file_is_told_and_brought_up_to_date(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "eip712.json"
    monkeypatch.setattr(vectors, "ROOT", tmp_path)
    monkeypatch.setattr(vectors, "build_files", lambda: {path: "new"})
    path.write_text("old", "utf-8")

    assert vectors.main(["--check"]) == 1
    assert capsys.readouterr().out == "eip712.json is stale: run scripts/vectors.py\n"
    assert path.read_text("utf-8") == "old"
    assert vectors.main([]) == 0
    assert path.read_text("utf-8") == "new"
    assert vectors.main(["--check"]) == 0


# --------------------------------------------------------------------------------------------------------- the twin


@pytest.mark.parametrize("index", range(len(CONTENT["domains"])))
def test_domains(index: int) -> None:
    assert domain(index).separator == bytes_(CONTENT["domains"][index]["separator"])


@pytest.mark.parametrize("vector", CONTENT["channels"])
def test_channels(vector: dict[str, Any]) -> None:
    fixed = fixed_part(vector["fixedPart"])
    id_ = encoding.channel_id(fixed, domain(vector["domain"]))
    assert id_ == bytes_(vector["channelId"])
    assert words.word_key(id_, fixed.asset) == bytes_(vector["wordKey"])
    assert words.late_key(id_, fixed.asset) == bytes_(vector["lateKey"])


@pytest.mark.parametrize("vector", CONTENT["noChannels"])
def test_fixed_parts_that_are_refused(vector: dict[str, Any]) -> None:
    assert verdict(lambda: fixed_part(vector["fixedPart"])) == vector["error"]


@pytest.mark.parametrize("vector", CONTENT["states"])
def test_states(vector: dict[str, Any]) -> None:
    where, fixed, id_ = channel(vector)
    state = state_of(vector["state"])
    hashes = encoding.hash_state(id_, state)
    to_sign = encoding.digest(where, hashes.state)
    signatures = tuple(key.sign(to_sign) for key in KEYS[: len(fixed.participants)])
    assert [*hashes, to_sign] == [
        bytes_(vector[name]) for name in ("outcomeHash", "appDataHash", "evidenceHash", "stateHash", "digest")
    ]
    assert encoding.word(encoding.fingerprint(hashes.state, hashes.outcome))[8:] == bytes_(vector["fingerprint"])
    assert signatures == signatures_of(vector["signatures"])
    assert encoding.encode_variable_part(state) == bytes_(vector["abiEncoding"])
    assert encoding.decode_variable_part(bytes_(vector["abiEncoding"])) == state
    assert encoding.encode_record(state, signatures) == bytes_(vector["record"])
    assert encoding.decode_record(bytes_(vector["record"])) == (state, signatures)


@pytest.mark.parametrize("vector", CONTENT["states"])
def test_challenges(vector: dict[str, Any]) -> None:
    where, _, id_ = channel(vector)
    hash_ = encoding.challenge_hash(id_, vector["state"]["turnNum"], bytes_(vector["stateHash"]))
    assert hash_ == bytes_(vector["challengeHash"])
    assert encoding.digest(where, hash_) == bytes_(vector["challengeDigest"])
    assert KEYS[0].sign(encoding.digest(where, hash_)).compact == bytes_(vector["challengeSignature"])


@pytest.mark.parametrize("vector", CONTENT["statuses"])
def test_statuses(vector: dict[str, Any]) -> None:
    status = Status(vector["turnNumRecord"], vector["finalizesAt"], int(vector["fingerprint"], 16))
    word, full, surplus = int(vector["word"], 16), vector["isFull"] << 253, vector["hasSurplus"] << 252
    assert Status.unpack(word) == status
    assert status.pack() | full | surplus == word
    assert (words.status_word(word) != 0) == vector["isRecorded"]


@pytest.mark.parametrize("vector", CONTENT["holdings"], ids=lambda vector: vector["name"])
def test_holdings(vector: dict[str, Any]) -> None:
    held = words.holdings_in(int(vector["word"], 16), int(vector["lateWord"], 16), int(vector["total"]))
    assert (str(held.amount), held.payout_begun, held.closed) == held_in(vector)


def held_in(vector: dict[str, Any]) -> tuple[str, bool, bool]:
    return vector["held"], vector["payoutBegun"], vector["closed"]


@pytest.mark.parametrize("vector", CONTENT["signatures"], ids=lambda vector: vector["name"])
def test_signatures(vector: dict[str, Any]) -> None:
    to_sign, signature = bytes_(vector["digest"]), types.Signature(bytes_(vector["signature"]))
    assert verdict(lambda: signing.require_signer(to_sign, signature, bytes_(vector["signer"]))) == vector["error"]


@pytest.mark.parametrize("vector", CONTENT["records"]["whole"])
def test_records(vector: dict[str, Any]) -> None:
    state, signatures = state_of(vector["state"]), signatures_of(vector["signatures"])
    assert encoding.decode_record(bytes_(vector["record"])) == (state, signatures)
    assert encoding.encode_record(state, signatures) == bytes_(vector["record"])


@pytest.mark.parametrize("vector", CONTENT["records"]["refused"], ids=lambda vector: vector["name"])
def test_bytes_that_are_no_record(vector: dict[str, Any]) -> None:
    with pytest.raises(MalformedBytes):
        encoding.decode_record(bytes_(vector["record"]))


@pytest.mark.parametrize("vector", CONTENT["deployments"])
def test_deployments(vector: dict[str, Any]) -> None:
    code_hash = keccak256(bytes_(vector["creationCode"]))
    assert create2.create2_address(bytes_(vector["factory"]), create2.SALT, code_hash) == bytes_(vector["address"])


@pytest.mark.parametrize("vector", CONTENT["messages"]["states"])
def test_messages(vector: dict[str, Any]) -> None:
    id_ = channel(vector)[2]
    signed = signed_of(vector)
    assert wire.decode_message(vector["message"].encode()) == (id_, StateReceived(signed))
    assert wire.encode_message(id_, signed) == vector["message"].encode()


@pytest.mark.parametrize("vector", CONTENT["messages"]["greetings"])
def test_greetings(vector: dict[str, Any]) -> None:
    id_, said = channel(vector)[2], Greeted(vector["sender"], vector["nextTurn"])
    assert wire.decode_message(vector["message"].encode()) == (id_, said)
    assert wire.encode_greeting(id_, said.sender, said.next_turn) == vector["message"].encode()


@pytest.mark.parametrize("vector", CONTENT["files"]["whole"])
def test_files(vector: dict[str, Any]) -> None:
    where, fixed, _ = channel(vector)
    assert wire.decode_file(vector["file"]) == wire.SignedStateFile(where, fixed, signed_of(vector))


@pytest.mark.parametrize("vector", CONTENT["messages"]["refused"], ids=lambda vector: vector["name"])
def test_messages_that_are_refused(vector: dict[str, Any]) -> None:
    assert verdict(lambda: wire.decode_message(vector["text"].encode())) == vector["error"]


@pytest.mark.parametrize("vector", CONTENT["files"]["refused"], ids=lambda vector: vector["name"])
def test_files_that_are_refused(vector: dict[str, Any]) -> None:
    assert verdict(lambda: wire.decode_file(vector["text"])) == vector["error"]


def signed_of(vector: dict[str, Any]) -> SignedState:
    signatures = {int(index): types.Signature(bytes_(text)) for index, text in vector["signatures"].items()}
    return SignedState(state_of(vector["state"]), signatures)


def verdict(action: Any) -> str | None:
    """The name of what is raised, or None."""
    try:
        action()
    except ForcemoveError as error:
        return type(error).__name__
    return None


@pytest.mark.parametrize("vector", CONTENT["proofs"], ids=lambda vector: vector["name"])
def test_proofs(vector: dict[str, Any]) -> None:
    where, fixed, id_ = channel(vector)
    before = adjudication.Adjudication(where, {(id_, fixed.asset): status_of(vector)} if vector["recorded"] else {})
    sent = adjudication.Transaction(KEYS[0].address, 1_900_000_000)
    assert verdict(lambda: adjudication.checkpoint(before, sent, fixed, proof_of(vector), COUNTING)) == vector["error"]


@pytest.mark.parametrize("vector", CONTENT["proofs"], ids=lambda vector: vector["name"])
def test_the_calldata_of_proofs(vector: dict[str, Any]) -> None:
    _, fixed, _ = channel(vector)
    if vector["calldata"] is None:
        with pytest.raises(StateCountOutOfRange):
            packed_writer.checkpoint_call(fixed, proof_of(vector))
    else:
        assert packed_writer.checkpoint_call(fixed, proof_of(vector)) == bytes_(vector["calldata"])


@pytest.mark.parametrize("vector", CONTENT["calls"]["whole"], ids=lambda vector: vector["name"])
def test_calls(vector: dict[str, Any]) -> None:
    calldata = bytes_(vector["calldata"])
    assert SELECTORS[vector["operation"]] == calldata[:4]
    assert write(decode_call(calldata)) == calldata


@pytest.mark.parametrize("vector", CONTENT["calls"]["refused"], ids=lambda vector: vector["name"])
def test_calls_that_mean_nothing(vector: dict[str, Any]) -> None:
    with pytest.raises(RuleError) as caught:
        decode_call(bytes_(vector["calldata"]))
    found = {"error": type(caught.value).__name__, "values": [*caught.value.values().values()]}
    assert found.items() <= vector.items()


# ------------------------------------------------------------------------------------------------------- the bytecode


@pytest.mark.parametrize("vector", CONTENT["calls"]["refused"], ids=lambda vector: vector["name"])
def test_calls_that_mean_nothing_on_the_bytecode(adjudicator: Adjudicator, vector: dict[str, Any]) -> None:
    operation = Operation("checkpoint", bytes_(vector["calldata"]))
    assert verdict(lambda: adjudicator.simulate(operation, KEYS[0].address)) == vector["error"]


@pytest.fixture(scope="module")
def adjudicator(anvil: local.AnvilChain) -> Iterator[Adjudicator]:
    """At the vectors' address, with the counting app at its own."""
    app = fixed_part(CONTENT["channels"][0]["fixedPart"]).app_definition
    for address, name in ((domain(HERE).adjudicator, "Adjudicator"), (app, "CountingApp")):
        anvil.rpc.ask("anvil_setCode", _hex(address), _hex(artifact(name).runtime_bytecode))
    errors = reverts.app_errors(artifact("CountingApp"), {"MalformedCount": MalformedCount, "WrongCount": WrongCount})
    made = Adjudicator(anvil, domain(HERE).adjudicator, errors)
    assert made.domain == domain(HERE)
    yield made
    for address in (domain(HERE).adjudicator, app):
        anvil.rpc.ask("anvil_setCode", _hex(address), "0x")


def _hex(data: bytes) -> str:
    return "0x" + data.hex()


def store(adjudicator: Adjudicator, key: bytes, word: int) -> None:
    """Put a word on the chain."""
    adjudicator.chain.rpc.ask("anvil_setStorageAt", _hex(adjudicator.address), _hex(key), _hex(encoding.word(word)))


def record(adjudicator: Adjudicator, id_: bytes, asset: bytes, status: Status) -> None:
    """Put a status on the chain."""
    store(adjudicator, words.word_key(id_, asset), status.pack())
    assert adjudicator.status_of(id_, asset) == status


PROOFS_HERE = [
    each for each in CONTENT["proofs"] if each["calldata"] and CONTENT["channels"][each["channel"]]["domain"] == HERE
]


@pytest.mark.parametrize("vector", [each for each in CONTENT["channels"] if each["domain"] == HERE])
def test_channels_on_the_bytecode(adjudicator: Adjudicator, vector: dict[str, Any]) -> None:
    assert view(adjudicator, "channelIdOf", astuple(fixed_part(vector["fixedPart"]))) == (bytes_(vector["channelId"]),)


@pytest.mark.parametrize("vector", CONTENT["noChannels"])
def test_fixed_parts_that_are_refused_on_the_bytecode(adjudicator: Adjudicator, vector: dict[str, Any]) -> None:
    given = vector["fixedPart"]
    asset, total, participants = bytes_(given["asset"]), int(given["total"]), list(map(bytes_, given["participants"]))
    fixed = (
        bytes((len(participants) | (0 if any(asset) else ETHER_BIT),)),
        int(given["channelNonce"]).to_bytes(8),
        bytes_(given["appDefinition"]),
        given["challengeDuration"].to_bytes(4),
        asset if any(asset) else b"",
        b"\x20" + encoding.word(total),
        *participants,
    )
    rest = bytes(6 + 1 + 64 * len(participants) + 1)  # turn 0, no allocation, signatures, no gas for payments
    operation = Operation("conclude", SELECTORS["conclude"] + b"".join(fixed) + rest)
    sender = local.local_keys()[7].address
    assert verdict(lambda: adjudicator.simulate(operation, sender)) == vector["error"]


@pytest.mark.parametrize("vector", CONTENT["states"])
def test_states_on_the_bytecode(adjudicator: Adjudicator, vector: dict[str, Any]) -> None:
    state = state_of(vector["state"])
    outcome = [astuple(entry) for entry in state.outcome]
    values = (channel(vector)[2], outcome, state.app_data, state.evidence, state.turn_num, state.is_final)
    assert view(adjudicator, "stateHashOf", values) == (bytes_(vector["stateHash"]),)


def test_the_domain_on_the_bytecode(adjudicator: Adjudicator) -> None:
    said = json.loads(EIP712.read_text("utf-8"))["domain"]
    place = (adjudicator.domain.chain_id, adjudicator.address)
    assert view(adjudicator, "eip712Domain") == (b"\x0f", said["name"], said["version"], *place, bytes(32), ())


def view(adjudicator: Adjudicator, name: str, *values: Any) -> tuple[Any, ...]:
    asked = codec.function(name)
    return asked.decode(adjudicator.chain.call(chain.Call(adjudicator.address, asked.encode(*values))))


@pytest.mark.parametrize("vector", PROOFS_HERE, ids=lambda vector: vector["name"])
def test_proofs_on_the_bytecode(adjudicator: Adjudicator, vector: dict[str, Any]) -> None:
    _, fixed, id_ = channel(vector)
    record(adjudicator, id_, fixed.asset, status_of(vector))
    operation, sender = Operation("checkpoint", bytes_(vector["calldata"])), local.local_keys()[7]
    try:
        assert verdict(lambda: adjudicator.simulate(operation, sender.address)) == vector["error"]
        if vector["error"] is None:
            block = adjudicator.send(operation, sender).block_number
            (log,) = adjudicator.chain.logs(adjudicator.address, (), block, block)
            logged = operation.data[4:]
            assert log.data[64:].startswith(logged)
            assert int.from_bytes(log.data[32:64], "big") == len(logged)
    finally:
        record(adjudicator, id_, fixed.asset, Status(0, 0, 0))


@pytest.mark.parametrize("vector", CONTENT["statuses"])
def test_statuses_on_the_bytecode(adjudicator: Adjudicator, vector: dict[str, Any]) -> None:
    id_, word = bytes_(CONTENT["channels"][0]["channelId"]), int(vector["word"], 16)
    store(adjudicator, words.word_key(id_, ETHER), word)
    try:
        assert view(adjudicator, "statusOf", id_, ETHER) == (word,)
    finally:
        store(adjudicator, words.word_key(id_, ETHER), 0)


@pytest.mark.parametrize("vector", CONTENT["holdings"], ids=lambda vector: vector["name"])
def test_holdings_on_the_bytecode(adjudicator: Adjudicator, vector: dict[str, Any]) -> None:
    id_, asset, total = bytes_(CONTENT["channels"][0]["channelId"]), bytes(range(20)), int(vector["total"])
    keys = [words.word_key(id_, asset), words.late_key(id_, asset)]
    stored = [int(vector[name], 16) for name in ("word", "lateWord")]
    for key, word in zip(keys, stored, strict=True):
        store(adjudicator, key, word)
    (held, payout_begun, closed) = view(adjudicator, "holdingsOf", id_, asset, total)
    assert (str(held), payout_begun, closed) == held_in(vector)
    assert view(adjudicator, "wordsOf", keys) == (tuple(stored),)
