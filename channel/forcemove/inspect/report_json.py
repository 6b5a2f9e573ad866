"""Reports of inspection as documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from forcemove.artifact import ADJUDICATOR
from forcemove.chain.adjudicator import PlacedLog
from forcemove.chain.book import AddressBook
from forcemove.inspect import report_shapes as shapes
from forcemove.inspect.apps import KnownApp, NoPosition, PositionFacts
from forcemove.inspect.bare import BareReport, CallReport
from forcemove.inspect.deployments import DeploymentReport
from forcemove.inspect.game_record_report import GameRecordReport
from forcemove.inspect.inspection import Report
from forcemove.inspect.onchain import ChannelReport, turn_of
from forcemove.inspect.signed_state import SignedStateReport
from forcemove.inspect.states import OutcomeEntry, StateFacts
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.codec.packed import ConcludeCall

ReportDocument = (
    shapes.ChannelDocument
    | shapes.SignedStateDocument
    | shapes.BareDocument
    | shapes.CallDocument
    | shapes.GameRecordReportDocument
)
"""What a report is printed as."""


def report_document(report: Report) -> ReportDocument:
    """The document of a report."""
    match report:
        case SignedStateReport():
            return signed_state_document(report)
        case ChannelReport():
            return _channel(report)
        case GameRecordReport():
            return _game_record(report)
        case BareReport():
            return shapes.BareDocument.of(
                report,
                state=None if report.state is None else _state(report.state),
                app=_app(report.app),
                position=_position(report.position),
                signatures=[each.compact for each in report.signatures],
            )
        case CallReport():
            return _call(report)
        case _:
            assert_never(report)


def deployment_document(book: AddressBook, report: DeploymentReport) -> shapes.DeploymentDocument:
    """The document of a deployment that was checked."""
    absent = [game.artifact.name for game in report.absent]
    return shapes.DeploymentDocument.of(
        book,
        genuine=report.is_good,
        contracts=[shapes.ContractJson.of(each, derived_address=each.derived) for each in report.verdicts],
        not_deployed=absent if report.has_adjudicator else [ADJUDICATOR, *absent],
        unknown=[each.contract for each in report.unknown],
        fork=report.prices.fork,
    )


# -------------------------------------------------------------------------------------------------------- from reports


def signed_state_document(report: SignedStateReport) -> shapes.SignedStateDocument:
    """The document of a signed state's report."""
    file, refused, problem = report.file, report.refused, report.problem
    could = zip(file.fixed_part.participants, report.could, strict=True)
    return shapes.SignedStateDocument.of(
        report,
        file,
        file.domain,
        state=_state(report.state),
        app=_app(report.app),
        position=_position(report.position),
        signatures=[
            shapes.SignatureJson.of(each, problem=each.problem and type(each.problem).__name__)
            for each in report.signatures
        ],
        problem=None if problem is None else str(problem),
        could=[
            shapes.PossibilitiesJson.of(participant=index, address=address, actions=actions)
            for index, (address, actions) in enumerate(could)
        ],
        refused=refused and [shapes.RefusedActionJson(each.action.action, str(each.refusal)) for each in refused],
        channel=report.channel and _channel(report.channel),
    )


def _game_record(report: GameRecordReport) -> shapes.GameRecordReportDocument:
    record = report.record
    return shapes.GameRecordReportDocument.of(
        record,
        record.domain,
        report.agreement,
        report,
        app=_app(report.app),
        states=len(record.states),
        result=report.shares,
        channel=report.channel and _channel(report.channel),
    )


def _call(report: CallReport) -> shapes.CallDocument:
    challenger = getattr(report.call, "challenger_signature", None)
    return shapes.CallDocument.of(
        report,
        channel_id=getattr(report.call, "channel_id", None),
        state_hash=getattr(report.call, "state_hash", None),
        turn_num=report.call.turn_num if isinstance(report.call, ConcludeCall) else None,
        states=[
            shapes.StateInCallJson.of(
                each, state=_state(each.facts), app=_app(each.app), position=_position(each.position)
            )
            for each in report.states
        ],
        pays=_outcome(report.pays),
        signatures=[each.compact for each in report.signatures],
        challenger_signature=challenger and challenger.compact,
        indices=list(getattr(report.call, "indices", ())),
        push=getattr(report.call, "push", None),
        items=[
            shapes.CallItemJson(each.gas, _call(each.found), None)
            if isinstance(each.found, CallReport)
            else shapes.CallItemJson(each.gas, None, str(each.found))
            for each in report.items
        ],
    )


def _channel(report: ChannelReport) -> shapes.ChannelDocument:
    channel, status, record = report.channel, report.channel.status, report.record
    return shapes.ChannelDocument.of(
        channel,
        channel.domain,
        time=channel.now,
        turn_num_record=None if status.is_empty else status.turn_num_record,
        finalizes_at=status.finalizes_at or None,
        ending=channel.ending and channel.ending.name.lower(),
        record=record
        and shapes.RecordedStateJson.of(
            record, state=_state(record.state), app=_app(record.app), position=_position(record.position)
        ),
        owed=None if report.owed is None else _outcome(report.owed),
        holdings=[shapes.HoldingsJson.of(each, asset=asset, held=each.amount) for asset, each in channel.holdings],
        history=[log_json(placed) for placed in channel.logs],
    )


def _state(facts: StateFacts) -> shapes.StateJson:
    return shapes.StateJson.of(facts.state, facts, stage=facts.kind, outcome=_outcome(facts.pays))


def _outcome(entries: Iterable[OutcomeEntry]) -> list[shapes.AllocationJson]:
    return [shapes.AllocationJson.of(entry.allocation, entry) for entry in entries]


def _app(app: KnownApp | None) -> shapes.AppJson | None:
    if app is None:
        return None
    return shapes.AppJson(app.game.name, app.game.title, app.game.artifact.name, app.known_by.value)


def _position(position: PositionFacts | NoPosition | None) -> shapes.PositionJson | None:
    match position:
        case PositionFacts():
            return shapes.PositionJson.of(position, problem=None)
        case NoPosition(problem):
            return shapes.PositionJson(problem=str(problem))
        case None:
            return None


def log_json(placed: PlacedLog) -> shapes.LogJson:
    """A log as part of a document."""
    place, log = placed.place, placed.log
    return shapes.LogJson(place.block_number, hex_text(place.transaction_hash), type(log).__name__, turn_of(log))
