"""The deployed bytecode alone, in process: nothing here knows what the model would say, so that a test that passes has
seen the contract itself refuse."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove import Allocation, Key, Outcome
from forcemove.protocol.adjudication import Transaction
from forcemove.protocol.encoding import channel_id, hash_state, word
from forcemove.protocol.logs import Log
from forcemove.protocol.types import ETHER, FixedPart, Signature, SupportProof, VariablePart
from forcemove.protocol.words import Status
from tests.parity import core_abi as abi
from tests.parity.core_chain import Receipt
from tests.parity.core_logs import decoded
from tests.parity.core_verdict import ALLOWED, Verdict, of_bytecode
from tests.parity.core_world import Operation, World
from tests.protocol import builders
from tests.protocol.builders import ALICE, BOB, DAY, PLAYERS

__all__ = ["ALLOWED", "Court"]


class Court(World):
    """An adjudicator, the apps, recipients and tokens of `World`, and what Alice and Bob do there."""

    receipt: Receipt

    def _run(self, function: str, data: bytes, transaction: Transaction, operation: Operation) -> Verdict:
        self.receipt = self.send(transaction.sender, self.adjudicator, data, transaction.value)
        return of_bytecode(self.receipt.success, self.receipt.output)

    # ------------------------------------------------------------------------------------------------- channels

    def channel(
        self, nonce: int = 0, keys: Sequence[Key] = PLAYERS, app: bytes | None = None, duration: int = DAY
    ) -> FixedPart:
        return builders.fixed_part(keys, nonce, app or self.app, duration)

    def id_of(self, fixed: FixedPart) -> bytes:
        return channel_id(fixed, self.domain)

    def proof(
        self,
        fixed: FixedPart,
        *states: VariablePart,
        keys: Sequence[Key] = PLAYERS,
        pattern: Sequence[int] | None = None,
    ) -> SupportProof:
        return builders.proof(*states, keys=keys, pattern=pattern, fixed=fixed, domain=self.domain)

    def sign(self, key: Key, state: VariablePart, fixed: FixedPart) -> Signature:
        return builders.sign(key, state, fixed, self.domain)

    def sign_challenge(self, key: Key, state: VariablePart, fixed: FixedPart) -> Signature:
        return builders.sign_challenge(key, state, fixed, self.domain)

    def sign_all(self, state: VariablePart, fixed: FixedPart, keys: Sequence[Key] = PLAYERS) -> tuple[Signature, ...]:
        return builders.sign_all(state, keys, fixed, self.domain)

    # ----------------------------------------------------------------------------- what participants usually do

    def fund(self, fixed: FixedPart, alice: int = 10, bob: int = 10, asset: bytes = ETHER) -> None:
        id_ = self.id_of(fixed)
        assert self.deposit(ALICE.address, id_, asset, 0, alice) == ALLOWED
        assert self.deposit(BOB.address, id_, asset, alice, bob) == ALLOWED

    def challenge_with(self, fixed: FixedPart, *states: VariablePart, by: Key = ALICE) -> Verdict:
        """With the usual proof of the last of these states."""
        return self.challenge(by.address, fixed, self.proof(fixed, *states))

    def restate(self, fixed: FixedPart, state: VariablePart, by: Key = ALICE) -> Verdict:
        """Challenge with the recorded state, which needs no proof."""
        return self.challenge(by.address, fixed, SupportProof((state,), (), 0))

    def checkpoint_with(self, fixed: FixedPart, *states: VariablePart, by: Key = ALICE) -> Verdict:
        return self.checkpoint(by.address, fixed, self.proof(fixed, *states))

    def respond_with(
        self, fixed: FixedPart, challenged: VariablePart, response: VariablePart, mover: Key = ALICE
    ) -> Verdict:
        signature = self.sign(mover, response, fixed)
        return self.respond(mover.address, fixed, challenged, response, signature)

    def conclude_with(self, fixed: FixedPart, *entries: Allocation, turn: int = 14) -> Verdict:
        """Alice sends what both have signed; ten each where no allocation is named."""
        state = builders.final(turn, entries or None)
        return self.conclude(ALICE.address, fixed, state.outcome, turn, self.sign_all(state, fixed))

    def transfer_all(self, fixed: FixedPart, recorded: VariablePart, outcome: Outcome | None = None) -> Verdict:
        """`outcome`: what is left of that of the recorded state."""
        id_ = self.id_of(fixed)
        owed = recorded.outcome if outcome is None else outcome
        return self.transfer(ALICE.address, id_, hash_state(id_, recorded).state, owed)

    def expire(self, fixed: FixedPart) -> None:
        """Let a challenge run out."""
        self.chain.travel_to(self.status(fixed).finalizes_at)

    def proof_at(self, fixed: FixedPart) -> int:
        """Where the proof begins in calldata with this fixed part, whose home asset is ether and whose total is 0: the
        last turn in six bytes, then how many states there are."""
        return 4 + 34 + 20 * len(fixed.participants)

    # ------------------------------------------------------------------------------------------ what can be seen

    def status(self, fixed: FixedPart) -> Status:
        at = self.id_of(fixed), abi.address(fixed.asset)
        stored = self.chain.call("Adjudicator", "statusOf", self.adjudicator, *at)
        return Status.unpack(int.from_bytes(stored, "big"))

    def record(self, fixed: FixedPart) -> int:
        return self.status(fixed).turn_num_record

    def held(self, id_: bytes, asset: bytes = ETHER) -> int:
        return self._holdings(id_, asset)[0]

    def is_closed(self, id_: bytes, asset: bytes = ETHER) -> bool:
        return bool(self._holdings(id_, asset)[2])

    def _holdings(self, id_: bytes, asset: bytes) -> tuple[int, ...]:
        words = self.chain.call("Adjudicator", "holdingsOf", self.adjudicator, id_, abi.address(asset), word(0))
        return tuple(int.from_bytes(words[start : start + 32], "big") for start in (0, 32, 64))

    def credit(self, account: bytes, asset: bytes = ETHER) -> int:
        stored = self.chain.call("Adjudicator", "creditOf", self.adjudicator, abi.address(account), abi.address(asset))
        return int.from_bytes(stored, "big")

    def logged(self, log: Log) -> bool:
        """Whether the last transaction logged exactly this."""
        return log in [decoded(each) for each in self.receipt.logs if each.address == self.adjudicator]
