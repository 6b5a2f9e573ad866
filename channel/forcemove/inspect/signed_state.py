"""What can be said of a signed state with its channel, and of its chain where one is at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forcemove.errors import RuleError
from forcemove.game import seat_names
from forcemove.inspect.apps import KnownApp, NoPosition, PositionFacts, read_position
from forcemove.inspect.attempts import Attempt, actions_on_chain, try_operations
from forcemove.inspect.onchain import ChannelOnChain, ChannelReport, report_channel
from forcemove.inspect.possibilities import PossibleAction, dispute_actions, missing_support, turn_actions
from forcemove.inspect.signatures import SignatureCheck, SignatureVerdict, check_signatures
from forcemove.inspect.states import StateFacts, state_facts
from forcemove.protocol.codec.wire import SignedStateFile
from forcemove.protocol.encoding import channel_id, digest, hash_state
from forcemove.protocol.rules import require_valid_state
from forcemove.protocol.types import SignedState

if TYPE_CHECKING:
    from forcemove.chain.adjudicator import Adjudicator

__all__ = ["SignedStateReport", "report_signed_state"]

_NOTHING = (PossibleAction("nothing", "the state breaks a rule: nobody can use it"),)


@dataclass(frozen=True, slots=True)
class SignedStateReport:
    """What can be said of a signed state.

    `problem`: what makes it invalid, or None. `support`: what is missing to prove that every participant can be held to
    it, None where this state alone proves it. `could`: the actions of each participant, in their order. `refused`: the
    operations that the adjudicator would not accept; `channel`: the channel on its chain; both None without a chain.
    """

    file: SignedStateFile
    channel_id: bytes
    state: StateFacts
    app: KnownApp | None
    position: PositionFacts | NoPosition | None
    signatures: tuple[SignatureCheck, ...]
    problem: RuleError | None
    support: str | None
    could: tuple[tuple[PossibleAction, ...], ...]
    refused: tuple[Attempt, ...] | None
    channel: ChannelReport | None

    @property
    def has_wrong_signature(self) -> bool:
        """Whether a signature is not of the participant that it is said to be of."""
        return any(check.verdict is SignatureVerdict.WRONG for check in self.signatures)


def report_signed_state(
    file: SignedStateFile,
    app: KnownApp | None,
    on_chain: tuple[Adjudicator, ChannelOnChain] | None = None,
) -> SignedStateReport:
    """Examine a state. `on_chain`: the adjudicator to ask for what it would accept, and the channel as it was read.
    Raises what asking a chain raises."""
    fixed_part, state = file.fixed_part, file.signed.state
    id_ = channel_id(fixed_part, file.domain)
    signed = digest(file.domain, hash_state(id_, state).state)
    checks = check_signatures(fixed_part.participants, signed, file.signed.signatures)
    good, problem = _only_good(file.signed, checks), _problem(file, id_)
    attempts = try_operations(*on_chain, fixed_part, good) if on_chain and problem is None else []
    actions = _actions(file, good, on_chain and on_chain[1], attempts)
    return SignedStateReport(
        file,
        id_,
        state_facts(state, fixed_part),
        app,
        read_position(app, state, seat_names(len(fixed_part.participants))),
        checks,
        problem,
        missing_support(fixed_part, state, frozenset(good.signatures)),
        tuple(_NOTHING if problem else actions(index) for index in range(len(fixed_part.participants))),
        tuple(each for each in attempts if each.refusal is not None) if on_chain else None,
        report_channel(on_chain[1], lambda _: app, fixed_part) if on_chain else None,
    )


def _only_good(signed: SignedState, checks: Sequence[SignatureCheck]) -> SignedState:
    good = (check.participant for check in checks if check.verdict is SignatureVerdict.SIGNED)
    return SignedState(signed.state, {index: signed.signatures[index] for index in good})


def _problem(file: SignedStateFile, id_: bytes) -> RuleError | None:
    try:
        require_valid_state(id_, file.domain.adjudicator, file.fixed_part, file.signed.state)
    except RuleError as error:
        return error
    return None


def _actions(
    file: SignedStateFile, good: SignedState, channel: ChannelOnChain | None, attempts: Sequence[Attempt]
) -> Callable[[int], tuple[PossibleAction, ...]]:
    """What each participant, by its index, could do about a valid state."""
    fixed_part, signers = file.fixed_part, frozenset(good.signatures)
    if channel is not None:
        return lambda index: tuple(actions_on_chain(channel, fixed_part, good, attempts, index))
    dispute = dispute_actions(fixed_part, good.state, signers)
    return lambda index: (*turn_actions(fixed_part, good.state, signers, index), *dispute)
