"""A pure model of the adjudicator: what each operation would do to what it has stored, log and pay. `Adjudicator.sol`'s
twin.

Each operation takes the adjudicator as it was and gives it as it is afterwards, or raises the error that the contract
reverts with; nothing is ever changed in place. Same checks in the same order, which tests prove on the bytecode.
Outside of it: gas, accounts' balances and calldata that does not decode. How accounts and assets behave comes with the
transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from forcemove.errors import InvalidValue
from forcemove.protocol import logs as log_types
from forcemove.protocol import rule_errors, words
from forcemove.protocol.app import Rules
from forcemove.protocol.encoding import (
    EMPTY_HASH,
    Domain,
    StateHashes,
    challenge_hash,
    channel_id,
    digest,
    fingerprint,
    outcome_hash,
    state_hash,
)
from forcemove.protocol.rules import (
    require_fingerprint,
    require_recorded,
    require_supported,
    require_valid_state,
    require_valid_transition,
)
from forcemove.protocol.signing import recover, require_signer
from forcemove.protocol.types import (
    ETHER,
    MAX_AMOUNT,
    UINT256_MAX,
    ZERO_ADDRESS,
    Allocation,
    FixedPart,
    Outcome,
    Signature,
    SupportProof,
    VariablePart,
    destination_address,
    require_valid_outcome,
    totals,
)

_NO_SIGNATURE = Signature(bytes(64))


class Payment(NamedTuple):
    """`amount` of `asset`, pushed to the account `to`."""

    asset: bytes
    to: bytes
    amount: int


def _accepted(_payment: Payment) -> bool:
    return True


def _arrives_in_full(_asset: bytes, amount: int) -> int:
    return amount


class Transaction(Struct, frozen=True):
    """The sender of an operation, the time of its block (seconds), and the ether that comes with it (wei).

    The world outside is given as functions. `accepts`: whether recipient and asset take a payment. `pulls`: how much of
    an ERC-20 arrives when the adjudicator takes an amount from the sender; raises where the asset refuses.
    """

    sender: bytes
    now: int
    value: int = 0
    accepts: Callable[[Payment], bool] = _accepted
    pulls: Callable[[bytes, int], int] = _arrives_in_full


class Adjudication(Struct, frozen=True):
    """All that an adjudicator stores. `statuses`: by channel id and home asset. `holdings`: by channel id and asset.
    `credits`: by account and asset. What is empty is not listed. That statuses and holdings share words is left out."""

    domain: Domain
    statuses: Mapping[tuple[bytes, bytes], words.Status] = field(default_factory=dict)
    holdings: Mapping[tuple[bytes, bytes], words.Holdings] = field(default_factory=dict)
    credits: Mapping[tuple[bytes, bytes], int] = field(default_factory=dict)

    def status_of(self, channel_id: bytes, asset: bytes = ETHER) -> words.Status:
        """What is recorded of a channel. `asset`: its home asset."""
        return self.statuses.get((channel_id, asset), words.EMPTY_STATUS)

    def holdings_of(self, channel_id: bytes, asset: bytes) -> words.Holdings:
        """What a channel holds of an asset."""
        return self.holdings.get((channel_id, asset), words.NO_HOLDINGS)

    def credit_of(self, account: bytes, asset: bytes) -> int:
        """What an account can claim of an asset."""
        return self.credits.get((account, asset), 0)


class OperationResult(NamedTuple):
    """What an operation leaves: the adjudicator, its logs, and the payments that were accepted, each in order."""

    adjudication: Adjudication
    logs: tuple[log_types.Log, ...]
    payments: tuple[Payment, ...]


class _Draft:
    """The adjudicator while one operation runs; thrown away when it raises."""

    def __init__(self, before: Adjudication, transaction: Transaction) -> None:
        self.domain = before.domain
        self.statuses = dict(before.statuses)
        self.holdings = dict(before.holdings)
        self.credits = dict(before.credits)
        self.transaction = transaction
        self.logs: list[log_types.Log] = []
        self.payments: list[Payment] = []

    def result(self) -> OperationResult:
        after = Adjudication(self.domain, self.statuses, self.holdings, self.credits)
        return OperationResult(after, tuple(self.logs), tuple(self.payments))

    def status_of(self, id_: bytes, asset: bytes) -> words.Status:
        return self.statuses.get((id_, asset), words.EMPTY_STATUS)

    def holdings_of(self, id_: bytes, asset: bytes) -> words.Holdings:
        return self.holdings.get((id_, asset), words.NO_HOLDINGS)

    def mode(self, status: words.Status) -> words.Mode:
        return status.mode(self.transaction.now)

    def pay(self, payment: Payment) -> bool:
        """Push a payment; whether it was accepted."""
        accepted = self.transaction.accepts(payment)
        if accepted:
            self.payments.append(payment)
        return accepted


# ------------------------------------------------------------------------------------------------------------ funding


def deposit(
    before: Adjudication, transaction: Transaction, channel_id: bytes, asset: bytes, expected_held: int, amount: int
) -> OperationResult:
    """Pay into a channel, at most up to `expected_held + amount`; what is not needed goes back to the sender.

    - `before`: what the adjudicator holds and has recorded.
    - `transaction`: its sender, time and ether.
    - `channel_id`: 32 bytes.
    - `asset`: 20 bytes, the token's address, or `ETHER`.
    - `expected_held`: the least that the channel must hold already, in the asset's smallest unit.
    - `amount`: to pay in, in the asset's smallest unit.

    Raises `NotAChannelId`, `ValueMismatch`, `ChannelFull`, `ChannelClosed`, `PayoutBegun`, `HoldingsBelowExpected`,
    `HoldingsOverflow`, `NothingToDeposit`, `PaymentRefused`, and what the asset raises.
    """
    draft = _Draft(before, transaction)
    if destination_address(channel_id) is not None:
        raise rule_errors.NotAChannelId(channel_id)
    value = amount if asset == ETHER else 0
    if transaction.value != value:
        raise rule_errors.ValueMismatch(value, transaction.value)
    holdings = draft.holdings_of(channel_id, asset)
    if holdings.full:
        raise rule_errors.ChannelFull(channel_id)
    missing = _missing(channel_id, holdings, expected_held, amount)

    arrived = missing if asset == ETHER else transaction.pulls(asset, missing)
    if not holdings.fits(arrived):
        raise rule_errors.HoldingsOverflow(holdings.amount, arrived)
    draft.holdings[channel_id, asset] = holdings.plus(arrived)
    draft.logs.append(log_types.Deposited(channel_id, asset, holdings.amount + arrived))

    rest = amount - missing if asset == ETHER else 0
    if rest and not draft.pay(Payment(asset, transaction.sender, rest)):
        raise rule_errors.PaymentRefused(asset, transaction.sender, rest)
    return draft.result()


def _missing(id_: bytes, holdings: words.Holdings, expected_held: int, amount: int) -> int:
    if holdings.closed:
        raise rule_errors.ChannelClosed(id_)
    if holdings.payout_begun:
        raise rule_errors.PayoutBegun(id_)
    held = holdings.amount
    if held < expected_held:
        raise rule_errors.HoldingsBelowExpected(held, expected_held)
    target = expected_held + amount
    if target > MAX_AMOUNT:
        raise rule_errors.HoldingsOverflow(expected_held, amount)
    if held >= target:
        raise rule_errors.NothingToDeposit(held, target)
    return target - held


# ----------------------------------------------------------------------------------------------------------- disputes


def challenge(
    before: Adjudication,
    transaction: Transaction,
    fixed_part: FixedPart,
    proof: SupportProof,
    challenger_signature: Signature | None,
    app_rules: Rules,
) -> OperationResult:
    """Start the clock on the last state of `proof`: one above the record, or in mode Open the recorded one, whatever
    comes with it.

    - `before`: what the adjudicator holds and has recorded.
    - `transaction`: its sender, time and ether.
    - `fixed_part`: of the channel.
    - `proof`: the signed states that support the last of them.
    - `challenger_signature`: of a participant, looked at only where the sender is not a participant.
    - `app_rules`: the rules of the game.

    Raises what `SupportProof.require_complete` raises, `ChannelFinalized`; for the recorded state
    `FingerprintMismatch`; for another `TurnNumberNotIncreased`, what `require_supported` raises, `ChannelClosed`; then
    `ChallengerNotParticipant` and what `recover` raises.
    """
    proof.require_complete(len(fixed_part.participants))
    draft = _Draft(before, transaction)
    id_, status = _require_live(draft, fixed_part)
    state = proof.last
    is_recorded = _is_open_at(draft, status, state.turn_num)
    if is_recorded:
        hashes = require_recorded(id_, status, state)
    else:
        hashes = _require_newer(draft, id_, status, fixed_part, proof, app_rules)
    _require_challenger(draft, fixed_part, challenge_hash(id_, state.turn_num, hashes.state), challenger_signature)

    finalizes_at = transaction.now + fixed_part.challenge_duration
    _record(draft, id_, fixed_part, state.turn_num, finalizes_at, fingerprint(hashes.state, hashes.outcome))
    logged = () if is_recorded else proof.signatures  # signatures that were not checked must not be logged
    draft.logs.append(log_types.ChallengeRegistered(id_, finalizes_at, state, logged))
    return draft.result()


def respond(
    before: Adjudication,
    transaction: Transaction,
    fixed_part: FixedPart,
    challenged: VariablePart,
    response: VariablePart,
    signature: Signature,
    app_rules: Rules,
) -> OperationResult:
    """Answer a challenge with the next state, signed by its mover alone.

    - `before`: what the adjudicator holds and has recorded.
    - `transaction`: its sender, time and ether.
    - `fixed_part`: of the channel.
    - `challenged`: the state that the challenge has recorded; its turn is taken from the record.
    - `response`: the state that follows it; so is its turn.
    - `signature`: of `response`, by its mover.
    - `app_rules`: the rules of the game.

    Raises `ChannelFinalized`, `NoChallenge`, `FingerprintMismatch`, then what `require_valid_state`,
    `require_valid_transition` and `require_signer` raise of the response.
    """
    draft = _Draft(before, transaction)
    id_, status = _require_live(draft, fixed_part)
    if draft.mode(status) is words.Mode.OPEN:
        raise rule_errors.NoChallenge(id_)
    challenged = replace(challenged, turn_num=status.turn_num_record)
    response = replace(response, turn_num=status.turn_num_record + 1)
    from_ = require_recorded(id_, status, challenged)
    to = require_valid_state(id_, draft.domain.adjudicator, fixed_part, response)
    require_valid_transition(id_, fixed_part, challenged, from_, response, to, app_rules)
    mover = fixed_part.participants[fixed_part.mover(response.turn_num)]
    require_signer(digest(draft.domain, to.state), signature, mover)

    _record(draft, id_, fixed_part, response.turn_num, 0, fingerprint(to.state, to.outcome))
    draft.logs.append(log_types.Responded(id_, response, signature))
    return draft.result()


def checkpoint(
    before: Adjudication, transaction: Transaction, fixed_part: FixedPart, proof: SupportProof, app_rules: Rules
) -> OperationResult:
    """Record a later supported state and stop the clock. Anybody may send it.

    - `before`: what the adjudicator holds and has recorded.
    - `transaction`: its sender, time and ether.
    - `fixed_part`: of the channel.
    - `proof`: the signed states that support the last of them.
    - `app_rules`: the rules of the game.

    Raises what `SupportProof.require_complete` raises, `ChannelFinalized`, `TurnNumberNotIncreased`, what
    `require_supported` raises, `ChannelClosed`.
    """
    proof.require_complete(len(fixed_part.participants))
    draft = _Draft(before, transaction)
    id_, status = _require_live(draft, fixed_part)
    hashes = _require_newer(draft, id_, status, fixed_part, proof, app_rules)

    _record(draft, id_, fixed_part, proof.last.turn_num, 0, fingerprint(hashes.state, hashes.outcome))
    draft.logs.append(log_types.Checkpointed(id_, proof.last, proof.signatures))
    return draft.result()


# ----------------------------------------------------------------------------------------------------------- settling


def conclude(
    before: Adjudication,
    transaction: Transaction,
    fixed_part: FixedPart,
    outcome: Outcome,
    turn_num: int,
    signatures: Sequence[Signature],
) -> OperationResult:
    """Finalise at once with a final state that all have signed, and pay.

    - `before`: what the adjudicator holds and has recorded.
    - `transaction`: its sender, time and ether.
    - `fixed_part`: of the channel.
    - `outcome`: of the final state.
    - `turn_num`: of the final state.
    - `signatures`: of the final state, by every participant in their order.

    Raises `InvalidValue` of another number of signatures, `ChannelFinalized`, what `require_valid_outcome` raises, what
    `require_signer` raises, `ChannelClosed`.
    """
    if len(signatures) != len(fixed_part.participants):
        raise InvalidValue("signatures", len(signatures), f"{len(fixed_part.participants)}")
    draft = _Draft(before, transaction)
    id_, status = _require_live(draft, fixed_part)
    require_valid_outcome(outcome, id_, draft.domain.adjudicator, fixed_part.asset, fixed_part.total)
    hash_ = state_hash(id_, outcome_hash(outcome), EMPTY_HASH, EMPTY_HASH, turn_num, True)
    for participant, signature in zip(fixed_part.participants, signatures, strict=True):
        require_signer(digest(draft.domain, hash_), signature, participant)
    _require_not_closed(draft, id_, fixed_part.asset)

    if not _covers_all(draft, id_, fixed_part.asset, outcome):
        draft.logs.append(log_types.Concluded(id_, turn_num))
        _record(draft, id_, fixed_part, max(turn_num, status.turn_num_record), transaction.now, 0)
    _settle(draft, id_, fixed_part.asset, hash_, outcome, None)
    return draft.result()


def transfer(
    before: Adjudication,
    transaction: Transaction,
    channel_id: bytes,
    asset: bytes,
    state_hash: bytes,
    outcome: Outcome,
    indices: Sequence[int],
) -> OperationResult:
    """Pay a finalised channel out, as far as its holdings reach.

    - `before`: what the adjudicator holds and has recorded.
    - `transaction`: its sender, time and ether.
    - `channel_id`: 32 bytes.
    - `asset`: 20 bytes, the channel's home asset.
    - `state_hash`: 32 bytes, of the state that the channel was finalised with.
    - `outcome`: of that state, as far as it is not paid yet.
    - `indices`: of the allocations to pay, increasing; all if none are named.

    Raises `ChannelNotFinalized`, `FingerprintMismatch`, `IndexOutOfRange`, `IndicesNotIncreasing`,
    `IndexOfAnotherAsset`.
    """
    draft = _Draft(before, transaction)
    status = draft.status_of(channel_id, asset)
    if draft.mode(status) is not words.Mode.FINALIZED:
        raise rule_errors.ChannelNotFinalized(channel_id, status.finalizes_at)
    require_fingerprint(status, state_hash, outcome_hash(outcome))
    chosen = _choose(outcome, indices)

    _settle(draft, channel_id, asset, state_hash, outcome, chosen)
    return draft.result()


def claim(before: Adjudication, transaction: Transaction, asset: bytes, to: bytes) -> OperationResult:
    """Pay the sender's whole credit in one asset to the account `to`.

    Raises `NothingToClaim`, `ForbiddenRecipient`, `PaymentRefused`.
    """
    return _pay_credit(before, transaction, transaction.sender, asset, to)


def pay_credit(before: Adjudication, transaction: Transaction, account: bytes, asset: bytes) -> OperationResult:
    """Pay an account's whole credit in one asset to the account itself. Anybody may send it. Raises as `claim`."""
    return _pay_credit(before, transaction, account, asset, account)


