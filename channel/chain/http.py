"""A provider of web3 for HTTP endpoints. What web3 and requests find out anew for each request (the parts of the URL,
certificates, the proxies that the environment names) is found out once here: that is most of what a request costs."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

from requests import PreparedRequest, Request, Response, Session, codes
from requests.adapters import HTTPAdapter
from requests.exceptions import ConnectionError as NoConnection
from requests.exceptions import ConnectTimeout, HTTPError
from web3.providers.base import JSONBaseProvider
from web3.types import RPCEndpoint, RPCResponse

__all__ = ["HttpProvider"]

_PAUSES = (0.1, 0.2)
"""Seconds before each further attempt to connect."""
_MOST_KEPT = 64
"""Connections that are kept open: no fewer than there are threads that ask at once."""


class HttpProvider(JSONBaseProvider):
    """Keeps its connections open, for any number of threads; redirections are not followed. What fails is raised as
    requests raises it."""

    def __init__(self, endpoint: str, timeout: float) -> None:
        """`timeout`: seconds for connecting, and for an answer."""
        super().__init__()
        self._endpoint = endpoint
        self._timeout = timeout
        self._adapter = HTTPAdapter(pool_maxsize=_MOST_KEPT)

    def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        """Send one request and wait for its answer."""
        response = self._exchange(self.encode_rpc_request(method, params))
        if response.status_code != codes.ok:
            raise HTTPError(response=response)
        return self.decode_rpc_response(response.content)

    def close(self) -> None:
        """Let go of the connections; the next request makes others."""
        self._adapter.close()

    def _exchange(self, body: bytes) -> Response:
        """A connection that the node has closed meanwhile is no failure, nor is a node that begins again; what was sent
        and not answered in time is not sent again."""
        for pause in _PAUSES:
            try:
                return self._send(body)
            except ConnectTimeout:
                raise
            except NoConnection:
                time.sleep(pause)
        return self._send(body)

    def _send(self, body: bytes) -> Response:
        request = self._blank.copy()
        request.prepare_body(body, None)
        return self._adapter.send(request, timeout=self._timeout, **self._settings)

    @cached_property
    def _blank(self) -> PreparedRequest:
        """A request without a body."""
        headers = {"Content-Type": "application/json"}
        return Session().prepare_request(Request("POST", self._endpoint, headers=headers))

    @cached_property
    def _settings(self) -> dict[str, Any]:
        """Proxies and certificates, as the environment has them."""
        return dict(Session().merge_environment_settings(self._endpoint, {}, stream=False, verify=None, cert=None))
