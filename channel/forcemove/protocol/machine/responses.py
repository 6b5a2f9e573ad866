"""The answers to a challenge, from the signed states that a participant holds. Needs no key and knows no chain."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove.protocol.encoding import fingerprint, hash_state
from forcemove.protocol.machine.effects import Submission, SubmitCheckpoint, SubmitConclude, SubmitRespond
from forcemove.protocol.rules import build_proof_from_record, build_support_proof
from forcemove.protocol.types import FixedPart, SignedState, SupportProof, VariablePart
from forcemove.protocol.words import Status

Answer = SubmitConclude | SubmitCheckpoint | SubmitRespond
_STATE_GAS, _SIGNATURE_GAS = 10_400, 4_100
"""What one more of each adds to a challenge, roughly: by the rows of `scripts/measure gas`."""


def concluding_answer(fixed_part: FixedPart, signed: SignedState) -> SubmitConclude | None:
    """Conclude, where the state is final and everybody has signed it."""
    count = len(fixed_part.participants)
    if not signed.state.is_final or len(signed.signatures) != count:
        return None
    signatures = tuple(signed.signatures[index] for index in range(count))
    return SubmitConclude(signed.state.outcome, signed.state.turn_num, signatures)


def best_answer(fixed_part: FixedPart, challenged: SignedState, held: Sequence[SignedState]) -> Answer | None:
    """The best answer to the challenge with `challenged`, or None where no held state answers it.

    `held`: the newest states, consecutive, oldest first. In this order: conclude with a final state signed by all;
    respond, where the newest state is just the mover's next move on the challenged one (the same effect as a checkpoint
    for one signature less); checkpoint with a later supported state.
    """
    if not held:
        return None
    newest = held[-1]
    conclude = concluding_answer(fixed_part, newest)
    if conclude is not None:
        return conclude
    if newest.state.turn_num <= challenged.state.turn_num:
        return None
    response = _response(fixed_part, challenged, held)
    if response is not None:
        return response
    proof = cheapest_proof(fixed_part, challenged.state, held)
    return SubmitCheckpoint(proof) if proof else None


def answer_to_status(fixed_part: FixedPart, status: Status, held: Sequence[SignedState]) -> Answer | None:
    """The best answer to a challenge of which only the adjudicator's status is known, or None where no held state
    answers it. `held`: as in `best_answer`."""
    if not held:
        return None
    proof = build_support_proof(fixed_part, held)
    is_later = proof is not None and proof.last.turn_num > status.turn_num_record
    return concluding_answer(fixed_part, held[-1]) or (SubmitCheckpoint(proof) if proof and is_later else None)


def clears(submission: Submission, channel_id: bytes, status: Status) -> bool:
    """Whether this transaction, once it is mined, clears the challenge that `status` shows."""
    match submission:
        case SubmitConclude():
            return True
        case SubmitRespond(challenged):
            return _is_recorded(channel_id, status, challenged)
        case SubmitCheckpoint(proof):
            is_later = proof.last.turn_num > status.turn_num_record
            return is_later and (not proof.is_from_record or _is_recorded(channel_id, status, proof.states[0]))
        case _:
            return False


def _is_recorded(channel_id: bytes, status: Status, state: VariablePart) -> bool:
    hashes = hash_state(channel_id, state)
    return fingerprint(hashes.state, hashes.outcome) == status.fingerprint


def cheapest_proof(
    fixed_part: FixedPart, recorded: VariablePart | None, held: Sequence[SignedState]
) -> SupportProof | None:
    """The proof of the newest held state in the form that takes the least gas: signed by all, or from the recorded
    state where that is held, too. None where no state can be proved."""
    proofs = [build_support_proof(fixed_part, held)]
    if recorded is not None:
        proofs.append(build_proof_from_record(fixed_part, recorded, held))
    return min((proof for proof in proofs if proof is not None), key=_gas, default=None)


def _gas(proof: SupportProof) -> int:
    return _STATE_GAS * len(proof.states) + _SIGNATURE_GAS * len(proof.signatures)


def _response(fixed_part: FixedPart, challenged: SignedState, held: Sequence[SignedState]) -> SubmitRespond | None:
    newest = held[-1]
    signature = newest.signatures.get(fixed_part.mover(newest.state.turn_num))
    is_next = newest.state.turn_num == challenged.state.turn_num + 1
    follows = is_next and len(held) > 1 and held[-2].state == challenged.state
    return SubmitRespond(challenged.state, newest.state, signature) if follows and signature else None
