"""What carries the requests to one node: the port that the rest of this room stands on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

CALLS = ("eth_call", "eth_estimateGas")
"""The methods that call: they revert, and may be refused for what they call, too."""


class Reverted(Exception):
    """A call reverted with `data`. Stays inside this package: code that has an error table turns it into an error."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data.hex())
        self.data = data


class StatusRefused(Exception):
    """A server has answered with an HTTP status other than 200, and without a JSON-RPC error. `retry_after`: the
    header, empty where there is none. Stays inside this package."""

    def __init__(self, status: int, retry_after: str) -> None:
        super().__init__(status)
        self.status, self.retry_after = status, retry_after


class RpcTransport(Protocol):
    """Carries JSON-RPC to one node. Whatever fails is raised as a typed error, which names the node without secrets."""

    is_here: bool
    """Whether the chain is in this process, so that it answers at once."""

    def exchange(self, method: str, params: Sequence[Any]) -> Any:
        """Make one request; the result as the node gave it. Raises `Unreachable`, `NotAnEthereumEndpoint`,
        `EndpointFailed`, `NodeBusy`; for `CALLS` also `Reverted`."""
        ...

    def close(self) -> None:
        """Let go of connections; the next request opens others."""
        ...


@runtime_checkable
class BatchTransport(RpcTransport, Protocol):
    """Carries batches of JSON-RPC 2.0 (section 6), too."""

    def exchange_some(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> list[object]:
        """Make several requests, each its method and parameters, in one exchange. For each the result, or the error
        that `exchange` raises. Raises the error of the whole, where there are no answers."""
        ...
