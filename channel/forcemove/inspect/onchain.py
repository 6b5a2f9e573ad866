"""A channel on its chain: what the adjudicator has recorded, holds and owes, read at one block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from msgspec import UNSET
from msgspec.structs import replace

from forcemove.game import seat_names
from forcemove.inspect import apps, states
from forcemove.protocol.encoding import Domain
from forcemove.protocol.logs import (
    ChallengeRegistered,
    Checkpointed,
    Claimed,
    Closed,
    Concluded,
    Credited,
    Deposited,
    Log,
    PartlyPaid,
    Responded,
)
from forcemove.protocol.machine.channel import Accepted, Channel
from forcemove.protocol.machine.record import EMPTY_RECORD, Record, Recorded, fold_all
from forcemove.protocol.machine.results import Ending
from forcemove.protocol.types import ETHER, FixedPart, Outcome, VariablePart, destination_address, totals
from forcemove.protocol.words import Holdings, Mode, Status, status_word, word_key

if TYPE_CHECKING:
    from forcemove.chain.adjudicator import Adjudicator, PlacedLog

NameApp = Callable[[VariablePart], apps.KnownApp | None]
"""Which game a recorded state is of."""


@dataclass(frozen=True, slots=True)
class Credit:
    """What `account` can claim of `asset` (20 bytes each), in the asset's smallest unit."""

    account: bytes
    asset: bytes
    amount: int


@dataclass(frozen=True, slots=True)
class ChannelOnChain:
    """One channel at one block. `now`: the block time (seconds) that a transaction would get. `status`: the
    adjudicator's. `record`: what the logs say of the channel; empty where they do not explain the status."""

    domain: Domain
    channel_id: bytes
    block: int
    now: int
    status: Status
    record: Record
    holdings: tuple[tuple[bytes, Holdings], ...]
    credits: tuple[Credit, ...]
    logs: tuple[PlacedLog, ...]

    @property
    def mode(self) -> Mode:
        """The mode at `now`."""
        return self.status.mode(self.now)

    @property
    def closed(self) -> bool:
        """Whether everything was paid, and the id is closed forever."""
        return any(holdings.closed for _, holdings in self.holdings)

    @property
    def ending(self) -> Ending | None:
        """How the channel ended, None before that, and where that is not known. Missing deposits are not known on a
        chain."""
        if not self.closed and self.mode is not Mode.FINALIZED:
            return None
        if self.closed and self.record.concluded is UNSET:
            return None
        return Ending.CONCLUDED if self.record.concluded is True else Ending.UNANSWERED

    def seen_by(self, channel: Channel) -> Channel:
        """A participant's channel with what is here in place of what it has seen of the chain."""
        channel, recorded = channel.forget_chain(), self.record.recorded
        if recorded is not None and not self.closed:
            signed = recorded.signed_by(channel.agreement.fixed_part.participants)
            channel = channel.reset(Accepted(signed, recorded.hashes))
        holdings = tuple((asset, each.amount) for asset, each in self.holdings)
        return replace(channel, record=self.record, holdings=holdings)

    @property
    def seconds_left(self) -> int | None:
        """Seconds until the recorded state is final; None where no clock runs."""
        return self.status.finalizes_at - self.now if self.mode is Mode.CHALLENGE else None

    @property
    def is_unknown(self) -> bool:
        """Whether the adjudicator has no data of the channel."""
        is_used = any(each.is_used for _, each in self.holdings)
        return self.status.is_empty and not is_used and not self.logs

    def held(self, asset: bytes) -> int:
        """What the channel holds of an asset."""
        return next((each.amount for found, each in self.holdings if found == asset), 0)


def read_channel(
    adjudicator: Adjudicator,
    channel_id: bytes,
    from_block: int,
    accounts: Iterable[bytes] = (),
    outcome: Outcome = (),
) -> ChannelOnChain:
    """Read what the chain has of a channel. Raises what reading a chain raises.

    - `adjudicator`: the channel's adjudicator.
    - `channel_id`: 32 bytes.
    - `from_block`: the first block that can have logs of the channel.
    - `accounts`: addresses (20 bytes) whose credits are read, besides those that the logs and `outcome` name.
    - `outcome`: whose assets and addresses are read, besides those that the logs name.
    """
    chain = adjudicator.chain
    block = chain.block_number()
    logs = tuple(adjudicator.logs(channel_id, from_block, block))
    now = chain.next_time()
    outcomes = [*(_outcome_of(placed.log) for placed in logs), outcome]
    assets = _assets(logs, outcomes)
    words = adjudicator.words([word_key(channel_id, asset) for asset in assets], block=block)
    status = Status.unpack(next(filter(status_word, words), 0))
    return ChannelOnChain(
        adjudicator.domain,
        channel_id,
        block,
        now,
        status,
        _record(logs, adjudicator, status, now),
        _holdings(adjudicator, channel_id, assets, next(filter(None, reversed(outcomes)), ()), block),
        tuple(_credits(adjudicator, _payees(accounts, outcomes), assets, block)),
        logs,
    )


