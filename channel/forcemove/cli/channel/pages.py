"""The channels of a journal as text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial

import click

from forcemove.chain.addresses import short_address, show_address
from forcemove.chain.adjudicator import PlacedLog
from forcemove.cli.pages import result_lines, show_field, show_title
from forcemove.history.history import ChannelHistory
from forcemove.history.tokens import Tokens
from forcemove.inspect.journal_channel import JournalChannel
from forcemove.inspect.listed_channel import ListedChannel
from forcemove.inspect.soundness import Finding
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.machine.channel import OVER, Phase
from forcemove.protocol.machine.effects import operation_name
from forcemove.protocol.machine.results import Ending, Share, result_of
from forcemove.protocol.types import SignedState
from forcemove.store.records import Ownership, StoredEvidence
from forcemove.text.amounts import amount_text, show_asset
from forcemove.text.durations import local_time, show_time
from forcemove.text.entries import entry_line, name_at
from forcemove.text.names import full_name
from forcemove.text.reports import ending_text, log_text

_ROW = "{:<11}  {:<16}  {:<20}  {}"
_BELOW = " " * 13
_TIME = "%Y-%m-%d %H:%M"
_STANDINGS = {
    Ownership.ACTIVE: "ours to play",
    Ownership.FINISHED: "finished: nothing is left to do",
    Ownership.MOVED: "moved to another journal, which continues it",
    Ownership.BACKUP: "from a backup: nothing is signed, but it is defended and collected",
    Ownership.PUT_AWAY: "put away, unfinished: nothing was at stake, and nothing more is signed",
}
ADVICE = {
    Phase.CHECKING: "Nothing was signed yet.",
    Phase.PREFUND: "Nothing was paid in yet.",
    Phase.FUNDING: "Not all have paid in. `conclude` takes back what is there.",
    Phase.PLAYING: "Its players continue it. `conclude` leaves it.",
    Phase.CONCLUDING: "`collect` concludes it once all have signed; `conclude` does not wait for them.",
    Phase.CHALLENGED: "A clock runs: `collect` answers what can be answered, and collects when it is over.",
    Phase.FINALIZED: "`collect` brings home what it holds.",
    Phase.CLOSED: "All is paid out.",
}
"""What a participant can do in a phase."""


def short_id(channel_id: bytes) -> str:
    """As many digits of an id as tell it from others."""
    return f"0x{channel_id.hex()[:8]}\u2026"


# --------------------------------------------------------------------------------------------------------------- lists


def table(channels: Sequence[ListedChannel]) -> str:
    """Two lines for each channel: when it began, its game and counterparties; and its state or result."""
    head = click.style(_ROW.format("channel", "begun", "game", "with"), bold=True)
    return "\n".join([head, *(line for each in channels for line in _rows(each))])


def _rows(listed: ListedChannel) -> Iterator[str]:
    summary, others = listed.summary, listed.summary.others
    with_ = full_name(*others[0]) if len(others) == 1 else f"{len(others)} others"
    begun = summary.begun_at
    when = f"{datetime.fromtimestamp(begun):{_TIME}}" if begun else "-"  # the reader's own time
    yield _ROW.format(short_id(listed.id), when, listed.title[:20], with_)
    yield f"{_BELOW}{_came_of_it(listed)}{listed.score and '; rounds: '}{listed.score}"


def _came_of_it(listed: ListedChannel) -> str:
    """How the channel stands, or how it has ended for us."""
    summary, phase = listed.summary, listed.summary.phase
    marks = {Ownership.BACKUP: " (a copy)", Ownership.MOVED: " (moved away)"}
    mark = marks.get(listed.ownership, "")
    if listed.ownership is Ownership.PUT_AWAY:
        return "put away, unfinished: nothing was at stake"
    if summary.result is None:
        turn = "nothing signed yet" if summary.turn_num is None else f"turn {summary.turn_num}"
        amounts = ", ".join(amount_text(*each, summary.tokens) for each in summary.ours) or "nothing"
        unpaid = "; no payment was seen yet" if phase is Phase.CONCLUDING else ""
        stake = "for nothing" if summary.is_friendly else f"it gives us {amounts}{unpaid}"
        return f"{phase.value}, {turn}; {stake}{mark}"
    if summary.is_friendly:
        return f"over: nothing was at stake{mark}"
    ours = [each for each in summary.result.shares if each.participant == summary.index]
    ending = summary.result.ending
    won = ", ".join(_won(each, ending, summary.tokens) for each in ours)
    return f"{phase.value}: {won}{won and '; '}{ending_text(ending)}{mark}"


def _won(share: Share, ending: Ending, tokens: Tokens) -> str:
    if ending is Ending.EXPIRED:
        return f"{amount_text(share.asset, share.payable, tokens)} would be paid to you"
    won = share.payable - share.deposited
    amount = amount_text(share.asset, abs(won), tokens)
    return f"you {'win' if won > 0 else 'lose'} {amount}" if won else "no gain, no loss"


# ---------------------------------------------------------------------------------------------------------- one of them


def channel_page(stored: JournalChannel, now: int) -> str:
    """The page of a stored channel."""
    agreement, channel = stored.channel.agreement, stored.channel
    phase, held = channel.phase(now), "\n".join(show_asset(*each, stored.tokens) for each in stored.held)
    lines = [
        click.style(f"{stored.title}, as the journal has it", bold=True),
        show_field("channel", hex_text(stored.id)),
        show_field("begun", show_time(stored.metadata.begun_at) if stored.metadata.begun_at else "nobody has noted it"),
        show_field("standing", _STANDINGS[stored.ownership]),
        show_field("phase", phase.value),
        show_field("chain id", agreement.domain.chain_id),
        show_field("adjudicator", show_address(agreement.domain.adjudicator)),
        show_field("we are", f"participant {channel.index}, paid at {_payee(stored)}"),
        show_field("with", "\n".join(map(show_address, stored.counterparties))),
        show_field("deposits", "\n".join(_deposits(stored))),
        show_field("held", held or "nothing, when it was last looked at"),
        show_field("duration", f"{agreement.fixed_part.challenge_duration:,} seconds to answer a challenge"),
    ]
    ours = "\n".join(show_asset(*each, stored.tokens) for each in stored.ours) or "nothing"
    lines += result_lines(result_of(channel, now), stored.tokens) if phase in OVER else [show_field("ours", ours)]
    if channel.status.finalizes_at:
        lines.append(show_field("clock ends", show_time(channel.status.finalizes_at)))
    if channel.requested:
        asked = ", ".join(operation_name(each) for each in channel.requested)
        lines.append(show_field("asked for", asked))
    return "\n".join([*lines, show_field("next", ADVICE[phase])])


def _payee(stored: JournalChannel) -> str:
    payee = stored.channel.payee
    return "another channel" if payee is None else show_address(payee)


def _deposits(stored: JournalChannel) -> Iterable[str]:
    for asset, amounts in stored.channel.agreement.deposits:
        for index, amount in enumerate(amounts):
            yield f"{show_asset(asset, amount, stored.tokens)} by participant {index}"


def on_chain_line(listed: ListedChannel) -> str:
    """The line about a channel as its chain has it."""
    return f"{short_id(listed.id)} on the chain: {_came_of_it(listed)}"


def elsewhere_line(channel_id: bytes) -> str:
    """The line about a channel that did not begin on the chain that was asked."""
    return f"{short_id(channel_id)} is of another chain with the same id: nothing of it is on this one."


# ------------------------------------------------------------------------------------------------------------- history


def history_page(
    stored: JournalChannel,
    history: ChannelHistory,
    evidence: Sequence[StoredEvidence],
    logs: Sequence[PlacedLog] | None,
) -> str:
    """What has happened, the states, the chain's logs, and the counterparties' faults. `logs`: None where no chain was
    asked."""
    lines = [
        click.style(f"{stored.title} in channel {hex_text(stored.id)}", bold=True),
        show_title("What has happened"),
        *(list(timeline_lines(stored, history)) or ["  nothing that this journal has"]),
        show_title("States that are kept"),
    ]
    lines += map(partial(_state_line, stored.words(history)), stored.states) if stored.states else ["  none"]
    lines.append(show_title("On the chain"))
    if logs is None:
        lines.append("  --chain URL reads it")
    else:
        lines += [f"  {log_text(each)}" for each in logs] or ["  nothing"]
    lines.append(show_title("What counterparties did wrong"))
    lines += [f"  {each.evidence.kind}: {each.evidence.body.decode(errors='replace')}" for each in evidence] or [
        "  nothing"
    ]
    return "\n".join(lines)


def _state_line(words: Callable[[SignedState], str], signed: SignedState) -> str:
    signers = ", ".join(str(index) for index in sorted(signed.signatures)) or "nobody"
    return f"  turn {signed.state.turn_num:>5}  signed by {signers:<6}  {words(signed)}"


def finding_line(finding: Finding) -> str:
    """One line of `verify`."""
    if finding.problem is None:
        return f"  {click.style('ok', fg='green')}     {finding.what}"
    mark = click.style("WRONG", fg="red") if finding.is_wrong else "?    "
    return f"  {mark}  {finding.what}: {finding.problem}"


def timeline_lines(stored: JournalChannel, history: ChannelHistory) -> Iterator[str]:
    """A line for each entry, oldest first, and one for each day."""
    reorged, day, words = history.reorged, "", stored.words(history)
    for place, entry in enumerate(history.entries):
        date, clock = local_time(entry.time)
        if date != day:
            day = date
            yield f"  {click.style(date, underline=True)}"
        mark = click.style("  (a reorganisation has removed it)", fg="yellow") if place in reorged else ""
        line = entry_line(entry, stored.channel, partial(_called, stored), words, stored.tokens)
        yield f"  {clock}  {line}{mark}"
    if history.unreadable:
        yield f"  {history.unreadable} pieces of the history cannot be read: they are damaged, or of another version"


def _called(stored: JournalChannel, index: int | None) -> str:
    """A participant: `we`, or the short form of its address."""
    addresses = tuple(map(short_address, stored.channel.agreement.fixed_part.participants))
    return name_at(index, addresses, stored.channel.index, "we")
