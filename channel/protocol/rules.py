"""The protocol's rules about states, pairs of states and support proofs: the twin of `Rules.sol`.

Same names, same order of checks, same errors as the contract, so that what passes here passes there. Knows neither the
chain nor what has been recorded on it; fixed parts are valid by being built (`types.FixedPart`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from channel.errors import (
    AppDataChanged,
    AppDataTooLong,
    FinalStateRequired,
    FinalStateWithAppData,
    OutcomeChanged,
    SignatureCountMismatch,
    SignedStateOutOfRange,
    SignedStatesNotCanonical,
    StateCountOutOfRange,
    TransitionRefused,
    TurnNumberNotConsecutive,
)
from channel.protocol.app import Rules
from channel.protocol.encoding import (
    Domain,
    StateHashes,
    app_data_hash,
    channel_id,
    digest,
    outcome_hash,
    state_hash,
)
from channel.protocol.outcome import Outcome, require_same_totals, require_valid_outcome
from channel.protocol.signing import require_signer
from channel.protocol.state import SignedState, SupportProof, VariablePart
from channel.protocol.types import MAX_APP_DATA, FixedPart, Signature

__all__ = [
    "build_support_proof",
    "require_signed_by_all",
    "require_supported",
    "require_valid_state",
    "require_valid_transition",
]


def require_valid_state(channel_id: bytes, adjudicator: bytes, state: VariablePart) -> StateHashes:
    """Refuse a malformed state of channel `channel_id`; the hashes of a good one.

    Raises what `require_valid_outcome` raises, then `AppDataTooLong`, `FinalStateWithAppData`.
    """
    outcome_hash_ = _valid_outcome_hash(state.outcome, channel_id, adjudicator)
    length = len(state.app_data)
    if length > MAX_APP_DATA:
        raise AppDataTooLong(length)
    if state.is_final and length:
        raise FinalStateWithAppData(length)
    app_data_hash_ = app_data_hash(state.app_data)
    hash_ = state_hash(channel_id, outcome_hash_, app_data_hash_, state.turn_num, state.is_final)
    return StateHashes(outcome_hash_, app_data_hash_, hash_)


@lru_cache(maxsize=4_096)
def _valid_outcome_hash(outcome: Outcome, channel_id: bytes, adjudicator: bytes) -> bytes:
    """The hash of a well-formed outcome. A game pays few different ones, again and again."""
    require_valid_outcome(outcome, channel_id, adjudicator)
    return outcome_hash(outcome)


def require_valid_transition(
    fixed_part: FixedPart,
    from_: VariablePart,
    from_hashes: StateHashes,
    to: VariablePart,
    to_hashes: StateHashes,
    app_rules: Rules,
) -> None:
    """Refuse `to` as the successor of `from_`. Both are valid in themselves and of one channel.

    Raises `TurnNumberNotConsecutive`, `AssetsChanged`, `TotalChanged`, `OutcomeChanged`, `FinalStateRequired`,
    `AppDataChanged`, `TransitionRefused`, and what the app raises.
    """
    if from_.turn_num + 1 != to.turn_num:
        raise TurnNumberNotConsecutive(from_.turn_num, to.turn_num)
    same_outcome = from_hashes.outcome == to_hashes.outcome
    if not same_outcome:
        require_same_totals(from_.outcome, to.outcome)

    count = len(fixed_part.participants)
    if to.is_final:
        if not same_outcome:
            raise OutcomeChanged()
    elif from_.is_final:
        raise FinalStateRequired()
    elif to.turn_num < 2 * count:
        if not same_outcome:
            raise OutcomeChanged()
        if from_hashes.app_data != to_hashes.app_data:
            raise AppDataChanged()
    elif not app_rules.valid_transition(from_, to, count):
        raise TransitionRefused()


def require_supported(domain: Domain, fixed_part: FixedPart, proof: SupportProof, app_rules: Rules) -> StateHashes:
    """Refuse a proof that does not support its last state; that state's hashes.

    Raises `StateCountOutOfRange`; of a single state `SignedStatesNotCanonical` where `signed_states` is not zero; then
    state by state what `require_valid_state` and `require_valid_transition` raise, then what `require_signed_by_all`
    raises.
    """
    states = proof.states
    if not 1 <= len(states) <= len(fixed_part.participants):
        raise StateCountOutOfRange(len(states))
    if len(states) == 1 and proof.signed_states:
        raise SignedStatesNotCanonical(proof.signed_states)
    id_ = channel_id(fixed_part, domain)
    last = require_valid_state(id_, domain.adjudicator, states[0])
    digests = [digest(domain, last.state)]
    for from_, to in pairwise(states):
        hashes = require_valid_state(id_, domain.adjudicator, to)
        require_valid_transition(fixed_part, from_, last, to, hashes, app_rules)
        digests.append(digest(domain, hashes.state))
        last = hashes
    require_signed_by_all(fixed_part, proof, digests)
    return last


def require_signed_by_all(fixed_part: FixedPart, proof: SupportProof, digests: Sequence[bytes]) -> None:
    """Refuse a proof that some participant has not signed: the state of its own turn or a later one, or any where its
    own turn lies before the proof. `digests` are those of the proof's states.

    Raises `SignatureCountMismatch`, then by participant `SignedStateOutOfRange` and what `require_signer` raises, then
    `SignedStatesNotCanonical`.
    """
    participants = fixed_part.participants
    if len(proof.signatures) != len(participants):
        raise SignatureCountMismatch(len(participants), len(proof.signatures))
    signed_states = proof.signed_states
    last = len(digests) - 1
    last_turn = proof.last.turn_num
    for index, participant in enumerate(participants):
        signed = signed_states & 0xFF
        signed_states >>= 8
        if signed > last or signed + _turns_ago(last_turn, index, len(participants)) < last:
            raise SignedStateOutOfRange(index, signed)
        require_signer(digests[signed], proof.signatures[index], participant)
    if signed_states:
        raise SignedStatesNotCanonical(proof.signed_states)


def build_support_proof(fixed_part: FixedPart, signed_states: Sequence[SignedState]) -> SupportProof | None:
    """The shortest proof of the last of `signed_states` (oldest first), or None where somebody's signature is missing.

    Signatures are taken as good: check them when they arrive, with `signing.require_signer`.
    """
    if not signed_states:
        return None
    count = len(fixed_part.participants)
    last_turn = signed_states[-1].state.turn_num
    recent = _consecutive_tail(signed_states, count)
    signatures: list[Signature] = []
    ages: list[int] = []
    for participant in range(count):
        eligible = recent[: _turns_ago(last_turn, participant, count) + 1]
        age = next((age for age, signed in enumerate(eligible) if participant in signed.signatures), None)
        if age is None:
            return None
        signatures.append(eligible[age].signatures[participant])
        ages.append(age)
    last = max(ages)
    states = tuple(signed.state for signed in reversed(recent[: last + 1]))
    return SupportProof(states, tuple(signatures), int.from_bytes(bytes(last - age for age in ages), "little"))


def _turns_ago(last_turn: int, participant: int, count: int) -> int:
    """How many turns before the last one the participant moved, at the latest."""
    return (last_turn - participant) % count


def _consecutive_tail(signed_states: Sequence[SignedState], count: int) -> list[SignedState]:
    """The newest states, newest first, as far as their turns are consecutive, at most one for each participant."""
    tail = [signed_states[-1]]
    for signed in signed_states[-2 : -count - 1 : -1]:
        if signed.state.turn_num + 1 != tail[-1].state.turn_num:
            break
        tail.append(signed)
    return tail
