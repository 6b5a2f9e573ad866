"""What an inspection has found, as parts with named entries, for every screen. Knows only the reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, assert_never

from forcemove.chain.addresses import show_address
from forcemove.game import seat_names
from forcemove.inspect import apps, states
from forcemove.inspect.bare import BareKind, BareReport, CallReport
from forcemove.inspect.game_record_report import ChainPayment, GameRecordReport
from forcemove.inspect.onchain import ChannelReport, Credit, turn_of
from forcemove.inspect.signed_state import SignedStateReport
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.codec.packed import ChallengeCall, ConcludeCall, TransferCall
from forcemove.protocol.machine.results import Ending
from forcemove.protocol.types import FixedPart
from forcemove.protocol.words import Holdings, Mode
from forcemove.text.amounts import show_asset
from forcemove.text.durations import show_time
from forcemove.text.explanations import describe
from forcemove.text.harmless import isolated
from forcemove.text.names import shown_name
from forcemove.text.played_games import positions_in

if TYPE_CHECKING:
    from forcemove.chain.adjudicator import PlacedLog
    from forcemove.inspect.inspection import Report

_ENDINGS = {
    Ending.OPEN: "it is not over",
    Ending.CONCLUDED: "concluded together: all have signed its end",
    Ending.UNANSWERED: "the chain has decided: a challenge was not answered in time",
    Ending.UNFUNDED: "never funded: not everybody has paid in",
    Ending.EXPIRED: "a clock has run out, and no payment was seen yet",
    Ending.UNKNOWN: "all is paid out, and how much to whom is not known here",
}


def ending_text(ending: Ending) -> str:
    """How the channel ended, in words."""
    return _ENDINGS[ending]


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """`name`; `text`: may have several lines, None where the name says all; `tone`: `good`, `bad` or empty; `depth`: 1
    for an entry that belongs to the one before it."""

    name: str
    text: str | None = None
    tone: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class ReportPart:
    """`title`, and what stands beneath it."""

    title: str
    entries: tuple[ReportEntry, ...]


_KNOWN_BY = {
    apps.KnownBy.CODE: "by its address on the chain, which follows from its code",
    apps.KnownBy.BOOK: "by the address book",
    apps.KnownBy.BYTES: "by the look of its bytes; nothing else was compared",
}
_TITLES = {
    BareKind.STATE: "A state without a channel",
    BareKind.RECORD: "A record, as messages have it",
    BareKind.POSITION: "A game's position",
}


def report_parts(report: Report) -> tuple[ReportPart, ...]:
    """What a report of an inspection says."""
    match report:
        case SignedStateReport():
            parts = _signed_state(report)
        case ChannelReport():
            parts = _channel(report)
        case BareReport():
            parts = _bare(report)
        case CallReport():
            parts = _call(report)
        case GameRecordReport():
            parts = _game_record(report)
        case _:
            assert_never(report)
    return tuple(parts)


# -------------------------------------------------------------------------------------------------------------- kinds


def _signed_state(report: SignedStateReport) -> Iterator[ReportPart]:
    domain, fixed_part = report.file.domain, report.file.fixed_part
    yield ReportPart(
        "A signed state",
        (
            *_place(report.channel_id, domain.chain_id, domain.adjudicator),
            *_fixed_part(fixed_part, report.app),
        ),
    )
    problem = () if report.problem is None else (ReportEntry("PROBLEM", describe(report.problem), "bad"),)
    yield from _ended_by(problem, _state(report.state), *_position(report.app, report.position, report.state))
    support = ReportEntry("support", report.support or "complete: this state alone proves that all agreed")
    yield ReportPart("Signatures", (*map(_signature, report.signatures), support))
    if report.channel is not None:
        yield _on_chain(report.channel)
    yield from _could(report)


def _fixed_part(fixed_part: FixedPart, app: apps.KnownApp | None) -> Iterator[ReportEntry]:
    yield ReportEntry("app", f"{show_address(fixed_part.app_definition)}\n{_app(app)}")
    yield ReportEntry("nonce", str(fixed_part.channel_nonce))
    yield ReportEntry("duration", f"{fixed_part.challenge_duration:,} seconds to answer a challenge")
    for index, each in enumerate(fixed_part.participants):
        yield ReportEntry(f"participant {index}", show_address(each))


def _call(report: CallReport) -> Iterator[ReportPart]:
    fixed_part, states = report.fixed_part, report.states
    entries = [] if fixed_part is None else [*_fixed_part(fixed_part, states[-1].app if states else None)]
    yield ReportPart(f"A call of the adjudicator: {report.operation}", (*entries, *_call_entries(report)))
    for place, each in enumerate(states):
        title = f"State {place + 1} of {len(states)}" if report.operation != "respond" else _OF_A_RESPONSE[place]
        yield _state(each.facts, title)
        yield from _position(each.app, each.position, each.facts)
    for place, item in enumerate(report.items):
        gas = ReportEntry("gas", f"{item.gas:,}")
        if isinstance(item.found, CallReport):
            yield ReportPart(f"Item {place} of the batch", (gas,))
            yield from _call(item.found)
        else:
            yield ReportPart(f"Item {place} of the batch", (gas, ReportEntry("PROBLEM", describe(item.found), "bad")))


_OF_A_RESPONSE = ("The state in challenge; its turn is the record's", "The answer, of the turn after it")


def _call_entries(report: CallReport) -> Iterator[ReportEntry]:
    call = report.call
    match call:
        case ConcludeCall(turn_num=turn_num):
            yield ReportEntry("turn", f"{turn_num}, of the final state")
        case TransferCall(channel_id=id_, state_hash=state_hash):
            yield ReportEntry("channel", hex_text(id_))
            yield ReportEntry("state", hex_text(state_hash))
        case ChallengeCall(challenger_signature=signature):
            yield ReportEntry("challenger", "the sender" if signature is None else hex_text(signature.compact))
    if report.from_record:
        yield ReportEntry("proof", "it goes on from the recorded state")
    if isinstance(call, ConcludeCall | TransferCall):
        yield _outcome("pays", report.pays)
        yield ReportEntry("push", f"{call.push * 16_384:,} gas for each payment")
    if isinstance(call, TransferCall):
        yield ReportEntry("to be paid", f"allocations {', '.join(map(str, call.indices))}" if call.indices else "all")
    for index, each in enumerate(report.signatures):
        yield ReportEntry(f"signature {index}", hex_text(each.compact))


def _ended_by(entries: tuple[ReportEntry, ...], *parts: ReportPart) -> Iterator[ReportPart]:
    """The parts, the last of them with these entries, too."""
    *others, last = parts
    yield from others
    yield ReportPart(last.title, last.entries + entries)


def _channel(report: ChannelReport) -> Iterator[ReportPart]:
    channel, record = report.channel, report.record
    place = _place(channel.channel_id, channel.domain.chain_id, channel.domain.adjudicator)
    yield ReportPart("A channel", tuple(place))
    yield _on_chain(report)
    if record is not None:
        signers = "\n".join(map(show_address, record.signed_by))
        signed = (ReportEntry("signed by", signers or "(not to be seen from the logs)"),)
        position = _position(record.app, record.position, record.state)
        yield from _ended_by(signed, _state(record.state, "The recorded state"), *position)


def _bare(report: BareReport) -> Iterator[ReportPart]:
    signatures = tuple(
        ReportEntry(f"signature {index}", hex_text(each.compact)) for index, each in enumerate(report.signatures)
    )
    parts = [ReportPart(_TITLES[report.kind], ())]
    if report.state is not None:
        parts.append(_state(report.state))
    yield from _ended_by(signatures, *parts, *_position(report.app, report.position, report.state))
    yield ReportPart("Missing to check it", tuple(ReportEntry(each.value) for each in report.missing))


def _game_record(report: GameRecordReport) -> Iterator[ReportPart]:
    record, game = report.record, report.app.game
    players = [
        ReportEntry(f"participant {seat}", f"{isolated(shown_name(name)) or 'without a name'}\n{show_address(address)}")
        for seat, (name, address) in enumerate(zip_longest(record.names, record.fixed_part.participants, fillvalue=""))
    ]
    yield ReportPart(
        "A game record",
        (
            *_place(report.agreement.channel_id, record.domain.chain_id, record.domain.adjudicator),
            ReportEntry("game", _app(report.app)),
            ReportEntry("begun", show_time(record.begun_at) if record.begun_at else "nobody has noted it"),
            *players,
        ),
    )
    yield ReportPart(
        "Checked here",
        (
            ReportEntry("signatures", f"each of the {len(record.states)} states is signed by its mover", "good"),
            ReportEntry("rules", f"each state follows from the one before by the rules of {game.title}", "good"),
            ReportEntry("money", "no state adds or takes any", "good"),
            ReportEntry("not checked", "names and time: they are the word of those who made the file"),
        ),
    )
    yield ReportPart("Result", tuple(_result_entries(report)))
    if report.channel is not None:
        yield _on_chain(report.channel)
    names = seat_names(report.agreement.count)
    positions = positions_in(game, record.states, names)
    yield ReportPart("Positions", tuple(ReportEntry(f"turn {each.state.turn_num}", each.words) for each in positions))


_PAYMENTS = {
    ChainPayment.PAID: ("yes: this is what the chain has paid", "good"),
    ChainPayment.OPEN: ("not yet", ""),
    ChainPayment.OTHERWISE: ("otherwise: it has ended the channel by a state that is not in this file", "bad"),
    ChainPayment.UNKNOWN: ("something: its logs do not say by which state", ""),
}


def _result_entries(report: GameRecordReport) -> Iterator[ReportEntry]:
    if report.result is not None:
        yield ReportEntry("ended", "all have signed the end", "good")
    else:
        yield ReportEntry("ended", "by these states the game has not ended")
    if report.agreement.is_friendly:
        yield ReportEntry("paid", "nothing was at stake")
        return
    for share in report.shares or ():
        gain = share.payable - share.deposited
        change = (
            f"{'gains' if gain > 0 else 'loses'} {show_asset(share.asset, abs(gain))}"
            if gain
            else "neither gains nor loses"
        )
        yield ReportEntry(
            f"participant {share.participant}", f"gets {show_asset(share.asset, share.payable)}, and {change}"
        )
    if report.payment is None:
        yield ReportEntry("chain", "not asked whether it has paid: --chain asks it")
    else:
        yield ReportEntry("chain paid", *_PAYMENTS[report.payment])


# -------------------------------------------------------------------------------------------------------------- parts


def _place(channel_id: bytes, chain_id: int, adjudicator: bytes) -> Iterator[ReportEntry]:
    yield ReportEntry("channel", hex_text(channel_id))
    yield ReportEntry("chain id", str(chain_id))
    yield ReportEntry("adjudicator", show_address(adjudicator))


def _app(app: apps.KnownApp | None) -> str:
    return f"{app.game.title}, {_KNOWN_BY[app.known_by]}" if app else "none of the games that are installed"


def _state(facts: states.StateFacts, title: str = "State") -> ReportPart:
    state = facts.state
    mover = "" if facts.mover is None else f", of participant {facts.mover}"
    stage = f" ({facts.kind.value})" if facts.kind else ""
    shows = (ReportEntry("evidence", _bytes(state.evidence)),) if state.evidence else ()
    if state.evidence_hash:
        shows = (ReportEntry("evidence", f"only its hash is known: {hex_text(state.evidence_hash)}"),)
    return ReportPart(
        title,
        (
            ReportEntry("turn", f"{state.turn_num}{mover}{stage}"),
            ReportEntry("final", "yes: only concluding may follow" if state.is_final else "no"),
            _outcome("pays", facts.pays),
            ReportEntry("app data", _bytes(state.app_data)),
            *shows,
        ),
    )


def _bytes(data: bytes) -> str:
    return f"{len(data)} bytes{f': {hex_text(data)}' if data else ''}"


def _outcome(name: str, entries: Iterable[states.OutcomeEntry]) -> ReportEntry:
    return ReportEntry(name, "\n".join(map(_allocation, entries)) or "nothing")


def _allocation(entry: states.OutcomeEntry) -> str:
    allocation = entry.allocation
    account = show_address(entry.account) if entry.account else f"channel {hex_text(allocation.destination)}"
    who = "" if entry.participant is None else f" (participant {entry.participant})"
    return f"{show_asset(allocation.asset, allocation.amount)} to {account}{who}"


def _position(
    app: apps.KnownApp | None, position: apps.PositionFacts | apps.NoPosition | None, state: states.StateFacts | None
) -> Iterator[ReportPart]:
    match position:
        case None:
            return
        case apps.NoPosition(problem):
            text = f"this is not a position of the game: {describe(problem)}"
            entries: tuple[ReportEntry, ...] = (ReportEntry("PROBLEM", text, "bad"),)
        case apps.PositionFacts(description, board, stake):
            entries = (
                ReportEntry("says", description),
                ReportEntry("stake", _stake(stake, state)),
                ReportEntry("board", board),
            )
    yield ReportPart(f"Position: {_app(app)}", entries)


def _stake(stake: int, state: states.StateFacts | None) -> str:
    """The stake in the asset of the outcome, where the outcome has one asset."""
    assets = {entry.allocation.asset for entry in state.pays} if state else set()
    return show_asset(assets.pop(), stake) if len(assets) == 1 else f"{stake:,} of the asset's smallest unit"


def _signature(check: states.SignatureCheck) -> ReportEntry:
    name = f"participant {check.participant}"
    match check.verdict:
        case states.SignatureVerdict.SIGNED:
            return ReportEntry(name, "has signed", "good")
        case states.SignatureVerdict.MISSING:
            return ReportEntry(name, "has not signed")
        case states.SignatureVerdict.WRONG:
            return ReportEntry(name, f"WRONG signature, {_maker(check)}", "bad")


def _maker(check: states.SignatureCheck) -> str:
    if check.recovered:
        maker = f"made by {show_address(check.recovered)}"
    else:
        maker = f"nobody's: {type(check.problem).__name__}"
    return maker if check.address else f"{maker}, and there is no such participant"


def _on_chain(report: ChannelReport) -> ReportPart:
    return ReportPart(f"On the chain, at block {report.channel.block:,}", tuple(_chain_entries(report)))


def _chain_entries(report: ChannelReport) -> Iterator[ReportEntry]:
    channel, status = report.channel, report.channel.status
    yield ReportEntry("mode", "closed forever: everything was paid" if channel.closed else channel.mode.value)
    yield ReportEntry("record", "nothing" if status.is_empty else f"turn {status.turn_num_record}")
    if channel.seconds_left is not None:
        left = f"{channel.seconds_left:,} seconds, until {show_time(status.finalizes_at)}"
        yield ReportEntry("time left", left)
    elif status.finalizes_at:
        yield ReportEntry("finalized", show_time(status.finalizes_at))
    if channel.ending is not None:
        yield ReportEntry("ended", ending_text(channel.ending))
    if channel.mode is Mode.FINALIZED and report.owed is not None:
        yield _outcome("still owed", report.owed)
    yield ReportEntry("holdings", "\n".join(_holdings(asset, holdings) for asset, holdings in channel.holdings))
    yield ReportEntry("credits", "\n".join(map(_credit, channel.credits)) or "none")
    yield ReportEntry("history", "\n".join(map(log_text, channel.logs)) or "none")


def _holdings(asset: bytes, holdings: Holdings) -> str:
    return show_asset(asset, holdings.amount) + (", payout begun" if holdings.payout_begun else "")


def _credit(credit: Credit) -> str:
    return f"{show_asset(credit.asset, credit.amount)} for {show_address(credit.account)}"


def log_text(placed: PlacedLog) -> str:
    """A log of the adjudicator in a few words."""
    turn_num = turn_of(placed.log)
    turn = "" if turn_num is None else f", turn {turn_num}"
    return f"block {placed.place.block_number:,}: {type(placed.log).__name__}{turn}"


def _could(report: SignedStateReport) -> Iterator[ReportPart]:
    could = list[ReportEntry]()
    for index, actions in enumerate(report.could):
        could.append(ReportEntry(f"participant {index}"))
        could += [ReportEntry(each.action, each.explanation, depth=1) for each in actions]
    yield ReportPart("What each participant could do now", tuple(could))
    if report.refused:
        refused = tuple(ReportEntry(each.action.action, str(each.refusal)) for each in report.refused)
        yield ReportPart("What the adjudicator would refuse", refused)
