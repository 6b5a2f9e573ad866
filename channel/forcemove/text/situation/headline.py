"""What has happened, and who is to do what, in a line. Pure."""

from __future__ import annotations

from forcemove.game import Names
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.state import VariablePart
from forcemove.rounds import position_line
from forcemove.text.depths import deposit_text
from forcemove.text.situation.moment import Moment

__all__ = ["headline_of", "names_for", "played_state", "state_before"]


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
    the phase, and how deep our deposit is."""
    signed = (
        f"Sign {_IN_A_WALLET.get(each, each)} in your wallet, on the page Wallet." for each in moment.to_sign or ()
    )
    return " ".join((*signed, _state_text(moment)))


def _state_text(moment: Moment) -> str:
    seen, state = moment.seen, played_state(moment)
    if state is None:
        deposit = deposit_text(seen.safety.deposit_block, moment.depth)
        return f"{seen.phase.value.capitalize()}. {deposit}".strip()
    before = state_before(moment.channel, state)
    return position_line(moment.game, before, state, moment.names, moment.channel.index)


def state_before(channel: Channel, state: VariablePart) -> VariablePart | None:
    """The state before this one; None where the channel does not have it."""
    states = (each.state for each in channel.accepted)
    return next((each for each in states if each.turn_num == state.turn_num - 1), None)


def names_for(seat: int, names: Names) -> Names:
    """The names, with ours marked."""
    return tuple(f"{name} (you)" if each == seat else name for each, name in enumerate(names))
