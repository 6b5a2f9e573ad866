"""One deployed adjudicator: typed calls, typed refusals, decoded logs. Knows no client and no game.

An operation is a value, so that it can be simulated, sent now, or signed, written down and sent later:

    adjudicator.send(adjudicator.deposit(channel_id, ETHER, 0, amount), key)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from forcemove.chain import codec
from forcemove.chain.asking import Steps, asking
from forcemove.chain.chain import Call, Chain, LogPlace, RawLog, Receipt, SignedTransaction
from forcemove.chain.errors import NotAnEthereumEndpoint
from forcemove.chain.prices import OSAKA
from forcemove.chain.reverts import NO_ERRORS, ErrorTable, adjudicator_errors
from forcemove.chain.rpc import Rpc, making_sense
from forcemove.protocol.codec import packed_writer
from forcemove.protocol.encoding import Domain
from forcemove.protocol.logs import Log
from forcemove.protocol.signing import Key
from forcemove.protocol.types import ETHER, FixedPart, Outcome, Signature, SupportProof, VariablePart, require_bytes
from forcemove.protocol.words import Holdings, Status, holdings_in, late_key, word_key

DEFAULT_TIMEOUT = 120.0
"""Real seconds to wait for a transaction."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What the adjudicator is asked to do: the name of its function, calldata, wei sent along."""

    name: str
    data: bytes
    value: int = 0


@dataclass(frozen=True, slots=True)
class PlacedLog:
    """A log and its place on the chain."""

    log: Log
    place: LogPlace


