"""Reports of inspection as documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from forcemove.artifact import ADJUDICATOR
from forcemove.chain.addresses import show_address
from forcemove.chain.adjudicator import PlacedLog
from forcemove.chain.book import AddressBook
from forcemove.chain.verification import ContractVerdict
from forcemove.inspect.apps import KnownApp, NoPosition, PositionFacts
from forcemove.inspect.bare import BareReport
from forcemove.inspect.deployments import DeploymentReport
from forcemove.inspect.documents import Address, Amount, Decimal, Document, Hash, Hex, Seconds
from forcemove.inspect.inspection import Report
from forcemove.inspect.onchain import ChannelReport, RecordReport, turn_of
from forcemove.inspect.possibilities import PossibleAction
from forcemove.inspect.signatures import SignatureCheck
from forcemove.inspect.signed_state import SignedStateReport
from forcemove.inspect.states import OutcomeEntry, StateFacts
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.types import FixedPart

__all__ = [
    "BareDocument",
    "ChannelDocument",
    "DeploymentDocument",
    "SignedStateDocument",
    "LogJson",
    "deployment_document",
    "log_json",
    "report_document",
    "signed_state_document",
]

# --------------------------------------------------------------------------------------------------------------- parts


class FixedPartJson(Document):
    """What never changes in a channel. `challengeDuration`: in seconds."""

    participants: list[Address]
    channel_nonce: Decimal
    app_definition: Address
    challenge_duration: Seconds


class AllocationJson(Document):
    """What a state would pay to a destination. `account`: null where the destination is another channel; `participant`:
    an index, null where the account is not a participant's."""

    asset: Address
    destination: Hash
    account: Address | None
    participant: int | None
    amount: Amount


class StateJson(Document):
    """A state. `stage`: `prefund`, `postfund`, `app` or `final`; `mover`: a participant's index; both are null
    where the participants are unknown."""

    turn_num: int
    is_final: bool
    stage: str | None
    mover: int | None
    outcome: list[AllocationJson]
    app_data: Hex


class AppJson(Document):
    """The game of a channel. `knownBy`: `code`, `book` or `bytes`."""

    game: str
    title: str
    contract: str
    known_by: str


class PositionJson(Document):
    """A position. `data`: what the game's own `position` says. Bytes that are not a position have a `problem` and
    nothing else."""

    description: str | None = None
    board: str | None = None
    stake: Amount | None = None
    data: Any = None
    problem: str | None = None


class SignatureJson(Document):
    """A signature. `verdict`: `signed`, `missing` or `wrong`; `recovered`: whose it is; `problem`: an error's name."""

    participant: int
    address: Address | None
    verdict: str
    recovered: Address | None
    problem: str | None


class ActionJson(Document):
    """What a participant could do. `action`: `challenge`, `respond`, `checkpoint`, `conclude` and
    the like."""

    action: str
    explanation: str


class PossibilitiesJson(Document):
    """What one participant could do with a state."""

    participant: int
    address: Address
    actions: list[ActionJson]


class RefusedActionJson(Document):
    """What the adjudicator would not accept."""

    action: str
    reason: str


class RecordedStateJson(Document):
    """The state that a challenge has recorded."""

    state: StateJson
    app: AppJson | None
    position: PositionJson | None
    signed_by: list[Address]


class HoldingsJson(Document):
    """What the adjudicator holds of an asset."""

    asset: Address
    held: Amount
    payout_begun: bool
    closed: bool


class CreditJson(Document):
    """A payment that failed, and may be collected."""

    account: Address
    asset: Address
    amount: Amount


class LogJson(Document):
    """A log of the adjudicator's."""

    block: int
    transaction: Hash
    log: str
    turn_num: int | None


# ----------------------------------------------------------------------------------------------------------- documents


