"""The versions that endpoints are offered: those that are due, and the last of each transaction."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from forcemove.chain.asking import Steps, together
from forcemove.chain.chain import Chain, SignedTransaction
from forcemove.chain.errors import InsufficientFunds, TransactionRefused
from forcemove.errors import ForcemoveError, PassingError
from forcemove.sender.transactions import PendingTx, Version

LaneT = TypeVar("LaneT", bound=Hashable)
Refusal = InsufficientFunds | TransactionRefused
OfferAnswers = list[tuple[SignedTransaction, Refusal | PassingError | None]]
"""An endpoint's refusal of each transaction, None where it takes it. Where it has answered nothing the first one has
its `PassingError`."""


class Offers(Generic[LaneT]):
    """The offers of one sender, by nonce and by lane. Those that are due wait here until they are made."""

    def __init__(self) -> None:
        self._last: dict[int, dict[LaneT, bytes]] = {}
        self._answers: dict[int, dict[LaneT, Refusal | None]] = {}
        self._taken: dict[int, set[LaneT]] = {}
        self._made_at: dict[int, dict[LaneT, int]] = {}
        self._due: dict[LaneT, dict[int, Version]] = {}

    def version_of(self, lane: LaneT, pending: PendingTx) -> Version:
        """The version that this endpoint was offered last; the newest where this process has offered none yet."""
        last = self.last(lane, pending.nonce)
        return next((each for each in pending.versions if each.hash == last), pending.newest)

    def last(self, lane: LaneT, nonce: int) -> bytes | None:
        """The hash of the version that this endpoint was offered last, or is to be; None where there is none."""
        return self._last.get(nonce, {}).get(lane)

    def is_new(self, lane: LaneT, nonces: Collection[int]) -> bool:
        """Whether other endpoints were offered some of these transactions by this process, and this one none."""
        offered = [each for each in (self._last.get(nonce) for nonce in nonces) if each]
        return bool(offered) and not any(lane in each for each in offered)

    def add(self, lane: LaneT, nonce: int, version: Version) -> None:
        """Have this version offered to an endpoint, instead of any other with this nonce."""
        self._due.setdefault(lane, {})[nonce] = version
        self._last.setdefault(nonce, {})[lane] = version.hash

    def is_refused(self, lane: LaneT, nonce: int) -> bool:
        """Whether this endpoint has refused the last offer with this nonce, for another reason than that we cannot pay
        for it."""
        return isinstance(self._answers.get(nonce, {}).get(lane), TransactionRefused)

    def is_never_taken(self, lane: LaneT, nonce: int) -> bool:
        """Whether this endpoint has refused every version with this nonce that it was offered, whatever for."""
        has_refused = self._answers.get(nonce, {}).get(lane) is not None
        return has_refused and lane not in self._taken.get(nonce, ())

    def forget(self, nonce: int) -> None:
        """Forget the offers of a transaction that is over."""
        for each in (self._last, self._answers, self._taken, self._made_at):
            each.pop(nonce, None)
        for due in self._due.values():
            due.pop(nonce, None)

    def due(
        self, lane: LaneT, account: bytes, pending: Mapping[int, PendingTx], mined: int, limit: int
    ) -> list[SignedTransaction]:
        """What an endpoint is to be offered now, lowest nonces first.

        - `lane`: the endpoint's.
        - `account`: 20 bytes.
        - `pending`: its transactions, by nonce.
        - `mined`: the first nonce after those that are mined, by this endpoint's word: those before are due no more.
        - `limit`: how many at a time.
        """
        due = self._due.get(lane, {})
        for nonce in [each for each in due if each < mined]:
            del due[nonce]
        return [pending[nonce].signed(account, due[nonce]) for nonce in sorted(due)[:limit]]

    def is_due(self, lane: LaneT) -> bool:
        """Whether an endpoint is still to be offered something."""
        return bool(self._due.get(lane))

    def made_at(self, lane: LaneT, nonce: int) -> int:
        """The number of the look that has taken this endpoint's last answer to an offer with this nonce, 0 without."""
        return self._made_at.get(nonce, {}).get(lane, 0)

    def note(self, lane: LaneT, answers: OfferAnswers, look: int) -> None:
        """Take in an endpoint's answers in the look of this number. A version that is refused or not answered is
        offered again when its endpoint is found not to have it: it holds up no other."""
        for signed, answer in answers:
            if self.last(lane, signed.nonce) == signed.hash:  # else a newer one is due
                self._due.get(lane, {}).pop(signed.nonce, None)
                self._made_at.setdefault(signed.nonce, {})[lane] = look
                if not isinstance(answer, PassingError):
                    self._answers.setdefault(signed.nonce, {})[lane] = answer
                if answer is None:
                    self._taken.setdefault(signed.nonce, set()).add(lane)

    def answers(self, nonce: int, among: Collection[LaneT]) -> list[Refusal | None] | None:
        """What endpoints have answered to the offer of a transaction: why they refuse it, None where one takes it. None
        instead while one of these is still to answer: one that did not in time may have it."""
        answers, offered = self._answers.get(nonce, {}), self._last.get(nonce, {})
        if any(nonce in self._due.get(lane, {}) or (lane in offered and lane not in answers) for lane in among):
            return None
        return list(answers.values()) or None


def offer_all(chain: Chain, due: Sequence[SignedTransaction]) -> Steps[OfferAnswers]:
    """Offer one endpoint these transactions, until it does not answer."""
    answers: OfferAnswers = []
    for signed, answer in zip(due, (yield from together(map(chain.broadcast.steps, due))), strict=True):
        if isinstance(answer, InsufficientFunds | TransactionRefused):
            answers.append((signed, answer))
        elif isinstance(answer, PassingError):
            return answers or [(signed, answer)]
        elif isinstance(answer, ForcemoveError):
            raise answer
        else:
            answers.append((signed, None))
    return answers
