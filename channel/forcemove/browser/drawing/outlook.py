"""What comes: the clock, what silence costs and when, the ways out with their price, and the end. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.browser.drawing.words import (
    amount_text,
    capitalised,
    change_text,
    clock_time,
    count_text,
    gas_text,
    named,
    paid_text,
    short_address,
)
from forcemove.browser.view import ChannelView
from forcemove.history.entries import TxMined, TxReorged
from forcemove.history.overview import Option, Silence
from forcemove.protocol.machine.channel import OVER, Phase
from forcemove.protocol.machine.results import Ending
from forcemove.tables.playing.content import clock_text
from forcemove.tables.playing.ends import ENDINGS

__all__ = ["ClockPanel", "EndText", "WayOut", "clock_of", "end_of", "ways_out"]

_TWO = 2
_TITLES = {
    Ending.UNFUNDED: "The game did not begin",
    Ending.EXPIRED: "The clock has run out",
    Ending.UNKNOWN: "It is over",
}
_OPENING = (Phase.CHECKING, Phase.PREFUND, Phase.FUNDING)


@dataclass(frozen=True, slots=True)
class ClockPanel:
    """What follows from silence.

    - `title`: of the panel.
    - `sentences`: each with a time of day and what is paid.
    - `until`: the block time (seconds) at which a running clock ends, None where none runs; `now`: the chain's time.
    - `left`: what is left, such as `59:53`; `time`: the time of day at which it ends.
    - `duration`: seconds of a whole clock.
    """

    title: str
    sentences: tuple[str, ...]
    until: int | None
    now: int
    left: str
    time: str
    duration: int


@dataclass(frozen=True, slots=True)
class WayOut:
    """A way out of the channel. `name`: the form's value; `text`: on the button; `consequence`: what follows; `gas`:
    what it costs; `reason`: why it is shut, empty where it is open."""

    name: str
    text: str
    consequence: str
    gas: str
    reason: str


@dataclass(frozen=True, slots=True)
class EndText:
    """How the channel has ended. `change`: of our money; `sentences`: what came where, why, and what it has cost."""

    title: str
    change: str
    sentences: tuple[str, ...]


# --------------------------------------------------------------------------------------------------------------- clock


def clock_of(view: ChannelView) -> ClockPanel | None:
    """The clock, or what would start one; None where nobody is waited for and nothing is to come."""
    seen, silence = view.seen, view.seen.silence
    if seen.phase is Phase.CLOSED:
        return None
    if seen.phase is Phase.FINALIZED:
        return _clock(view, "The clock has run out", (_collected(view),))
    if silence is not None and silence.finalizes_at is not None:
        return _clock(view, "A clock is running", _running(view, silence, silence.finalizes_at), silence.finalizes_at)
    if seen.phase is Phase.CHALLENGED:
        sentence = "The challenge is of an old state. Your client holds an answer, and sends it by itself."
        return _clock(view, "A clock is running", (sentence,), view.channel.status.finalizes_at)
    if silence is None:
        if view.channel.agreement.is_friendly:
            return _clock(view, "Nothing is at stake", ("Nobody loses anything by leaving.",))
        return None
    who = "you say" if silence.participant == view.channel.index else f"{named(view, silence.participant)} says"
    return _clock(view, f"If {who} nothing more", (_without_clock(view, silence),))


def _clock(view: ChannelView, title: str, sentences: tuple[str, ...], until: int | None = None) -> ClockPanel:
    left = "" if until is None else clock_text(until - view.now)
    time = "" if until is None else clock_time(view, until)
    duration = view.channel.agreement.fixed_part.challenge_duration
    return ClockPanel(title, sentences, until, view.now, left, time, duration)


def _running(view: ChannelView, silence: Silence, until: int) -> tuple[str, ...]:
    verb = "do not" if silence.participant == view.channel.index else "does not"
    paid, time = _pays(view, silence), clock_time(view, until)
    sentence = f"If {named(view, silence.participant)} {verb} answer by {time}, {paid}."
    if view.seen.answer_by is None:
        return (sentence,)
    return (
        sentence,
        f"Your client answers by itself at {clock_time(view, view.seen.answer_by)}, if you have not moved.",
    )


def _without_clock(view: ChannelView, silence: Silence) -> str:
    if silence.shares is None:
        return "Nobody has paid in, and nobody loses anything."
    paid, time = _pays(view, silence), clock_time(view, view.now + silence.seconds)
    if silence.participant == view.channel.index:
        return f"{_others(view)} can challenge you. After a challenge now you have until {time} to answer, or {paid}."
    who = capitalised(named(view, silence.participant))
    if view.seen.phase in _OPENING:
        return f"{who} is to continue the opening. After a challenge now, {paid} at {time}."
    return f"You can challenge. After a challenge now {who} has until {time} to answer, or {paid}."


def _others(view: ChannelView) -> str:
    """The counterparty's name; of several, that they are several."""
    if view.channel.agreement.count > _TWO:
        return "The others"
    return capitalised(named(view, 1 - view.channel.index))


def _pays(view: ChannelView, silence: Silence) -> str:
    return paid_text(view, silence.shares or ())


