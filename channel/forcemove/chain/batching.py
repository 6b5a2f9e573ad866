"""Asks an endpoint several things in one exchange: in batches of JSON-RPC 2.0 (section 6).

What an endpoint takes is learned. It refuses a batch that is too large, and is asked in smaller ones; one that makes no
sense of batches is asked for one thing at a time. How often it may be asked counts each request of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forcemove.chain.errors import EndpointFailed, NodeBusy, NotAnEthereumEndpoint, Unreachable
from forcemove.chain.learned import Learned
from forcemove.chain.rpc import BatchTransport, Rpc, at_latest
from forcemove.errors import ForcemoveError

_MOST = 50
"""Requests in a batch."""
_SEND = "eth_sendRawTransaction"
_Requests = Sequence[tuple[str, tuple[Any, ...]]]


class BatchingRpc(Rpc):
    """Requests to one node that may take batches."""

    def __init__(self, transport: BatchTransport, endpoint: str) -> None:
        """`endpoint` names the node in errors."""
        super().__init__(transport, endpoint)
        self._batches = transport
        self._size, self._has_answered = Learned(_MOST), False

    def request_some(self, requests: _Requests) -> list[object]:
        """See `Rpc.request_some`: as many as the endpoint takes in a batch, and may be asked in a second."""
        while (size := min(len(requests), self._size.value, self._rate.most_at_once)) > 1:
            if answers := self._batch(requests[:size]):
                return answers
        if len(requests) > 1:
            self._size.on_answer(1)
        return super().request_some(requests)

    def _batch(self, requests: _Requests) -> list[object]:
        """The answers to a batch. Only that to its first request where the endpoint makes us wait; none where a smaller
        batch should be tried."""
        try:
            self._wait_for_its_turn(len(requests))
        except NodeBusy as error:
            return [error]
        try:
            self._require_chain(next((method for method, _ in requests if method == _SEND), ""))
            answers = self._batches.exchange_some(self._tagged(requests))
        except ForcemoveError as error:
            return self._on_failure(error, requests)
        self._size.on_answer(len(requests))
        self._has_answered = True
        answers = [self._or_again(*each, answer) for each, answer in zip(requests, answers, strict=True)]
        return self._up_to_busy(answers) or super().request_some(requests)

    def _up_to_busy(self, answers: Sequence[object]) -> list[object]:
        """The answers before the first one that says that there were too many requests."""
        for index, each in enumerate(answers):
            if isinstance(each, NodeBusy):
                self._on_busy(each)
                return list(answers[:index])
        self._rate.on_answered()
        return list(answers)

    def _tagged(self, requests: _Requests) -> _Requests:
        if not self._is_without_pending:
            return requests
        return [(method, at_latest(params)) for method, params in requests]

    def _or_again(self, method: str, params: tuple[Any, ...], answer: object) -> object:
        """The answer, unless the endpoint may have refused the block tag."""
        is_tag_refused = isinstance(answer, EndpointFailed) and "pending" in params
        return super().request_some([(method, params)])[0] if is_tag_refused else answer

    def _on_failure(self, error: ForcemoveError, requests: _Requests) -> list[object]:
        self._identified_until = 0.0  # another node may answer at this address from now on
        size = len(requests)
        match error:
            case NodeBusy():
                self._on_busy(error)
                return super().request_some(requests)  # it waits
            case EndpointFailed():
                self._size.on_refusal(size)
            case NotAnEthereumEndpoint():
                self._size.on_refusal(2)
            case Unreachable():
                self._size.on_refusal(size if self._has_answered else 2)
        return [] if isinstance(error, EndpointFailed | NotAnEthereumEndpoint) else [error]
