"""Reports as values for JSON, in the one shape that programs rely on.

Amounts (in the asset's smallest unit), chain ids and nonces are decimal numbers in quotes, since programs in many
languages could not hold them otherwise; bytes are hex with 0x, addresses with their checksum. Names are there even
where they are null, so that a program need not ask whether they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from forcemove.artifact import ADJUDICATOR
from forcemove.chain.addresses import show_address
from forcemove.chain.adjudicator import ChannelHoldings, PlacedLog
from forcemove.chain.book import AddressBook
from forcemove.chain.verification import ContractVerdict
from forcemove.inspect.apps import KnownApp, NoPosition, PositionFacts
from forcemove.inspect.bare import BareReport
from forcemove.inspect.deployments import DeploymentReport
from forcemove.inspect.inspection import Report
from forcemove.inspect.onchain import ChannelReport, Credit, RecordReport, turn_of
from forcemove.inspect.possibilities import PossibleAction
from forcemove.inspect.signatures import SignatureCheck
from forcemove.inspect.signed_state import SignedStateReport
from forcemove.inspect.states import OutcomeEntry, StateFacts
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.types import FixedPart

__all__ = ["Json", "deployment_json", "to_json"]

Json = dict[str, Any]


def to_json(report: Report) -> Json:
    """One object. Its `kind` is `signed-state`, `state`, `record`, `position` or `channel`; what else is in it, the
    functions below say."""
    match report:
        case SignedStateReport():
            return {"kind": "signed-state"} | _signed_state(report)
        case ChannelReport():
            return {"kind": "channel"} | _channel(report)
        case BareReport():
            return {"kind": report.kind.value} | _bare(report)
        case _:
            assert_never(report)


def _signed_state(report: SignedStateReport) -> Json:
    """`{"chainId", "adjudicator", "channelId", "fixedPart", "state", "app", "position", "signatures", "problem",
    "support", "could", "refused", "channel"}`.

    `problem`: what makes the state invalid, or null. `support`: what else it takes to prove that every participant can
    be held to it, null where this state alone proves it. `could`: of each participant `{"participant", "address",
    "actions"}`, an action being `{"action", "explanation"}` with a word of `possibilities.ACTIONS`. `refused`: what the
    adjudicator would not accept, `{"action", "reason"}`; `channel`: as below; both null without a chain.
    """
    file = report.file
    could = zip(file.fixed_part.participants, report.could, strict=True)
    return {
        "chainId": str(file.domain.chain_id),
        "adjudicator": show_address(file.domain.adjudicator),
        "channelId": hex_text(report.channel_id),
        "fixedPart": _fixed_part(file.fixed_part),
        "state": _state(report.state),
        "app": _app(report.app),
        "position": _position(report.position),
        "signatures": [_signature(check) for check in report.signatures],
        "problem": None if report.problem is None else str(report.problem),
        "support": report.support,
        "could": [
            {"participant": index, "address": show_address(address), "actions": [_action(each) for each in actions]}
            for index, (address, actions) in enumerate(could)
        ],
        "refused": None
        if report.refused is None
        else [{"action": each.action.action, "reason": str(each.refusal)} for each in report.refused],
        "channel": None if report.channel is None else _channel(report.channel),
    }


def _channel(report: ChannelReport) -> Json:
    """`{"chainId", "adjudicator", "channelId", "block", "time", "mode", "closed", "turnNumRecord", "finalizesAt",
    "secondsLeft", "ending", "record", "owed", "holdings", "credits", "history"}`.

    `turnNumRecord` is null where nothing is recorded, `finalizesAt` and `secondsLeft` where no clock runs. `ending`:
    `concluded`, `unanswered`, or null before it is over, or where the logs do not say. `record`:
    `{"state", "app", "position", "signedBy"}`, or null. `owed`: allocations that are still to be paid, or null.
    `holdings`: `{"asset", "held", "payoutBegun", "closed"}`; `credits`: `{"account", "asset", "amount"}`; `history`:
    the logs, each `{"block", "transaction", "log", "turnNum"}`.
    """
    channel, status = report.channel, report.channel.status
    return {
        "chainId": str(channel.domain.chain_id),
        "adjudicator": show_address(channel.domain.adjudicator),
        "channelId": hex_text(channel.channel_id),
        "block": channel.block,
        "time": channel.now,
        "mode": channel.mode.value,
        "closed": channel.closed,
        "turnNumRecord": None if status.is_empty else status.turn_num_record,
        "finalizesAt": status.finalizes_at or None,
        "secondsLeft": channel.seconds_left,
        "ending": channel.ending and channel.ending.name.lower(),
        "record": None if report.record is None else _record(report.record),
        "owed": None if report.owed is None else _outcome(report.owed),
        "holdings": [_holdings(asset, holdings) for asset, holdings in channel.holdings],
        "credits": [_credit(credit) for credit in channel.credits],
        "history": [_log(placed) for placed in channel.logs],
    }


def _bare(report: BareReport) -> Json:
    """`{"state", "app", "position", "signatures", "missing"}`: `state` is null of a bare position; `missing`: what it
    takes to check it."""
    return {
        "state": None if report.state is None else _state(report.state),
        "app": _app(report.app),
        "position": _position(report.position),
        "signatures": [hex_text(signature.compact) for signature in report.signatures],
        "missing": [each.value for each in report.missing],
    }


# --------------------------------------------------------------------------------------------------------------- parts


def _fixed_part(fixed_part: FixedPart) -> Json:
    """`{"participants", "channelNonce", "appDefinition", "challengeDuration"}`."""
    return {
        "participants": [show_address(participant) for participant in fixed_part.participants],
        "channelNonce": str(fixed_part.channel_nonce),
        "appDefinition": show_address(fixed_part.app_definition),
        "challengeDuration": fixed_part.challenge_duration,
    }


def _state(facts: StateFacts) -> Json:
    """`{"turnNum", "isFinal", "stage", "mover", "outcome", "appData"}`: `stage`, one of `states.StateKind`, and
    `mover`, a participant's index, are null where the participants are unknown."""
    return {
        "turnNum": facts.state.turn_num,
        "isFinal": facts.state.is_final,
        "stage": facts.kind and facts.kind.value,
        "mover": facts.mover,
        "outcome": _outcome(facts.pays),
        "appData": hex_text(facts.state.app_data),
    }


