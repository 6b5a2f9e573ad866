"""The protocol's rules about states, pairs of states and support proofs: the twin of `Rules.sol`.

Same names, same order of checks, same errors as the contract, so that what passes here passes there. Knows neither the
chain nor its clock; fixed parts are valid by being built (`types.FixedPart`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import dropwhile, pairwise

from msgspec.structs import replace

from forcemove.protocol import rule_errors
from forcemove.protocol.app import Rules
from forcemove.protocol.encoding import (
    Domain,
    StateHashes,
    channel_id,
    digest,
    fingerprint,
    hash_state,
    hash_with,
    outcome_hash,
)
from forcemove.protocol.signing import require_signer
from forcemove.protocol.types import (
    MAX_APP_DATA,
    FixedPart,
    Outcome,
    Signature,
    SignedState,
    SupportProof,
    VariablePart,
    require_same_totals,
    require_valid_outcome,
)
from forcemove.protocol.words import EMPTY_STATUS, Status


def require_valid_state(
    channel_id: bytes, adjudicator: bytes, fixed_part: FixedPart, state: VariablePart
) -> StateHashes:
    """Refuse a malformed state of channel `channel_id`; the hashes of a good one.

    Raises what `require_valid_outcome` raises, then `AppDataTooLong`, `FinalStateWithAppData`.
    """
    outcome = _valid_outcome_hash(state.outcome, channel_id, adjudicator, fixed_part.asset, fixed_part.total)
    length = len(state.app_data) + len(state.evidence)
    if length > MAX_APP_DATA:
        raise rule_errors.AppDataTooLong(length)
    if state.is_final and length:
        raise rule_errors.FinalStateWithAppData(length)
    return hash_with(channel_id, outcome, state)


@lru_cache(maxsize=4_096)
def _valid_outcome_hash(outcome: Outcome, channel_id: bytes, adjudicator: bytes, home: bytes, total: int) -> bytes:
    """The hash of a well-formed outcome. A game pays few different ones, again and again."""
    require_valid_outcome(outcome, channel_id, adjudicator, home, total)
    return outcome_hash(outcome)


def require_valid_transition(
    channel_id: bytes,
    fixed_part: FixedPart,
    from_: VariablePart,
    from_hashes: StateHashes,
    to: VariablePart,
    to_hashes: StateHashes,
    app_rules: Rules,
) -> None:
    """Refuse `to` as the successor of `from_`. Both are valid in themselves and of one channel.

    - `channel_id`: 32 bytes.
    - `fixed_part`: of the channel.
    - `from_`: the state before.
    - `from_hashes`: its hashes.
    - `to`: the state after.
    - `to_hashes`: its hashes.
    - `app_rules`: the rules of the game.

    Raises `InvalidValue` where only the hash of the later evidence is known; `TurnNumberNotConsecutive`,
    `AssetsChanged`, `TotalChanged`, `OutcomeChanged`, `FinalStateRequired`, `AppDataChanged`, `TransitionRefused`, and
    what the app raises.
    """
    to.full_evidence()
    if from_.turn_num + 1 != to.turn_num:
        raise rule_errors.TurnNumberNotConsecutive(from_.turn_num, to.turn_num)
    same_outcome = from_hashes.outcome == to_hashes.outcome
    if not same_outcome:
        require_same_totals(from_.outcome, to.outcome)

    count = len(fixed_part.participants)
    if to.is_final:
        if not same_outcome:
            raise rule_errors.OutcomeChanged()
    elif from_.is_final:
        raise rule_errors.FinalStateRequired()
    elif to.turn_num < 2 * count:
        if not same_outcome:
            raise rule_errors.OutcomeChanged()
        if (from_hashes.app_data, from_hashes.evidence) != (to_hashes.app_data, to_hashes.evidence):
            raise rule_errors.AppDataChanged()
    elif not app_rules.valid_transition(channel_id, without_evidence(from_), to, count):
        raise rule_errors.TransitionRefused()


def without_evidence(state: VariablePart) -> VariablePart:
    """A state as an app sees it before a move: what showed that it was right is not asked for again."""
    return replace(state, evidence=b"", evidence_hash=b"") if state.evidence or state.evidence_hash else state


def require_supported(
    domain: Domain, fixed_part: FixedPart, proof: SupportProof, app_rules: Rules, status: Status = EMPTY_STATUS
) -> StateHashes:
    """Refuse a proof that does not support its last state; the hashes of that state.

    - `domain`: the chain id and the adjudicator.
    - `fixed_part`: of the channel.
    - `proof`: the states and their signatures.
    - `app_rules`: the rules of the game.
    - `status`: what is recorded of the channel, which a proof may begin with.

    Raises what `SupportProof.require_complete` raises; then state by state what `require_valid_state` and
    `require_valid_transition` raise (of the recorded state only `FingerprintMismatch`), then what
    `require_signed_by_all` or `require_signed_by_movers` raises.
    """
    proof.require_complete(len(fixed_part.participants))
    states = proof.states
    id_ = channel_id(fixed_part, domain)
    if proof.is_from_record:
        last = require_recorded(id_, status, states[0])
    else:
        last = require_valid_state(id_, domain.adjudicator, fixed_part, states[0])
    digests = [digest(domain, last.state)]
    for from_, to in pairwise(states):
        hashes = require_valid_state(id_, domain.adjudicator, fixed_part, to)
        require_valid_transition(id_, fixed_part, from_, last, to, hashes, app_rules)
        digests.append(digest(domain, hashes.state))
        last = hashes
    if proof.is_from_record:
        require_signed_by_movers(fixed_part, proof, digests)
    else:
        require_signed_by_all(fixed_part, proof, digests)
    return last


def require_recorded(channel_id: bytes, status: Status, state: VariablePart) -> StateHashes:
    """The hashes of the recorded state, which was found valid when it was recorded. Raises `FingerprintMismatch` on
    another one."""
    hashes = hash_state(channel_id, state)
    require_fingerprint(status, hashes.state, hashes.outcome)
    return hashes


def require_fingerprint(status: Status, state_hash: bytes, outcome_hash: bytes) -> None:
    """Refuse a state, given by its hashes (32 bytes each), that is not the recorded one. Raises `FingerprintMismatch`.
    The twin of `Words.requireFingerprint`."""
    submitted = fingerprint(state_hash, outcome_hash)
    if status.fingerprint != submitted:
        raise rule_errors.FingerprintMismatch(status.fingerprint, submitted)


def require_signed_by_movers(fixed_part: FixedPart, proof: SupportProof, digests: Sequence[bytes]) -> None:
    """Refuse a proof from the record in which some later state is not signed by its own mover. `digests` are those of
    the proof's states. Raises what `require_signer` raises."""
    later = zip(proof.states[1:], digests[1:], proof.signatures, strict=True)
    for state, to_sign, signature in later:
        require_signer(to_sign, signature, fixed_part.participants[fixed_part.mover(state.turn_num)])


