"""What must hold: of every world, of every event, and of every world in which Bob says nothing any more."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from forcemove import ETHER, Outcome, VariablePart
from forcemove.protocol.machine import automatic_actions, channel, effects, results
from tests.checking.world import DURATION, Setting, World

__all__ = ["PROPERTIES", "Property", "Violated", "is_out", "with_due"]

_MARGIN = automatic_actions.answer_margin(DURATION)


class Violated(Exception):
    """`name` of the property, and `how` it does not hold."""

    def __init__(self, name: str, how: str) -> None:
        super().__init__(f"{name}: {how}")
        self.name, self.how = name, how


Property = Callable[[Setting, World, World], str | None]
"""Of an event: the worlds before and after it; what is wrong, if anything is."""


def one_signature_a_turn(_setting: Setting, before: World, after: World) -> str | None:
    """She never signs two states of one turn."""
    if after.signed is before.signed:
        return None
    turns = [each.state.turn_num for each in after.signed]
    return next((f"two states of turn {one} are signed" for one, other in pairwise(turns) if one == other), None)


def nothing_after_the_end(_setting: Setting, before: World, after: World) -> str | None:
    """After a final state she signs nothing but final states that pay the same."""
    if after.signed is before.signed:
        return None
    end: VariablePart | None = None
    for state in (each.state for each in after.signed):
        if end is not None and not (state.is_final and state.outcome == end.outcome):
            return f"the state of turn {state.turn_num} is signed after the final one of turn {end.turn_num}"
        end = state if state.is_final else end
    return None


def no_early_deposit(setting: Setting, before: World, after: World) -> str | None:
    """She asks for a deposit only after everybody has signed the prefund states, and pays in no more than hers."""
    if after.paid_in > setting.deposit:
        return f"she has paid in {after.paid_in}"
    newest = after.alice.newest
    is_agreed = newest is not None and newest.state.turn_num >= setting.count - 1
    return None if is_agreed or after.paid_in == before.paid_in else "she has paid in before all have agreed"


def no_postfund_before_the_money(setting: Setting, before: World, after: World) -> str | None:
    """She signs nothing beyond the prefund states but an end, before the chain holds all deposits."""
    if after.signed is before.signed or after.is_void:
        return None
    held = after.chain.holdings_of(setting.agreement.channel_id, ETHER)
    new = [each.state for each in after.signed if each not in before.signed]
    plays = any(each.turn_num >= setting.count and not each.is_final for each in new)
    is_there = held.amount >= setting.count * setting.deposit or held.payout_begun
    return None if is_there or not plays else f"she goes on where {held.amount} is held"


def the_record_never_falls(setting: Setting, before: World, after: World) -> str | None:
    """But where a reorganisation undoes it."""
    if after.chain is before.chain or after.reorganisations != before.reorganisations:
        return None
    id_ = setting.agreement.channel_id
    was, is_ = before.chain.status_of(id_).turn_num_record, after.chain.status_of(id_).turn_num_record
    closed = after.chain.holdings_of(id_, ETHER).closed
    return f"the record fell from turn {was} to {is_}" if is_ < was and not closed else None


def nothing_recorded_without_her(setting: Setting, before: World, after: World) -> str | None:
    """What is recorded she has signed, or it follows what she has signed, or what was recorded, by moves of the others
    alone."""
    if after.record.recorded is before.record.recorded or after.record.recorded is None:
        return None
    state = after.record.recorded.state
    bases = [each.state for each in after.signed] + [each.state for each in (before.record.recorded,) if each]
    if state in bases:
        return None
    turns_of_theirs = (state.turn_num - setting.bounds.seat) % setting.count
    follows = any(0 < state.turn_num - each.turn_num <= turns_of_theirs for each in bases)
    return None if follows else f"the state of turn {state.turn_num} was recorded without her"


def settled_as_due(setting: Setting, before: World, after: World) -> str | None:
    """What is settled descends from the newest state that she had at the answer margin or before."""
    outcome = settled(setting, before, after)
    if outcome is None or before.due is None or setting.game.keeps(before.due, outcome):
        return None
    return f"{[each.amount for each in outcome]} is paid, where she had {[each.amount for each in before.due.outcome]}"


def paid_her_share(setting: Setting, before: World, after: World) -> str | None:
    """When the channel is closed she has what the settled state gives her, or if she never paid in, lost nothing."""
    if after.is_void or not after.record.closed or before.record.closed:
        return None
    outcome = settled(setting, before, after)
    share = outcome[setting.bounds.seat].amount if outcome is not None and after.paid_in else 0
    return None if after.balance >= share - after.paid_in else f"she has {after.balance} where {share} is her share"


def told_as_paid(setting: Setting, _before: World, after: World) -> str | None:
    """Once she has seen the channel closed, what screens tell her is what its chain has paid her, or "not known"."""
    if not after.alice.record.closed or not after.told:
        return None
    result = results.result_of(after.alice, after.now)
    told, paid = [each.payable for each in result.shares], after.balance + after.paid_in
    is_told = result.ending is results.Ending.UNKNOWN or told[setting.bounds.seat] == paid
    return None if is_told else f"she is told {told} where {paid} was paid to her"


def nothing_before_the_comparison(_setting: Setting, before: World, after: World) -> str | None:
    """Before both of her endpoints have answered she pays nothing in, and signs nothing unless one of them shows a
    clock that runs."""
    if before.is_compared or after.is_compared or after.crashes != before.crashes:
        return None
    new = [each.submission for each in after.waiting if each not in before.waiting]
    if any(isinstance(each, effects.SubmitDeposit) for each in new):
        return "she has paid in"
    is_signed = after.alice.last_signed != before.alice.last_signed
    return "she has signed" if is_signed and not after.alice.differences.clocks else None


PROPERTIES: dict[str, Property] = {
    "one signature a turn": one_signature_a_turn,
    "nothing after the end": nothing_after_the_end,
    "no early deposit": no_early_deposit,
    "no postfund before the money": no_postfund_before_the_money,
    "the record never falls": the_record_never_falls,
    "nothing recorded without her": nothing_recorded_without_her,
    "settled as due": settled_as_due,
    "paid her share": paid_her_share,
    "told as paid": told_as_paid,
    "nothing before the comparison": nothing_before_the_comparison,
}
"""Of every event. `search` has the one of liveness besides, "out in time"."""


def settled(setting: Setting, before: World, after: World) -> Outcome | None:
    """What the state pays by which this event has begun to pay."""
    if before.record.payout_begun or not after.record.payout_begun:
        return None
    return setting.paying(before, after)


def with_due(setting: Setting, world: World) -> World:
    """`due` is the newest state that she has, while no clock runs or there is time enough to answer. What does not
    follow from it does not take its place: nobody can take back what she has. Among three, what two of them have said
    since her last turn is hers once she can sign on top of it: until then they may say another thing to the chain."""
    newest, due = world.alice.newest, world.due
    ends = world.chain.status_of(setting.agreement.channel_id).finalizes_at
    if newest is None or (ends and world.now > ends - _MARGIN) or not _is_hers(setting, world.alice, newest):
        return world
    follows = due is None or (newest.state.turn_num > due.turn_num and setting.game.keeps(due, newest.state.outcome))
    return world._replace(due=newest.state) if follows else world


def _is_hers(setting: Setting, alice: channel.Channel, newest: channel.Accepted) -> bool:
    """Whether it is a state of her own turn, or she can sign what follows it."""
    return newest.state.turn_num % setting.count == setting.bounds.seat or (
        alice.is_our_turn and alice.final_outcome in (None, newest.hashes.outcome)
    )


def is_out(setting: Setting, world: World) -> bool:
    """Whether nothing of hers is in the channel: everything is paid out, or she has never paid in and never will."""
    held = world.chain.holdings_of(setting.agreement.channel_id, ETHER)
    return not world.waiting and (held.closed or not world.paid_in or (held.payout_begun and not held.amount))
