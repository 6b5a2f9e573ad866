"""What is to be sent: the requests that have no transaction yet, by id. And what their owner is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import inf

from forcemove.errors import PassingError
from forcemove.sender.batches import batches_of, can_be_batched
from forcemove.sender.transactions import RequestId, TxOutcome, TxRequest


@dataclass(slots=True)
class Report:
    """What a sender's owner is given next. `outcomes`: of requests; `errors`: how endpoints have failed, and what else
    the owner should know; `in_the_way`: why something could not be sent now."""

    outcomes: list[TxOutcome] = field(default_factory=list)
    errors: list[PassingError] = field(default_factory=list)
    in_the_way: PassingError | None = None


@dataclass(frozen=True, slots=True)
class UnsignedRequest:
    """A request that waits to be signed. `since`: the number of the look before it was asked for. `is_again`: its
    transaction is on its way, and an endpoint does not show it."""

    request: TxRequest
    since: int
    is_again: bool = False

    @property
    def is_defence(self) -> bool:
        """Whether it answers a challenge, and our own table says what gas that needs."""
        return self.request.deadline is not None and self.request.gas is not None


class Requests:
    """The requests of one sender. `look`: the number of the look that is made, or was made last."""

    def __init__(self) -> None:
        self.look = 0
        self._by_id: dict[RequestId, UnsignedRequest] = {}
        self._parts: dict[RequestId, RequestId] = {}

    def __contains__(self, request_id: RequestId) -> bool:
        return request_id in self._by_id or request_id in self._parts

    def __iter__(self) -> Iterator[RequestId]:
        return iter(tuple(self._by_id))

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def all(self) -> list[TxRequest]:
        """All of them, in the order in which they were asked for."""
        return [each.request for each in self._by_id.values()]

    def by_deadline(self) -> list[UnsignedRequest]:
        """All of them, the nearest deadlines first."""
        return sorted(self._by_id.values(), key=lambda each: each.request.deadline or inf)

    def submit(self, request: TxRequest) -> None:
        """Ask for a transaction between two looks. Where the same is asked for already, see `TxRequest.hurried`."""
        asked = self._parts.get(request.request_id, request.request_id)
        if (known := self._by_id.get(asked)) is not None:
            self._by_id[asked] = replace(known, request=known.request.hurried(request))
        else:
            self._keep(UnsignedRequest(request, self.look))

    def add(self, request: TxRequest, *, is_again: bool = False) -> None:
        """The same within a look."""
        self._keep(UnsignedRequest(request, self.look - 1, is_again))

    def _keep(self, unsigned: UnsignedRequest) -> None:
        request = unsigned.request
        if request.request_id not in self:
            self._by_id[request.request_id] = unsigned
            self._parts |= {each.request_id: request.request_id for each in request.parts}

    def put_together(self, is_new: Callable[[RequestId], bool]) -> None:
        """Make batches of the requests that were asked for since the last look. `is_new`: whether nothing is known of a
        request; what has a past goes alone."""
        fresh = (each for each in self._by_id.values() if each.since == self.look - 1 and not each.is_again)
        for batch in batches_of(
            each.request for each in fresh if can_be_batched(each.request) and is_new(each.request.request_id)
        ):
            self.remove(part.request_id for part in batch.parts)
            self.add(batch)

    def take_apart(self, batch: TxRequest) -> None:
        """Ask for the parts of a batch one by one."""
        self.remove([batch.request_id])
        for each in batch.parts:
            self.add(each)

    def remove(self, request_ids: Iterable[RequestId]) -> None:
        """Ask for these no more."""
        for each in request_ids:
            removed = self._by_id.pop(each, None)
            for part in () if removed is None else removed.request.parts:
                self._parts.pop(part.request_id, None)

    def change(self, changed: Callable[[TxRequest], TxRequest]) -> None:
        """Let each be what this makes of it."""
        self._by_id = {id_: replace(each, request=changed(each.request)) for id_, each in self._by_id.items()}
