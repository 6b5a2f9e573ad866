"""The gas of every operation, live: of today's fork on an embedded chain, of the next one in `@ethereumjs/vm`.

The scenario of every row: two participants, each an existing account with ether; each has paid in 1 ether; payout 1.25
and 0.75 to themselves; the counting app (state t carries the number t); a duration of one day; transactions sent by
participants; challenge with states 10 and 11, from the record with 12, respond with 12, checkpoint with 12 and 13,
close with 14. `gasUsed` of the receipt. The rows of games have a scenario of their own, see `discard_hands`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forcemove import Allocation, EmbeddedChain, Key, Outcome, address_destination, load_artifact, local_keys
from forcemove.chain.adjudicator import Adjudicator, Operation
from forcemove.chain.chain import Call, Chain
from forcemove.chain.local import AnvilChain
from forcemove.protocol.encoding import channel_id, digest, hash_state, word
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.state import SignedState, SupportProof, VariablePart
from forcemove.protocol.types import ETHER, FixedPart, Signature
from scripts.measuring import discard_hands
from scripts.measuring.cases import Measured, Row, case
from tests.games.discard.dealer import begin

__all__ = ["Bench", "Channel", "chain_of_fork", "gas", "gas_amsterdam", "measured_on"]

ETH = 10**18
DAY = 86_400
_CHAIN_ID = 131_277_322_940_537
"""That of eth-tester: signatures and hashes follow from it, and each zero byte of them counts."""
_NODE = Path(__file__).with_name("forks.mjs")
_ACCOUNTS = 5
_ARTIFACTS = Path(__file__).resolve().parents[2] / "contracts" / "artifacts"

TARGETS = {
    "deposit_first": 46_760,
    "deposit_second": 29_690,
    "conclude_and_pay": 61_650,
    "challenge_two_states": 59_250,
    "challenge_one_state": 50_850,
    "challenge_three_participants": 71_400,
    "challenge_from_recorded": 51_750,
    "respond": 47_960,
    "checkpoint_over_challenge_two_states": 57_750,
    "checkpoint_over_challenge_one_state": 49_400,
    "checkpoint_open": 58_350,
    "transfer_after_expiry": 50_750,
    "happy_total": 137_660,
    "dispute_total": 186_000,
    **discard_hands.TARGETS,
}


def chain_of_fork(fork: str) -> AnvilChain:
    """A chain under this fork, as `@ethereumjs/vm` names it: "osaka" or "amsterdam". Its process ends with `close`."""
    return AnvilChain("--hardfork", fork, "--chain-id", str(_CHAIN_ID), binary=str(_NODE))


class Bench:
    """An adjudicator, the counting app and Discard on a local chain, and `keys` whose accounts have ether. `push`: how
    much gas a payee may use on this chain."""

    def __init__(self, chain: Chain) -> None:
        """`chain`: a fresh one that funds `local_keys`."""
        self.chain, self.nonce, self.push = chain, 0, chain.ask_prices().push
        self.keys = tuple(Key(number.to_bytes(32)) for number in range(1, 1 + _ACCOUNTS))
        for key in self.keys:
            chain.send(Call(key.address, b"", 1_000 * ETH), local_keys()[0])
        self.adjudicator = Adjudicator(chain, self.deployed("Adjudicator"))
        self.app, self.discard = self.deployed("test/CountingApp"), self.deployed("Discard")

    def deployed(self, name: str) -> bytes:
        """The address of a new contract."""
        call = Call(None, load_artifact(_ARTIFACTS / f"{name}.json").bytecode)
        return self.chain.send(call, self.keys[0]).contract_address or b""

    def channel(self, count: int = 2, app: bytes = b"") -> Channel:
        """A fresh channel whose participants are existing accounts. `app`: the counting app, unless one is given."""
        self.nonce += 1
        return Channel(self, self.keys[1 : 1 + count], self.nonce, app or self.app)

    def funded(self, count: int = 2, app: bytes = b"") -> Channel:
        """A channel into which each participant has paid its ether."""
        channel = self.channel(count, app)
        for seat in range(count):
            channel.deposit(seat)
        return channel

    def send(self, sender: Key, operation: Operation) -> int:
        """The gas that a transaction used; it must succeed."""
        return self.adjudicator.send(operation, sender).gas_used


class Channel:
    """One channel on a bench, with its calls as measured actions."""

    def __init__(self, bench: Bench, keys: Sequence[Key], nonce: int, app: bytes) -> None:
        self.bench, self.keys, self.adjudicator = bench, keys, bench.adjudicator
        self.fixed_part = FixedPart(tuple(key.address for key in keys), nonce, app, DAY, ETHER, len(keys) * ETH)
        self.id = channel_id(self.fixed_part, bench.adjudicator.domain)

    @property
    def outcome(self) -> Outcome:
        amounts = {2: (ETH * 5 // 4, ETH * 3 // 4), 3: (ETH * 5 // 4, ETH, ETH * 3 // 4)}[len(self.keys)]
        return tuple(
            Allocation(ETHER, address_destination(key.address), amount)
            for key, amount in zip(self.keys, amounts, strict=True)
        )

    def state(self, turn_num: int) -> VariablePart:
        return VariablePart(self.outcome, word(turn_num), turn_num)

    def sign(self, participant: int, state: VariablePart) -> Signature:
        return self.keys[participant].sign(digest(self.adjudicator.domain, hash_state(self.id, state).state))

    def mover(self, state: VariablePart) -> int:
        return state.turn_num % len(self.keys)

    def proof(self, *states: VariablePart) -> SupportProof:
        """Consecutive states, each signed by its mover; a single one by all."""
        seats = [range(len(self.keys))] if len(states) == 1 else [[self.mover(state)] for state in states]
        signed = [
            SignedState(state, {seat: self.sign(seat, state) for seat in some})
            for state, some in zip(states, seats, strict=True)
        ]
        proof = build_support_proof(self.fixed_part, signed)
        if proof is None:
            raise SystemExit("these states prove nothing")
        return proof

    def deposit(self, participant: int) -> int:
        operation = self.adjudicator.deposit(self.id, ETHER, participant * ETH, ETH)
        return self.bench.send(self.keys[participant], operation)

    def challenge(self, *states: VariablePart) -> int:
        return self._challenged(self.proof(*states))

    def challenge_from_recorded(self, turn: int) -> int:
        """The gas of a challenge with the state after the recorded one, which is of `turn - 1`, signed by its mover
        alone."""
        recorded, state = self.state(turn - 1), self.state(turn)
        return self._challenged(SupportProof((recorded, state), (self.sign(self.mover(state), state),), 0))

    def _challenged(self, proof: SupportProof) -> int:
        return self.bench.send(self.keys[self.mover(proof.last)], self.adjudicator.challenge(self.fixed_part, proof))

    def respond(self, from_: VariablePart, to: VariablePart) -> int:
        mover = self.mover(to)
        operation = self.adjudicator.respond(self.fixed_part, from_, to, self.sign(mover, to))
        return self.bench.send(self.keys[mover], operation)

    def checkpoint(self, *states: VariablePart) -> int:
        return self.bench.send(self.keys[0], self.adjudicator.checkpoint(self.fixed_part, self.proof(*states)))

    def conclude(self, turn: int) -> int:
        final = VariablePart(self.outcome, b"", turn, True)
        signatures = [self.sign(seat, final) for seat in range(len(self.keys))]
        values, push = (self.fixed_part, self.outcome, turn, signatures), self.bench.push
        return self.bench.send(self.keys[0], self.adjudicator.conclude(*values, push=push))

    def transfer(self, state: VariablePart) -> int:
        values = self.id, self.fixed_part.asset, hash_state(self.id, state).state, self.outcome
        return self.bench.send(self.keys[0], self.adjudicator.transfer(*values, push=self.bench.push))


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
    return {name: rows[name] for name in TARGETS}


def _discard(row: str, channel: Channel) -> int:
    """A row about Discard. `channel`: a fresh one."""
    before, from_, to = discard_hands.disputed_states(row, channel.id, begin(channel.id, channel.outcome))
    if "challenge" in row:
        return channel.challenge(from_, to)
    channel.challenge(before, from_)
    return channel.respond(from_, to)
