"""The sender of one account on one chain: every transaction of the account goes through it.

A transaction is written down by its nonce before it is handed to the node, and forgotten only when it is mined, and
confirmed, and its owner was told and has come back: after a crash the next sender goes on with it, and tells again what
may not have been heard. It never waits: each `look` asks once and does what is due, so
that no transaction holds up another account's, or anything else in this process.

Of those that wait only the lowest nonce can be mined, so only it is replaced, on behalf of all behind it: with the
nearest of their deadlines and the largest of their caps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from msgspec.structs import replace

from forcemove.channel.chain.chain import Chain, Fees
from forcemove.channel.chain.errors import (
    InsufficientFunds,
    NotMined,
    TransactionRefused,
    TransactionReverted,
)
from forcemove.channel.chain.reverts import NO_ERRORS, ErrorTable
from forcemove.channel.chain.rpc import as_number, making_sense
from forcemove.channel.chain.token import Token
from forcemove.channel.errors import ForcemoveError, InvalidValue, PassingError
from forcemove.channel.protocol.signing import Key
from forcemove.channel.sender.endpoints import Endpoints
from forcemove.channel.sender.errors import GasTooDear
from forcemove.channel.sender.pricing import Urgency, fitting_fees, is_too_low, next_fees
from forcemove.channel.sender.transactions import (
    FLYING,
    Failed,
    Flying,
    Landed,
    NonceTaken,
    Outcome,
    Transactions,
    Undone,
    Version,
    Wanted,
)
from forcemove.channel.sender.urgency import urgency_of

__all__ = ["Sender"]

_APPROVAL, _GAP = b"approval of ", b"gap at "


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
    ) -> None:
        """`kept`: the account's journal; what is in it is gone on with. `confirmations`: how many blocks deep a
        transaction must be to be forgotten. `patience`: seconds after which one that waits is offered more for.
        `errors`: what the contracts revert with. `clock`: seconds since 1970. `others`: the same chain through other
        endpoints; where one fails, the next look asks the next. What one refuses is refused where all do. An answer to
        a challenge is shown to all of them, and so is what is not mined in time: one may keep it to itself.

        Raises `InvalidValue`; `MalformedBytes` and `UnknownVersion` on a journal that cannot be read.
        """
        if patience <= 0:
            raise InvalidValue("patience", patience, "more than 0 seconds")
        self.errors = errors
        self._endpoints, self._key, self._kept = Endpoints((chain, *others), clock), key, kept
        self._confirmations, self._patience, self._clock = confirmations, patience, clock
        self._flying = {nonce: FLYING.decode(body) for nonce, body in kept.all()}
        self._settled: set[int] = set()
        self._told: set[int] = set()
        self._shown_at: dict[int, float] = {}
        self._wanted: list[Wanted] = []
        self._outcomes: list[Outcome] = []

    @property
    def _chain(self) -> Chain:
        """Through the endpoint that is asked now."""
        return self._endpoints.asked

    @property
    def endpoints(self) -> int:
        """How many there are, which take turns where one fails."""
        return len(self._endpoints)

    @property
    def account(self) -> bytes:
        """The account, 20 bytes."""
        return self._key.address

    @property
    def purposes(self) -> frozenset[bytes]:
        """What is asked for and not settled yet."""
        waiting = (flying.wanted for nonce, flying in self._flying.items() if nonce not in self._settled)
        return frozenset(each.purpose for each in (*waiting, *self._wanted))

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to send and nothing on its way."""
        return not self._flying and not self._wanted

    def want(self, wanted: Wanted) -> None:
        """Ask for a transaction; the next `look` sends it. What is asked for already is asked for once."""
        if wanted.purpose not in self.purposes:
            self._wanted.append(wanted)

    def look(self, *, is_new: bool = True) -> list[Outcome]:
        """See what became of what is on its way, replace what waits too long, and send what is new. `is_new`: whether
        there may be another block than at the last look; without one, what is mined is not looked at again.

        Returns what has come out since the last look. Raises the `ChainError` that was in the way, unless something has
        come out: the next look raises it again.
        """
        try:
            if self._wanted or (self._flying if is_new else self._flying.keys() - self._settled):
                with making_sense(self._chain.endpoint):
                    self._work()
        except ForcemoveError as error:
            if isinstance(error, PassingError):
                self._endpoints.leave()
            if not self._outcomes:
                raise
        outcomes, self._outcomes = self._outcomes, []
        self._told = set(self._settled)
        return [each for each in map(_as_asked_for, outcomes) if each is not None]

    def _work(self) -> None:
        head, mined = self._chain.block("latest"), self._chain.nonce_of(self.account)
        height, now = as_number(head["number"]), as_number(head["timestamp"])
        for nonce in sorted(nonce for nonce in self._flying if nonce < mined):
            self._settle(self._flying[nonce], height)
        self._give_up_undone(mined)
        waiting = [self._flying[nonce] for nonce in sorted(self._flying) if nonce >= mined]
        if waiting:
            self._send_dropped(waiting)
            urgency = urgency_of(waiting, now, self._clock(), self._patience)
            self._close_gap(waiting, urgency, now)
            self._raise_lowest(waiting[0], urgency)
        for wanted in tuple(self._wanted):
            self._send(wanted, now, mined)

    # ------------------------------------------------------------------------------------------ what became of them

    def _settle(self, flying: Flying, height: int) -> None:
        """Its nonce is used: by one of its versions, or by somebody else's transaction."""
        purpose = flying.wanted.purpose
        try:
            receipt = self._chain.wait(flying.signed(self.account), self.errors, timeout=0)
        except NotMined:
            self._ask_again(flying, height)
        except TransactionReverted as error:
            self._come_out(flying, Failed(purpose, error), height - error.block_number + 1)
        else:
            self._come_out(flying, Landed(purpose, receipt), height - receipt.block_number + 1)

    def _come_out(self, flying: Flying, outcome: Outcome, depth: int) -> None:
        if flying.nonce not in self._settled:
            self._settled.add(flying.nonce)
            self._outcomes.append(outcome)
        if depth >= self._confirmations and flying.nonce in self._told:
            self._forget(flying.nonce)

    def _ask_again(self, flying: Flying, height: int) -> None:
        """None of our versions was mined, and none will be once that is as deep as we believe. A node that knows one of
        them, and has no receipt, is late or lies: sent again it might be done twice."""
        depth = max(height - self._confirmations + 1, 0)
        if self._chain.nonce_of(self.account, block=depth) <= flying.nonce:
            return
        if not any(self._chain.knows(version.hash) for version in flying.versions):
            self._forget(flying.nonce)
            if flying.wanted.purpose.startswith(_GAP):
                return
            self._wanted.insert(0, flying.wanted)
            self._outcomes.append(NonceTaken(flying.wanted.purpose, flying.nonce))

    def _forget(self, nonce: int) -> None:
        self._kept.forget(nonce)
        del self._flying[nonce]
        self._settled.discard(nonce)
        self._told.discard(nonce)
        self._shown_at.pop(nonce, None)

    def _give_up_undone(self, mined: int) -> None:
        """What a reorganisation has taken away may not be wanted any more: its owner asks again. Only what others wait
        behind is sent again, and what the node still has is waited for."""
        for nonce in sorted(self._settled, reverse=True):
            if nonce < mined:
                break
            self._settled.discard(nonce)
            self._told.discard(nonce)
            flying = self._flying[nonce]
            if nonce == max(self._flying) and not self._chain.knows(flying.newest.hash):
                self._forget(nonce)
                if flying.wanted.purpose not in self.purposes:
                    self._outcomes.append(Undone(flying.wanted.purpose))

    # ------------------------------------------------------------------------------------------------ what waits

    def _send_dropped(self, waiting: list[Flying]) -> None:
        """Nodes forget, and we may have died before we sent it."""
        for flying in waiting:
            if not self._chain.knows(flying.newest.hash):
                self._broadcast(flying)

    def _raise_lowest(self, lowest: Flying, urgency: Urgency) -> None:
        market = self._chain.fees()
        has_waited = self._clock() - lowest.newest.signed_at >= self._borne(urgency)
        if not has_waited and not is_too_low(lowest.newest.fees, market):
            return
        self._show_again(lowest)
        fees = next_fees(lowest.newest.fees, market, lowest.gas, urgency)
        if fees is not None:
            version = self._version(lowest.wanted, lowest.nonce, lowest.gas, fees)
            self._broadcast(self._keep(replace(lowest, versions=(*lowest.versions, version))))

    def _borne(self, urgency: Urgency) -> float:
        """For how many seconds we wait: our patience, and a fourth of it where no time is left."""
        return self._patience * (1 - 0.75 * urgency.passed)

    def _close_gap(self, waiting: list[Flying], urgency: Urgency, now: int) -> None:
        """Of a nonce before all of ours no node may have a transaction any more: another program's was dropped, or one
        of ours was undone after we had believed in it. Nothing of ours would ever be mined then. When our patience has
        ended by the chain's clock, an empty transaction to ourselves takes its place: whatever was there, nothing is
        done twice."""
        if now - waiting[0].begun_at < self._borne(urgency):
            return
        nonce = self._chain.nonce_of(self.account, block="pending")
        if nonce >= waiting[0].nonce:
            return
        wanted = Wanted(_GAP + str(nonce).encode(), self.account, b"", 0, urgency.most)
        gas = self._chain.gas_for(wanted.call, self.account, self.errors)
        fees = fitting_fees(self._chain.fees(), gas, urgency)
        waiting.insert(0, self._keep(self._begun(wanted, nonce, gas, fees, now)))
        self._broadcast(waiting[0])

    def _show_again(self, flying: Flying) -> None:
        """The node that has it may keep it to itself: each time that our patience ends, the others get it, too."""
        now = self._clock()
        if now - self._shown_at.get(flying.nonce, now - self._patience) >= self._patience:
            self._shown_at[flying.nonce] = now
            self._endpoints.show_to_others(flying.signed(self.account))

    # -------------------------------------------------------------------------------------------------- what is new

    def _send(self, wanted: Wanted, now: int, mined: int) -> None:
        """It stays asked for while it is not known whether the chain would take it, and until what it needs is
        mined."""
        refusal: ForcemoveError | None = None
        for _ in range(len(self._endpoints)):
            try:
                if not self._is_allowed(wanted, now, mined):
                    return
                flying = self._sign(wanted, now, mined)
            except PassingError:
                raise
            except ForcemoveError as error:
                refusal = refusal or error
                self._endpoints.ask_the_next()
            else:
                self._wanted.remove(wanted)
                self._broadcast_first(flying)
                return
        if refusal is not None:
            self._outcomes.append(Failed(wanted.purpose, refusal))
            self._wanted.remove(wanted)

    def _is_allowed(self, wanted: Wanted, now: int, mined: int) -> bool:
        """Whether the tokens may be taken that it needs; else that is asked for, once."""
        needed = wanted.allowance
        if needed is None:
            return True
        token = Token(self._chain, needed.token)
        if token.allowance(self.account, needed.spender) >= needed.amount:
            return True
        purpose = _APPROVAL + wanted.purpose
        if purpose not in self.purposes:
            call = token.approve(needed.spender, needed.amount)
            approval = Wanted(purpose, needed.token, call.data, 0, wanted.most)
            self._broadcast_first(self._sign(approval, now, mined))
        return False

    def _sign(self, wanted: Wanted, now: int, mined: int) -> Flying:
        gas = self._chain.gas_for(wanted.call, self.account, self.errors)
        nonce = max(mined, self._chain.nonce_of(self.account, block="pending"), 1 + max(self._flying, default=-1))
        market = self._chain.fees()
        fees = fitting_fees(market, gas, Urgency(wanted.most))
        if wanted.deadline is None and is_too_low(fees, market):
            raise GasTooDear(gas * market.max_fee_per_gas, wanted.most)  # an answer is offered what it is worth
        return self._keep(self._begun(wanted, nonce, gas, fees, now))

    def _begun(self, wanted: Wanted, nonce: int, gas: int, fees: Fees, now: int) -> Flying:
        return Flying(wanted, nonce, gas, now, (self._version(wanted, nonce, gas, fees),))

    def _version(self, wanted: Wanted, nonce: int, gas: int, fees: Fees) -> Version:
        signed = self._chain.sign_as(wanted.call, self._key, nonce, gas, fees)
        return Version(
            signed.hash,
            signed.raw,
            fees.max_fee_per_gas,
            fees.max_priority_fee_per_gas,
            fees.is_legacy,
            int(self._clock()),
        )

    def _keep(self, flying: Flying) -> Flying:
        """Before anything leaves."""
        self._kept.put(flying.nonce, FLYING.encode(flying))
        self._flying[flying.nonce] = flying
        return flying

    def _broadcast_first(self, flying: Flying) -> None:
        """Where the node has not taken it, its nonce is free again. Where that is not known, it stays."""
        signed = flying.signed(self.account)
        try:
            self._chain.broadcast(signed)
        except (InsufficientFunds, TransactionRefused) as error:
            self._forget(flying.nonce)
            self._outcomes.append(Failed(flying.wanted.purpose, error))
            return
        if flying.wanted.deadline is not None:
            self._endpoints.show_to_others(signed)

    def _broadcast(self, flying: Flying) -> None:
        """Again, or a version with higher fees. What the node does not take now is offered again by a later look."""
        signed = flying.signed(self.account)
        with suppress(InsufficientFunds, TransactionRefused):
            self._chain.broadcast(signed)
        self._endpoints.show_to_others(signed)


def _as_asked_for(outcome: Outcome) -> Outcome | None:
    """Of an approval its asker hears only where it has failed, as of what needed it; for a gap nobody has asked."""
    if outcome.purpose.startswith(_GAP):
        return None
    if not outcome.purpose.startswith(_APPROVAL):
        return outcome
    if isinstance(outcome, Failed):
        return Failed(outcome.purpose.removeprefix(_APPROVAL), outcome.error)
    return None
