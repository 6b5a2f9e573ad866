"""The gas of every operation, live: of today's fork on an embedded chain, of the next one in `@ethereumjs/vm`.

The scenario of every row: two participants, each an existing account with ether; each has paid in 1 ether; payout 1.25
and 0.75 to themselves; the counting app (state t carries the number t); a duration of one day; transactions sent by
participants; challenge with states 10 and 11, from the record with 12, respond with 12, checkpoint with 12 and 13,
close with 14. `gasUsed` of the receipt. The rows of games have a scenario of their own, see `discard_hands`.
"""

from __future__ import annotations

from forcemove import EmbeddedChain
from forcemove.chain.chain import Chain
from scripts.measuring import discard_hands, gas_batches, gas_tokens
from scripts.measuring.bench import DAY, Bench, Channel, chain_of_fork
from scripts.measuring.cases import Measured, Row, case
from tests.games.discard.dealer import begin

__all__ = ["TARGETS", "gas", "gas_amsterdam", "measured_on"]

TARGETS = {
    "deposit_first": 46_760,
    "deposit_second": 29_690,
    "conclude_and_pay": 61_210,
    "challenge_two_states": 56_340,
    "challenge_one_state": 49_120,
    "challenge_three_participants": 67_870,
    "challenge_from_recorded": 50_170,
    "respond": 47_960,
    "checkpoint_over_challenge_two_states": 55_360,
    "checkpoint_over_challenge_one_state": 47_930,
    "checkpoint_open": 55_930,
    "transfer_after_expiry": 50_170,
    "happy_total": 137_660,
    "dispute_total": 182_300,
    **gas_batches.TARGETS,
    **gas_tokens.TARGETS,
    **discard_hands.TARGETS,
}


@case(*(Row(name, "gas", "`gasUsed` of the receipt", bound) for name, bound in TARGETS.items()))
def gas() -> Measured:
    """The gas of every operation, each on a channel of its own."""
    return measured_on(EmbeddedChain())


@case()
def gas_amsterdam() -> Measured:
    """The same under Ethereum's next fork, whose prices are in Last Call; nothing is asked of them."""
    with chain_of_fork("amsterdam") as chain:
        return {f"{name}_amsterdam_gas": value for name, value in measured_on(chain).items()}


def measured_on(chain: Chain) -> Measured:
    """The rows on a fresh local chain."""
    bench, rows = Bench(chain), dict[str, float]()
    happy = bench.channel()
    state = [happy.state(turn) for turn in range(14)]
    rows["deposit_first"] = happy.deposit(0)
    rows["deposit_second"] = happy.deposit(1)
    rows["conclude_and_pay"] = happy.conclude(14)

    disputed = bench.funded()
    rows["challenge_two_states"] = disputed.challenge(*state[10:12])
    chain.travel_to(chain.now() + DAY + 1)
    rows["transfer_after_expiry"] = disputed.transfer(state[11])

    rows["challenge_one_state"] = bench.funded().challenge(state[11])
    three = bench.funded(3)
    rows["challenge_three_participants"] = three.challenge(*map(three.state, (9, 10, 11)))

    recorded = bench.funded()
    recorded.checkpoint(*state[10:12])
    rows["challenge_from_recorded"] = recorded.challenge_from_recorded(12)

    answered = bench.funded()
    answered.challenge(*state[10:12])
    rows["respond"] = answered.respond(*state[11:13])

    for name, states in {"two_states": state[12:], "one_state": state[13:]}.items():
        cleared = bench.funded()
        cleared.challenge(*state[10:12])
        rows[f"checkpoint_over_challenge_{name}"] = cleared.checkpoint(*states)

    rows["checkpoint_open"] = bench.funded().checkpoint(*state[12:])
    deposits = rows["deposit_first"] + rows["deposit_second"]
    rows["happy_total"] = deposits + rows["conclude_and_pay"]
    rows["dispute_total"] = deposits + rows["challenge_two_states"] + rows["transfer_after_expiry"]
    rows |= {name: _discard(name, bench.funded(app=bench.discard)) for name in discard_hands.TARGETS}
    rows |= gas_batches.measured_on(bench, state)
    rows |= gas_tokens.measured_on(bench)
    return {name: rows[name] for name in TARGETS}


def _discard(row: str, channel: Channel) -> int:
    """A row about Discard. `channel`: a fresh one."""
    before, from_, to = discard_hands.disputed_states(row, channel.id, begin(channel.id, channel.outcome))
    if "challenge" in row:
        return channel.challenge(from_, to)
    channel.challenge(before, from_)
    return channel.respond(from_, to)