def _pay_credit(
    before: Adjudication, transaction: Transaction, account: bytes, asset: bytes, to: bytes
) -> OperationResult:
    draft = _Draft(before, transaction)
    amount = before.credit_of(account, asset)
    if amount == 0:
        raise rule_errors.NothingToClaim(account, asset)
    if to in (ZERO_ADDRESS, draft.domain.adjudicator):
        raise rule_errors.ForbiddenRecipient(to)

    del draft.credits[account, asset]
    draft.logs.append(log_types.Claimed(account, asset, to, amount))
    if not draft.pay(Payment(asset, to, amount)):
        raise rule_errors.PaymentRefused(asset, to, amount)
    return draft.result()


# ------------------------------------------------------------------------------------------------------------- checks


def _require_live(draft: _Draft, fixed_part: FixedPart) -> tuple[bytes, words.Status]:
    id_ = channel_id(fixed_part, draft.domain)
    status = draft.status_of(id_, fixed_part.asset)
    if draft.mode(status) is words.Mode.FINALIZED:
        raise rule_errors.ChannelFinalized(id_, status.finalizes_at)
    return id_, status


def _is_open_at(draft: _Draft, status: words.Status, turn_num: int) -> bool:
    return not status.is_empty and draft.mode(status) is words.Mode.OPEN and status.turn_num_record == turn_num


