"""What the machine wants done on chain, done on the adjudicator's twin."""

from __future__ import annotations

from forcemove.protocol import adjudication as twin
from forcemove.protocol.adjudication import Adjudication, OperationResult, Transaction
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.app import Rules
from forcemove.protocol.machine import effects

__all__ = ["ether_with", "perform"]


def ether_with(submission: effects.Submission) -> int:
    """What is sent with it, wei, where the asset is ether."""
    return submission.amount if isinstance(submission, effects.SubmitDeposit) else 0


def perform(
    chain: Adjudication, transaction: Transaction, submission: effects.Submission, agreement: Agreement, rules: Rules
) -> OperationResult:
    """Raises what the adjudicator would revert with."""
    fixed, id_ = agreement.fixed_part, agreement.channel_id
    match submission:
        case effects.SubmitDeposit(asset, held, amount):
            return twin.deposit(chain, transaction, id_, asset, held, amount)
        case effects.SubmitChallenge(proof):
            return twin.challenge(chain, transaction, fixed, proof, None, rules)
        case effects.SubmitRespond(challenged, response, signature):
            return twin.respond(chain, transaction, fixed, challenged, response, signature, rules)
        case effects.SubmitCheckpoint(proof):
            return twin.checkpoint(chain, transaction, fixed, proof, rules)
        case effects.SubmitConclude(outcome, turn_num, signatures):
            return twin.conclude(chain, transaction, fixed, outcome, turn_num, signatures)
        case effects.SubmitTransfer(state_hash, outcome, _):
            return twin.transfer(chain, transaction, id_, fixed.asset, state_hash, outcome, ())
        case effects.SubmitPayCredit(account, asset, _):
            return twin.pay_credit(chain, transaction, account, asset)
