"""The gas of every operation, live: of today's fork on an embedded chain, of the next one in `@ethereumjs/vm`.

The scenario of every row: two participants, each an existing account with ether; each has paid in 1 ether; payout 1.25
and 0.75 to themselves; the counting app (state t carries the number t); a duration of one day; transactions sent by
participants; challenge with states 10 and 11, from the record with 12, respond with 12, checkpoint with 12 and 13,
close with 14. `gasUsed` of the receipt. The rows of games have a scenario of their own, see `discard_hands`.
"""

from __future__ import annotations

from forcemove import EmbeddedChain
from scripts.measuring import discard_hands, gas_batches, gas_tokens
from scripts.measuring.bench import DAY, Bench, Channel, chain_of_fork
from scripts.measuring.cases import Measured, Row, case
from tests.games.discard.dealer import begin

__all__ = ["AMSTERDAM_TARGETS", "TARGETS", "gas", "gas_amsterdam", "happy_on", "measured_on"]

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
AMSTERDAM_TARGETS = {
    "deposit_first": 134_950,
    "deposit_second": 36_910,
    "conclude_and_pay": 67_420,
    "challenge_two_states": 57_940,
    "challenge_one_state": 50_320,
    "challenge_three_participants": 69_480,
    "challenge_from_recorded": 51_770,
    "respond": 49_560,
    "checkpoint_over_challenge_two_states": 56_960,
    "checkpoint_over_challenge_one_state": 49_140,
    "checkpoint_open": 57_530,
    "transfer_after_expiry": 56_380,
    "happy_total": 239_280,
    "dispute_total": 285_500,
    "batch_respond": 32_420,
    "batch_checkpoint_one_state": 34_850,
    "batch_conclude": 49_930,
    "token_deposit_first": 273_560,
    "token_deposit_second": 77_400,
    "token_conclude_held": 80_260,
    "token_conclude_one_new": 178_690,
    "token_conclude_two_new": 277_110,
    "discard_challenge_share": 146_660,
    "discard_challenge_discard": 116_730,
    "discard_respond_discard": 108_290,
    "discard_respond_share": 108_540,
    "discard_respond_share_discard": 138_360,
    "discard_challenge_deal": 271_420,
    "discard_challenge_second_deal": 265_350,
    "discard_challenge_shuffle": 452_000,
    "discard_respond_leave": 137_520,
    "discard_challenge_show": 211_120,
}


@case(*(Row(name, "gas", "`gasUsed` of the receipt", bound) for name, bound in TARGETS.items()))
def gas() -> Measured:
    """The gas of every operation, each on a channel of its own."""
    return measured_on(Bench(EmbeddedChain()))


def _under_amsterdam(name: str) -> str:
    return f"{name}_amsterdam_gas"


@case(*(Row(_under_amsterdam(name), "gas", "the same", bound) for name, bound in AMSTERDAM_TARGETS.items()))
def gas_amsterdam() -> Measured:
    """The same under Ethereum's next fork, whose prices are in Last Call."""
    with chain_of_fork("amsterdam") as chain:
        return {_under_amsterdam(name): value for name, value in measured_on(Bench(chain)).items()}


def happy_on(bench: Bench) -> Measured:
    """The rows of a channel without a dispute, the first on its chain."""
    happy = bench.channel()
    return {
        "deposit_first": happy.deposit(0),
        "deposit_second": happy.deposit(1),
        "conclude_and_pay": happy.conclude(14),
    }


def measured_on(bench: Bench) -> Measured:
    """The rows on a fresh local chain."""
    rows, chain = dict(happy_on(bench)), bench.chain
    disputed = bench.funded()
    state = [disputed.state(turn) for turn in range(14)]
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
