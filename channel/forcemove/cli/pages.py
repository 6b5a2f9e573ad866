"""Reports of inspections as text for people. Knows only the reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

import click

from forcemove.chain.addresses import show_address
from forcemove.chain.adjudicator import ChannelHoldings, PlacedLog
from forcemove.cli.layout import WIDTH, show_asset, show_field, show_time, show_title
from forcemove.cli.results import ending_text
from forcemove.inspect.apps import KnownApp, KnownBy, NoPosition, PositionFacts
from forcemove.inspect.bare import BareKind, BareReport
from forcemove.inspect.inspection import Report
from forcemove.inspect.onchain import ChannelReport, Credit, turn_of
from forcemove.inspect.signatures import SignatureCheck, SignatureVerdict
from forcemove.inspect.signed_state import SignedStateReport
from forcemove.inspect.states import OutcomeEntry, StateFacts
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.status import Mode
from forcemove.text.explanations import describe

__all__ = ["page"]

_KNOWN_BY = {
    KnownBy.CODE: "by its address on the chain, which follows from its code",
    KnownBy.BOOK: "by the address book",
    KnownBy.BYTES: "by the look of its bytes; nothing else was compared",
}
_TITLES = {
    BareKind.STATE: "A state without a channel",
    BareKind.RECORD: "A record, as the adjudicator logs it",
    BareKind.POSITION: "A game's position",
}


def page(report: Report) -> str:
    """The text of a report of `forcemove inspect`."""
    match report:
        case SignedStateReport():
            lines = _signed_state(report)
        case ChannelReport():
            lines = _channel(report)
        case BareReport():
            lines = _bare(report)
        case _:
            assert_never(report)
    return "\n".join(lines)


# -------------------------------------------------------------------------------------------------------------- kinds


def _signed_state(report: SignedStateReport) -> Iterator[str]:
    domain, fixed_part = report.file.domain, report.file.fixed_part
    yield click.style("A signed state", bold=True)
    yield from _place(report.channel_id, domain.chain_id, domain.adjudicator)
    yield show_field("app", f"{show_address(fixed_part.app_definition)}\n{_app(report.app)}")
    yield show_field("nonce", fixed_part.channel_nonce)
    yield show_field("duration", f"{fixed_part.challenge_duration:,} seconds to answer a challenge")
    for index, participant in enumerate(fixed_part.participants):
        yield show_field(f"participant {index}", show_address(participant))
    yield from _state(report.state)
    yield from _position(report.app, report.position, report.state)
    if report.problem is not None:
        yield show_field("PROBLEM", click.style(describe(report.problem), fg="red"))
    yield show_title("Signatures")
    yield from map(_signature, report.signatures)
    yield show_field("support", report.support or "complete: this state alone proves that all agreed")
    if report.channel is not None:
        yield from _on_chain(report.channel)
    yield from _could(report)


def _channel(report: ChannelReport) -> Iterator[str]:
    channel, record = report.channel, report.record
    yield click.style("A channel", bold=True)
    yield from _place(channel.channel_id, channel.domain.chain_id, channel.domain.adjudicator)
    yield from _on_chain(report)
    if record is not None:
        yield from _state(record.state, "The recorded state")
        yield from _position(record.app, record.position, record.state)
        signers = "\n".join(map(show_address, record.signed_by))
        yield show_field("signed by", signers or "(not to be seen from the logs)")


def _bare(report: BareReport) -> Iterator[str]:
    yield click.style(_TITLES[report.kind], bold=True)
    if report.state is not None:
        yield from _state(report.state)
    yield from _position(report.app, report.position, report.state)
    for index, signature in enumerate(report.signatures):
        yield show_field(f"signature {index}", hex_text(signature.compact))
    yield show_title("Missing to check it")
    for each in report.missing:
        yield f"  {each.value}"


# -------------------------------------------------------------------------------------------------------------- parts


def _place(channel_id: bytes, chain_id: int, adjudicator: bytes) -> Iterator[str]:
    yield show_field("channel", hex_text(channel_id))
    yield show_field("chain id", chain_id)
    yield show_field("adjudicator", show_address(adjudicator))


def _app(app: KnownApp | None) -> str:
    return f"{app.game.title}, {_KNOWN_BY[app.known_by]}" if app else "none of the games that are installed"


def _state(facts: StateFacts, title: str = "State") -> Iterator[str]:
    state = facts.state
    mover = "" if facts.mover is None else f", of participant {facts.mover}"
    stage = f" ({facts.kind.value})" if facts.kind else ""
    yield show_title(title)
    yield show_field("turn", f"{state.turn_num}{mover}{stage}")
    yield show_field("final", "yes: only concluding may follow" if state.is_final else "no")
    yield from _outcome("pays", facts.pays)
    yield show_field(
        "app data", f"{len(state.app_data)} bytes" + (f": {hex_text(state.app_data)}" if state.app_data else "")
    )


def _outcome(name: str, entries: Iterable[OutcomeEntry]) -> Iterator[str]:
    yield show_field(name, "\n".join(map(_entry, entries)) or "nothing")


def _entry(entry: OutcomeEntry) -> str:
    allocation = entry.allocation
    account = show_address(entry.account) if entry.account else f"channel {hex_text(allocation.destination)}"
    who = "" if entry.participant is None else f" (participant {entry.participant})"
    return f"{show_asset(allocation.asset, allocation.amount)} to {account}{who}"


def _position(
    app: KnownApp | None, position: PositionFacts | NoPosition | None, state: StateFacts | None
) -> Iterator[str]:
    if position is None:
        return
    yield show_title(f"Position: {_app(app)}")
    match position:
        case NoPosition(problem):
            yield show_field("PROBLEM", click.style(f"this is no position of the game: {describe(problem)}", fg="red"))
        case PositionFacts(description, board, stake):
            yield show_field("says", description)
            yield show_field("stake", _stake(stake, state))
            yield show_field("board", board)


def _stake(stake: int, state: StateFacts | None) -> str:
    """The stake in the asset of the outcome, where the outcome has one asset."""
    assets = {entry.allocation.asset for entry in state.pays} if state else set()
    return show_asset(assets.pop(), stake) if len(assets) == 1 else f"{stake:,} of the asset's smallest unit"


def _signature(check: SignatureCheck) -> str:
    name = f"participant {check.participant}"
    match check.verdict:
        case SignatureVerdict.SIGNED:
            return show_field(name, click.style("has signed", fg="green"))
        case SignatureVerdict.MISSING:
            return show_field(name, "has not signed")
        case SignatureVerdict.WRONG:
            return show_field(name, click.style(f"WRONG signature, {_maker(check)}", fg="red"))


def _maker(check: SignatureCheck) -> str:
    if check.recovered:
        maker = f"made by {show_address(check.recovered)}"
    else:
        maker = f"nobody's: {type(check.problem).__name__}"
    return maker if check.address else f"{maker}, and there is no such participant"


def _on_chain(report: ChannelReport) -> Iterator[str]:
    channel, status = report.channel, report.channel.status
    yield show_title(f"On the chain, at block {channel.block:,}")
    yield show_field("mode", "closed for ever: everything was paid" if channel.closed else channel.mode.value)
    yield show_field("record", "nothing" if status.is_empty else f"turn {status.turn_num_record}")
    if channel.seconds_left is not None:
        yield show_field("time left", f"{channel.seconds_left:,} seconds, until {show_time(status.finalizes_at)}")
    elif status.finalizes_at:
        yield show_field("finalized", show_time(status.finalizes_at))
    if channel.ending is not None:
        yield show_field("ended", ending_text(channel.ending))
    if channel.mode is Mode.FINALIZED and report.owed is not None:
        yield from _outcome("still owed", report.owed)
    yield show_field("holdings", "\n".join(_holdings(asset, holdings) for asset, holdings in channel.holdings))
    yield show_field("credits", "\n".join(map(_credit, channel.credits)) or "none")
    yield show_field("history", "\n".join(map(_log, channel.logs)) or "none")


def _holdings(asset: bytes, holdings: ChannelHoldings) -> str:
    return show_asset(asset, holdings.held) + (", payout begun" if holdings.payout_begun else "")


def _credit(credit: Credit) -> str:
    return f"{show_asset(credit.asset, credit.amount)} for {show_address(credit.account)}"


def _log(placed: PlacedLog) -> str:
    turn_num = turn_of(placed.log)
    turn = "" if turn_num is None else f", turn {turn_num}"
    return f"block {placed.place.block_number:,}: {type(placed.log).__name__}{turn}"


def _could(report: SignedStateReport) -> Iterator[str]:
    yield show_title("What each participant could do now")
    for index, actions in enumerate(report.could):
        yield f"  participant {index}"
        for action in actions:
            yield f"    {action.action:<{WIDTH - 2}}{action.explanation}"
    if report.refused:
        yield show_title("What the adjudicator would refuse")
        for each in report.refused:
            yield show_field(each.action.action, str(each.refusal))
