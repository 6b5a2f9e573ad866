"""The support proofs of the golden vectors, good ones and bad ones, each with the error that it must end in.

Every proof is one of `checkpoint`, for an adjudicator that has recorded what the case says. See `scripts/vectors.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from forcemove import Outcome, RuleError
from forcemove.protocol.adjudication import Adjudication, Transaction, checkpoint
from forcemove.protocol.codec.packed_writer import checkpoint_call
from forcemove.protocol.encoding import fingerprint, hash_state, word
from forcemove.protocol.signing import HALF_ORDER
from forcemove.protocol.types import MAX_AMOUNT, MAX_APP_DATA, Signature, SupportProof, VariablePart
from forcemove.protocol.words import MAX_TURN_RECORD, Status
from scripts.vector_values import CHANNELS, KEYS, TOKENS, allocation_to, hex_, id_of, sign, state_to_json
from tests.protocol.builders import COUNTING, pack_pattern, usual_pattern

TWO, THREE, EIGHT, ELSEWHERE, TOKEN = range(5)
"""The channels by their numbers of participants; then the first one on another chain, and two with a
token. That of three has a total of 20 wei."""
_STRANGER = KEYS[7]
_ANY_TIME = Transaction(KEYS[0].address, 1_900_000_000)


@dataclass(frozen=True)
class Case:
    """A proof. `recorded`: the record on chain. `error`: what it is refused with; None where it is good."""

    name: str
    channel: int
    proof: SupportProof
    error: str | None = None
    recorded: VariablePart | None = None


class WrongCase(Exception):
    """A case does not end as it says; the text says how it ends."""


def proof_vectors() -> list[dict[str, Any]]:
    """All cases as JSON. Raises `WrongCase` where the twin judges one differently."""
    cases = [*_signed_by_all(), *_malformed(), *_badly_signed(), *_from_the_record(), *_badly_from_the_record()]
    cases += [*_with_evidence(), *_of_a_total(), *_at_the_bounds()]
    for case in cases:
        verdict = _verdict(case)
        if verdict != case.error:
            raise WrongCase(f"{case.name}: {verdict} instead of {case.error}")
    return [_to_json(case) for case in cases]


def _verdict(case: Case) -> str | None:
    domain, fixed = CHANNELS[case.channel]
    statuses = {(id_of(case.channel), fixed.asset): _status_of(case.channel, case.recorded)} if case.recorded else {}
    try:
        checkpoint(Adjudication(domain, statuses), _ANY_TIME, fixed, case.proof, COUNTING)
    except RuleError as error:
        return type(error).__name__
    return None


def _status_of(channel: int, recorded: VariablePart) -> Status:
    hashes = hash_state(id_of(channel), recorded)
    return Status(recorded.turn_num, 0, fingerprint(hashes.state, hashes.outcome))


def _to_json(case: Case) -> dict[str, Any]:
    recorded = case.recorded and {
        "state": state_to_json(case.recorded),
        "status": hex_(word(_status_of(case.channel, case.recorded).pack())),
    }
    fixed = CHANNELS[case.channel][1]
    return {
        "name": case.name,
        "channel": case.channel,
        "recorded": recorded,
        "signatures": [hex_(each.compact) for each in case.proof.signatures],
        "states": [state_to_json(state) for state in case.proof.states],
        "signedStates": hex_(word(case.proof.signed_states)),
        "error": case.error,
        "calldata": None if case.error == "StateCountOutOfRange" else hex_(checkpoint_call(fixed, case.proof)),
    }


# ------------------------------------------------------------------------------------------------------------- building


def _count(channel: int) -> int:
    return len(CHANNELS[channel][1].participants)


def _state(
    channel: int,
    turn: int,
    *,
    final: bool = False,
    outcome: Outcome | None = None,
    data: bytes | None = None,
    evidence: bytes = b"",
) -> VariablePart:
    """Of a running game: ten each for the first two, and the turn as the count (all of the setup have the same)."""
    count_data = b"" if final else word(max(turn, 2 * _count(channel) - 1))
    shares = (allocation_to(0, 10), allocation_to(1, 10)) if outcome is None else outcome
    return VariablePart(shares, count_data if data is None else data, turn, final, evidence)


def _row(channel: int, first: int, last: int) -> tuple[VariablePart, ...]:
    return tuple(_state(channel, turn) for turn in range(first, last + 1))


def _proof(channel: int, *states: VariablePart, pattern: Sequence[int] | None = None) -> SupportProof:
    """Signed by all: each the state of its own turn, or as the pattern says."""
    count = _count(channel)
    chosen = usual_pattern(states, count) if pattern is None else pattern
    signatures = (sign(key, channel, states[index]) for key, index in zip(KEYS[:count], chosen, strict=True))
    return SupportProof(states, tuple(signatures), pack_pattern(chosen))


def _record_proof(channel: int, *states: VariablePart) -> SupportProof:
    """From the record: all but the first are signed by their movers."""
    fixed = CHANNELS[channel][1]
    signatures = (sign(KEYS[fixed.mover(state.turn_num)], channel, state) for state in states[1:])
    return SupportProof(states, tuple(signatures), 0)


def _with_signature(proof: SupportProof, index: int, signature: Signature) -> SupportProof:
    return replace(proof, signatures=(*proof.signatures[:index], signature, *proof.signatures[index + 1 :]))


# ---------------------------------------------------------------------------------------------------------------- cases


def _signed_by_all() -> Iterator[Case]:
    yield Case("one state that both have signed", TWO, _proof(TWO, _state(TWO, 11)))
    yield Case("the very first state", TWO, _proof(TWO, _state(TWO, 0)))
    yield Case("two states, each signed by its mover", TWO, _proof(TWO, *_row(TWO, 10, 11)))
    yield Case("two states, the later one signed by both", TWO, _proof(TWO, *_row(TWO, 10, 11), pattern=(1, 1)))
    yield Case("the setup of two", TWO, _proof(TWO, *_row(TWO, 1, 2)))
    yield Case("the last state of the setup, then a move", TWO, _proof(TWO, *_row(TWO, 3, 4)))
    yield Case("a final state after a move", TWO, _proof(TWO, _state(TWO, 10), _state(TWO, 11, final=True)))
    yield Case("three states of three", THREE, _proof(THREE, *_row(THREE, 10, 12)))
    yield Case("two states of three, the third signed the first", THREE, _proof(THREE, *_row(THREE, 10, 11)))
    yield Case(
        "two states of three, the third signed the later", THREE, _proof(THREE, *_row(THREE, 10, 11), pattern=(1, 0, 1))
    )
    yield Case("eight states of eight", EIGHT, _proof(EIGHT, *_row(EIGHT, 30, 37)))
    yield Case("one state that eight have signed", EIGHT, _proof(EIGHT, _state(EIGHT, 40)))
    jump = _state(TWO, 100, outcome=(allocation_to(0, 1),))
    yield Case("one state that jumps turns and changes the total", TWO, _proof(TWO, jump), recorded=_state(TWO, 12))
    yield Case("a later row over the record", TWO, _proof(TWO, *_row(TWO, 14, 15)), recorded=_state(TWO, 12))
    yield Case("on another chain", ELSEWHERE, _proof(ELSEWHERE, *_row(ELSEWHERE, 10, 11)))


def _malformed() -> Iterator[Case]:
    """Wrong states, in the order in which the adjudicator looks."""
    ten = _state(TWO, 10)

    def after(state: VariablePart, before: VariablePart = ten) -> SupportProof:
        return _proof(TWO, before, state)

    def paying(*outcome: Any) -> SupportProof:
        return after(_state(TWO, 11, outcome=outcome))

    token = replace(allocation_to(1, 10), asset=b"\x11" * 20)
    good = _proof(TWO, *_row(TWO, 10, 11))
    yield Case("no state", TWO, replace(good, states=()), "StateCountOutOfRange")
    yield Case("more states than participants", TWO, replace(good, states=_row(TWO, 9, 11)), "StateCountOutOfRange")
    yield Case("not above the record", TWO, good, "TurnNumberNotIncreased", _state(TWO, 11))
    yield Case("no allocation", TWO, paying(), "AllocationCountOutOfRange")
    yield Case("assets not in order", TWO, paying(token, allocation_to(0, 10)), "AssetsNotSorted")
    nobody = replace(allocation_to(0, 10), destination=bytes(32))
    yield Case("to nobody", TWO, paying(nobody, allocation_to(1, 10)), "ForbiddenDestination")
    itself = replace(allocation_to(0, 10), destination=id_of(TWO))
    yield Case("to the channel itself", TWO, paying(itself, allocation_to(1, 10)), "ForbiddenDestination")
    yield Case(
        "a total that overflows", TWO, paying(allocation_to(0, 2**256 - 1), allocation_to(1, 1)), "OutcomeTotalOverflow"
    )
    full = _state(TWO, 11, final=True, data=b"x")
    yield Case("a final state with appData", TWO, after(full), "FinalStateWithAppData")
    yield Case("another asset", TWO, paying(allocation_to(0, 20), token), "AssetsChanged")
    yield Case("another total", TWO, paying(allocation_to(0, 10), allocation_to(1, 11)), "TotalChanged")
    shares = (allocation_to(0, 20), allocation_to(1, 0))
    yield Case(
        "a final state that pays otherwise", TWO, after(_state(TWO, 11, final=True, outcome=shares)), "OutcomeChanged"
    )
    final = _state(TWO, 10, final=True)
    yield Case("a move after a final state", TWO, after(_state(TWO, 11), final), "FinalStateRequired")
    setup = _state(TWO, 1)
    yield Case("the setup pays otherwise", TWO, after(_state(TWO, 2, outcome=shares), setup), "OutcomeChanged")
    yield Case("the setup's position changes", TWO, after(_state(TWO, 2, data=b"x"), setup), "AppDataChanged")
    yield Case("a move that the app refuses", TWO, after(_state(TWO, 11, data=word(12))), "WrongCount")
    yield Case("a position that is none", TWO, after(_state(TWO, 11, data=b"x")), "MalformedCount")


def _badly_signed() -> Iterator[Case]:
    one, two = _proof(TWO, _state(TWO, 11)), _proof(TWO, *_row(TWO, 10, 11))
    stranger = sign(_STRANGER, TWO, two.states[1])
    yield Case("a stranger's signature", TWO, _with_signature(two, 1, stranger), "WrongSigner")
    yield Case("the same signature twice", TWO, _with_signature(one, 1, one.signatures[0]), "WrongSigner")
    yield Case("signatures in the wrong order", TWO, replace(one, signatures=one.signatures[::-1]), "WrongSigner")
    elsewhere = sign(KEYS[1], ELSEWHERE, two.states[1])
    yield Case("a signature for another chain", TWO, _with_signature(two, 1, elsewhere), "WrongSigner")
    high = Signature(two.signatures[1].r + word(HALF_ORDER + 1))
    yield Case("a signature with a high s", TWO, _with_signature(two, 1, high), "SignatureMalleable")
    yield Case("a signature of zeros", TWO, _with_signature(two, 1, Signature(bytes(64))), "SignatureUnrecoverable")
    yield Case("signed before its own turn", TWO, replace(two, signed_states=0), "SignedStateOutOfRange")
    yield Case("signed a state that is not there", TWO, replace(two, signed_states=0x0200), "SignedStateOutOfRange")


def _from_the_record() -> Iterator[Case]:
    def follow(name: str, channel: int, *states: VariablePart) -> Case:
        return Case(name, channel, _record_proof(channel, *states), recorded=states[0])

    yield follow("from the record: the next move of two", TWO, *_row(TWO, 10, 11))
    yield follow("from the record: the next move of three", THREE, *_row(THREE, 10, 11))
    yield follow("from the record: two moves of three", THREE, *_row(THREE, 10, 12))
    yield follow("from the record: seven moves of eight", EIGHT, *_row(EIGHT, 30, 37))
    yield follow("from the record: inside of the setup", THREE, *_row(THREE, 1, 3))
    finals = (_state(THREE, 11, final=True), _state(THREE, 12, final=True))
    yield follow("from the record: two final states", THREE, _state(THREE, 10), *finals)
    yield follow(
        "from the record: after a recorded final state", TWO, _state(TWO, 12, final=True), _state(TWO, 13, final=True)
    )


def _badly_from_the_record() -> Iterator[Case]:
    two, three = _record_proof(TWO, *_row(TWO, 10, 11)), _record_proof(THREE, *_row(THREE, 10, 12))
    yield Case("from the record: nothing is recorded", TWO, two, "FingerprintMismatch")
    other = _state(TWO, 10, outcome=(allocation_to(0, 20), allocation_to(1, 0)))
    yield Case("from the record: another state of its turn", TWO, two, "FingerprintMismatch", other)
    yield Case("from the record: of an older state", TWO, two, "FingerprintMismatch", _state(TWO, 9))
    recorded = three.states[0]
    swapped = replace(three, signatures=three.signatures[::-1])
    yield Case("from the record: signatures in the wrong order", THREE, swapped, "WrongSigner", recorded)
    by_third = sign(KEYS[0], THREE, three.states[1])
    stolen = _with_signature(three, 0, by_third)
    yield Case("from the record: not signed by the mover", THREE, stolen, "WrongSigner", recorded)
    alone = SupportProof((_state(TWO, 11),), (), 0)
    yield Case("from the record: one state above it", TWO, alone, "FingerprintMismatch", two.states[0])
    refused = _record_proof(TWO, _state(TWO, 10), _state(TWO, 11, data=word(12)))
    yield Case("from the record: a move that the app refuses", TWO, refused, "WrongCount", two.states[0])
    long = _record_proof(TWO, *_row(TWO, 10, 12))
    yield Case("from the record: more states than participants", TWO, long, "StateCountOutOfRange", two.states[0])


def _with_evidence() -> Iterator[Case]:
    """What shows that a move was right is signed, logged, and given again with the recorded state."""
    before, after = _state(TWO, 10, evidence=b"before"), _state(TWO, 11, evidence=b"why")
    yield Case("one state with evidence", TWO, _proof(TWO, after))
    yield Case("a move with evidence", TWO, _proof(TWO, _state(TWO, 10), after))
    yield Case("a move from a state with evidence", TWO, _proof(TWO, before, _state(TWO, 11)))
    yield Case("from the record: both states have evidence", TWO, _record_proof(TWO, before, after), recorded=before)
    final = _state(TWO, 11, final=True)
    yield Case("from the record: a final state after evidence", TWO, _record_proof(TWO, before, final), recorded=before)

    bare = _record_proof(TWO, _state(TWO, 10), after)
    yield Case("from the record: without its evidence", TWO, bare, "FingerprintMismatch", before)
    stripped = replace(_proof(TWO, before, after), states=(before, _state(TWO, 11)))
    yield Case("the evidence was signed, and is not there", TWO, stripped, "WrongSigner")
    setup = _state(TWO, 2, evidence=b"why")
    yield Case("the setup's evidence changes", TWO, _proof(TWO, _state(TWO, 1), setup), "AppDataChanged")
    proved = _state(TWO, 11, final=True, evidence=b"why")
    yield Case("a final state with evidence", TWO, _proof(TWO, before, proved), "FinalStateWithAppData")
    long = _state(TWO, 11, evidence=bytes(MAX_APP_DATA - 31))
    yield Case("appData and evidence of 8,193 bytes together", TWO, _proof(TWO, long), "AppDataTooLong")


def _of_a_total() -> Iterator[Case]:
    """Every outcome adds up to what the channel is funded with."""
    less = (allocation_to(0, 10), allocation_to(1, 9))
    token = replace(allocation_to(1, 10), asset=TOKENS[0])
    jump = _state(THREE, 100, outcome=(allocation_to(2, 20), token))
    yield Case("another asset beside the total", THREE, _proof(THREE, jump), recorded=_state(THREE, 12))
    yield Case("less than the total", THREE, _proof(THREE, _state(THREE, 11, outcome=less)), "WrongTotal")
    recorded = _state(THREE, 10)
    follow = _record_proof(THREE, recorded, _state(THREE, 11, outcome=less))
    yield Case("from the record: less than the total", THREE, follow, "WrongTotal", recorded)
    yield Case("nothing of the home asset", THREE, _proof(THREE, _state(THREE, 11, outcome=(token,))), "WrongTotal")
    final = _state(THREE, 11, final=True, outcome=less, data=b"x")
    yield Case("less than the total, and a final state with appData", THREE, _proof(THREE, final), "WrongTotal")

    whole = replace(token, amount=MAX_AMOUNT)
    yield Case("all that there may be of a token", TOKEN, _proof(TOKEN, _state(TOKEN, 11, outcome=(whole,))))
    ether = (allocation_to(0, MAX_AMOUNT),)
    yield Case("ether in place of the token", TOKEN, _proof(TOKEN, _state(TOKEN, 11, outcome=ether)), "WrongTotal")


def _at_the_bounds() -> Iterator[Case]:
    yield Case("the last turn that can be recorded", TWO, _proof(TWO, _state(TWO, MAX_TURN_RECORD)))
    late = _proof(TWO, _state(TWO, MAX_TURN_RECORD + 1))
    yield Case("a turn too high to be recorded", TWO, late, "TurnNumberTooHigh")
    unsigned = replace(late, signatures=late.signatures[::-1])
    yield Case("a turn too high, and signatures in the wrong order", TWO, unsigned, "WrongSigner")
    whole = _state(TWO, 11, evidence=bytes(MAX_APP_DATA - 32))
    yield Case("appData and evidence of 8,192 bytes together", TWO, _proof(TWO, whole))
