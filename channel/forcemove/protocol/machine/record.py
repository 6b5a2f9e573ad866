"""A channel's record: what the adjudicator's logs say of it, folded in their order. Pure; knows no participant's view.

The machine and inspection read the same logs by this module. Holdings and credits are not in the record: only the chain
itself can say them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from forcemove.errors import ForcemoveError
from forcemove.protocol import logs as log_types
from forcemove.protocol.encoding import Domain, StateHashes, digest, fingerprint, hash_state, outcome_hash
from forcemove.protocol.signing import recover
from forcemove.protocol.types import Outcome, Signature, SignedState, VariablePart
from forcemove.protocol.words import EMPTY_STATUS, Status


class Owed(Struct, frozen=True, gc=False):
    """What the fingerprint commits to: the recorded state's struct hash (32 bytes), and the outcome that is still to be
    paid."""

    state_hash: bytes
    outcome: Outcome


class Recorded(Struct, frozen=True, gc=False):
    """A recorded state as it was logged, with its hashes.

    `signatures`: those that came with it, each with the account (20 bytes) that has made it if it is of this state. In
    a proof some signatures are of earlier states: the accounts that these recover to are nobody's.
    """

    state: VariablePart
    hashes: StateHashes
    signatures: tuple[tuple[bytes, Signature], ...]

    def signed_by(self, participants: Sequence[bytes]) -> SignedState:
        """The state with those signatures that are of participants (20 bytes each)."""
        known = {participants.index(signer): each for signer, each in self.signatures if signer in participants}
        return SignedState(self.state, known)


class Record(Struct, frozen=True, gc=False):
    """What is recorded of a channel.

    `status`: as the adjudicator has it, except for the time of a conclusion, which no log says: `finalizes_at` is then
    the time at which the log was read. `recorded` and `owed` are None where nothing is recorded; `recorded` also where
    the state was never logged, as that of a conclusion. `payout_begun`: deposits are refused. `closed`: everything was
    paid; of what was recorded before, the state is kept, without signatures. `concluded`: whether the channel pays, or
    has paid, by a final state that all have signed, rather than by the recorded one; UNSET where no log says, as when
    it was closed at once after a challenge, and in what older programs have stored.
    """

    status: Status = EMPTY_STATUS
    recorded: Recorded | None = None
    owed: Owed | None = None
    payout_begun: bool = False
    closed: bool = False
    concluded: bool | UnsetType = UNSET


EMPTY_RECORD = Record()
"""The record of a channel without logs."""


def fold(record: Record, log: log_types.Log, domain: Domain, now: int) -> Record:
    """The record after one more log of the channel. `domain`: where its signatures are good; `now`: the chain's time
    (seconds) at which the log is read."""
    match log:
        case log_types.ChallengeRegistered(id_, finalizes_at, state, signatures):
            return _recorded(record, id_, state, signatures, finalizes_at, domain)
        case log_types.Responded(id_, state, signature):
            return _recorded(record, id_, state, (signature,), 0, domain)
        case log_types.Checkpointed(id_, state, signatures):
            return _recorded(record, id_, state, signatures, 0, domain)
        case log_types.Concluded(_, turn_num):
            status = Status(max(turn_num, record.status.turn_num_record), now, 0)
            return replace(record, status=status, owed=None, payout_begun=True, concluded=True)
        case log_types.PartlyPaid(_, state_hash, remaining):
            return _partly_paid(record, Owed(state_hash, remaining), now)
        case log_types.Closed():
            return _closed(record)
        case log_types.Deposited() | log_types.Credited() | log_types.Claimed():
            return record
        case _:
            assert_never(log)


def fold_all(logs: Iterable[log_types.Log], domain: Domain, now: int) -> Record:
    """The record that all logs of a channel make, oldest first. Arguments as of `fold`."""
    record = EMPTY_RECORD
    for log in logs:
        record = fold(record, log, domain, now)
    return record


def _recorded(
    record: Record,
    id_: bytes,
    state: VariablePart,
    signatures: tuple[Signature, ...],
    finalizes_at: int,
    domain: Domain,
) -> Record:
    """The record of a state. A challenge with the recorded state repeats it without a signature: the known ones are
    kept."""
    hashes, known = hash_state(id_, state), record.recorded
    signed = _with_signers(digest(domain, hashes.state), signatures)
    if known is not None and known.hashes == hashes:
        signed = tuple(dict((*known.signatures, *signed)).items())
    return replace(
        record,
        status=Status(state.turn_num, finalizes_at, fingerprint(hashes.state, hashes.outcome)),
        recorded=Recorded(state, hashes, signed),
        owed=Owed(hashes.state, state.outcome),
    )


def _with_signers(signed: bytes, signatures: tuple[Signature, ...]) -> tuple[tuple[bytes, Signature], ...]:
    """The signatures that anybody can have made, each with its signer."""
    found = []
    for signature in signatures:
        try:
            found.append((recover(signed, signature), signature))
        except ForcemoveError:
            continue
    return tuple(found)


def _partly_paid(record: Record, owed: Owed, now: int) -> Record:
    """Only a final state is paid: the clock has run out, whatever time we read."""
    status, recorded = record.status, record.recorded
    return replace(
        record,
        status=Status(
            status.turn_num_record,
            min(status.finalizes_at or now, now),
            fingerprint(owed.state_hash, outcome_hash(owed.outcome)),
        ),
        recorded=recorded if recorded is not None and recorded.hashes.state == owed.state_hash else None,
        owed=owed,
        payout_begun=True,
        concluded=record.concluded is True,
    )


def _closed(record: Record) -> Record:
    """Without a clock only a conclusion closes a channel."""
    recorded = None if record.recorded is None else replace(record.recorded, signatures=())
    concluded = record.concluded if record.status.finalizes_at else True
    return Record(recorded=recorded, payout_begun=True, closed=True, concluded=concluded)