def _require_newer(
    draft: _Draft, id_: bytes, status: words.Status, fixed_part: FixedPart, proof: SupportProof, app_rules: Rules
) -> StateHashes:
    """Refuse what is not above the record, not supported, or of a closed channel (which has no status)."""
    state = proof.last
    if not status.is_empty and state.turn_num <= status.turn_num_record:
        raise rule_errors.TurnNumberNotIncreased(status.turn_num_record, state.turn_num)
    hashes = require_supported(draft.domain, fixed_part, proof, app_rules, status)
    _require_not_closed(draft, id_, fixed_part.asset)
    return hashes


def _require_not_closed(draft: _Draft, id_: bytes, asset: bytes) -> None:
    if draft.holdings_of(id_, asset).closed:
        raise rule_errors.ChannelClosed(id_)


def _require_challenger(
    draft: _Draft, fixed_part: FixedPart, challenge_hash_: bytes, signature: Signature | None
) -> None:
    """The sender is a participant, or a participant has signed the challenge."""
    sender = draft.transaction.sender
    if sender in fixed_part.participants:
        return
    if signature is None or signature == _NO_SIGNATURE:
        raise rule_errors.ChallengerNotParticipant(sender)
    signer = recover(digest(draft.domain, challenge_hash_), signature)
    if signer not in fixed_part.participants:
        raise rule_errors.ChallengerNotParticipant(signer)