class ChannelDocument(Document, tag_field="kind", tag="channel"):
    """A channel on a chain. `turnNumRecord` is null where nothing is recorded, `finalizesAt` and `secondsLeft` where no
    clock runs. `ending`: `concluded`, `unanswered`, or null before it is over, or where the logs do not say. `owed`:
    allocations that are still to be paid."""

    chain_id: Decimal
    adjudicator: Address
    channel_id: Hash
    block: int
    time: Seconds
    mode: str
    closed: bool
    turn_num_record: int | None
    finalizes_at: Seconds | None
    seconds_left: Seconds | None
    ending: str | None
    record: RecordedStateJson | None
    owed: list[AllocationJson] | None
    holdings: list[HoldingsJson]
    credits: list[CreditJson]
    history: list[LogJson]


class SignedStateDocument(Document, tag_field="kind", tag="signed-state"):
    """A signed state. `problem`: what makes it invalid. `support`: what else it takes to prove that every participant
    can be held to it, null where this state alone proves it. `refused` and `channel` are null without a chain."""

    chain_id: Decimal
    adjudicator: Address
    channel_id: Hash
    fixed_part: FixedPartJson
    state: StateJson
    app: AppJson | None
    position: PositionJson | None
    signatures: list[SignatureJson]
    problem: str | None
    support: str | None
    could: list[PossibilitiesJson]
    refused: list[RefusedActionJson] | None
    channel: ChannelDocument | None


class BareDocument(Document):
    """Bytes without a channel. `kind`: `state`, `record` or `position`; `state`: null of a bare position; `missing`:
    what it takes to check it."""

    kind: str
    state: StateJson | None
    app: AppJson | None
    position: PositionJson | None
    signatures: list[Hex]
    missing: list[str]


class GameOfContractJson(Document):
    """The game that a contract is of, and the Python distribution that has it."""

    name: str
    distribution: str | None


class ContractJson(Document):
    """A deployed contract. `derivedAddress`: where the factory would put it; `status`: the verdict in a word."""

    contract: str
    address: Address
    derived_address: Address
    has_code: bool
    status: str
    game: GameOfContractJson | None


class DeploymentDocument(Document):
    """A deployment. `genuine`: whether all that is deployed is what it says; `notDeployed` and `unknown`: names of
    contracts that are not deployed, and of those that no installed game has."""

    chain_id: Decimal
    factory: Address
    genuine: bool
    contracts: list[ContractJson]
    not_deployed: list[str]
    unknown: list[str]


def report_document(report: Report) -> ChannelDocument | SignedStateDocument | BareDocument:
    """The document of a report."""
    match report:
        case SignedStateReport():
            return signed_state_document(report)
        case ChannelReport():
            return _channel(report)
        case BareReport():
            return BareDocument(
                report.kind.value,
                None if report.state is None else _state(report.state),
                _app(report.app),
                _position(report.position),
                [hex_text(signature.compact) for signature in report.signatures],
                [each.value for each in report.missing],
            )
        case _:
            assert_never(report)


def deployment_document(book: AddressBook, report: DeploymentReport) -> DeploymentDocument:
    """The document of a deployment that was checked."""
    absent = [game.artifact.name for game in report.absent]
    return DeploymentDocument(
        str(book.chain_id),
        show_address(book.factory),
        report.is_good,
        [_contract(verdict) for verdict in report.verdicts],
        absent if report.has_adjudicator else [ADJUDICATOR, *absent],
        [verdict.contract for verdict in report.unknown],
    )


# -------------------------------------------------------------------------------------------------------- from reports


def signed_state_document(report: SignedStateReport) -> SignedStateDocument:
    """The document of a signed state's report."""
    file, refused = report.file, report.refused
    could = zip(file.fixed_part.participants, report.could, strict=True)
    return SignedStateDocument(
        str(file.domain.chain_id),
        show_address(file.domain.adjudicator),
        hex_text(report.channel_id),
        _fixed_part(file.fixed_part),
        _state(report.state),
        _app(report.app),
        _position(report.position),
        [_signature(check) for check in report.signatures],
        None if report.problem is None else str(report.problem),
        report.support,
        [
            PossibilitiesJson(index, show_address(address), [_action(each) for each in actions])
            for index, (address, actions) in enumerate(could)
        ],
        None if refused is None else [RefusedActionJson(each.action.action, str(each.refusal)) for each in refused],
        None if report.channel is None else _channel(report.channel),
    )


