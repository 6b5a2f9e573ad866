"""The gas of every operation, live: of today's fork on an embedded chain, of the next one in `@ethereumjs/vm`.

The scenario of every row: two participants, each an existing account with ether; each has paid in 1 ether; payout 1.25
and 0.75 to themselves; the counting app (state t carries the number t); a duration of one day; transactions sent by
participants; challenge with states 10 and 11, from the record with 12, respond with 12, checkpoint with 12 and 13,
close with 14. `gasUsed` of the receipt. The rows of games have a scenario of their own, see `discard_hands`.
"""

from __future__ import annotations

from collections.abc import Sequence

from forcemove import EmbeddedChain, Key, VariablePart, keccak256
from forcemove.chain.adjudicator import Operation
from forcemove.chain.token import Token
from forcemove.protocol.codec.packed_writer import batch_call
from scripts.measuring import discard_hands
from scripts.measuring.bench import DAY, ETH, Bench, Channel, chain_of_fork
from scripts.measuring.cases import Measured, Row, case, require
from tests.games.discard.dealer import begin

_ITEMS, _ITEM_GAS = 50, 200_000
"""Operations in a batch, and the gas of each."""
_GAS = {
    "deposit_first": (46_760, 134_950),
    "deposit_second": (29_690, 36_910),
    "conclude_and_pay": (61_210, 67_420),
    "challenge_two_states": (56_340, 57_940),
    "challenge_one_state": (49_120, 50_320),
    "challenge_three_participants": (67_870, 69_480),
    "challenge_from_recorded": (50_170, 51_770),
    "respond": (47_960, 49_560),
    "checkpoint_over_challenge_two_states": (55_360, 56_960),
    "checkpoint_over_challenge_one_state": (47_930, 49_140),
    "checkpoint_open": (55_930, 57_530),
    "transfer_after_expiry": (50_170, 56_380),
    "happy_total": (137_660, 239_280),
    "dispute_total": (182_300, 285_500),
    "batch_respond": (25_320, 32_420),
    "batch_checkpoint_one_state": (27_760, 34_850),
    "batch_conclude": (38_220, 49_930),
    "token_deposit_first": (88_350, 273_560),
    "token_deposit_second": (54_150, 77_400),
    "token_conclude_held": (63_840, 80_260),
    "token_conclude_one_new": (81_290, 178_690),
    "token_conclude_two_new": (98_730, 277_110),
    "discard_challenge_share": (145_060, 146_660),
    "discard_challenge_discard": (115_120, 116_730),
    "discard_respond_discard": (106_690, 108_290),
    "discard_respond_share": (106_940, 108_540),
    "discard_respond_share_discard": (136_760, 138_360),
    "discard_challenge_deal": (254_540, 271_420),
    "discard_challenge_second_deal": (263_740, 265_350),
    "discard_challenge_shuffle": (292_710, 452_000),
    "discard_respond_leave": (97_060, 137_520),
    "discard_challenge_show": (209_510, 211_120),
}
"""What each row may take: today, and under Ethereum's next fork."""
TARGETS = {name: today for name, (today, _) in _GAS.items()}


@case(*(Row(name, "gas", "`gasUsed` of the receipt", bound) for name, bound in TARGETS.items()))
def gas() -> Measured:
    """The gas of every operation, each on a channel of its own."""
    return measured_on(Bench(EmbeddedChain()))


def _under_amsterdam(name: str) -> str:
    return f"{name}_amsterdam_gas"


@case(*(Row(_under_amsterdam(name), "gas", "the same", bound) for name, (_, bound) in _GAS.items()))
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
    rows |= {name: _discard(name, bench.funded(app=bench.discard)) for name in discard_hands.ROWS}
    rows |= _batches(bench, state)
    rows |= _tokens(bench)
    return {name: rows[name] for name in TARGETS}


def _discard(row: str, channel: Channel) -> int:
    """A row about Discard. `channel`: a fresh one."""
    before, from_, to = discard_hands.disputed_states(row, channel.id, begin(channel.id, channel.outcome))
    if "challenge" in row:
        return channel.challenge(from_, to)
    channel.challenge(before, from_)
    return channel.respond(from_, to)


def _batches(bench: Bench, state: Sequence[VariablePart]) -> Measured:
    """The gas of each item of a batch: fifty operations alike in one transaction. `state`: those of any channel of two
    on the bench, by turn, 0 to 13."""
    answered, cleared, happy = (_funded(bench) for _ in range(3))
    for channels in (answered, cleared):
        _sent(bench, [channel.challenging(*state[10:12]) for channel in channels])
    batches = {
        "batch_respond": [channel.responding(*state[11:13]) for channel in answered],
        "batch_checkpoint_one_state": [channel.checkpointing(state[13]) for channel in cleared],
        "batch_conclude": [channel.concluding(14) for channel in happy],
    }
    return {name: -(-_sent(bench, operations) // _ITEMS) for name, operations in batches.items()}


def _funded(bench: Bench) -> list[Channel]:
    """Channels of two, for each of which one has paid everything in."""
    channels = [bench.channel() for _ in range(_ITEMS)]
    for channel in channels:
        bench.send(channel.keys[0], bench.adjudicator.deposit(channel.id, channel.asset, 0, 2 * ETH))
    return channels


def _sent(bench: Bench, operations: Sequence[Operation]) -> int:
    """The gas of a batch of operations, each of which logs one thing where it does not fail."""
    data = batch_call([(_ITEM_GAS, operation.data) for operation in operations])
    receipt = bench.adjudicator.send(Operation("batch", data), bench.keys[1])
    require(len(receipt.logs) == len(operations), "an item of a batch failed")
    return receipt.gas_used


def _tokens(bench: Bench) -> Measured:
    """The rows of a channel whose home asset is a token, which the adjudicator has not held before; all are paid."""
    token = Token(bench.chain, bench.deployed("test/TestToken"))
    rows = dict[str, float]()
    for new, name in enumerate(("held", "one_new", "two_new")):
        channel = bench.channel(asset=token.address)
        strangers = tuple(Key(keccak256(f"{name} {seat}".encode())).address for seat in range(new))
        channel.payees = (*channel.payees[: 2 - new], *strangers)
        first, second = channel.fund()
        if not rows:
            rows |= {"token_deposit_first": first, "token_deposit_second": second}
        rows[f"token_conclude_{name}"] = channel.conclude(14)
        credited = [bench.adjudicator.credit_of(payee, token.address) for payee in channel.payees]
        require(credited == [0, 0], "a payment became a credit")
    return rows
