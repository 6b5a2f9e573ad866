"""The sender of one account on one chain: every transaction of the account goes through it.

A transaction is written down by its nonce before it is handed to any endpoint, and forgotten only when it is mined, and
confirmed, and its owner was told and has come back: after a crash the next sender goes on with it, and tells again what
may not have been heard. It never waits for a block: each `look` asks once and does what is due, so that no transaction
holds up another account's, or anything else in this process.

What an endpoint says is its opinion. Each is offered what its own words leave room for, and each thing for as long as
it does not show it: a nonce, a price, a refusal or a receipt that one invents changes nothing for the others.

Of those that wait only the lowest nonce can be mined, so only it is replaced, on behalf of all behind it: with the
nearest of their deadlines and the largest of their caps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from forcemove.chain.chain import Call, Chain, Fees, SignedTransaction
from forcemove.chain.errors import InsufficientFunds, TransactionReverted
from forcemove.chain.reverts import NO_ERRORS, ErrorTable
from forcemove.chain.token import Token
from forcemove.errors import ForcemoveError, InvalidValue, PassingError, RuleError
from forcemove.protocol.signing import Key
from forcemove.sender.bids import Bids
from forcemove.sender.errors import GasTooDear, NotTaken, OpinionsDiffer, after_revert
from forcemove.sender.flight import Flight
from forcemove.sender.lanes import Lane, Lanes
from forcemove.sender.offers import Offers
from forcemove.sender.opinions import Opinion, Question, form_opinion, in_our_time, market_of
from forcemove.sender.pricing import gas_limit, price_of
from forcemove.sender.settling import Verdict, judge
from forcemove.sender.timing import Pace
from forcemove.sender.transactions import (
    Failed,
    Flying,
    Landed,
    NonceTaken,
    Outcome,
    Transactions,
    Undone,
    Wanted,
)
from forcemove.sender.waiting import GAP, Waiting

__all__ = ["Sender"]

_APPROVAL = b"approval of "
_APPROVAL_GAS = 100_000
_ROUNDS = 2
"""Of questions in a look: what the first one finds to be sent is asked about in the second."""


class Sender:
    """Of one account. Nothing else may send transactions with its key while it works; what does is survived."""

    def __init__(
        self,
        chain: Chain,
        key: Key,
        kept: Transactions,
        *,
        confirmations: int = 1,
        patience: float = 60.0,
        errors: ErrorTable = NO_ERRORS,
        clock: Callable[[], float] = time.time,
        others: Sequence[Chain] = (),
        own_time: Callable[[], float] | None = None,
    ) -> None:
        """`kept`: the account's journal; what is in it is gone on with. `confirmations`: how many blocks deep a
        transaction must be to be forgotten. `patience`: seconds after which one that waits is offered more for, an
        eighth of the time that is left where that is less. `errors`: what the contracts revert with. `clock`: seconds
        since 1970. `others`: the same chain through other endpoints; all are asked and offered everything, none is
        believed for another one. `own_time`: our own clock's seconds since 1970, None where the chain's clock is moved
        by hand; see `in_our_time`.

        Raises `InvalidValue`; `MalformedBytes` and `UnknownVersion` on a journal that cannot be read.
        """
        if patience <= 0:
            raise InvalidValue("patience", patience, "more than 0 seconds")
        self.errors = errors
        self._chain, self._key = chain, key
        self._lanes = Lanes((chain, *others), clock)
        self._confirmations, self._patience, self._clock = confirmations, patience, clock
        self._own_time = own_time
        self._flight, self._offers = Flight(kept), Offers()
        self._bids, self._pace = Bids(self._sign, clock), Pace(patience, clock)
        self._waiting = Waiting(key.address, self._flight, self._bids, self._offers, patience, clock)
        self._fresh: set[int] = set()
        self._again: set[bytes] = set()
        self._wanted: list[Wanted] = []
        self._outcomes: list[Outcome] = []
        self._trouble: PassingError | None = None

    @property
    def endpoints(self) -> int:
        """How many there are."""
        return len(self._lanes)

    @property
    def account(self) -> bytes:
        """The account, 20 bytes."""
        return self._key.address

    @property
    def purposes(self) -> frozenset[bytes]:
        """What is asked for and has not come out yet."""
        flying, announced = self._flight.flying, self._flight.announced
        waiting = (each.wanted for nonce, each in flying.items() if nonce not in announced)
        return frozenset(each.purpose for each in (*waiting, *self._wanted))

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to send and nothing on its way."""
        return not self._flight.flying and not self._wanted

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to send, and all that is on its way is mined as deep as we believe, by the word of
        one endpoint at least: another one may never show it."""
        return self._flight.flying.keys() <= self._flight.believed and not self._wanted

    def take_troubles(self) -> list[PassingError]:
        """How endpoints have failed since this was last asked, also where others have answered."""
        troubles, self._lanes.troubles = self._lanes.troubles, []
        return troubles

    def lowest_price(self) -> int:
        """What a unit of gas costs now by the word of the endpoint that says least, in wei, with twice the base fee.
        Raises `PassingError` where none answers."""
        return min(map(price_of, self._lanes.ask(lambda lane: market_of(lane.chain)).values()))

    def want(self, wanted: Wanted) -> None:
        """Ask for a transaction; the next `look` sends it. What is asked for already is asked for once, and what is
        still offered to an endpoint that does not show it is not asked for again unless it has failed elsewhere."""
        if not self._flight.is_offered(wanted.purpose) and not self._is_wanted(wanted.purpose):
            self._wanted.append(wanted)

    def _is_wanted(self, purpose: bytes) -> bool:
        return any(each.purpose == purpose for each in self._wanted)

    def look(self, *, is_new: bool = True) -> list[Outcome]:
        """See what became of what is on its way, replace what waits too long, and send what is new. `is_new`: whether
        there may be another block than at the last look; without one, what is mined is not looked at again.

        Returns what has come out since the last look. Raises the `ChainError` that was in the way, unless something has
        come out: the next look raises it again.
        """
        self._trouble, flying = None, self._flight.flying
        try:
            if self._wanted or (flying if is_new else flying.keys() - self._flight.settled):
                for _ in range(_ROUNDS):
                    if not self._work():
                        break
            if self._trouble is not None:
                raise self._trouble
        except ForcemoveError:
            if not self._outcomes:
                raise
        outcomes, self._outcomes = self._outcomes, []
        self._flight.told = set(self._flight.announced)
        return [each for each in map(_as_asked_for, outcomes) if each is not None]

    def _work(self) -> bool:
        """Whether something is to be sent now about which nobody was asked yet."""
        asked = [each for each in self._wanted if self._pace.allows(each.purpose)]
        questions = {lane: self._question(lane, asked) for lane in self._lanes.all}
        answered = self._lanes.ask(lambda lane: form_opinion(lane.chain, questions[lane]))
        opinions = in_our_time(answered, None if self._own_time is None else self._own_time())
        self._settle(tuple(opinions.values()))
        priced = {lane: opinion for lane, opinion in opinions.items() if opinion.is_priced}
        for lane in priced:
            self._waiting.offer(lane, priced)
        for wanted in asked:
            if wanted in self._wanted:
                self._send(wanted, priced, is_again=wanted.purpose in self._again)
        again = [
            each for each in self._waiting.not_shown(tuple(opinions.values())) if not self._is_wanted(each.purpose)
        ]
        self._again = {each.purpose for each in again}
        self._wanted += again
        self._broadcast()
        return any(each not in asked and self._pace.allows(each.purpose) for each in self._wanted)

    def _question(self, lane: Lane, wanted: Sequence[Wanted]) -> Question:
        flying = [(each, self._offers.version_of(lane, each).hash) for _, each in sorted(self._flight.flying.items())]
        return Question(self.account, flying, wanted, self._confirmations, self.errors)

    # ------------------------------------------------------------------------------------------ what became of them

    def _settle(self, opinions: Sequence[Opinion]) -> None:
        flight, undone = self._flight, list[tuple[Flying, bool]]()
        for nonce, flying in sorted(flight.flying.items()):
            verdict = self._judge(flying, opinions)
            for outcome, cost in verdict.outcomes:
                self._come_out(flying, outcome, cost)
            if verdict.is_believed:
                flight.believed.add(nonce)
            if verdict.is_settled:
                flight.settled.add(nonce)
            if verdict.is_needless or (verdict.is_buried and nonce in self._flight.told):
                self._forget(nonce)
            elif verdict.is_taken:
                self._ask_again(flying)
            elif verdict.waits and nonce in flight.settled:
                undone.append((flying, verdict.is_known))
        self._give_up(undone)

    def _judge(self, flying: Flying, opinions: Sequence[Opinion]) -> Verdict:
        age = (self._clock() - flying.versions[0].signed_at) / self._patience
        return judge(flying, opinions, self._flight.flying, self._confirmations, age)

    def _come_out(self, flying: Flying, outcome: Landed | Failed, cost: int) -> None:
        announced = self._flight.announced.setdefault(flying.nonce, set())
        if type(outcome) in announced:
            return
        announced.add(type(outcome))
        purpose = flying.wanted.purpose
        if isinstance(outcome, Landed):
            self._pace.landed(flying)
            self._wanted = [each for each in self._wanted if each.purpose != purpose]
        elif isinstance(outcome.error, TransactionReverted):
            times, reason = self._pace.reverted(flying), outcome.error.reason
            rule = reason if isinstance(reason, RuleError) else None
            outcome = Failed(purpose, after_revert(outcome.error, cost, rule, times), cost)
        self._outcomes.append(outcome)

    def _ask_again(self, flying: Flying) -> None:
        """None of our versions was mined, and none will be."""
        purpose = flying.wanted.purpose
        self._forget(flying.nonce)
        is_asked = self._is_wanted(purpose) or self._flight.copies(purpose)
        if not purpose.startswith(GAP) and not is_asked:
            self._wanted.insert(0, flying.wanted)
            self._outcomes.append(NonceTaken(purpose, flying.nonce))

    def _forget(self, nonce: int) -> None:
        self._flight.forget(nonce)
        self._offers.forget(nonce)

    def _give_up(self, undone: Sequence[tuple[Flying, bool]]) -> None:
        """What a reorganisation has taken away may not be wanted any more: its owner asks again. Only what others wait
        behind is sent again, and what a node still has is waited for."""
        for flying, is_known in reversed(undone):
            self._flight.doubt(flying.nonce)
            self._pace.forget(flying.wanted.purpose)
            if flying.nonce == max(self._flight.flying) and not is_known:
                self._forget(flying.nonce)
                if flying.wanted.purpose not in self.purposes:
                    self._outcomes.append(Undone(flying.wanted.purpose))

    # -------------------------------------------------------------------------------------------------- what is new

    def _send(self, wanted: Wanted, opinions: Mapping[Lane, Opinion], *, is_again: bool = False) -> None:
        """It stays asked for while it is not known whether the chain would take it, and until what it needs is mined.
        `is_again`: it is on its way, and somebody does not show it."""
        said = tuple(opinions.values())
        if not self._is_allowed(wanted, said):
            return
        answers = [each.gas[wanted.purpose] for each in said]
        estimates = [each for each in answers if isinstance(each, int)]
        failures = [each for each in answers if isinstance(each, PassingError)]
        refusals = [each for each in answers if isinstance(each, ForcemoveError) and each not in failures]
        is_defence = wanted.deadline is not None and wanted.row is not None
        if not estimates and refusals and not (failures and is_defence):
            self._refuse(wanted, refusals[0], is_again=is_again)
            return
        if not estimates and not is_defence:
            self._trouble = failures[0]
            return
        if refusals and not self._pace.allows_alone(wanted.purpose):
            return
        gas = gas_limit(wanted.row, estimates, self._pace.reverts(wanted.purpose))
        if wanted.deadline is None and self._bids.is_too_dear(wanted, gas, said):  # an answer is offered its worth
            cost = gas * min(price_of(each.market) for each in said)
            self._refuse(wanted, GasTooDear(cost, wanted.most), is_again=is_again)
            return
        self._sign_for_all(wanted, gas, opinions, is_again=is_again)

    def _is_allowed(self, wanted: Wanted, said: Sequence[Opinion]) -> bool:
        """Whether the tokens may be taken that it needs; else that is asked for, once."""
        allowed = [wanted.purpose not in each.not_allowed for each in said]
        needed, purpose = wanted.allowance, _APPROVAL + wanted.purpose
        if needed is None or all(allowed):
            return True
        if any(allowed):
            self._trouble = OpinionsDiffer(self.account, "allowance", tuple(map(int, allowed)))
        elif purpose not in self.purposes:
            call = Token(self._chain, needed.token).approve(needed.spender, needed.amount)
            self._wanted.append(Wanted(purpose, needed.token, call.data, 0, wanted.most, gas=_APPROVAL_GAS))
        return False

    def _refuse(self, wanted: Wanted, error: ForcemoveError, *, is_again: bool) -> None:
        self._wanted.remove(wanted)
        if not is_again:
            self._outcomes.append(Failed(wanted.purpose, error))

    def _sign_for_all(self, wanted: Wanted, gas: int, opinions: Mapping[Lane, Opinion], *, is_again: bool) -> None:
        """With one nonce where all agree. Where they differ what pays in waits, and the rest is signed for each."""
        said, flying = tuple(opinions.values()), self._flight.flying
        lacking = [each for each in said if self._flight.lacks(each, wanted.purpose)]
        if is_again:
            lacking = [each for each in lacking if not isinstance(each.gas.get(wanted.purpose), ForcemoveError)]
        nonces = tuple(each.free(flying) for each in said)
        if wanted.pays_in and len(set(nonces)) > 1:
            self._trouble = OpinionsDiffer(self.account, "nonce", nonces)
            return
        begun_at = min(each.time for each in said)
        for nonce, opinion in sorted({each.free(flying): each for each in lacking}.items()):
            self._flight.keep(self._bids.begin(wanted, nonce, gas, begun_at, opinion, said))
            self._fresh.add(nonce)
        for lane, opinion in opinions.items():
            for nonce in self._fresh & {each.nonce for each in self._flight.copies(wanted.purpose)}:
                if opinion.is_reachable(nonce, flying):
                    fitted, version = self._bids.fit(flying[nonce], opinion, said)
                    self._flight.keep(fitted)
                    self._offers.add(lane, nonce, version)
        if is_again or lacking:
            self._wanted.remove(wanted)

    def _sign(self, call: Call, nonce: int, gas: int, fees: Fees) -> SignedTransaction:
        return self._chain.sign_as(call, self._key, nonce, gas, fees)

    def _broadcast(self) -> None:
        """Where nobody has taken what is new, because we could not pay for it, its nonce is free again. Any other
        refusal is no outcome: it is offered again."""
        fresh, self._fresh = self._fresh, set()
        for nonce, answers in self._offers.make(self._lanes, self.account, self._flight.flying).items():
            if nonce not in fresh or None in answers or nonce not in self._flight.flying:
                continue
            flying = self._flight.flying[nonce]
            poor = [each for each in answers if isinstance(each, InsufficientFunds)]
            if len(poor) == len(answers) and flying.wanted.deadline is None:
                self._forget(nonce)
                self._outcomes.append(Failed(flying.wanted.purpose, poor[0]))
            else:
                self._trouble = NotTaken(flying.newest.hash, next(each.reason for each in answers if each is not None))


def _as_asked_for(outcome: Outcome) -> Outcome | None:
    """Of an approval its asker hears only where it has failed, as of what needed it; for a gap nobody has asked."""
    if outcome.purpose.startswith(GAP):
        return None
    if not outcome.purpose.startswith(_APPROVAL):
        return outcome
    if isinstance(outcome, Failed):
        return replace(outcome, purpose=outcome.purpose.removeprefix(_APPROVAL))
    return None
