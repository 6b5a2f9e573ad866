"""The ways out of a channel, each with what follows and what it costs, or why it is shut. Pure but for the reader's own
time zone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.history.overview import Option
from forcemove.history.tokens import Tokens
from forcemove.protocol.machine.channel import OVER, Channel, Phase
from forcemove.rounds import GAME_OVER
from forcemove.text.amounts import amount_text
from forcemove.text.situation.moment import Moment, by_itself, capitalised, clock_time, gas_text, named, paid_text
from forcemove.text.situation.presence import ABSENT

PUT_AWAY = "put-away"
"""The word for it."""


@dataclass(frozen=True, slots=True)
class WayOut:
    """A way out of the channel. `name`: the form's value; `text`: on the button; `consequence`: what follows; `gas`:
    what it costs; `reason`: why it is shut, empty where it is open; `sure`: what a person who wants it is to say once
    more, empty where nothing is lost by it."""

    name: str
    text: str
    consequence: str
    gas: str
    reason: str
    sure: str = ""


def ways_out(moment: Moment) -> tuple[WayOut, ...]:
    """Leaving, challenging and collecting, each with what follows and what it costs; none once all is over."""
    if moment.seen.phase is Phase.CLOSED:
        return ()
    options = {each.kind: each for each in moment.seen.options}
    ways = [_leave(moment, options.get("leave"))]
    if can_put_away(moment.channel, moment.silences, moment.move_left):
        end = "The game ends here, unfinished; nothing is at stake. What arrives later changes nothing."
        ways.append(WayOut(PUT_AWAY, "Put the game away", end, "", ""))
    if not moment.channel.agreement.is_friendly:
        ways += [_challenge(moment, options.get("challenge")), _collect(moment)]
    return tuple(ways)


def can_put_away(channel: Channel, silences: Sequence[float | None], move_left: float) -> bool:
    """Whether one player alone can end the game, unfinished: nothing is at stake, and another is gone, not heard of for
    long or out of time.

    - `channel`: as it is now.
    - `silences`, `move_left`: see `Moment`.
    """
    others = (each for seat, each in enumerate(silences) if seat != channel.index)
    is_late = move_left <= 0 and not channel.is_our_turn
    return channel.agreement.is_friendly and (is_late or any(each is not None and each >= ABSENT for each in others))


def _leave(moment: Moment, option: Option | None) -> WayOut:
    if option is None:
        return WayOut("leave", "Leave the game", "", "", _why_not_leave(moment))
    when = "now" if moment.seen.is_ours else "with your next turn"
    paid = paid_text(moment, option.shares)
    if moment.channel.agreement.is_friendly or not paid:
        return WayOut("leave", "Leave the game", f"The game ends {when}.", "", "")
    but = "" if moment.seen.is_ours else ", unless a move before it changes that"
    gas = "" if moment.channel.agreement.is_friendly else gas_text(option.gas)
    sure = leaving_text(moment.channel, moment.leave_cost, moment.tokens)
    return WayOut("leave", "Leave the game", f"The game ends {when}; {paid}{but}.", gas, "", sure)


def leaving_text(channel: Channel, cost: int, tokens: Tokens) -> str:
    """What leaving pays us, and what it loses, as a person reads before it is done; empty where nothing is at stake.

    - `channel`: as it is now.
    - `cost`: the most that leaving with our next turn loses us, in the smallest unit.
    - `tokens`: what the channel's tokens say of themselves, as far as that is known.
    """
    if channel.newest is None or channel.agreement.is_friendly:
        return ""
    asset, _ = channel.agreement.deposits[0]
    paid = amount_text(asset, channel.newest.state.outcome[channel.index].amount, tokens)
    lost = f", and lose {{}}{amount_text(asset, cost, tokens)} of this round" if cost else ""
    if channel.is_our_turn:
        return f"Leave now: you are paid {paid}{lost.format('')}"
    return f"Leave with your next turn: you are paid {paid} if no move changes that{lost.format('up to ')}"


def _why_not_leave(moment: Moment) -> str:
    phase = moment.seen.phase
    if phase is Phase.CONCLUDING:
        return "You have signed the end. The others must sign it, too."
    if phase not in OVER and moment.channel.cannot_sign_next:
        return "There is nothing you can sign: with a challenge the chain decides."
    if moment.channel.leaving:
        return "You are leaving: the end is signed with your next turn."
    if phase in OVER:
        return GAME_OVER
    return "The game has not begun."


def _challenge(moment: Moment, option: Option | None) -> WayOut:
    if option is None:
        return WayOut("challenge", "Challenge", "", "", _why_not_challenge(moment))
    time = clock_time(moment, moment.now + moment.channel.agreement.fixed_part.challenge_duration)
    silence = moment.seen.silence
    paid = paid_text(moment, option.shares if silence is None or silence.shares is None else silence.shares)
    who = capitalised(named(moment, moment.seen.mover))
    text = f"At {time} {paid}." if moment.seen.is_ours else f"{who} has until {time} to answer, or {paid}."
    return WayOut("challenge", "Challenge", text, gas_text(option.gas), "")


def _why_not_challenge(moment: Moment) -> str:
    seen = moment.seen
    match seen.phase:
        case Phase.CHALLENGED:
            return "A clock is running already."
        case Phase.PLAYING if seen.is_ours:
            return "Only while another is to move."
        case Phase.PLAYING:
            return "You are leaving."
        case Phase.FINALIZED | Phase.CLOSED:
            return GAME_OVER
        case Phase.CONCLUDING:
            return f"The end is signed: your client challenges {by_itself(moment)} if it must."
        case _:
            return f"The game has not begun: your client challenges {by_itself(moment)} if it must."


def _collect(moment: Moment) -> WayOut:
    owed = " and ".join(amount_text(*each, moment.tokens) for each in moment.seen.to_come)
    how = by_itself(moment)
    if owed:
        return WayOut("collect", "Collect", "", "", f"You are owed {owed}: your client collects it {how}.")
    return WayOut("collect", "Collect", "", "", f"You are owed nothing yet. Your client collects {how}.")
