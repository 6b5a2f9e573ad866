"""What has happened, and who is to do what, in a line. Pure."""

from __future__ import annotations

from forcemove.game import Names
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.types import VariablePart
from forcemove.rounds import GAME_OVER, position_line
from forcemove.text.situation.moment import Moment, deposit_text, named, shown_names

_IN_A_WALLET = {
    "deposit": "the deposit",
    "challenge": "the challenge",
    "respond": "the answer",
    "checkpoint": "the answer",
    "conclude": "the end",
    "transfer": "the payment",
    "paycredit": "the payment",
}
"""What an operation of the adjudicator's is to a person."""


def played_state(moment: Moment) -> VariablePart | None:
    """The newest state, while the game is played; None before and after."""
    channel, phase = moment.channel, moment.seen.phase
    newest, last_of_opening = channel.newest, 2 * channel.agreement.count - 1
    if newest is None or newest.state.turn_num < last_of_opening or phase not in (Phase.PLAYING, Phase.CHALLENGED):
        return None
    return newest.state


def headline_of(moment: Moment) -> str:
    """What our wallet is to sign, which all wait for; then the game's own words while it is played; before and after
    what is waited for."""
    signed = (
        f"Sign {_IN_A_WALLET.get(each, each)} in your wallet, on the page Wallet." for each in moment.to_sign or ()
    )
    return " ".join((*signed, _state_text(moment)))


def _state_text(moment: Moment) -> str:
    state = played_state(moment)
    if state is None:
        return _awaited_text(moment)
    before = state_before(moment.channel, state)
    return position_line(moment.game, before, state, moment.names, moment.channel.index)


def _awaited_text(moment: Moment) -> str:
    """What is waited for before and after the game."""
    match moment.seen.phase:
        case Phase.CHECKING:
            return "Starting the game." if moment.channel.agreement.is_friendly else "Checking the contracts."
        case Phase.PREFUND:
            return _start_awaited(moment)
        case Phase.CHALLENGED:
            return "A challenge is running."
        case Phase.CONCLUDING:
            return f"{GAME_OVER} {_end_awaited(moment)}"
        case Phase.FINALIZED:
            return f"{GAME_OVER} Waiting for the chain to pay."
        case Phase.CLOSED:
            return GAME_OVER
        case _:
            return _deposit_awaited(moment)


def _deposit_awaited(moment: Moment) -> str:
    """Whose deposit is missing, or how deep ours is; once all are there, who is to sign next."""
    if deposit := deposit_text(moment.seen.safety.deposit_block, moment.depth):
        return deposit
    if moment.seen.safety.is_funded or moment.seen.silence is None:
        return _start_awaited(moment)
    who = moment.seen.silence.participant
    if who == moment.channel.index:
        return "Waiting for your deposit to reach the chain."
    return f"Waiting for {named(moment, who)}'s deposit."


def _end_awaited(moment: Moment) -> str:
    signed = {*moment.channel.accepted[-1].signed.signatures, moment.channel.index}
    missing = [name for seat, name in enumerate(shown_names(moment.names)) if seat not in signed]
    return f"Waiting for {' and '.join(missing)} to sign the end." if missing else "Waiting for the chain to pay."


def _start_awaited(moment: Moment) -> str:
    """Whose signature the beginning of the game waits for; ours is made by our client."""
    waiting = "" if moment.seen.is_ours else f" Waiting for {named(moment, moment.seen.mover)}."
    return f"Starting the game.{waiting}"


def state_before(channel: Channel, state: VariablePart) -> VariablePart | None:
    """The state before this one; None where the channel does not have it."""
    states = (each.state for each in channel.accepted)
    return next((each for each in states if each.turn_num == state.turn_num - 1), None)


def names_for(seat: int, names: Names) -> Names:
    """The names, with ours marked."""
    return tuple(f"{name} (you)" if each == seat else name for each, name in enumerate(names))