def _outcome(entries: Iterable[OutcomeEntry]) -> list[Json]:
    """Of each allocation `{"asset", "destination", "account", "participant", "amount"}`: the account (an address) is
    null where the destination is another channel, the participant where the account is not a participant's."""
    return [
        {
            "asset": show_address(entry.allocation.asset),
            "destination": hex_text(entry.allocation.destination),
            "account": entry.account and show_address(entry.account),
            "participant": entry.participant,
            "amount": str(entry.allocation.amount),
        }
        for entry in entries
    ]


def _app(app: KnownApp | None) -> Json | None:
    """`{"game", "title", "contract", "knownBy": "code" | "book" | "bytes"}`, or null."""
    if app is None:
        return None
    game = app.game
    return {"game": game.name, "title": game.title, "contract": game.artifact.name, "knownBy": app.known_by.value}


def _position(position: PositionFacts | NoPosition | None) -> Json | None:
    """`{"description", "board", "stake", "data", "problem"}`, where an app is known and the state has a position;
    `data` is what the game's own `position` says. Bytes that are not a position of the app have a `problem` and nothing
    else."""
    match position:
        case PositionFacts(description, board, stake, data):
            shown = {"description": description, "board": board, "stake": str(stake), "data": data}
            return shown | {"problem": None}
        case NoPosition(problem):
            return {"description": None, "board": None, "stake": None, "data": None, "problem": str(problem)}
        case None:
            return None


def _signature(check: SignatureCheck) -> Json:
    """`{"participant", "address", "standing": "signed" | "missing" | "wrong", "recovered", "problem"}`."""
    return {
        "participant": check.participant,
        "address": check.address and show_address(check.address),
        "standing": check.verdict.value,
        "recovered": check.recovered and show_address(check.recovered),
        "problem": None if check.problem is None else type(check.problem).__name__,
    }


def _action(action: PossibleAction) -> Json:
    return {"action": action.action, "explanation": action.explanation}


def _record(record: RecordReport) -> Json:
    return {
        "state": _state(record.state),
        "app": _app(record.app),
        "position": _position(record.position),
        "signedBy": [show_address(signer) for signer in record.signed_by],
    }


def _holdings(asset: bytes, holdings: ChannelHoldings) -> Json:
    return {
        "asset": show_address(asset),
        "held": str(holdings.held),
        "payoutBegun": holdings.payout_begun,
        "closed": holdings.closed,
    }


def _credit(credit: Credit) -> Json:
    return {"account": show_address(credit.account), "asset": show_address(credit.asset), "amount": str(credit.amount)}


def _log(placed: PlacedLog) -> Json:
    return {
        "block": placed.place.block_number,
        "transaction": hex_text(placed.place.transaction_hash),
        "log": type(placed.log).__name__,
        "turnNum": turn_of(placed.log),
    }


def deployment_json(book: AddressBook, report: DeploymentReport) -> Json:
    """`{"chainId", "factory", "genuine", "contracts", "notDeployed", "unknown"}`: whether all that is deployed is what
    it says; the names of contracts that are not deployed, and of those that no installed game has."""
    return {
        "chainId": str(book.chain_id),
        "factory": show_address(book.factory),
        "genuine": report.is_good,
        "contracts": [_verdict_json(verdict) for verdict in report.verdicts],
        "notDeployed": [
            *([] if report.has_adjudicator else [ADJUDICATOR]),
            *(game.artifact.name for game in report.absent),
        ],
        "unknown": [verdict.contract for verdict in report.unknown],
    }


def _verdict_json(verdict: ContractVerdict) -> Json:
    return {
        "contract": verdict.contract,
        "address": show_address(verdict.address),
        "derivedAddress": show_address(verdict.derived),
        "hasCode": verdict.has_code,
        "standing": verdict.status.value,
        "game": verdict.game and {"name": verdict.game.name, "distribution": verdict.game.distribution},
    }
