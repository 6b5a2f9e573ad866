"""How a channel stands on its chain: what the adjudicator has recorded, holds and owes, read at one block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from forcemove.channel.chain.addresses import show_address
from forcemove.channel.chain.adjudicator import Adjudicator, Holdings, PlacedLog
from forcemove.channel.cli.findings import (
    Finding,
    KnownApp,
    app_finding,
    outcome_finding,
    position_finding,
    show_hex,
    state_finding,
)
from forcemove.channel.errors import ForcemoveError
from forcemove.channel.game import seat_names
from forcemove.channel.protocol.encoding import Domain, digest, fingerprint, hash_state, outcome_hash
from forcemove.channel.protocol.logs import (
    ChallengeRegistered,
    Checkpointed,
    Concluded,
    Deposited,
    PartlyPaid,
    Responded,
)
from forcemove.channel.protocol.outcome import Outcome, destination_address
from forcemove.channel.protocol.signing import recover
from forcemove.channel.protocol.state import SignedState, VariablePart
from forcemove.channel.protocol.status import Mode, Status
from forcemove.channel.protocol.types import ETHER, FixedPart, Signature

__all__ = ["Credit", "Owed", "Recorded", "Standing", "read_standing", "standing_finding"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded state as it was logged. `signers` (20 bytes each): who has made the signatures if they are of this
    state; those that are of earlier states, as a support proof may have them, give accounts that are nobody's."""

    state: VariablePart
    signatures: tuple[Signature, ...]
    signers: tuple[bytes | None, ...]

    def signed_by(self, participants: Sequence[bytes]) -> SignedState:
        """The state with those signatures that are of participants."""
        found = zip(self.signers, self.signatures, strict=True)
        signatures = {participants.index(signer): each for signer, each in found if signer in participants}
        return SignedState(self.state, signatures)


@dataclass(frozen=True, slots=True)
class Owed:
    """What the fingerprint stands for: the recorded state's struct hash (32 bytes), and what is still to be paid."""

    state_hash: bytes
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Credit:
    """What `account` can claim of `asset` (20 bytes each), in the asset's smallest unit."""

    account: bytes
    asset: bytes
    amount: int


@dataclass(frozen=True, slots=True)
class Standing:
    """One channel at one block. `now`: the time, in seconds, that a transaction would meet. `recorded` and `owed` are
    None where nothing is recorded, or where the logs do not say what."""

    domain: Domain
    channel_id: bytes
    block: int
    now: int
    status: Status
    holdings: tuple[tuple[bytes, Holdings], ...]
    credits: tuple[Credit, ...]
    recorded: Recorded | None
    owed: Owed | None
    logs: tuple[PlacedLog, ...]

    @property
    def mode(self) -> Mode:
        """At `now`."""
        return self.status.mode(self.now)

    @property
    def closed(self) -> bool:
        """Whether everything was paid, and the id is closed for ever."""
        return any(holdings.closed for _, holdings in self.holdings)

    @property
    def seconds_left(self) -> int | None:
        """Until the recorded state is final; None where no clock runs."""
        return self.status.finalizes_at - self.now if self.mode is Mode.CHALLENGE else None

    @property
    def is_unknown(self) -> bool:
        """Whether the adjudicator has never heard of the channel."""
        quiet = all(not (each.held or each.payout_begun or each.closed) for _, each in self.holdings)
        return self.status.is_empty and quiet and not self.logs

    def held(self, asset: bytes) -> int:
        """What the channel holds of an asset."""
        return next((each.held for found, each in self.holdings if found == asset), 0)


def read_standing(
    adjudicator: Adjudicator,
    channel_id: bytes,
    from_block: int,
    accounts: Iterable[bytes] = (),
    outcome: Outcome = (),
) -> Standing:
    """Read a channel. `from_block`: where logs can begin. `accounts` and the outcome's assets and addresses are looked
    at besides those that the logs name. Raises what reading a chain raises."""
    chain = adjudicator.chain
    block = chain.block_number()
    status = adjudicator.status_of(channel_id, block=block)
    logs = tuple(adjudicator.logs(channel_id, from_block, block))
    outcomes = [*map(_outcome_of, logs), outcome]
    assets = _assets(logs, outcomes)
    payees = {destination_address(entry.destination) for outcome in outcomes for entry in outcome}
    accounts = sorted({*accounts, *(payee for payee in payees if payee is not None)})
    owed = _owed(channel_id, status, logs)
    return Standing(
        adjudicator.domain,
        channel_id,
        block,
        chain.next_time(),
        status,
        tuple((asset, adjudicator.holdings_of(channel_id, asset, block=block)) for asset in assets),
        tuple(_credits(adjudicator, accounts, assets, block)),
        _recorded(adjudicator.domain, channel_id, owed, logs),
        owed,
        logs,
    )


def _outcome_of(placed: PlacedLog) -> Outcome:
    match placed.log:
        case ChallengeRegistered() | Responded() | Checkpointed():
            return placed.log.state.outcome
        case PartlyPaid():
            return placed.log.remaining
        case _:
            return ()


def _assets(logs: Sequence[PlacedLog], outcomes: Iterable[Outcome]) -> list[bytes]:
    deposited = {placed.log.asset for placed in logs if isinstance(placed.log, Deposited)}
    return sorted({ETHER, *deposited, *(entry.asset for outcome in outcomes for entry in outcome)})


