"""Reports of inspection as documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from forcemove.artifact import ADJUDICATOR
from forcemove.chain.addresses import show_address
from forcemove.chain.adjudicator import PlacedLog
from forcemove.chain.book import AddressBook
from forcemove.chain.verification import ContractVerdict
from forcemove.inspect.apps import KnownApp, NoPosition, PositionFacts
from forcemove.inspect.bare import BareReport
from forcemove.inspect.deployments import DeploymentReport
from forcemove.inspect.game_record_report import GameRecordReport
from forcemove.inspect.inspection import Report
from forcemove.inspect.onchain import ChannelReport, RecordReport, turn_of
from forcemove.inspect.possibilities import PossibleAction
from forcemove.inspect.report_shapes import (
    ActionJson,
    AllocationJson,
    AppJson,
    BareDocument,
    ChannelDocument,
    ContractJson,
    CreditJson,
    DeploymentDocument,
    FixedPartJson,
    GameOfContractJson,
    GameRecordReportDocument,
    HoldingsJson,
    LogJson,
    PositionJson,
    PossibilitiesJson,
    RecordedStateJson,
    RefusedActionJson,
    ShareJson,
    SignatureJson,
    SignedStateDocument,
    StateJson,
)
from forcemove.inspect.signatures import SignatureCheck
from forcemove.inspect.signed_state import SignedStateReport
from forcemove.inspect.states import OutcomeEntry, StateFacts
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.machine.results import Share
from forcemove.protocol.types import FixedPart

__all__ = ["deployment_document", "log_json", "report_document", "share_json", "signed_state_document"]


def report_document(
    report: Report,
) -> ChannelDocument | SignedStateDocument | BareDocument | GameRecordReportDocument:
    """The document of a report."""
    match report:
        case SignedStateReport():
            return signed_state_document(report)
        case ChannelReport():
            return _channel(report)
        case GameRecordReport():
            return _game_record(report)
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
        report.prices.fork,
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


def _game_record(report: GameRecordReport) -> GameRecordReportDocument:
    record = report.record
    return GameRecordReportDocument(
        str(record.domain.chain_id),
        show_address(record.domain.adjudicator),
        hex_text(report.agreement.channel_id),
        _fixed_part(record.fixed_part),
        _app(report.app),
        list(record.names),
        len(record.states),
        None if report.shares is None else [share_json(each) for each in report.shares],
        None if report.payment is None else report.payment.value,
        None if report.channel is None else _channel(report.channel),
    )


def share_json(share: Share) -> ShareJson:
    """One participant's share."""
    amounts = (share.deposited, share.allocated, share.payable)
    return ShareJson(show_address(share.asset), share.participant, *map(str, amounts))


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
