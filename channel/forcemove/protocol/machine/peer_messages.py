"""Counterparties' messages: states, taken as the next ones or as more signatures, and greetings. Pure.

A message that breaks a rule raises `MessageRefused` with the message, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.protocol.app import Rules
from forcemove.protocol.encoding import StateHashes, digest, hash_state
from forcemove.protocol.errors import MessageRefused, OpeningMismatch, SignatureMissing, StateConflict
from forcemove.protocol.machine.channel import OVER, Accepted, Channel, Phase, Step
from forcemove.protocol.machine.effects import Effect, SendGreeting, SendState
from forcemove.protocol.machine.inputs import Greeted
from forcemove.protocol.rules import require_valid_state, require_valid_transition
from forcemove.protocol.signing import require_signer
from forcemove.protocol.types import Signature, SignedState, VariablePart

_SILENT = (Phase.CHECKING, *OVER)


def receive(channel: Channel, signed: SignedState, now: int, app: Rules) -> Step:
    """Accept a counterparty's state: the next one, or more signatures on the newest. A late state is nobody's fault,
    and a state after the next one shows that we have missed a message."""
    if channel.phase(now) in OVER:
        return channel, ()
    if signed.state.turn_num > channel.next_turn:
        return channel, greet(channel, now)
    try:
        if signed.state.turn_num < channel.next_turn:
            return _receive_again(channel, signed), ()
        return channel.accept(verify_next(channel, signed, app)), ()
    except ForcemoveError as error:
        raise MessageRefused(error, signed) from error


def _receive_again(channel: Channel, signed: SignedState) -> Channel:
    """A state of a turn that we have: maybe more signatures on the newest; another state that is truly signed is
    evidence.

    No reply is sent: a counterparty that lacks a state sends a greeting, and a transport that repeats messages gets no
    echo.
    """
    state = signed.state
    place = state.turn_num - channel.next_turn
    known = channel.accepted[place] if place >= -len(channel.accepted) else None
    if known is None:
        return channel
    if known.state != state:
        _require_signed(channel, hash_state(channel.agreement.channel_id, state), signed)
        raise StateConflict(state.turn_num)
    if known is not channel.newest:
        return channel
    new = {index: each for index, each in signed.signatures.items() if index not in known.signed.signatures}
    if not new:
        return channel
    require_signatures(channel, known.hashes, new)
    merged = SignedState(state, {**known.signed.signatures, **new})
    return channel.replace_newest(Accepted(merged, known.hashes))


def greet(channel: Channel, now: int) -> tuple[Effect, ...]:
    """Send a greeting, which names the next state that we can take."""
    return () if channel.phase(now) in _SILENT else (SendGreeting(channel.next_turn),)


def answer_greeting(channel: Channel, greeting: Greeted, now: int) -> tuple[Effect, ...]:
    """Send the states that we have signed and the greeting's sender lacks; where the sender is ahead of us, our own
    greeting asks for its states.

    A greeting of our own is nobody's fault: a log gives a client that was killed its earlier messages, and greetings
    are unsigned.
    """
    if not 0 <= greeting.sender < channel.agreement.count:
        raise MessageRefused(InvalidValue("sender", greeting.sender, "a participant's index"), greeting)
    if greeting.sender == channel.index or _answers_nobody(channel, now):
        return ()
    if greeting.next_turn > channel.next_turn:
        return greet(channel, now)
    return tuple(SendState(each.signed, again=True) for each in channel.accepted if _lacks(channel, each, greeting))


def _answers_nobody(channel: Channel, now: int) -> bool:
    """Before contracts are checked, and after the end, of which the chain tells. A friendly channel has no chain: who
    has all signatures of its end gives them to those who have not."""
    phase = channel.phase(now)
    return phase in _SILENT and not (phase in OVER and channel.agreement.is_friendly)


def _lacks(channel: Channel, accepted: Accepted, greeting: Greeted) -> bool:
    """Whether the sender may lack this state that we have: one of a later turn, or signatures on the final one. (A
    state that came from the chain without its mover's signature is of use to nobody.)"""
    state, signatures = accepted.state, accepted.signed.signatures
    missing = state.turn_num >= greeting.next_turn or (state.is_final and state.turn_num + 1 == greeting.next_turn)
    return missing and channel.index in signatures and channel.agreement.fixed_part.mover(state.turn_num) in signatures


def verify_next(channel: Channel, signed: SignedState, app: Rules) -> Accepted:
    """The next state, by its mover, if every rule holds. Raises the error of the rule that it breaks, and what a game
    raises."""
    hashes = require_next(channel, signed.state, app)
    _require_signed(channel, hashes, signed)
    return Accepted(signed, hashes)


def _require_signed(channel: Channel, hashes: StateHashes, signed: SignedState) -> None:
    """Refuse a state without its mover's signature, or with a signature that is not its signer's."""
    mover = channel.agreement.fixed_part.mover(signed.state.turn_num)
    if mover not in signed.signatures:
        raise SignatureMissing(mover)
    require_signatures(channel, hashes, signed.signatures)


def require_signatures(channel: Channel, hashes: StateHashes, signatures: Mapping[int, Signature]) -> None:
    """Refuse signatures, by participant, that are not of this state. Raises `InvalidValue`, and as `require_signer`."""
    participants = channel.agreement.fixed_part.participants
    to_sign = digest(channel.agreement.domain, hashes.state)
    for index, signature in signatures.items():
        if not 0 <= index < len(participants):
            raise InvalidValue("signatures", index, f"participants are 0 to {len(participants) - 1}")
        require_signer(to_sign, signature, participants[index])


def require_next(channel: Channel, state: VariablePart, app: Rules) -> StateHashes:
    """The hashes of a state that may follow the newest one, ours or a counterparty's."""
    agreement, newest = channel.agreement, channel.newest
    if state.turn_num < agreement.count:
        if state != agreement.setup_state(state.turn_num):
            raise OpeningMismatch(state.turn_num)
        return hash_state(agreement.channel_id, state)
    hashes = require_valid_state(agreement.channel_id, agreement.domain.adjudicator, agreement.fixed_part, state)
    if newest is not None:
        require_valid_transition(
            agreement.channel_id, agreement.fixed_part, newest.state, newest.hashes, state, hashes, app
        )
    return hashes