class Adjudicator:
    """The adjudicator at one address of one chain. `errors`: those that calls of it revert with."""

    def __init__(self, chain: Chain, address: bytes, app_errors: ErrorTable = NO_ERRORS) -> None:
        """`app_errors`: those of the apps whose channels the adjudicator will be asked about (see
        `reverts.app_errors`)."""
        require_bytes("adjudicator", address, 20)
        self.chain = chain
        self.address = address
        self.domain = Domain(chain.chain_id, address)
        self.errors = adjudicator_errors() | app_errors

    @property
    def rpc(self) -> Rpc:
        """What asks the chain."""
        return self.chain.rpc

    # ------------------------------------------------------------------------------------------------- operations

    def deposit(self, channel_id: bytes, asset: bytes, expected_held: int, amount: int) -> Operation:
        """Pays into a channel; `expected_held`: what the depositor relies on the channel holding already."""
        value = amount if asset == ETHER else 0
        return self._operation("deposit", channel_id, asset, expected_held, amount, value=value)

    def challenge(
        self, fixed_part: FixedPart, proof: SupportProof, challenger_signature: Signature | None = None
    ) -> Operation:
        """Starts the clock on the proof's last state; the signature only where the sender is not a participant."""
        return Operation("challenge", packed_writer.challenge_call(fixed_part, proof, challenger_signature))

    def respond(
        self, fixed_part: FixedPart, challenged: VariablePart, response: VariablePart, signature: Signature
    ) -> Operation:
        """Answers a challenge with the next state, signed by its mover."""
        return Operation("respond", packed_writer.respond_call(fixed_part, challenged, response, signature))

    def checkpoint(self, fixed_part: FixedPart, proof: SupportProof) -> Operation:
        """Records a later supported state and stops the clock."""
        return Operation("checkpoint", packed_writer.checkpoint_call(fixed_part, proof))

    def conclude(
        self,
        fixed_part: FixedPart,
        outcome: Outcome,
        turn_num: int,
        signatures: Iterable[Signature],
        *,
        push: int = OSAKA.push,
    ) -> Operation:
        """Finalises with a final state that all have signed, and pays.

        - `fixed_part`: of the channel.
        - `outcome`: of the final state.
        - `turn_num`: of the final state.
        - `signatures`: of it, by every participant in their order.
        - `push`: the gas that each payment may use, see `Prices`.
        """
        data = packed_writer.conclude_call(fixed_part, outcome, turn_num, tuple(signatures), push)
        return Operation("conclude", data)

    def transfer(
        self,
        channel_id: bytes,
        asset: bytes,
        state_hash: bytes,
        outcome: Outcome,
        indices: Sequence[int] = (),
        *,
        push: int = OSAKA.push,
    ) -> Operation:
        """Pays a finalised channel out.

        - `channel_id`: 32 bytes.
        - `asset`: its home asset, 20 bytes.
        - `state_hash`: 32 bytes, of the recorded state.
        - `outcome`: its outcome, less what has been paid.
        - `indices`: of the allocations to pay; none: all.
        - `push`: as of `conclude`.
        """
        data = packed_writer.transfer_call(channel_id, asset, state_hash, outcome, indices, push)
        return Operation("transfer", data)

    def claim(self, asset: bytes, to: bytes) -> Operation:
        """Pays the sender's credit to `to`."""
        return self._operation("claim", asset, to)

    def pay_credit(self, account: bytes, asset: bytes) -> Operation:
        """Pays an account's credit to the account itself; anyone may send it."""
        return self._operation("payCredit", account, asset)

    def _operation(self, name: str, *values: Any, value: int = 0) -> Operation:
        return Operation(name, codec.function(name).encode(*values), value)

    # ---------------------------------------------------------------------------------------------------- sending

    def simulate(self, operation: Operation, sender: bytes) -> None:
        """Raise what the operation would fail with, were `sender` (20 bytes) to send it now: the `RuleError` that the
        contract or the app reverts with, else one of `forcemove.chain.errors`."""
        self.chain.simulate(self.call_of(operation), sender, self.errors)

    def gas_of(self, operation: Operation, sender: bytes) -> int:
        """The gas that the operation would use, were `sender` (20 bytes) to send it now, see `Chain.gas_used`. Raises
        as `simulate`."""
        return self.chain.gas_used(self.call_of(operation), sender, self.errors)

    def send(self, operation: Operation, key: Key, *, timeout: float = DEFAULT_TIMEOUT) -> Receipt[PlacedLog]:
        """Simulate, sign, send, and wait until it is mined. Raises as `simulate`, `Chain.broadcast` and `wait`."""
        return self.placed(self.chain.send(self.call_of(operation), key, self.errors, timeout=timeout))

    def sign(self, operation: Operation, key: Key) -> SignedTransaction:
        """Simulate and sign, to be written down before `Chain.broadcast` sends it."""
        return self.chain.sign(self.call_of(operation), key, self.errors)

    def wait(self, signed: SignedTransaction, *, timeout: float = DEFAULT_TIMEOUT) -> Receipt[PlacedLog]:
        """Wait for a transaction that was sent. Raises `NotMined`, `TransactionReverted`."""
        return self.placed(self.chain.wait(signed, self.errors, timeout=timeout))

    def call_of(self, operation: Operation) -> Call:
        """An operation as a call of the adjudicator's contract."""
        return Call(self.address, operation.data, operation.value)

    def placed(self, receipt: Receipt[RawLog]) -> Receipt[PlacedLog]:
        """A receipt with the adjudicator's own logs, decoded."""
        with making_sense(self.chain.endpoint):
            return receipt.with_logs(_placed(log) for log in receipt.logs if log.address == self.address)

    # ---------------------------------------------------------------------------------------------------- reading

    @asking
    def status_of(self, channel_id: bytes, asset: bytes, *, block: int | str = "latest") -> Steps[Status]:
        """A channel's status. `asset`: its home asset."""
        (word,) = yield from self.words.steps([word_key(channel_id, asset)], block=block)
        return Status.unpack(word)

    @asking
    def holdings_of(
        self, channel_id: bytes, asset: bytes, total: int, *, block: int | str = "latest"
    ) -> Steps[Holdings]:
        """What a channel holds of an asset. `total`: see `FixedPart.total_of`."""
        (holdings,) = yield from self.holdings_of_list.steps([(channel_id, asset, total)], block=block)
        return holdings

    @asking
    def credit_of(self, account: bytes, asset: bytes, *, block: int | str = "latest") -> Steps[int]:
        """What an account can claim of an asset."""
        (amount,) = yield from self._read("creditOf", account, asset, block=block)
        return int(amount)

    @asking
    def holdings_of_list(
        self, keys: Sequence[tuple[bytes, bytes, int]], *, block: int | str = "latest"
    ) -> Steps[list[Holdings]]:
        """The same of many: for each channel, asset and total, in the order asked for."""
        asked = [key(id_, asset) for id_, asset, _ in keys for key in (word_key, late_key)]
        words = yield from self.words.steps(asked, block=block)
        pairs = zip(words[::2], words[1::2], keys, strict=True)
        return [holdings_in(word, late, total) for word, late, (_, _, total) in pairs]

    @asking
    def words(self, keys: Sequence[bytes], *, block: int | str = "latest") -> Steps[list[int]]:
        """The words with these keys (32 bytes each, see `protocol.words`), in the order asked for."""
        words = yield from self.packed_words.steps(b"".join(keys), block=block)
        return [int.from_bytes(words[start : start + 32]) for start in range(0, len(words), 32)]

    @asking
    def packed_words(self, keys: bytes, *, block: int | str = "latest") -> Steps[bytes]:
        """The same, 32 bytes for each, of keys one behind the other. The call is packed by hand, since every block asks
        for those of a thousand channels."""
        head = (32).to_bytes(32) + (len(keys) // 32).to_bytes(32)
        call = Call(self.address, codec.function("wordsOf").selector + head + keys)
        answer = yield from self.chain.call.steps(call, errors=self.errors, block=block)
        if len(answer) != len(head) + len(keys) or not answer.startswith(head):
            raise NotAnEthereumEndpoint(self.chain.endpoint, f"it answers with no words of {len(keys) // 32} keys")
        return answer[len(head) :]

    def _read(self, name: str, *values: Any, block: int | str) -> Steps[tuple[Any, ...]]:
        function = codec.function(name)
        call = Call(self.address, function.encode(*values))
        return function.decode((yield from self.chain.call.steps(call, errors=self.errors, block=block)))

    @asking
    def logs(self, channel_id: bytes | None, from_block: int, to_block: int | None = None) -> Steps[list[PlacedLog]]:
        """The logs of one channel, or of all with credits and claims (None), in a range of blocks (inclusive)."""
        topics = () if channel_id is None else (None, channel_id)
        return list(map(_placed, (yield from self.chain.logs.steps(self.address, topics, from_block, to_block))))


def _placed(log: RawLog) -> PlacedLog:
    return PlacedLog(codec.decode_log(log), log.place)
