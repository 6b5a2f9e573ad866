"""What can be told of a signed state that comes with its channel, and of its chain where one is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forcemove.channel.chain.addresses import show_address
from forcemove.channel.cli.findings import (
    Finding,
    KnownApp,
    SignatureCheck,
    app_finding,
    check_signatures,
    fixed_part_finding,
    position_finding,
    show_hex,
    signature_finding,
    state_finding,
)
from forcemove.channel.cli.possibilities import Action, dispute_actions, missing_support, turn_actions
from forcemove.channel.cli.progress import waiting
from forcemove.channel.errors import RuleError
from forcemove.channel.game import seat_names
from forcemove.channel.protocol.encoding import channel_id, digest, hash_state
from forcemove.channel.protocol.rules import require_valid_state
from forcemove.channel.protocol.state import SignedState
from forcemove.channel.protocol.wire import SignedStateFile

if TYPE_CHECKING:
    from forcemove.channel.chain.adjudicator import Adjudicator
    from forcemove.channel.cli.attempts import Attempt
    from forcemove.channel.cli.standing import Standing

__all__ = ["signed_state_finding"]

_NOTHING = [Action("nothing", "the state breaks a rule: nobody can use it")]


def signed_state_finding(
    file: SignedStateFile,
    app: KnownApp | None,
    adjudicator: Adjudicator | None = None,
    standing: Standing | None = None,
) -> Finding:
    """`{"kind", "chainId", "adjudicator", "channelId", "fixedPart", "state", "app", "position", "signatures",
    "problem", "support", "could", "refused", "channel"}`.

    `problem`: what makes the state invalid, or null. `support`: what else it takes to prove that every participant can
    be held to it, null where this state alone proves it. `could`: of each participant `{"participant", "address",
    "actions"}`, an action being `{"action", "explanation"}` with a word of `possibilities.ACTIONS`. `refused`: what the
    adjudicator would not accept, `{"action", "reason"}`; `channel`: as in `standing_finding`; both null without a
    chain. The others are as in `findings`.
    """
    fixed_part, state = file.fixed_part, file.signed.state
    id_ = channel_id(fixed_part, file.domain)
    checks = check_signatures(
        fixed_part.participants, digest(file.domain, hash_state(id_, state).state), file.signed.signatures
    )
    good = _only_good(file.signed, checks)
    problem = _problem(file, id_)
    attempts = _attempts(adjudicator, standing, file, good) if problem is None else []
    finding: Finding = {
        "kind": "signed-state",
        "chainId": str(file.domain.chain_id),
        "adjudicator": show_address(file.domain.adjudicator),
        "channelId": show_hex(id_),
        "fixedPart": fixed_part_finding(fixed_part),
        "state": state_finding(state, fixed_part),
        "app": app_finding(app),
        "position": position_finding(app, state, seat_names(len(fixed_part.participants))),
        "signatures": [signature_finding(check) for check in checks],
        "problem": problem,
        "support": missing_support(fixed_part, state, frozenset(good.signatures)),
        "could": [
            _could(file, good, index, standing, attempts)
            if problem is None
            else _actions_finding(file, index, _NOTHING)
            for index in range(len(fixed_part.participants))
        ],
        "refused": None,
        "channel": None,
    }
    return finding | _chain_finding(file, app, standing, attempts)


def _only_good(signed: SignedState, checks: Sequence[SignatureCheck]) -> SignedState:
    return SignedState(
        signed.state, {each.participant: signed.signatures[each.participant] for each in checks if each.good}
    )


def _problem(file: SignedStateFile, id_: bytes) -> str | None:
    try:
        require_valid_state(id_, file.domain.adjudicator, file.signed.state)
    except RuleError as error:
        return str(error)
    return None


def _attempts(
    adjudicator: Adjudicator | None, standing: Standing | None, file: SignedStateFile, good: SignedState
) -> list[Attempt]:
    if adjudicator is None or standing is None:
        return []
    from forcemove.channel.cli.attempts import try_operations

    with waiting("Asking the adjudicator"):
        return try_operations(adjudicator, standing, file.fixed_part, good)


def _could(
    file: SignedStateFile, good: SignedState, index: int, standing: Standing | None, attempts: Sequence[Attempt]
) -> Finding:
    fixed_part, signers = file.fixed_part, frozenset(good.signatures)
    if standing is None:
        actions = turn_actions(fixed_part, good.state, signers, index)
        return _actions_finding(file, index, [*actions, *dispute_actions(fixed_part, good.state, signers)])
    from forcemove.channel.cli.attempts import actions_on_chain

    return _actions_finding(file, index, actions_on_chain(standing, fixed_part, good, attempts, index))


def _actions_finding(file: SignedStateFile, index: int, actions: Sequence[Action]) -> Finding:
    return {
        "participant": index,
        "address": show_address(file.fixed_part.participants[index]),
        "actions": [action._asdict() for action in actions],
    }


def _chain_finding(
    file: SignedStateFile, app: KnownApp | None, standing: Standing | None, attempts: Sequence[Attempt]
) -> Finding:
    if standing is None:
        return {}
    from forcemove.channel.cli.standing import standing_finding

    return {
        "refused": [
            {"action": each.action.action, "reason": str(each.refusal)} for each in attempts if each.refusal is not None
        ],
        "channel": standing_finding(standing, lambda _: app, file.fixed_part),
    }
