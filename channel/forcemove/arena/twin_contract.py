"""The adjudicator as calldata meets it, by its twin: what a call returns, logs, pays and leaves, or the data that it
reverts with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forcemove.chain import codec
from forcemove.chain.abi import encode
from forcemove.chain.chain import Call
from forcemove.chain.prices import OSAKA
from forcemove.chain.reverts import adjudicator_errors, app_errors
from forcemove.chain.rpc import Reverted
from forcemove.errors import InvalidValue, MalformedBytes, RuleError
from forcemove.game import PlayableApp
from forcemove.node.policy import dispute_gas_of
from forcemove.protocol import adjudication as twin
from forcemove.protocol.adjudication import Adjudication, OperationResult, Payment, Transaction
from forcemove.protocol.codec import packed
from forcemove.protocol.codec.packed_reader import decode_call
from forcemove.protocol.encoding import channel_id
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.logs import ChallengeRegistered, Responded
from forcemove.protocol.types import FixedPart
from forcemove.protocol.words import late_key, word_key, words_of

_PACKED = frozenset(packed.SELECTORS.values())
_LEAST_GAS = 21_000
_SIGNATURE = 64
_BATCH_FAILED = keccak256(b"BatchFailed(uint256,bytes4)")
_Dispute = packed.ChallengeCall | packed.CheckpointCall | packed.RespondCall


@dataclass(frozen=True, slots=True)
class TwinAnswer:
    """What a call leaves: what the adjudicator stores, what the call returns, its logs as a node has them but for their
    places, the payments, and the units of gas that it uses."""

    adjudication: Adjudication
    returned: bytes = b""
    logs: tuple[Mapping[str, Any], ...] = ()
    payments: tuple[Payment, ...] = ()
    gas: int = _LEAST_GAS


class TwinContract:
    """The adjudicator at an address. `rules`: the games, by the addresses of their contracts."""

    def __init__(self, address: bytes) -> None:
        """`address`: 20 bytes."""
        self.address = address
        self.rules: dict[bytes, PlayableApp] = {}
        self._totals: dict[bytes, int] = {}
        functions: Mapping[str, Callable[..., TwinAnswer]] = {
            "wordsOf": self._words_of,
            "creditOf": self._credit_of,
            "deposit": self._deposit,
            "claim": self._claim,
            "payCredit": self._pay_credit,
        }
        self._by_selector = {codec.function(name).selector: (name, answer) for name, answer in functions.items()}

    def answer(self, before: Adjudication, call: Call, sender: bytes, now: int) -> TwinAnswer:
        """What a call does. Raises `Reverted`.

        - `before`: what the adjudicator stores.
        - `call`: of it.
        - `sender`: 20 bytes.
        - `now`: the block's time, seconds.
        """
        transaction = Transaction(sender, now, call.value, pulls=_no_token)
        selector = call.data[:4]
        try:
            if selector in _PACKED:
                return self._packed(before, transaction, call.data)
            if selector not in self._by_selector:
                raise Reverted(b"")
            name, function = self._by_selector[selector]
            return function(before, transaction, *codec.function(name).arguments(call.data))
        except RuleError as error:
            raise Reverted(self._revert_data(error)) from None
        except (MalformedBytes, InvalidValue):
            raise Reverted(b"") from None

    def _revert_data(self, error: RuleError) -> bytes:
        errors = adjudicator_errors()
        for each in self.rules.values():
            errors |= app_errors(each.artifact, each.errors)
        return errors.encode(error)

    # ----------------------------------------------------------------------------------------------------------- views

    def _words_of(self, before: Adjudication, _: Transaction, keys: Iterable[bytes]) -> TwinAnswer:
        stored: dict[bytes, int] = {}
        for id_, asset in {*before.statuses, *before.holdings}:
            status, holdings = before.status_of(id_, asset), before.holdings_of(id_, asset)
            words = words_of(status, holdings, self._totals.get(id_, 0))
            stored |= zip((word_key(id_, asset), late_key(id_, asset)), words, strict=True)
        found = tuple(stored.get(key, 0) for key in keys)
        return TwinAnswer(before, encode(codec.function("wordsOf").outputs, (found,)))

    def _credit_of(self, before: Adjudication, _: Transaction, account: bytes, asset: bytes) -> TwinAnswer:
        return TwinAnswer(before, encode(("uint256",), (before.credit_of(account, asset),)))

    # ------------------------------------------------------------------------------------------------------ operations

    def _deposit(self, before: Adjudication, transaction: Transaction, *arguments: Any) -> TwinAnswer:
        return self._done(twin.deposit(before, transaction, *arguments), OSAKA.usual_deposit)

    def _claim(self, before: Adjudication, transaction: Transaction, asset: bytes, to: bytes) -> TwinAnswer:
        return self._done(twin.claim(before, transaction, asset, to), OSAKA.usual_conclude)

    def _pay_credit(self, before: Adjudication, transaction: Transaction, account: bytes, asset: bytes) -> TwinAnswer:
        return self._done(twin.pay_credit(before, transaction, account, asset), OSAKA.usual_conclude)

    def _packed(self, before: Adjudication, transaction: Transaction, data: bytes) -> TwinAnswer:
        if transaction.value:
            raise Reverted(b"")
        call = decode_call(data)
        match call:
            case packed.BatchCall():
                return self._batch(before, transaction, call)
            case packed.TransferCall(id_, asset, state_hash, outcome, indices):
                result = twin.transfer(before, transaction, id_, asset, state_hash, outcome, indices)
                return self._done(result, OSAKA.usual_conclude)
            case packed.ConcludeCall(fixed_part, outcome, turn_num, signatures):
                self._learn(before, fixed_part)
                result = twin.conclude(before, transaction, fixed_part, outcome, turn_num, signatures)
                return self._done(result, OSAKA.usual_conclude)
            case _:
                return self._dispute(before, transaction, call, data[4:])

    def _dispute(self, before: Adjudication, transaction: Transaction, call: _Dispute, arguments: bytes) -> TwinAnswer:
        """`arguments`: the call's as they came, which are logged, but for signatures that were not looked at."""
        fixed_part = call.fixed_part
        self._learn(before, fixed_part)
        game = self.rules.get(fixed_part.app_definition)
        if game is None:
            raise Reverted(b"")
        match call:
            case packed.ChallengeCall(_, proof, signature):
                result = twin.challenge(before, transaction, fixed_part, proof, signature, game)
                (log,) = result.logs
                is_checked = isinstance(log, ChallengeRegistered) and log.signatures
                unchecked = (signature is not None) + (0 if is_checked else len(proof.signatures))
                arguments = arguments[: len(arguments) - _SIGNATURE * unchecked]
            case packed.CheckpointCall(_, proof):
                result = twin.checkpoint(before, transaction, fixed_part, proof, game)
            case packed.RespondCall(_, challenged, response, by_mover):
                result = twin.respond(before, transaction, fixed_part, challenged, response, by_mover, game)
                (log,) = result.logs
                turn_num = log.state.turn_num if isinstance(log, Responded) else 0
                arguments = turn_num.to_bytes(6) + arguments
        is_short = isinstance(call, packed.ChallengeCall | packed.CheckpointCall) and len(call.proof.states) == 1
        return self._done(result, OSAKA.usual_dispute if is_short else dispute_gas_of(game, OSAKA), arguments)

    def _learn(self, before: Adjudication, fixed_part: FixedPart) -> None:
        """Keep what a channel is funded with: its words are made of that."""
        self._totals[channel_id(fixed_part, before.domain)] = fixed_part.total

    def _batch(self, before: Adjudication, transaction: Transaction, call: packed.BatchCall) -> TwinAnswer:
        after = TwinAnswer(before)
        for place, item in enumerate(call.items):
            operation = Call(self.address, item.calldata)
            try:
                each = self.answer(after.adjudication, operation, self.address, transaction.now)
            except Reverted as reverted:
                failed = encode(("uint256", "bytes4"), (place, reverted.data[:4].ljust(4, b"\0")))
                each = TwinAnswer(after.adjudication, logs=(self._log((_BATCH_FAILED,), failed),))
            logs, payments = (*after.logs, *each.logs), (*after.payments, *each.payments)
            after = TwinAnswer(each.adjudication, b"", logs, payments, after.gas + each.gas)
        return after

    def _done(self, result: OperationResult, gas: int, proof: bytes = b"") -> TwinAnswer:
        logs = tuple(self._log(*codec.encode_log(each, proof)) for each in result.logs)
        return TwinAnswer(result.adjudication, b"", logs, result.payments, gas)

    def _log(self, topics: tuple[bytes, ...], data: bytes) -> Mapping[str, Any]:
        return {"address": self.address, "topics": list(topics), "data": data}


def _no_token(_asset: bytes, _amount: int) -> int:
    """There are no tokens here: a call of one finds no contract."""
    raise Reverted(b"")