def _record(logs: Sequence[PlacedLog], adjudicator: Adjudicator, status: Status, now: int) -> Record:
    """The record that the logs make; empty where it is not the one that the status commits to. A conclusion that pays
    everything logs no more than a payout does: which of them has closed the channel after a challenge, the time of the
    block says."""
    record = fold_all((placed.log for placed in logs), adjudicator.domain, now)
    if record.closed and record.concluded is UNSET:
        ends = max(each.log.finalizes_at for each in logs if isinstance(each.log, ChallengeRegistered))
        closed_at = adjudicator.chain.header(logs[-1].place.block_number).time
        record = replace(record, concluded=closed_at < ends)
    return record if record.status.fingerprint == status.fingerprint else EMPTY_RECORD


def _outcome_of(log: Log) -> Outcome:
    """What a log says that the channel would pay."""
    match log:
        case PartlyPaid(_, _, remaining):
            return remaining
        case ChallengeRegistered() | Responded() | Checkpointed():
            return log.state.outcome
        case Deposited() | Concluded() | Closed() | Credited() | Claimed():
            return ()
        case _:
            assert_never(log)


def _assets(logs: Sequence[PlacedLog], outcomes: Iterable[Outcome]) -> list[bytes]:
    deposited = {placed.log.asset for placed in logs if isinstance(placed.log, Deposited)}
    return sorted({ETHER, *deposited, *(entry.asset for outcome in outcomes for entry in outcome)})


def _holdings(
    adjudicator: Adjudicator, channel_id: bytes, assets: Sequence[bytes], outcome: Outcome, block: int
) -> tuple[tuple[bytes, Holdings], ...]:
    """What the channel holds of these assets. `outcome`: the newest one, which adds up to the channel's total."""
    funded = totals(outcome)
    keys = [(channel_id, asset, funded.get(asset, 0)) for asset in assets]
    return tuple(zip(assets, adjudicator.holdings_of_list(keys, block=block), strict=True))


def _payees(accounts: Iterable[bytes], outcomes: Iterable[Outcome]) -> list[bytes]:
    paid = {destination_address(entry.destination) for outcome in outcomes for entry in outcome}
    return sorted({*accounts, *(payee for payee in paid if payee is not None)})


def _credits(
    adjudicator: Adjudicator, accounts: Sequence[bytes], assets: Sequence[bytes], block: int
) -> Iterable[Credit]:
    for account in accounts:
        for asset in assets:
            amount = adjudicator.credit_of(account, asset, block=block)
            if amount:
                yield Credit(account, asset, amount)


def turn_of(log: Log) -> int | None:
    """The turn number in a log, or None."""
    match log:
        case Concluded(_, turn_num):
            return turn_num
        case ChallengeRegistered() | Responded() | Checkpointed():
            return log.state.turn_num
        case Deposited() | PartlyPaid() | Closed() | Credited() | Claimed():
            return None
        case _:
            assert_never(log)


# ------------------------------------------------------------------------------------------------------------- reports


@dataclass(frozen=True, slots=True)
class RecordReport:
    """The recorded state. `signed_by` (20 bytes each): the participants who have signed it or, where the participants
    are unknown, those signers that its outcome pays."""

    state: states.StateFacts
    app: apps.KnownApp | None
    position: apps.PositionFacts | apps.NoPosition | None
    signed_by: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ChannelReport:
    """What can be said of a channel from its chain. `record` and `owed` are None where nothing is recorded, or where
    the logs do not say what."""

    channel: ChannelOnChain
    record: RecordReport | None
    owed: tuple[states.OutcomeEntry, ...] | None


def report_channel(channel: ChannelOnChain, name_app: NameApp, fixed_part: FixedPart | None = None) -> ChannelReport:
    """A channel as it was read, explained. `fixed_part`: the channel's, where it is known."""
    recorded, owed = None if channel.closed else channel.record.recorded, channel.record.owed
    return ChannelReport(
        channel,
        None if recorded is None else _report_record(recorded, name_app, fixed_part),
        None if owed is None else states.outcome_entries(owed.outcome, fixed_part),
    )


def _report_record(recorded: Recorded, name_app: NameApp, fixed_part: FixedPart | None) -> RecordReport:
    state = recorded.state
    paid = {destination_address(each.destination) for each in state.outcome}
    known = set(fixed_part.participants) if fixed_part else paid
    app = name_app(state)
    signed_by = tuple(signer for signer, _ in recorded.signatures if signer in known)
    names = seat_names(len(fixed_part.participants)) if fixed_part else None
    return RecordReport(states.state_facts(state, fixed_part), app, apps.read_position(app, state, names), signed_by)
