"""One adjudicator twice: the deployed bytecode and the pure model, taking the same transactions.

Each operation runs on both and everything that can be seen is compared: verdict, error values, logs, the status word,
holdings, credits, and what the adjudicator has left of every asset. Around it are recipients and tokens of every
temper; `accepts` and `pulls` tell the model how they behave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from forcemove import Domain, Key, Outcome, RuleError, word
from forcemove.chain.prices import OSAKA
from forcemove.protocol import adjudication
from forcemove.protocol.adjudication import Adjudication, OperationResult, Payment, Transaction
from forcemove.protocol.app import Rules
from forcemove.protocol.logs import Deposited, Log
from forcemove.protocol.rule_errors import SafeERC20FailedOperation
from forcemove.protocol.state import SupportProof, VariablePart
from forcemove.protocol.types import ETHER, FixedPart, Signature
from forcemove.protocol.words import Status, holdings_in, late_key, word_key
from tests.evm import function_selector
from tests.parity import core_abi as abi
from tests.parity.core_chain import Chain, Receipt
from tests.parity.core_logs import as_chain_log
from tests.parity.core_verdict import ALLOWED, Verdict, of_bytecode, of_error
from tests.protocol.builders import ALICE, BOB, CAROL, COUNTING, MALLORY, NO_SIGNATURE

PEOPLE = (ALICE, BOB, CAROL, MALLORY)
REFUSING_RECIPIENTS = ("RevertingRecipient", "BurningRecipient", "RevertingBombRecipient")
RECIPIENTS = (*REFUSING_RECIPIENTS, "BombRecipient", "Reentry")
BOUNDLESS_TOKENS = ("EndlessToken", "GenerousToken")
REFUSING_TOKENS = ("FalseToken", "RubbishToken", "BombToken", *BOUNDLESS_TOKENS)
TOKENS = (*REFUSING_TOKENS, "TestToken", "SilentToken", "FeeToken", "BlacklistToken", "UnpullableToken", "HookToken")
MINTED = 10**30

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
            (id_, abi.address(asset), word(expected_held), word(amount)),
            Transaction(sender, self.now, sent, self.accepts, self.pulls),
            lambda model, tx: adjudication.deposit(model, tx, id_, asset, expected_held, amount),
        )

    def challenge(
        self, sender: bytes, fixed_part: FixedPart, proof: SupportProof, signature: Signature | None = None
    ) -> Verdict:
        return self._run(
            "challenge",
            (abi.fixed_part(fixed_part), *abi.proof(proof), abi.signature(signature or NO_SIGNATURE)),
            Transaction(sender, self.now),
            lambda model, tx: adjudication.challenge(model, tx, fixed_part, proof, signature, self.rules),
        )

    def respond(
        self,
        sender: bytes,
        fixed_part: FixedPart,
        challenged: VariablePart,
        response: VariablePart,
        signature: Signature,
    ) -> Verdict:
        return self._run(
            "respond",
            (abi.fixed_part(fixed_part), abi.state(challenged), abi.state(response), abi.signature(signature)),
            Transaction(sender, self.now),
            lambda model, tx: adjudication.respond(model, tx, fixed_part, challenged, response, signature, self.rules),
        )

    def checkpoint(self, sender: bytes, fixed_part: FixedPart, proof: SupportProof) -> Verdict:
        return self._run(
            "checkpoint",
            (abi.fixed_part(fixed_part), *abi.proof(proof)),
            Transaction(sender, self.now),
            lambda model, tx: adjudication.checkpoint(model, tx, fixed_part, proof, self.rules),
        )

    def conclude(
        self, sender: bytes, fixed_part: FixedPart, outcome: Outcome, turn_num: int, signatures: Sequence[Signature]
    ) -> Verdict:
        return self._run(
            "conclude",
            (
                abi.fixed_part(fixed_part),
                abi.outcome(outcome),
                word(turn_num),
                abi.signatures(signatures),
                word(OSAKA.push),
            ),
            Transaction(sender, self.now, 0, self.accepts),
            lambda model, tx: adjudication.conclude(model, tx, fixed_part, outcome, turn_num, signatures),
        )

    def transfer(
        self,
        sender: bytes,
        id_: bytes,
        state_hash: bytes,
        outcome: Outcome,
        indices: Sequence[int] = (),
        asset: bytes = ETHER,
    ) -> Verdict:
        return self._run(
            "transfer",
            (id_, abi.address(asset), state_hash, abi.outcome(outcome), abi.numbers(indices), word(OSAKA.push)),
            Transaction(sender, self.now, 0, self.accepts),
            lambda model, tx: adjudication.transfer(model, tx, id_, asset, state_hash, outcome, indices),
        )

    def claim(self, sender: bytes, asset: bytes, to: bytes) -> Verdict:
        return self._run(
            "claim",
            (abi.address(asset), abi.address(to)),
            Transaction(sender, self.now, 0, self.accepts),
            lambda model, tx: adjudication.claim(model, tx, asset, to),
        )

    def pay_credit(self, sender: bytes, account: bytes, asset: bytes) -> Verdict:
        return self._run(
            "payCredit",
            (abi.address(account), abi.address(asset)),
            Transaction(sender, self.now, 0, self.accepts),
            lambda model, tx: adjudication.pay_credit(model, tx, account, asset),
        )

    # -------------------------------------------------------------------------------------------------- comparing

    def send(self, sender: bytes, to: bytes, data: bytes, value: int = 0) -> Receipt:
        """A transaction of a person, or of a recipient, which one of the people makes act."""
        if sender not in self.recipients.values():
            return self.chain.transact(sender, to, data, value)
        act = function_selector("Reentry", "act") + abi.arguments(abi.address(to), abi.text(data))
        return self.chain.transact(MALLORY.address, sender, act, value)

    def _run(
        self, function: str, parts: Sequence[bytes | abi.Tail], transaction: Transaction, operation: Operation
    ) -> Verdict:
        data = function_selector("Adjudicator", function) + abi.arguments(*parts)
        receipt = self.send(transaction.sender, self.adjudicator, data, transaction.value)
        verdict = of_bytecode(receipt.success, receipt.output)
        outcome = _modelled(operation, self.model, transaction)
        if isinstance(outcome, Verdict):
            assert verdict == outcome, function
            return verdict
        assert verdict == ALLOWED, (function, verdict, "the model allows it")
        logs = [log for log in receipt.logs if log.address == self.adjudicator]
        assert logs == [as_chain_log(self.adjudicator, log) for log in outcome.logs]
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


def _modelled(operation: Operation, model: Adjudication, transaction: Transaction) -> OperationResult | Verdict:
    try:
        return operation(model, transaction)
    except RuleError as error:
        return of_error(error)


@cache
def cached_signature(key: Key, digest: bytes) -> Signature:
    """Signing is what a long run would spend its time on."""
    return key.sign(digest)
