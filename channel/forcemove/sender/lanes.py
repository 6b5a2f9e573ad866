"""A lane for each endpoint of a sender: each forms its opinion and is offered transactions at its own pace, and none
waits for another.

An endpoint is asked by its own worker, and offers to it go out between its pending questions: what has ended is taken
by the next look. A chain in this process has answered at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from math import inf
from typing import Any, TypeVar, cast

from forcemove.backoff import doubled, spread
from forcemove.chain.asking import Steps
from forcemove.chain.chain import Chain, SignedTransaction
from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint, Unreachable
from forcemove.chain.task_queue import Priority
from forcemove.errors import ForcemoveError, PassingError
from forcemove.sender.errors import StillToSend
from forcemove.sender.observations import Observer, Question
from forcemove.sender.offers import OfferAnswers, offer_all
from forcemove.sender.opinions import Opinion, form_opinion
from forcemove.sender.transactions import RequestId, TxFailed

T = TypeVar("T")
_ASKING, _OFFERING = 5.0, 15.0
"""Seconds that questions of one kind, and offers, should take: a slower endpoint has fewer of them at a time."""
_LEAST, _UNKNOWN, _MOST_ASKED, _MOST_OFFERED = 4, 8, 40, 64
"""How many at a time: at least; of an endpoint whose pace is not known yet; at most."""
_SILENT, _GIVEN_UP = 30.0, 60.0
"""Seconds after which an endpoint that was asked and says nothing that makes sense is waited for by nobody; and after
which it is asked again."""
_FRESH = 60.0
"""Seconds for which nonces and prices are taken from an opinion: in these a price does not double."""
_REST, _LONGEST_REST = 5.0, 30.0
"""Seconds for which an endpoint that has failed rests, at first and at most; it may take as long to fail again."""
_MAX_ERRORS, _HALF_MINUTE = 32, 30


class EndpointLane:
    """One endpoint. `opinion`: its newest one, None before the first; `look`: the number of the look that has asked for
    it. `failures`: how often in a row it has failed. `reverted`: the requests of which it has shown a transaction that
    has failed in its block, while others for them are on their way."""

    def __init__(self, chain: Chain, now: Callable[[], float]) -> None:
        """`now`: monotonic seconds."""
        self.chain, self.observer = chain, Observer()
        self.opinion: Opinion | None = None
        self.look, self.failures, self.rests_until = 0, 0, 0.0
        self.reverted: set[RequestId] = set()
        self._now = now
        self._asked: tuple[int, Future[Opinion]] | None = None
        self._offered: Future[OfferAnswers] | None = None
        self._over: set[int] = set()
        self._silent_since: float | None = None
        self._priced_at, self._answered_at = -inf, 0.0
        self._seconds: float | None = None

    @property
    def is_free(self) -> bool:
        """Whether an opinion can be formed now."""
        self._give_up()
        return self._asked is None

    @property
    def can_offer(self) -> bool:
        """Whether offers can be made now."""
        self._give_up()
        return self._offered is None

    @property
    def running(self) -> list[Future[Any]]:
        """What the endpoint is asked and offered now."""
        both = self._asked and self._asked[1], self._offered
        return [each for each in both if each is not None and not each.done()]

    @property
    def is_silent(self) -> bool:
        """Whether the endpoint was asked and has said nothing for so long that nobody waits for it."""
        return self._has_been_silent(_SILENT)

    def _has_been_silent(self, seconds: float) -> bool:
        since = self._silent_since
        return since is not None and self._now() - since >= seconds

    def _give_up(self) -> None:
        """Wait no more for what hangs."""
        if self._has_been_silent(_GIVEN_UP):
            for each in self.running:
                each.cancel()
            self._asked = self._offered = None
            self.observer, self._silent_since = Observer(), self._now() - _SILENT

    @property
    def is_fresh(self) -> bool:
        """Whether what the opinion says of nonces and prices is new enough to sign with."""
        return self._now() - self._priced_at <= _FRESH

    def on_pause(self) -> None:
        """The endpoint was not asked for a while: that was not silence."""
        self._silent_since = None if self._asked is None and self._offered is None else self._now()

    @property
    def question_limit(self) -> int:
        """How many questions of one kind the endpoint is asked for one opinion."""
        return self._at_a_time(_ASKING, _MOST_ASKED)

    @property
    def offer_limit(self) -> int:
        """How many transactions the endpoint is offered at a time."""
        return self._at_a_time(_OFFERING, _MOST_OFFERED)

    def _at_a_time(self, seconds: float, limit: int) -> int:
        if self._seconds is None:
            return _UNKNOWN
        return limit if self._seconds * limit <= seconds else max(int(seconds / self._seconds), _LEAST)

    def ask(self, question: Question, look: int) -> None:
        """Begin to form an opinion."""
        self._over.clear()
        self._asked = look, self._start(form_opinion(self.chain, question, self.observer), Priority.SETTLE)

    def offer(self, due: Sequence[SignedTransaction]) -> None:
        """Begin to offer these transactions."""
        self._offered = self._start(offer_all(self.chain, due), Priority.DEFEND)

    def forget(self, nonce: int) -> None:
        """A transaction is over: what was said of it says nothing of another one with the same nonce."""
        self._over.add(nonce)
        if self.opinion is not None:
            self.opinion.seen.pop(nonce, None)

    def take_opinion(self) -> bool:
        """Take the opinion that was formed since. Returns whether there is one. Raises why not."""
        if self._asked is None or not self._asked[1].done():
            return False
        (self.look, ended), self._asked = self._asked, None
        opinion = ended.result()
        if opinion.is_priced:
            self._priced_at = self._answered_at
        elif self.opinion is not None and opinion.failure is None and self.is_fresh:
            opinion = opinion.priced_as(self.opinion)
        self.opinion = opinion
        outcomes = [each.outcome for each in opinion.seen.values()]
        self.reverted |= {each.request_id for each in outcomes if isinstance(each, TxFailed)}
        for nonce in self._over:
            self.opinion.seen.pop(nonce, None)
        return True

    def take_answers(self) -> OfferAnswers:
        """Take the answers to the offers that were made since. Raises what keeps them from being made."""
        if self._offered is None or not self._offered.done():
            return []
        ended, self._offered = self._offered, None
        return ended.result()

    def on_answer(self) -> None:
        """The endpoint has said something that makes sense."""
        self.failures, self.rests_until, self._silent_since = 0, 0.0, None

    def on_failure(self) -> None:
        """What it was asked has led to nothing."""
        self.failures += 1
        self.rests_until = self._now() + spread(doubled(_REST, self.failures - 1, _LONGEST_REST))

    def _start(self, steps: Steps[T], priority: Priority) -> Future[T]:
        return self.chain.worker.begin(self._timed(steps), priority)

    def _timed(self, steps: Steps[T]) -> Steps[T]:
        """Asks the same, and notes how soon there are answers."""
        answers: Sequence[object] | None = None
        try:
            while True:
                questions = steps.send(cast("Sequence[object]", answers))
                began = self._now()
                self._silent_since = began if self._silent_since is None else self._silent_since
                answers = yield questions
                if not self.failures and not all(map(_is_none, answers)):
                    self._silent_since = None
                self._answered_at = self._now()
                if answered := sum(not _is_none(each) for each in answers):  # the others may not have been asked
                    self._seconds = (self._answered_at - began) / answered
        except StopIteration as end:
            return cast("T", end.value)


def _typed(lane: EndpointLane, error: Exception) -> PassingError:
    """The error in our terms: whatever a decoder or a library raises, its cause was the endpoint's answer."""
    if isinstance(error, PassingError):
        return error
    return NotAnEthereumEndpoint(lane.chain.endpoint, f"its answer makes no sense: {error!r:.80}")