def _choose(outcome: Outcome, indices: Sequence[int]) -> frozenset[int] | None:
    """The allocations to pay; None where all of them are."""
    for position, index in enumerate(indices):
        if index >= len(outcome):
            raise rule_errors.IndexOutOfRange(index)
        if position and index <= indices[position - 1]:
            raise rule_errors.IndicesNotIncreasing(position)
        if outcome[index].asset != outcome[indices[0]].asset:
            raise rule_errors.IndexOfAnotherAsset(index)
    return frozenset(indices) if indices else None


# ------------------------------------------------------------------------------------------------------------ effects


def _record(
    draft: _Draft, id_: bytes, fixed_part: FixedPart, turn_num: int, finalizes_at: int, fingerprint_: int
) -> None:
    """Write a record. Where it is the first one, and the channel holds its total, it takes nothing more in."""
    if turn_num > words.MAX_TURN_RECORD:
        raise rule_errors.TurnNumberTooHigh(turn_num)
    if finalizes_at > words.MAX_FINALIZES_AT:
        raise rule_errors.TimeTooLate(finalizes_at)
    key, total = (id_, fixed_part.asset), fixed_part.total
    holdings = draft.holdings_of(*key)
    if key not in draft.statuses and total and holdings.amount >= total:
        draft.holdings[key] = replace(holdings, full=True)
    draft.statuses[key] = words.Status(turn_num, finalizes_at, fingerprint_)


