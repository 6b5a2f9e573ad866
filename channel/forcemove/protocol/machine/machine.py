"""The channel as a pure machine: `step(channel, input, now, key, app) -> (channel, effects)`.

It agrees an opening, funds, plays, concludes, challenges, answers and collects. Time (block time, seconds), the key and
the app's rules are arguments; the machine never waits. An input is applied by its handler; then the actions of the
phase that the channel is in (`automatic_actions.AUTOMATIC_ACTIONS`) are done until none is due.

Without a key the machine signs nothing and pays nothing in, but answers, concludes and collects with the states that it
has: so are copies of channels driven, which do not know later signatures.

An error leaves the channel as it was: `LocalError`s are ours, a `CounterpartyError` has the reason and the message.
"""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from forcemove.errors import InvalidValue
from forcemove.protocol import errors
from forcemove.protocol.app import Rules
from forcemove.protocol.codec.limits import MAX_SECRETS
from forcemove.protocol.machine import inputs
from forcemove.protocol.machine.automatic_actions import AUTOMATIC_ACTIONS, concluding, finish, request_once, sign_next
from forcemove.protocol.machine.chain_updates import apply_changes, on_chain_change, on_views_differ
from forcemove.protocol.machine.channel import OVER, Channel, Phase, Step
from forcemove.protocol.machine.effects import Effect, SubmitChallenge
from forcemove.protocol.machine.peer_messages import answer_greeting, greet, receive, require_next
from forcemove.protocol.machine.responses import cheapest_proof
from forcemove.protocol.machine.view_differences import IN_EVERY_PHASE
from forcemove.protocol.signing import Key
from forcemove.protocol.types import SupportProof, VariablePart

__all__ = ["Step", "step"]


def step(channel: Channel, input_: inputs.Input, now: int, key: Key | None, app: Rules) -> Step:
    """Apply one input to a channel; the channel after it, and the effects.

    - `channel`: before the input.
    - `input_`: what has happened.
    - `now`: the block time, in seconds; 0 before all endpoints have answered.
    - `key`: signs for us; None where nothing may be signed.
    - `app`: the rules of the game.

    Raises `LocalError`, `CounterpartyError`, and on our illegal move `RuleError` or `InvalidValue`.
    """
    changed, effects = _apply(channel, input_, now, key, app)
    while True:
        actions = AUTOMATIC_ACTIONS[changed.phase(now)]
        for action in (*IN_EVERY_PHASE, *actions) if changed.differs else actions:
            done = action(changed, now, key)
            if done is not None:
                changed, effects = done[0], effects + done[1]
                break
        else:
            return changed, effects


def _apply(channel: Channel, input_: inputs.Input, now: int, key: Key | None, app: Rules) -> Step:
    match input_:
        case inputs.StateReceived(signed):
            return receive(channel, signed, now, app)
        case inputs.Greeted():
            return channel, answer_greeting(channel, input_, now)
        case inputs.MoveChosen():
            return _move(channel, input_, now, key, app)
        case inputs.ConcludeWanted():
            return _leave(channel, now, key), ()
        case inputs.ChallengeWanted():
            return _challenge(channel, now, key)
        case _:
            return _observe(channel, input_, now, app)


def _observe(
    channel: Channel,
    input_: inputs.ContractsGenuine
    | inputs.ChainUpdate
    | inputs.ChainChange
    | inputs.Reconnected
    | inputs.ViewsDiffer
    | inputs.Tick,
    now: int,
    app: Rules,
) -> Step:
    match input_:
        case inputs.ContractsGenuine():
            return replace(channel, genuine=True), ()
        case inputs.LogSeen() | inputs.HoldingsSeen() | inputs.CreditSeen() | inputs.SubmissionFailed():
            return on_chain_change(channel, input_, now, app), ()
        case inputs.ChainUpdate(changes, from_scratch):
            return apply_changes(channel.forget_chain() if from_scratch else channel, changes, now, app), ()
        case inputs.Reconnected():
            return channel, greet(channel, now)
        case inputs.ViewsDiffer():
            return on_views_differ(channel, input_, now, app), ()
        case inputs.Tick():
            return channel, ()
        case _:
            assert_never(input_)


