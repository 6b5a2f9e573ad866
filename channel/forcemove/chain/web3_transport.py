"""Carries requests to a chain in this process, through web3's provider for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from forcemove.chain.endpoint_name import MOST_WORDS, EndpointName
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.refusals import refused
from forcemove.chain.reverts import revert_data
from forcemove.chain.transport import CALLS, Reverted
from forcemove.errors import ForcemoveError
from forcemove.recursion_limit import keeping_recursion_limit

if TYPE_CHECKING:
    from web3.providers.base import BaseProvider
    from web3.types import RPCEndpoint

__all__ = ["Web3Transport"]


class Web3Transport:
    """A `RpcTransport` over a provider of web3."""

    is_here = True

    def __init__(self, provider: BaseProvider, name: str) -> None:
        """`name`: of the chain, in errors."""
        with keeping_recursion_limit():
            from web3 import Web3

        # Its middleware would ask for the chain's id before each call, and check what we check.
        self._manager, self._name = Web3(provider, middleware=[]).manager, EndpointName(name)

    def exchange(self, method: str, params: Sequence[Any]) -> Any:
        """See `RpcTransport`."""
        try:
            return self._manager.request_blocking(cast("RPCEndpoint", method), list(params))
        except Exception as failure:
            raise self._typed(method, failure) from None

    def close(self) -> None:
        """See `RpcTransport`: the chain ends with this process."""

    def _typed(self, method: str, failure: Exception) -> Reverted | ForcemoveError:
        """A chain in this process refuses by exceptions of its own."""
        if method in CALLS and (data := revert_data(failure)) is not None:
            return Reverted(data)
        response = getattr(failure, "rpc_response", None)
        if isinstance(response, Mapping):
            return refused(self._name, method, response.get("error"))
        return EndpointFailed(method, str(failure)[:MOST_WORDS] or type(failure).__name__)