def _settle(
    draft: _Draft, id_: bytes, home: bytes, state_hash_: bytes, outcome: Outcome, chosen: frozenset[int] | None
) -> None:
    """Pay the chosen allocations (None: all) as far as the holdings reach; close the channel once nothing is owed."""
    assets = {*totals(outcome), home}
    left = {asset: draft.holdings_of(id_, asset).amount for asset in assets}
    taken = _take_payments(draft, outcome, chosen, left)
    remaining = tuple(
        replace(entry, amount=entry.amount - amount) for entry, amount in zip(outcome, taken, strict=True)
    )
    if any(entry.amount for entry in remaining):
        if any(taken):
            draft.holdings.update({(id_, asset): words.Holdings(left[asset], True) for asset in assets})
        owed = fingerprint(state_hash_, outcome_hash(remaining))
        draft.statuses[id_, home] = replace(draft.status_of(id_, home), fingerprint=owed)
        draft.logs.append(log_types.PartlyPaid(id_, state_hash_, remaining))
    else:
        _take_surplus(draft, outcome, taken, left)
        draft.holdings.update({(id_, asset): words.Holdings(left[asset], True, closed=True) for asset in assets})
        draft.statuses.pop((id_, home), None)
        draft.logs.append(log_types.Closed(id_))
    for entry, amount in zip(outcome, taken, strict=True):
        _push(draft, entry, amount)