def require_signed_by_all(fixed_part: FixedPart, proof: SupportProof, digests: Sequence[bytes]) -> None:
    """Refuse a proof that some participant has not signed: the state of its own turn or a later one, or any where its
    own turn lies before the proof. `digests` are those of the proof's states.

    Raises by participant `SignedStateOutOfRange` and what `require_signer` raises.
    """
    participants = fixed_part.participants
    signed_states = proof.signed_states
    last = len(digests) - 1
    last_turn = proof.last.turn_num
    for index, participant in enumerate(participants):
        signed = signed_states & 0xFF
        signed_states >>= 8
        if signed > last or signed + _turns_ago(last_turn, index, len(participants)) < last:
            raise rule_errors.SignedStateOutOfRange(index, signed)
        require_signer(digests[signed], proof.signatures[index], participant)


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


def build_proof_from_record(
    fixed_part: FixedPart, recorded: VariablePart, signed_states: Sequence[SignedState]
) -> SupportProof | None:
    """The proof of the last of `signed_states` (oldest first) that begins with the recorded state, or None where the
    recorded state is not among them or too far back, or some turn or some mover's signature is missing."""
    chain = list(dropwhile(lambda signed: signed.state != recorded, signed_states))
    if not 1 < len(chain) <= len(fixed_part.participants):
        return None
    if any(to.state.turn_num != from_.state.turn_num + 1 for from_, to in pairwise(chain)):
        return None
    signatures = [signed.signatures.get(fixed_part.mover(signed.state.turn_num)) for signed in chain[1:]]
    given = tuple(signature for signature in signatures if signature is not None)
    states = tuple(signed.state for signed in chain)
    return SupportProof(states, given, 0) if len(given) == len(signatures) else None


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
