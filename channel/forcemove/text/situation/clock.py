"""The clock: what follows from silence, and when. Pure but for the reader's own time zone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from forcemove.history.overview import CHALLENGE, Silence
from forcemove.protocol.errors import EndpointsDiffer
from forcemove.protocol.machine.channel import Phase
from forcemove.text.amounts import amount_text
from forcemove.text.explanations import headline
from forcemove.text.situation.moment import (
    Moment,
    by_itself,
    capitalised,
    clock_text,
    clock_time,
    failure_text,
    gas_text,
    named,
    paid_text,
)

RUN_OUT = "The clock has run out"

_TWO = 2
_OPENING = (Phase.CHECKING, Phase.PREFUND, Phase.FUNDING)


@dataclass(frozen=True, slots=True)
class ClockPanel:
    """What follows from silence.

    - `title`: of the panel.
    - `sentences`: each with a time of day and what is paid.
    - `until`: the block time (seconds) at which a running clock ends, None where none runs; `now`: the chain's time.
    - `left`: what is left, such as `59:53`; `time`: the time of day at which it ends.
    - `duration`: seconds of a whole clock.
    - `is_on_chain`: whether it is the chain's: at its end the chain decides.
    """

    title: str
    sentences: tuple[str, ...]
    until: int | None
    now: int
    left: str
    time: str
    duration: int
    is_on_chain: bool = False


def clock_of(moment: Moment) -> ClockPanel | None:
    """The clock, or what would start one; None where nobody is waited for and nothing is to come."""
    seen, silence = moment.seen, moment.seen.silence
    if seen.phase is Phase.CLOSED:
        return None
    if seen.phase is Phase.FINALIZED:
        return _clock(moment, RUN_OUT, (_collected(moment),))
    if silence is not None and silence.finalizes_at is not None:
        return _clock(
            moment, "A clock is running", _running(moment, silence, silence.finalizes_at), silence.finalizes_at
        )
    if seen.phase is Phase.CHALLENGED:
        sentence = f"The challenge is of an old state. Your client holds an answer, and sends it {by_itself(moment)}."
        return _clock(moment, "A clock is running", (sentence,), moment.channel.status.finalizes_at)
    if moment.move_time and seen.phase is Phase.PLAYING:
        return _move_clock(moment)
    if silence is None:
        if moment.channel.agreement.is_friendly:
            return _clock(moment, "Nothing is at stake", ("Nobody loses anything by leaving.",))
        return _clock(moment, "You cannot move now", ()) if _reason_to_wait(moment) else None
    who = "you say" if silence.participant == moment.channel.index else f"{named(moment, silence.participant)} says"
    return _clock(moment, f"If {who} nothing more", (_without_clock(moment, silence),))


def _clock(moment: Moment, title: str, sentences: tuple[str, ...], until: int | None = None) -> ClockPanel:
    sentences = (*_reason_to_wait(moment), *sentences)
    left = "" if until is None else clock_text(until - moment.now)
    time = "" if until is None else clock_time(moment, until)
    duration = moment.channel.agreement.fixed_part.challenge_duration
    return ClockPanel(title, sentences, until, moment.now, left, time, duration, until is not None)


def _move_clock(moment: Moment) -> ClockPanel:
    """The mover's time for a move, what follows where it runs out, and the time that the next one has."""
    seen, left = moment.seen, max(0, math.ceil(moment.move_left))
    until, next_seat = moment.now + left, (seen.mover + 1) % moment.channel.agreement.count
    title = (
        "Your time for this move" if seen.is_ours else f"{capitalised(named(moment, seen.mover))}'s time for this move"
    )
    verb = "have" if next_seat == moment.channel.index else "has"
    after = f"{capitalised(named(moment, next_seat))} {verb} {clock_text(moment.move_time)} for the next one."
    sentences = (*_reason_to_wait(moment), _out_of_time(moment, "When it is out," if left else "It is out:"), after)
    until_text = clock_time(moment, until)
    return ClockPanel(title, sentences, until, moment.now, clock_text(left), until_text, moment.move_time)


def _out_of_time(moment: Moment, when: str) -> str:
    seen, is_ours = moment.seen, moment.seen.is_ours
    if moment.channel.agreement.is_friendly:
        return f"{when} {_others(moment) if is_ours else 'you'} can put the game away: nothing is at stake."
    gas = next((f", for {gas_text(each.gas)}" for each in seen.options if each.kind == CHALLENGE), "")
    who = f"{_others(moment)} can challenge you" if is_ours else f"your client challenges {by_itself(moment)}{gas}"
    if seen.silence is None:
        return f"{when} {who}."
    answers = "you have" if is_ours else f"{named(moment, seen.mover)} has"
    return (
        f"{when} {who}. Then {answers} {clock_text(seen.silence.seconds)} to answer, or {_pays(moment, seen.silence)}."
    )


def _reason_to_wait(moment: Moment) -> tuple[str, ...]:
    """Why nothing can be signed on our turn; empty where something can."""
    reason = moment.channel.reason_to_wait(moment.seen.phase) if moment.seen.is_ours else None
    if reason is None:
        return ()
    depth = moment.depth
    if isinstance(reason, EndpointsDiffer) and depth is not None and not depth.answering:
        return (f"Your move waits for a node of the chain. {failure_text(depth)}".rstrip(),)
    return (f"Your move waits. {headline(reason)}",)


def _running(moment: Moment, silence: Silence, until: int) -> tuple[str, ...]:
    verb = "do not" if silence.participant == moment.channel.index else "does not"
    paid, time = _pays(moment, silence), clock_time(moment, until)
    sentence = f"If {named(moment, silence.participant)} {verb} answer by {time}, {paid}."
    if moment.seen.answer_by is None:
        return (sentence,)
    at = clock_time(moment, moment.seen.answer_by)
    return (sentence, f"Your client answers {by_itself(moment)} at {at}, if you have not moved.")


def _without_clock(moment: Moment, silence: Silence) -> str:
    if silence.shares is None:
        return "Nobody has paid in, and nobody loses anything."
    paid, time = _pays(moment, silence), clock_time(moment, moment.now + silence.seconds)
    if silence.participant == moment.channel.index:
        return f"{_others(moment)} can challenge you. After a challenge now you have until {time} to answer, or {paid}."
    who = capitalised(named(moment, silence.participant))
    if moment.seen.phase in _OPENING:
        return f"{who} must continue the opening. After a challenge now, {paid} at {time}."
    if moment.silence_left < math.inf:
        left, given = clock_text(moment.silence_left), clock_text(silence.seconds)
        return f"After {left} more your client challenges. Then {who} has {given} to answer, or {paid}."
    return f"You can challenge. After a challenge now {who} has until {time} to answer, or {paid}."


def _others(moment: Moment) -> str:
    """The counterparty's name; of several, that they are several."""
    if moment.channel.agreement.count > _TWO:
        return "The others"
    return capitalised(named(moment, 1 - moment.channel.index))


def _pays(moment: Moment, silence: Silence) -> str:
    return paid_text(moment, silence.shares or ())


def _collected(moment: Moment) -> str:
    owed = " and ".join(amount_text(*each, moment.tokens) for each in moment.seen.to_come)
    if not owed:
        return "The chain owes you nothing."
    return f"The chain owes you {owed}, which your client collects {by_itself(moment)}."