def _credits(
    adjudicator: Adjudicator, accounts: Sequence[bytes], assets: Sequence[bytes], block: int
) -> Iterable[Credit]:
    for account in accounts:
        for asset in assets:
            amount = adjudicator.credit_of(account, asset, block=block)
            if amount:
                yield Credit(account, asset, amount)


def _owed(channel_id: bytes, status: Status, logs: Sequence[PlacedLog]) -> Owed | None:
    """The newest log that fits the fingerprint."""
    for placed in reversed(logs):
        found = _owed_after(channel_id, placed)
        if found is not None and fingerprint(found.state_hash, outcome_hash(found.outcome)) == status.fingerprint:
            return found
    return None


def _owed_after(channel_id: bytes, placed: PlacedLog) -> Owed | None:
    match placed.log:
        case ChallengeRegistered(state=state) | Responded(state=state) | Checkpointed(state=state):
            return Owed(hash_state(channel_id, state).state, state.outcome)
        case PartlyPaid(state_hash=state_hash, remaining=remaining):
            return Owed(state_hash, remaining)
        case _:
            return None


def _recorded(domain: Domain, channel_id: bytes, owed: Owed | None, logs: Sequence[PlacedLog]) -> Recorded | None:
    """As the log with the most signatures shows it: a challenge with the recorded state repeats it without any."""
    if owed is None:
        return None
    records = [record for placed in logs if (record := _record_in(placed)) is not None]
    fitting = [record for record in records if hash_state(channel_id, record[0]).state == owed.state_hash]
    if not fitting:
        return None
    state, signatures = max(fitting, key=lambda record: len(record[1]))
    signed = digest(domain, owed.state_hash)
    return Recorded(state, signatures, tuple(_recovered(signed, signature) for signature in signatures))


def _record_in(placed: PlacedLog) -> tuple[VariablePart, tuple[Signature, ...]] | None:
    match placed.log:
        case ChallengeRegistered(state=state, signatures=signatures) | Checkpointed(state=state, signatures=signatures):
            return state, signatures
        case Responded(state=state, signature=signature):
            return state, (signature,)
        case _:
            return None


def _recovered(signed: bytes, signature: Signature) -> bytes | None:
    try:
        return recover(signed, signature)
    except ForcemoveError:
        return None


# ----------------------------------------------------------------------------------------------------------- findings


def standing_finding(
    standing: Standing, name_app: Callable[[VariablePart], KnownApp | None], fixed_part: FixedPart | None = None
) -> Finding:
    """`{"chainId", "adjudicator", "channelId", "block", "time", "mode", "closed", "turnNumRecord", "finalizesAt",
    "secondsLeft", "record", "owed", "holdings", "credits", "history"}`.

    `turnNumRecord` is null where nothing is recorded, `finalizesAt` and `secondsLeft` where no clock runs. `record`:
    `{"state", "app", "position", "signedBy"}`, or null. `owed`: allocations that are still to be paid, or null.
    `holdings`: `{"asset", "held", "payoutBegun", "closed"}`; `credits`: `{"account", "asset", "amount"}`; `history`:
    the logs, each `{"block", "transaction", "log", "turnNum"}`.
    """
    status = standing.status
    return {
        "chainId": str(standing.domain.chain_id),
        "adjudicator": show_address(standing.domain.adjudicator),
        "channelId": show_hex(standing.channel_id),
        "block": standing.block,
        "time": standing.now,
        "mode": standing.mode.value,
        "closed": standing.closed,
        "turnNumRecord": None if status.is_empty else status.turn_num_record,
        "finalizesAt": status.finalizes_at or None,
        "secondsLeft": standing.seconds_left,
        "record": standing.recorded and _recorded_finding(standing.recorded, name_app, fixed_part),
        "owed": standing.owed and outcome_finding(standing.owed.outcome, fixed_part),
        "holdings": [_holdings_finding(asset, holdings) for asset, holdings in standing.holdings],
        "credits": [_credit_finding(credit) for credit in standing.credits],
        "history": [_history_finding(placed) for placed in standing.logs],
    }


def _recorded_finding(
    recorded: Recorded, name_app: Callable[[VariablePart], KnownApp | None], fixed_part: FixedPart | None
) -> Finding:
    """Who has signed: the participants where they are known, else the accounts that the outcome pays."""
    state = recorded.state
    known = (
        set(fixed_part.participants)
        if fixed_part
        else {destination_address(each.destination) for each in state.outcome}
    )
    app = name_app(state)
    return {
        "state": state_finding(state, fixed_part),
        "app": app_finding(app),
        "position": position_finding(app, state, seat_names(len(fixed_part.participants)) if fixed_part else None),
        "signedBy": [show_address(signer) for signer in recorded.signers if signer is not None and signer in known],
    }


def _holdings_finding(asset: bytes, holdings: Holdings) -> Finding:
    return {
        "asset": show_address(asset),
        "held": str(holdings.held),
        "payoutBegun": holdings.payout_begun,
        "closed": holdings.closed,
    }


def _credit_finding(credit: Credit) -> Finding:
    return {
        "account": show_address(credit.account),
        "asset": show_address(credit.asset),
        "amount": str(credit.amount),
    }


def _history_finding(placed: PlacedLog) -> Finding:
    match placed.log:
        case ChallengeRegistered(state=state) | Responded(state=state) | Checkpointed(state=state):
            turn_num: int | None = state.turn_num
        case Concluded(turn_num=turn_num):
            pass
        case _:
            turn_num = None
    return {
        "block": placed.place.block_number,
        "transaction": show_hex(placed.place.transaction_hash),
        "log": type(placed.log).__name__,
        "turnNum": turn_num,
    }