def _channel(report: ChannelReport) -> ChannelDocument:
    channel, status = report.channel, report.channel.status
    return ChannelDocument(
        str(channel.domain.chain_id),
        show_address(channel.domain.adjudicator),
        hex_text(channel.channel_id),
        channel.block,
        channel.now,
        channel.mode.value,
        channel.closed,
        None if status.is_empty else status.turn_num_record,
        status.finalizes_at or None,
        channel.seconds_left,
        channel.ending and channel.ending.name.lower(),
        None if report.record is None else _record(report.record),
        None if report.owed is None else _outcome(report.owed),
        [
            HoldingsJson(show_address(asset), str(each.held), each.payout_begun, each.closed)
            for asset, each in channel.holdings
        ],
        [
            CreditJson(show_address(each.account), show_address(each.asset), str(each.amount))
            for each in channel.credits
        ],
        [log_json(placed) for placed in channel.logs],
    )


def _fixed_part(fixed_part: FixedPart) -> FixedPartJson:
    return FixedPartJson(
        [show_address(participant) for participant in fixed_part.participants],
        str(fixed_part.channel_nonce),
        show_address(fixed_part.app_definition),
        fixed_part.challenge_duration,
    )


def _state(facts: StateFacts) -> StateJson:
    state, kind = facts.state, facts.kind and facts.kind.value
    return StateJson(state.turn_num, state.is_final, kind, facts.mover, _outcome(facts.pays), hex_text(state.app_data))


def _outcome(entries: Iterable[OutcomeEntry]) -> list[AllocationJson]:
    return [
        AllocationJson(
            show_address(entry.allocation.asset),
            hex_text(entry.allocation.destination),
            _address(entry.account),
            entry.participant,
            str(entry.allocation.amount),
        )
        for entry in entries
    ]


def _app(app: KnownApp | None) -> AppJson | None:
    if app is None:
        return None
    return AppJson(app.game.name, app.game.title, app.game.artifact.name, app.known_by.value)


def _position(position: PositionFacts | NoPosition | None) -> PositionJson | None:
    match position:
        case PositionFacts(description, board, stake, data):
            return PositionJson(description, board, str(stake), data)
        case NoPosition(problem):
            return PositionJson(problem=str(problem))
        case None:
            return None


def _signature(check: SignatureCheck) -> SignatureJson:
    return SignatureJson(
        check.participant,
        _address(check.address),
        check.verdict.value,
        _address(check.recovered),
        None if check.problem is None else type(check.problem).__name__,
    )


def _action(action: PossibleAction) -> ActionJson:
    return ActionJson(action.action, action.explanation)


def _record(record: RecordReport) -> RecordedStateJson:
    signers = [show_address(signer) for signer in record.signed_by]
    return RecordedStateJson(_state(record.state), _app(record.app), _position(record.position), signers)


def _address(address: bytes | None) -> str | None:
    return None if address is None else show_address(address)


def log_json(placed: PlacedLog) -> LogJson:
    """A log as part of a document."""
    place, log = placed.place, placed.log
    return LogJson(place.block_number, hex_text(place.transaction_hash), type(log).__name__, turn_of(log))


def _contract(verdict: ContractVerdict) -> ContractJson:
    game = verdict.game
    return ContractJson(
        verdict.contract,
        show_address(verdict.address),
        show_address(verdict.derived),
        verdict.has_code,
        verdict.status.value,
        None if game is None else GameOfContractJson(game.name, game.distribution),
    )