def _covers_all(draft: _Draft, id_: bytes, home: bytes, outcome: Outcome) -> bool:
    """Whether it is of the home asset alone, the holdings cover it, and it goes to addresses: then `Closed` is logged
    alone."""
    total = totals(outcome)
    goes_to_addresses = all(destination_address(entry.destination) is not None for entry in outcome)
    return [*total] == [home] and goes_to_addresses and draft.holdings_of(id_, home).amount >= total[home]


def _take_surplus(draft: _Draft, outcome: Outcome, taken: list[int], left: dict[bytes, int]) -> None:
    """Let what a channel that closes holds beyond its outcome go with each asset's last payment. It is stuck only where
    that goes to a channel that takes no more, or the home asset is not in the outcome."""
    for asset, entries in _groups(outcome):
        index, entry = entries[-1]
        if destination_address(entry.destination) is not None:
            taken[index] += left[asset]
            left[asset] = 0
        elif _arrives(draft, entry, left[asset]):
            left[asset] = 0


def _take_payments(draft: _Draft, outcome: Outcome, chosen: frozenset[int] | None, left: dict[bytes, int]) -> list[int]:
    """What each allocation is paid now, taken out of what is `left` of its asset; what goes to channels is there on
    return."""
    taken = [0] * len(outcome)
    for asset, entries in _groups(outcome):
        available = left[asset]
        for index, entry in entries:
            worth = min(entry.amount, available)
            available -= worth
            if (chosen is None or index in chosen) and _arrives(draft, entry, worth):
                taken[index] = worth
        left[asset] -= sum(taken[index] for index, _ in entries)
    return taken


def _groups(outcome: Outcome) -> Iterator[tuple[bytes, list[tuple[int, Allocation]]]]:
    """The allocations with their places, asset by asset."""
    for asset, group in groupby(enumerate(outcome), key=lambda numbered: numbered[1].asset):
        yield asset, list(group)


def _arrives(draft: _Draft, entry: Allocation, worth: int) -> bool:
    """Pay another channel at once: False, and nothing done, where it is closed or full, or could not hold as much.
    (Addresses are paid later, and always count as paid.)"""
    if worth == 0 or destination_address(entry.destination) is not None:
        return True
    holdings = draft.holdings_of(entry.destination, entry.asset)
    if holdings.closed or holdings.full or not holdings.fits(worth):
        return False
    draft.holdings[entry.destination, entry.asset] = holdings.plus(worth)
    draft.logs.append(log_types.Deposited(entry.destination, entry.asset, holdings.amount + worth))
    return True


def _push(draft: _Draft, entry: Allocation, amount: int) -> None:
    """Push a payment to an address; what is refused becomes a credit."""
    to = destination_address(entry.destination)
    if to is None or amount == 0 or draft.pay(Payment(entry.asset, to, amount)):
        return
    credit = draft.credits.get((to, entry.asset), 0) + amount
    draft.credits[to, entry.asset] = min(credit, UINT256_MAX)
    draft.logs.append(log_types.Credited(to, entry.asset, amount))