def _collected(view: ChannelView) -> str:
    owed = " and ".join(amount_text(*each, view.tokens) for each in view.seen.to_come)
    return (
        f"The chain owes you {owed}, which your client collects by itself." if owed else "The chain owes you nothing."
    )


# ------------------------------------------------------------------------------------------------------------ ways out


def ways_out(view: ChannelView) -> tuple[WayOut, ...]:
    """Leaving, challenging and collecting, each with what follows and what it costs; none once all is over."""
    if view.seen.phase is Phase.CLOSED:
        return ()
    options = {each.kind: each for each in view.seen.options}
    ways = [_leave(view, options.get("leave"))]
    if not view.channel.agreement.is_friendly:
        ways += [_challenge(view, options.get("challenge")), _collect(view)]
    return tuple(ways)


def _leave(view: ChannelView, option: Option | None) -> WayOut:
    if option is None:
        return WayOut("leave", "Leave the game", "", "", _why_not_leave(view))
    when = "now" if view.seen.is_ours else "with your next turn"
    paid = paid_text(view, option.shares)
    if view.channel.agreement.is_friendly or not paid:
        return WayOut("leave", "Leave the game", f"You sign the end {when}.", "", "")
    but = "" if view.seen.is_ours else ", unless a move before it changes that"
    gas = "" if view.channel.agreement.is_friendly else gas_text(option.gas)
    return WayOut("leave", "Leave the game", f"You sign the end {when}; {paid}{but}.", gas, "")


def _why_not_leave(view: ChannelView) -> str:
    phase = view.seen.phase
    if phase is Phase.CONCLUDING:
        return "The end is signed: the others are to sign it, too."
    if phase not in OVER and view.channel.cannot_sign_next:
        return "There is nothing that you can sign: a challenge lets the chain decide."
    if view.channel.leaving:
        return "You are leaving: the end is signed with your next turn."
    if phase in OVER:
        return "It is over."
    return "The game has not begun."


def _challenge(view: ChannelView, option: Option | None) -> WayOut:
    if option is None:
        return WayOut("challenge", "Challenge", "", "", _why_not_challenge(view))
    time = clock_time(view, view.now + view.channel.agreement.fixed_part.challenge_duration)
    silence = view.seen.silence
    paid = paid_text(view, option.shares if silence is None or silence.shares is None else silence.shares)
    who = capitalised(named(view, view.seen.mover))
    text = f"At {time} {paid}." if view.seen.is_ours else f"{who} has until {time} to answer, or {paid}."
    return WayOut("challenge", "Challenge", text, gas_text(option.gas), "")


def _why_not_challenge(view: ChannelView) -> str:
    seen = view.seen
    match seen.phase:
        case Phase.CHALLENGED:
            return "A clock is running already."
        case Phase.PLAYING if seen.is_ours:
            return "Only while another is to move."
        case Phase.PLAYING:
            return "You are leaving."
        case Phase.FINALIZED | Phase.CLOSED:
            return "It is over."
        case Phase.CONCLUDING:
            return "The end is signed: your client challenges by itself if it must."
        case _:
            return "The game has not begun: your client challenges by itself if it must."


def _collect(view: ChannelView) -> WayOut:
    owed = " and ".join(amount_text(*each, view.tokens) for each in view.seen.to_come)
    if owed:
        return WayOut("collect", "Collect", "", "", f"{owed} are owed to you: your client collects by itself.")
    return WayOut("collect", "Collect", "", "", "Nothing is owed to you before the end; then your client collects it.")


# ----------------------------------------------------------------------------------------------------------------- end


def end_of(view: ChannelView) -> EndText | None:
    """How it has ended, None before."""
    seen, channel = view.seen, view.channel
    if seen.phase not in OVER:
        return None
    ours = [each for each in seen.result.shares if each.participant == channel.index]
    changes = [(each.asset, each.payable - each.deposited) for each in ours]
    won = sum(change for _, change in changes)
    title = _TITLES.get(seen.result.ending) or ("You are even" if not won else "You won" if won > 0 else "You lost")
    sentences = [ENDINGS[seen.result.ending]]
    if ours and not channel.agreement.is_friendly:
        where = "another channel" if channel.payee is None else short_address(channel.payee)
        paid = " and ".join(amount_text(each.asset, each.payable, view.tokens) for each in ours)
        verb = "came home" if seen.phase is Phase.CLOSED and not seen.to_come else "is to come"
        sentences.insert(0, f"{paid} {verb} to {where}.")
    sentences += _spent(view)
    return EndText(
        title, ", ".join(filter(None, (change_text(*each, view.tokens) for each in changes))), tuple(sentences)
    )


def _spent(view: ChannelView) -> list[str]:
    """What our transactions have cost, as far as the history has them."""
    mined: dict[tuple[bytes, bytes], int] = {}
    for each in view.history.notes:
        match each:
            case TxMined(request=request, block_hash=block, gas_used=gas):
                mined[request, block] = gas
            case TxReorged(request=request, block_hash=block):
                mined.pop((request, block), None)
            case _:
                pass
    if not mined:
        return []
    return [f"{count_text(len(mined), 'transaction')} of yours took {sum(mined.values()):,} gas."]
