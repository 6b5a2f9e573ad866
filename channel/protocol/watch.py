"""What to answer to a challenge, from what a participant holds: for clients, and for watchtowers without a key."""

from __future__ import annotations

from collections.abc import Sequence

from channel.protocol.effects import SubmitCheckpoint, SubmitConclude, SubmitRespond
from channel.protocol.rules import build_support_proof
from channel.protocol.state import SignedState
from channel.protocol.types import FixedPart

__all__ = ["Answer", "best_answer", "concluding_answer"]

Answer = SubmitConclude | SubmitCheckpoint | SubmitRespond


def concluding_answer(fixed_part: FixedPart, signed: SignedState) -> SubmitConclude | None:
    """Conclude, where the state is final and everybody has signed it."""
    count = len(fixed_part.participants)
    if not signed.state.is_final or len(signed.signatures) != count:
        return None
    signatures = tuple(signed.signatures[index] for index in range(count))
    return SubmitConclude(signed.state.outcome, signed.state.turn_num, signatures)


def best_answer(fixed_part: FixedPart, challenged: SignedState, held: Sequence[SignedState]) -> Answer | None:
    """The best answer to the challenge with `challenged`, or None where nothing that is held answers it.

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
    return _response(fixed_part, challenged, held) or _checkpoint(fixed_part, held)


def _response(fixed_part: FixedPart, challenged: SignedState, held: Sequence[SignedState]) -> SubmitRespond | None:
    newest = held[-1]
    signature = newest.signatures.get(fixed_part.mover(newest.state.turn_num))
    is_next = newest.state.turn_num == challenged.state.turn_num + 1
    follows = is_next and len(held) > 1 and held[-2].state == challenged.state
    return SubmitRespond(challenged.state, newest.state, signature) if follows and signature else None


def _checkpoint(fixed_part: FixedPart, held: Sequence[SignedState]) -> SubmitCheckpoint | None:
    proof = build_support_proof(fixed_part, held)
    return SubmitCheckpoint(proof) if proof else None
