"""One adjudicator twice: the deployed bytecode and the pure model, taking the same transactions.

Each operation runs on both and everything that can be seen is compared: verdict, error values, logs, the status word,
holdings, credits, and what the adjudicator has left of every asset. Around it are recipients and tokens of every
temper; `accepts` and `pulls` tell the model how they behave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import assert_never

from msgspec.structs import replace

from forcemove import Domain, Key, Outcome, RuleError, keccak256, word
from forcemove.chain.prices import OSAKA
from forcemove.protocol import adjudication
from forcemove.protocol.adjudication import Adjudication, OperationResult, Payment, Transaction
from forcemove.protocol.app import Rules
from forcemove.protocol.codec import packed_writer
from forcemove.protocol.codec.packed import (
    BatchCall,
    BatchItem,
    Call,
    ChallengeCall,
    CheckpointCall,
    ConcludeCall,
    RespondCall,
    TransferCall,
)
from forcemove.protocol.codec.packed_reader import decode_call
from forcemove.protocol.logs import Deposited, Log
from forcemove.protocol.rule_errors import SafeERC20FailedOperation
from forcemove.protocol.types import ETHER, FixedPart, Signature, SupportProof, VariablePart
from forcemove.protocol.words import Status, holdings_in, late_key, word_key
from tests.evm import artifact, function_selector, signature_of
from tests.parity import core_abi as abi
from tests.parity.core_chain import Chain, Receipt
from tests.parity.core_logs import decoded
from tests.parity.core_verdict import ALLOWED, Verdict, of_bytecode, of_error
from tests.protocol.builders import ALICE, BOB, CAROL, COUNTING, MALLORY

PEOPLE = (ALICE, BOB, CAROL, MALLORY)
REFUSING_RECIPIENTS = ("RevertingRecipient", "BurningRecipient", "RevertingBombRecipient")
RECIPIENTS = (*REFUSING_RECIPIENTS, "BombRecipient", "Reentry")
BOUNDLESS_TOKENS = ("EndlessToken", "GenerousToken")
REFUSING_TOKENS = ("FalseToken", "RubbishToken", "BombToken", *BOUNDLESS_TOKENS)
TOKENS = (*REFUSING_TOKENS, "TestToken", "SilentToken", "FeeToken", "BlacklistToken", "UnpullableToken", "HookToken")
MINTED = 10**30

BATCH_FAILED = keccak256(b"BatchFailed(uint256,bytes4)")

Operation = Callable[[Adjudication, Transaction], OperationResult]


class World:
    """A chain with an adjudicator, an app, recipients and tokens; and the model."""

    def __init__(self, chain: Chain | None = None, app: str = "CountingApp", rules: Rules = COUNTING) -> None:
        self.chain = chain or Chain()
        self.adjudicator = self.chain.deploy("Adjudicator")
        self.app, self.rules = self.chain.deploy(app), rules
        self.recipients = {name: self.chain.deploy(name) for name in RECIPIENTS}
        self.tokens = {name: self.chain.deploy(name) for name in TOKENS}
        self.domain = Domain(self.chain.chain_id, self.adjudicator)
        self.model = Adjudication(self.domain)
        self.reserves: dict[bytes, int] = {}
        self.totals: dict[bytes, int] = {}
        self.deposited: dict[bytes, int] = {}
        self.paid: list[Payment] = []
        self.logs: list[Log] = []
        self.kinds_logged: set[type[Log]] = set()
        self.blacklisted: set[bytes] = set()
        self.failures: list[tuple[int, bytes]] = []
        for person in PEOPLE:
            self.chain.enrich(person.address)
            self._equip(person.address)
        rubbish = self.tokens["RubbishToken"]
        self.chain.send(ALICE.address, "RubbishToken", "setAnswer", rubbish, abi.text(word(2)))

    def _equip(self, person: bytes) -> None:
        spender, everything = abi.address(self.adjudicator), word(2**256 - 1)
        for name, token in self.tokens.items():
            if name not in BOUNDLESS_TOKENS:
                self.chain.send(person, "TestToken", "mint", token, abi.address(person), word(MINTED))
            self.chain.send(person, "TestToken", "approve", token, spender, everything)

    @property
    def now(self) -> int:
        return self.chain.now

    def blacklist(self, account: bytes) -> None:
        """From now on the token with a list moves nothing to this account."""
        token = self.tokens["BlacklistToken"]
        self.chain.send(ALICE.address, "BlacklistToken", "blacklist", token, abi.address(account), word(1))
        self.blacklisted.add(account)

    # ------------------------------------------------------------------------------------- how the others behave

    def accepts(self, payment: Payment) -> bool:
        """Whether recipient and asset take a payment."""
        if payment.asset == ETHER:
            return payment.to not in {self.recipients[name] for name in REFUSING_RECIPIENTS}
        if payment.asset == self.tokens["BlacklistToken"]:
            return payment.to not in self.blacklisted
        return payment.asset not in {self.tokens[name] for name in REFUSING_TOKENS}

    def pulls(self, asset: bytes, amount: int) -> int:
        """How much of an asset arrives when it is pulled in."""
        if asset == self.tokens["UnpullableToken"]:
            raise SafeERC20FailedOperation(asset)
        if asset == self.tokens["GenerousToken"]:
            return 2 * amount
        return amount - amount // 100 if asset == self.tokens["FeeToken"] else amount

    # ------------------------------------------------------------------------------------------------ operations

    def deposit(
        self, sender: bytes, id_: bytes, asset: bytes, expected_held: int, amount: int, value: int | None = None
    ) -> Verdict:
        """By default with as much ether as the operation wants."""
        sent = (amount if asset == ETHER else 0) if value is None else value
        return self._run(
            "deposit",
            _call("deposit", id_, abi.address(asset), word(expected_held), word(amount)),
            Transaction(sender, self.now, sent, self.accepts, self.pulls),
            lambda model, tx: adjudication.deposit(model, tx, id_, asset, expected_held, amount),
        )

    def challenge(
        self, sender: bytes, fixed_part: FixedPart, proof: SupportProof, signature: Signature | None = None
    ) -> Verdict:
        return self.packed(sender, packed_writer.challenge_call(fixed_part, proof, signature))

    def respond(
        self,
        sender: bytes,
        fixed_part: FixedPart,
        challenged: VariablePart,
        response: VariablePart,
        signature: Signature,
    ) -> Verdict:
        return self.packed(sender, packed_writer.respond_call(fixed_part, challenged, response, signature))

    def checkpoint(self, sender: bytes, fixed_part: FixedPart, proof: SupportProof) -> Verdict:
        return self.packed(sender, packed_writer.checkpoint_call(fixed_part, proof))

    def conclude(
        self, sender: bytes, fixed_part: FixedPart, outcome: Outcome, turn_num: int, signatures: Sequence[Signature]
    ) -> Verdict:
        return self.packed(sender, packed_writer.conclude_call(fixed_part, outcome, turn_num, signatures, OSAKA.push))

    def transfer(
        self,
        sender: bytes,
        id_: bytes,
        state_hash: bytes,
        outcome: Outcome,
        indices: Sequence[int] = (),
        asset: bytes = ETHER,
    ) -> Verdict:
        return self.packed(sender, packed_writer.transfer_call(id_, asset, state_hash, outcome, indices, OSAKA.push))

    def packed(self, sender: bytes, data: bytes) -> Verdict:
        """Any packed calldata: the model is given what the twin reads of it."""
        transaction = Transaction(sender, self.now, 0, self.accepts)
        return self._run("packed", data, transaction, lambda model, tx: self._perform(decode_call(data), model, tx))

    def claim(self, sender: bytes, asset: bytes, to: bytes) -> Verdict:
        return self._run(
            "claim",
            _call("claim", abi.address(asset), abi.address(to)),
            Transaction(sender, self.now, 0, self.accepts),
            lambda model, tx: adjudication.claim(model, tx, asset, to),
        )

    def pay_credit(self, sender: bytes, account: bytes, asset: bytes) -> Verdict:
        return self._run(
            "payCredit",
            _call("payCredit", abi.address(account), abi.address(asset)),
            Transaction(sender, self.now, 0, self.accepts),
            lambda model, tx: adjudication.pay_credit(model, tx, account, asset),
        )

    def _perform(self, call: Call, model: Adjudication, tx: Transaction) -> OperationResult:
        """What was read, done on the model."""
        match call:
            case ChallengeCall(fixed, proof, signature):
                return adjudication.challenge(model, tx, fixed, proof, signature, self._rules_of(fixed))
            case CheckpointCall(fixed, proof):
                return adjudication.checkpoint(model, tx, fixed, proof, self._rules_of(fixed))
            case RespondCall(fixed, challenged, response, signature):
                rules = self._rules_of(fixed)
                return adjudication.respond(model, tx, fixed, challenged, response, signature, rules)
            case ConcludeCall(fixed, outcome, turn_num, signatures, _):
                return adjudication.conclude(model, tx, fixed, outcome, turn_num, signatures)
            case TransferCall(id_, asset, state_hash, outcome, indices, _):
                return adjudication.transfer(model, tx, id_, asset, state_hash, outcome, indices)
            case BatchCall(items):
                return self._perform_all(items, model, replace(tx, sender=self.adjudicator))
            case _:
                assert_never(call)

    def _perform_all(self, items: Sequence[BatchItem], model: Adjudication, tx: Transaction) -> OperationResult:
        """A batch with enough gas: what fails is noted."""
        logs, payments, self.failures = list[Log](), list[Payment](), []
        for index, item in enumerate(items):
            try:
                model, its_logs, its_payments = self._perform(decode_call(item.calldata), model, tx)
            except RuleError as error:
                self.failures.append((index, error_selector(type(error).__name__)))
                continue
            logs += its_logs
            payments += its_payments
        return OperationResult(model, tuple(logs), tuple(payments))

    def _rules_of(self, fixed_part: FixedPart) -> Rules:
        return self.rules if fixed_part.app_definition == self.app else _NoCode()

    # -------------------------------------------------------------------------------------------------- comparing

    def send(self, sender: bytes, to: bytes, data: bytes, value: int = 0) -> Receipt:
        """A transaction of a person, or of a recipient, which one of the people makes act."""
        if sender not in self.recipients.values():
            return self.chain.transact(sender, to, data, value)
        act = function_selector("Reentry", "act") + abi.arguments(abi.address(to), abi.text(data))
        return self.chain.transact(MALLORY.address, sender, act, value)

    def _run(self, function: str, data: bytes, transaction: Transaction, operation: Operation) -> Verdict:
        receipt = self.send(transaction.sender, self.adjudicator, data, transaction.value)
        verdict = of_bytecode(receipt.success, receipt.output)
        self.failures = []
        outcome = _modelled(operation, self.model, transaction)
        if isinstance(outcome, Verdict):
            assert verdict == outcome, data.hex()
            return verdict
        assert verdict == ALLOWED, (data.hex(), verdict, "the model allows it")
        logs = [log for log in receipt.logs if log.address == self.adjudicator]
        failed = [log.data for log in logs if log.topics == (BATCH_FAILED,)]
        assert failed == [word(index) + selector.ljust(32, b"\0") for index, selector in self.failures]
        assert [decoded(log) for log in logs if log.topics != (BATCH_FAILED,)] == list(outcome.logs)
        self._account_for(function, transaction, outcome)
        self.model = outcome.adjudication
        self.require_equal()
        return verdict

    def _account_for(self, function: str, transaction: Transaction, result: OperationResult) -> None:
        """Follow what the adjudicator has of each asset from what came in and what was paid. (A payout to another
        channel logs a deposit, too, and brings nothing.)"""
        for log in result.logs:
            if isinstance(log, Deposited) and function == "deposit":
                arrived = log.held - self.model.holdings_of(log.channel_id, log.asset).amount
                came_in = transaction.value if log.asset == ETHER else arrived
                self.reserves[log.asset] = self.reserves.get(log.asset, 0) + came_in
                self.deposited[log.asset] = self.deposited.get(log.asset, 0) + came_in
        for payment in result.payments:
            self.reserves[payment.asset] -= payment.amount
        self.paid += result.payments
        self.logs += result.logs
        self.kinds_logged.update(map(type, result.logs))

    @contextmanager
    def trial(self) -> Iterator[None]:
        """What happens inside has not happened afterwards."""
        snapshot, model = self.chain.snapshot(), self.model
        books = dict(self.reserves), dict(self.deposited), list(self.paid), list(self.logs)
        yield
        self.model = model
        self.reserves, self.deposited, self.paid, self.logs = books
        self.chain.revert(snapshot)

    def take_logs(self) -> list[Log]:
        """What was logged since the last time."""
        taken, self.logs = self.logs, []
        return taken

    def require_equal(self) -> None:
        """Everything that the model knows of, the bytecode has stored the same."""
        at = self.adjudicator
        for id_, asset in self.model.statuses.keys() | self.model.holdings.keys():
            stored = self.chain.call("Adjudicator", "statusOf", at, id_, abi.address(asset))
            assert Status.unpack(int.from_bytes(stored, "big")) == self.model.status_of(id_, asset)
            holdings, total = self.model.holdings_of(id_, asset), self.totals.get(id_, 0)
            stored = self.chain.call("Adjudicator", "holdingsOf", at, id_, abi.address(asset), word(total))
            assert stored == word(holdings.amount) + word(holdings.payout_begun) + word(holdings.closed)
            keys = abi.numbers([int.from_bytes(key(id_, asset)) for key in (word_key, late_key)])
            stored = self.chain.call("Adjudicator", "wordsOf", at, keys)[64:]
            assert holdings_in(int.from_bytes(stored[:32]), int.from_bytes(stored[32:]), total) == holdings
        for (account, asset), credit in self.model.credits.items():
            stored = self.chain.call("Adjudicator", "creditOf", at, abi.address(account), abi.address(asset))
            assert stored == word(credit)
        boundless = {self.tokens[name] for name in BOUNDLESS_TOKENS}
        for asset, reserve in self.reserves.items():
            if asset not in boundless:
                assert self.chain.balance(at, asset) == reserve


def _call(function: str, *parts: bytes | abi.Tail) -> bytes:
    return function_selector("Adjudicator", function) + abi.arguments(*parts)


class _NoCode:
    """An app at whose address there is nothing."""

    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        return False


@cache
def error_selector(name: str) -> bytes:
    """Of an error of the adjudicator or of the app."""
    entries = (*artifact("Adjudicator")["abi"], *artifact("CountingApp")["abi"])
    found = (each for each in entries if each["type"] == "error" and each["name"] == name)
    return keccak256(signature_of(next(found)).encode())[:4]


def _modelled(operation: Operation, model: Adjudication, transaction: Transaction) -> OperationResult | Verdict:
    try:
        return operation(model, transaction)
    except RuleError as error:
        return of_error(error)


@cache
def cached_signature(key: Key, digest: bytes) -> Signature:
    """Signing is what a long run would spend its time on."""
    return key.sign(digest)