def _is_none(answer: object) -> bool:
    return isinstance(answer, PassingError) and not isinstance(answer, EndpointFailed)


class EndpointLanes:
    """All endpoints of a sender, at least one."""

    def __init__(self, chains: Sequence[Chain], now: Callable[[], float], errors: list[PassingError]) -> None:
        """`now`: monotonic seconds. `errors`: is given how endpoints fail, also where another one has answered."""
        self.all = [EndpointLane(each, now) for each in chains]
        self._errors, self._now = errors, now
        self._looked_at = now()
        self._failed: list[PassingError] = []
        self._failing: tuple[float, int] | None = None

    def begin_look(self, *, is_idle: bool) -> None:
        """Time in which there was nothing to ask, or nobody has looked, does not count as silence of the endpoints."""
        if is_idle or self._now() - self._looked_at >= _SILENT:
            for each in self.all:
                each.on_pause()
        self._looked_at = self._now()

    @property
    def live(self) -> list[EndpointLane]:
        """The endpoints that count: all but the silent ones."""
        return [each for each in self.all if not each.is_silent]

    @property
    def awaited(self) -> list[EndpointLane]:
        """The endpoints that are waited for: those that count, and have not failed just now."""
        return [each for each in self.live if not each.failures]

    @property
    def awake(self) -> list[EndpointLane]:
        """The endpoints that do not rest; where all rest, all."""
        now = self._now()
        return [each for each in self.all if each.rests_until <= now] or self.all

    def take(self, lane: EndpointLane, ended: Callable[[], T]) -> T | None:
        """What a lane has ended. Where it has failed that is noted, and None is returned."""
        try:
            result = ended()
        except Exception as error:
            self.on_failure(lane, _typed(lane, error))
            return None
        if result:
            lane.on_answer()
        return result

    def on_failure(self, lane: EndpointLane, error: PassingError) -> None:
        """An endpoint has failed."""
        lane.on_failure()
        self._errors.append(error)
        del self._errors[:-_MAX_ERRORS]
        self._failed.append(error)

    def require_answers(self) -> None:
        """Raise the first failure since the last call where no endpoint works: all fail, or are silent."""
        failed, self._failed = self._failed, []
        if failed and all(each.failures for each in self.all):
            raise failed[0]
        if not self.live:
            raise Unreachable(self.all[0].chain.endpoint, "no endpoint answers in time")

    def on_look(self, failure: ForcemoveError | None, waiting: Sequence[str]) -> None:
        """Add to the errors what is to be sent, after each half minute of looks that fail. `failure`: why a look has
        failed, None where it has not; `waiting`: in words, what is to be sent."""
        if failure is None:
            self._failing = None if self.awaited else self._failing
            return
        since, before = self._failing = self._failing or (self._now(), 0)
        halves = int((self._now() - since) // _HALF_MINUTE)
        if waiting and halves > before:
            self._errors.append(StillToSend(tuple(dict.fromkeys(waiting)), _HALF_MINUTE * halves, failure))
            self._failing = since, halves