# ---------------------------------------------------------------------------------------------------- what we decide


def _move(channel: Channel, move: inputs.MoveChosen, now: int, key: Key | None, app: Rules) -> Step:
    """Make our next state, if it is our turn and the move is legal."""
    if key is None:
        raise errors.SignsNothing(channel.agreement.channel_id)
    phase, turn_num = channel.phase(now), channel.next_turn
    if phase not in (Phase.PLAYING, Phase.CHALLENGED) or turn_num < 2 * channel.agreement.count:
        raise errors.WrongPhase("move", phase.value)
    if not channel.is_our_turn:
        raise errors.OutOfTurn(turn_num, turn_num % channel.agreement.count)
    if (reason := channel.reason_to_wait(phase)) is not None:
        raise reason
    if not now and not channel.must_move:
        raise errors.EndpointsDiffer(channel.agreement.channel_id)
    state = VariablePart(move.outcome, move.app_data, turn_num, evidence=move.evidence)
    hashes = require_next(channel, state, app)
    return sign_next(_with_secrets(channel, move.secrets), state, hashes, key)


def _with_secrets(channel: Channel, secrets: bytes | None) -> Channel:
    """The secrets are saved with the state, before the state leaves: a player that has to open a commitment after a
    restart still can."""
    if secrets is None:
        return channel
    if len(secrets) > MAX_SECRETS:
        raise InvalidValue("secrets", len(secrets), f"at most {MAX_SECRETS} bytes")
    return replace(channel, secrets=secrets)


def _leave(channel: Channel, now: int, key: Key | None) -> Channel:
    if key is None:
        raise errors.SignsNothing(channel.agreement.channel_id)
    phase = channel.phase(now)
    if phase in OVER:
        raise errors.WrongPhase("conclude", phase.value)
    return replace(channel, leaving=True)


def _challenge(channel: Channel, now: int, key: Key | None) -> Step:
    """Let the chain decide. Where only leaving is left to us we leave first, so that no answer is ours to give: before
    play, and on our turn where a deposit is missing, on which nobody plays on. (A final state pays what the state
    before it pays, to everybody, and a holder of that state can challenge with it.) A state that all have signed needs
    no challenge. Without a key we make no move in any case, and challenge on our turn, too: the clock is all that is
    left to us."""
    phase = channel.phase(now)
    if phase not in (Phase.FUNDING, Phase.PLAYING, Phase.CONCLUDING):
        raise errors.WrongPhase("challenge", phase.value)
    if key is not None and phase is Phase.PLAYING and channel.may_sign_next and not channel.lacks_money:
        raise errors.OutOfTurn(channel.next_turn, channel.index)
    effects: tuple[Effect, ...] = ()
    if phase is not Phase.CONCLUDING and channel.is_our_turn:
        if not now:
            raise errors.EndpointsDiffer(channel.agreement.channel_id)
        channel, effects = finish(replace(channel, leaving=True), key) or (channel, ())
    channel, asked = request_once(channel, concluding(channel) or SubmitChallenge(_proof(channel))) or (channel, ())
    return channel, effects + asked


def _proof(channel: Channel) -> SupportProof:
    """A proof of the newest state above the record that we can prove. Without one, a proof of the recorded state
    itself, to which our next move is an answer. Raises `NotSupported`."""
    fixed_part, recorded = channel.agreement.fixed_part, channel.record.recorded
    for states in (channel.signed_states, channel.superseded_states):
        proof = cheapest_proof(fixed_part, recorded.state if recorded else None, states)
        if proof is not None and (recorded is None or proof.states[-1].turn_num > recorded.state.turn_num):
            return proof
    if recorded is None:
        raise errors.NotSupported(channel.next_turn - 1)
    return SupportProof((recorded.state,), (), 0)
