#!/usr/bin/env python3
"""Measures the gas of every operation, live, on an embedded chain.

The scenario of every row: two participants, each an existing account with ether; each deposits 1 ether; payout 1.25 and
0.75 to themselves; the counting app (state t carries the number t); a duration of one day; transactions sent by
participants; challenge with states 10 and 11, from the record with 12, respond with 12, checkpoint with 12 and 13,
close with 14. `gasUsed` of the receipt. The rows of games have a scenario of their own, see `scripts/gas_discard.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from eth_tester import EthereumTester, PyEVMBackend  # noqa: E402
from web3 import EthereumTesterProvider, Web3  # noqa: E402

from forcemove.protocol.encoding import Domain, channel_id, digest, hash_state, word  # noqa: E402
from forcemove.protocol.outcome import Allocation, Outcome, address_destination  # noqa: E402
from forcemove.protocol.signing import Key  # noqa: E402
from forcemove.protocol.state import VariablePart  # noqa: E402
from forcemove.protocol.types import ETHER, FixedPart, Signature  # noqa: E402
from scripts import gas_discard  # noqa: E402
from tests.games.discard.dealer import begin  # noqa: E402

ETH = 10**18
DAY = 86_400
NO_SIGNATURE = (bytes(32), bytes(32))

TARGETS = {
    "deposit_first": 46_500,
    "deposit_second": 29_470,
    "conclude_and_pay": 64_700,
    "challenge_two_states": 82_700,
    "challenge_one_state": 72_350,
    "challenge_three_participants": 99_950,
    "challenge_from_recorded": 55_350,
    "respond": 51_150,
    "checkpoint_over_challenge_two_states": 60_300,
    "checkpoint_over_challenge_one_state": 49_950,
    "checkpoint_open": 81_060,
    "transfer_after_expiry": 50_110,
    "happy_total": 140_650,
    "dispute_total": 208_750,
    **gas_discard.TARGETS,
}


def artifact(name: str) -> dict[str, Any]:
    for folder in ("artifacts", "artifacts/test"):
        path = ROOT / "contracts" / folder / f"{name}.json"
        if path.exists():
            return dict(json.loads(path.read_text("utf-8")))
    raise SystemExit(f"no artifact of {name}")


@dataclass
class Bench:
    """One chain with an adjudicator and the counting app, and keys whose accounts have ether."""

    tester: EthereumTester = field(default_factory=lambda: EthereumTester(PyEVMBackend()))
    nonce: int = 0

    def __post_init__(self) -> None:
        self.web3 = Web3(EthereumTesterProvider(self.tester))
        self.funder = self.web3.eth.accounts[0]
        self.adjudicator = self._deploy("Adjudicator")
        self.app = self._deploy("CountingApp")
        self.discard = self._deploy("Discard")
        self.domain = Domain(self.web3.eth.chain_id, bytes.fromhex(self.adjudicator.address[2:]))

    def _deploy(self, name: str) -> Any:
        made = artifact(name)
        contract = self.web3.eth.contract(abi=made["abi"], bytecode=made["bytecode"])
        receipt = self.web3.eth.wait_for_transaction_receipt(contract.constructor().transact({"from": self.funder}))
        return self.web3.eth.contract(address=receipt["contractAddress"], abi=made["abi"])

    def channel(self, count: int = 2, app: Any = None) -> Channel:
        """A fresh channel whose participants are existing accounts. `app`: the counting app, unless one is given."""
        self.nonce += 1
        keys = tuple(Key(self.tester.backend.account_keys[i + 1].to_bytes()) for i in range(count))
        return Channel(self, keys, self.nonce, self.app if app is None else app)

    def send(self, sender: bytes, call: Any, value: int = 0) -> int:
        """The gas that a transaction used; it must succeed."""
        transaction = {"from": Web3.to_checksum_address(sender), "value": value, "gas": 2_000_000}
        receipt = self.web3.eth.wait_for_transaction_receipt(call.transact(transaction))
        if receipt["status"] != 1:
            raise SystemExit(f"{call.fn_name} reverted")
        return int(receipt["gasUsed"])


class Channel:
    """One channel on a bench, with its calls as measured actions."""

    def __init__(self, bench: Bench, keys: tuple[Key, ...], nonce: int, contract: Any) -> None:
        self.bench, self.keys = bench, keys
        app = bytes.fromhex(contract.address[2:])
        self.fixed_part = FixedPart(tuple(key.address for key in keys), nonce, app, DAY)
        self.id = channel_id(self.fixed_part, bench.domain)
        self.functions = bench.adjudicator.functions
        self.fixed = (list(self.fixed_part.participants), nonce, app, DAY)

    @property
    def outcome(self) -> Outcome:
        amounts = {2: (ETH * 5 // 4, ETH * 3 // 4), 3: (ETH, ETH * 3 // 4, ETH // 4)}[len(self.keys)]
        return tuple(
            Allocation(ETHER, address_destination(key.address), amount)
            for key, amount in zip(self.keys, amounts, strict=True)
        )

    def state(self, turn_num: int) -> VariablePart:
        return VariablePart(self.outcome, word(turn_num), turn_num)

    def sign(self, participant: int, state: VariablePart) -> tuple[bytes, bytes]:
        signature: Signature = self.keys[participant].sign(digest(self.bench.domain, hash_state(self.id, state).state))
        return signature.r, signature.vs

    def begin(self) -> VariablePart:
        """The state in which Discard starts, of a channel with it."""
        return begin(self.id, self.outcome)

    def proof(self, *turns: int) -> Any:
        """Consecutive states, each signed by its mover; a single one by all."""
        return self.proof_of([self.state(turn) for turn in turns])

    def proof_of(self, states: Sequence[VariablePart]) -> Any:
        """The same of any states."""
        turns = [state.turn_num for state in states]
        signatures, signed = [], 0
        for participant in range(len(self.keys)):
            index = next((i for i, turn in enumerate(turns) if turn % len(self.keys) == participant), len(turns) - 1)
            signatures.append(self.sign(participant, states[index]))
            signed |= index << (8 * participant)
        return signatures, [abi(state) for state in states], signed

    def deposit(self, participant: int) -> int:
        call = self.functions.deposit(self.id, Web3.to_checksum_address(bytes(20)), participant * ETH, ETH)
        return self.bench.send(self.keys[participant].address, call, ETH)

    def challenge(self, *turns: int) -> int:
        return self.challenge_with([self.state(turn) for turn in turns])

    def challenge_with(self, states: Sequence[VariablePart]) -> int:
        call = self.functions.challenge(self.fixed, *self.proof_of(states), NO_SIGNATURE)
        return self.bench.send(self.keys[states[-1].turn_num % len(self.keys)].address, call)

    def challenge_from_recorded(self, turn: int) -> int:
        """The gas of a challenge with the state after the recorded one, which is of `turn - 1`, signed by its mover
        alone."""
        mover = turn % len(self.keys)
        states = [abi(self.state(turn - 1)), abi(self.state(turn))]
        proof = [self.sign(mover, self.state(turn))], states, 0
        call = self.functions.challenge(self.fixed, *proof, NO_SIGNATURE)
        return self.bench.send(self.keys[mover].address, call)

    def respond(self, turn: int) -> int:
        return self.respond_with(self.state(turn - 1), self.state(turn))

    def respond_with(self, from_: VariablePart, to: VariablePart) -> int:
        mover = to.turn_num % len(self.keys)
        call = self.functions.respond(self.fixed, abi(from_), abi(to), self.sign(mover, to))
        return self.bench.send(self.keys[mover].address, call)

    def checkpoint(self, *turns: int) -> int:
        call = self.functions.checkpoint(self.fixed, *self.proof(*turns))
        return self.bench.send(self.keys[0].address, call)

    def conclude(self, turn: int) -> int:
        final = VariablePart(self.outcome, b"", turn, True)
        signatures = [self.sign(i, final) for i in range(len(self.keys))]
        call = self.functions.conclude(self.fixed, abi(final)[0], turn, signatures)
        return self.bench.send(self.keys[0].address, call)

    def transfer(self, turn: int) -> int:
        state = self.state(turn)
        call = self.functions.transfer(self.id, hash_state(self.id, state).state, abi(state)[0], [])
        return self.bench.send(self.keys[0].address, call)

    def expire(self) -> None:
        now = self.bench.tester.get_block_by_number("latest")["timestamp"]
        self.bench.tester.time_travel(now + DAY + 1)


def abi(state: VariablePart) -> Any:
    """A state as web3 takes it."""
    outcome = [(Web3.to_checksum_address(a.asset), a.destination, a.amount) for a in state.outcome]
    return outcome, state.app_data, state.turn_num, state.is_final


def measure() -> dict[str, int]:
    """Every row, each on a channel of its own."""
    bench = Bench()
    rows = {}

    happy = bench.channel()
    rows["deposit_first"] = happy.deposit(0)
    rows["deposit_second"] = happy.deposit(1)
    rows["conclude_and_pay"] = happy.conclude(14)

    disputed = bench.channel()
    disputed.deposit(0), disputed.deposit(1)
    rows["challenge_two_states"] = disputed.challenge(10, 11)
    disputed.expire()
    rows["transfer_after_expiry"] = disputed.transfer(11)

    rows["challenge_one_state"] = bench.channel().challenge(11)
    rows["challenge_three_participants"] = bench.channel(3).challenge(9, 10, 11)

    recorded = bench.channel()
    recorded.checkpoint(10, 11)
    rows["challenge_from_recorded"] = recorded.challenge_from_recorded(12)

    answered = bench.channel()
    answered.challenge(10, 11)
    rows["respond"] = answered.respond(12)

    for name, turns in {"two_states": (12, 13), "one_state": (13,)}.items():
        cleared = bench.channel()
        cleared.challenge(10, 11)
        rows[f"checkpoint_over_challenge_{name}"] = cleared.checkpoint(*turns)

    rows["checkpoint_open"] = bench.channel().checkpoint(12, 13)
    deposits = rows["deposit_first"] + rows["deposit_second"]
    rows["happy_total"] = deposits + rows["conclude_and_pay"]
    rows["dispute_total"] = deposits + rows["challenge_two_states"] + rows["transfer_after_expiry"]
    rows |= {name: measure_discard(name, bench.channel(app=bench.discard)) for name in gas_discard.TARGETS}
    return {name: rows[name] for name in TARGETS}


def measure_discard(row: str, channel: Channel) -> int:
    """A row about Discard. `channel`: a fresh one."""
    before, from_, to = gas_discard.disputed_states(row, channel.id, channel.begin())
    if "challenge" in row:
        return channel.challenge_with((from_, to))
    channel.challenge_with((before, from_))
    return channel.respond_with(from_, to)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help='print {"rows": {name: gas}}')
    options = parser.parse_args()
    rows = measure()
    if options.json:
        print(json.dumps({"rows": rows}, indent=1))
    else:
        for name, gas in rows.items():
            verdict = "" if gas <= TARGETS[name] else "  ABOVE TARGET"
            print(f"{name:40} {gas:>9,} {TARGETS[name]:>9,}{verdict}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
