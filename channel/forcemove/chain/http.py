"""Connections to HTTP endpoints. requests finds some values out again for each request (the parts of the URL,
certificates, the proxies that the environment names). Here it finds them out once, and urllib3 alone carries what is
asked then: that is most of what a request costs.

An answer ends at the deadline and has a limited size, in whatever pieces it comes: each piece is read in the time that
is left for all of them. Names are looked up by the system, in its own time.
"""

from __future__ import annotations

import io
import os
import time
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from requests import Request, Session
from requests.adapters import HTTPAdapter
from requests.exceptions import ConnectionError as NoConnection
from requests.exceptions import InvalidURL
from urllib3.exceptions import HTTPError as ConnectionFault
from urllib3.exceptions import NewConnectionError as NotConnected
from urllib3.exceptions import TimeoutError as TooLate

from forcemove.backoff import Backoff
from forcemove.chain.endpoint_name import shown_endpoint
from forcemove.chain.errors import Unreachable
from forcemove.chain.json_rpc import answer_in
from forcemove.chain.limits import MAX_ANSWER, AnswerTooLarge, most_seconds, require_time, seconds_left
from forcemove.chain.sockets import connected
from forcemove.connecting import CERTIFICATES_VARIABLE
from forcemove.errors import MalformedBytes

if TYPE_CHECKING:
    import socket

    from urllib3 import BaseHTTPResponse, HTTPConnectionPool

_ATTEMPTS = 3
_PAUSE, _LONGEST_PAUSE = 0.1, 0.2
"""Seconds before another attempt to connect, at first and at last."""
_MOST_KEPT = 64
"""Connections that are kept open: no fewer than there are threads that ask at once."""


_PIECE = 2**16
"""Bytes that are read at once."""


class HttpConnections:
    """A `RpcConnection` that keeps some open, for any number of threads; follows no redirection, unpacks no compressed
    answer."""

    def __init__(self, endpoint: str, timeout: float) -> None:
        """`timeout`: seconds for a request, from connecting to the last byte of its answer."""
        self._endpoint = endpoint
        self._timeout = timeout
        self._adapter = HTTPAdapter(pool_maxsize=_MOST_KEPT)

    def ask(self, body: bytes, _: int | None, /) -> Any:
        """See `RpcConnection`."""
        with most_seconds(self._timeout):
            response = self._exchange(body)
            try:
                return answer_in(response.status, _body(response), response.headers.get("Retry-After", ""))
            except BaseException:
                response.close()  # closes the connection: the rest of the answer is still on it
                raise

    def close(self) -> None:
        """See `RpcConnection`."""
        self.__dict__.pop("_way", None)
        self._adapter.close()

    def _exchange(self, body: bytes) -> BaseHTTPResponse:
        """Send a request and read the answer, once more where the node has closed the connection meanwhile or restarts.
        A request that was not answered in time is not sent again."""
        pauses = Backoff(_PAUSE, _LONGEST_PAUSE)
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._send(body)
            except NoConnection:
                pause = pauses.next_pause()
                if seconds_left() <= pause:
                    raise
                time.sleep(pause)
        return self._send(body)

    def _send(self, body: bytes) -> BaseHTTPResponse:
        try:
            pool, target, headers = self._way
        except InvalidURL:
            raise Unreachable(shown_endpoint(self._endpoint), "that is not an address of a node") from None
        try:
            return pool.urlopen(
                "POST",
                target,
                body,
                headers,
                retries=False,
                redirect=False,
                assert_same_host=False,
                timeout=require_time(),
                preload_content=False,
                decode_content=False,
            )
        except (ConnectionFault, OSError) as failure:
            if isinstance(failure, TooLate) and not isinstance(failure, NotConnected):  # which urllib3 takes for late
                raise TimeoutError from failure
            raise NoConnection(failure) from None

    @cached_property
    def _way(self) -> tuple[HTTPConnectionPool, str, dict[str, str]]:
        """The connections, and the target and headers of each request."""
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        blank = Session().prepare_request(Request("POST", self._endpoint, headers=headers))
        del blank.headers["Content-Length"]
        proxies, verify, cert = self._settings()
        pool = self._adapter.get_connection_with_tls_context(blank, verify, proxies, cert)
        pool.ConnectionCls = _bounded(pool.ConnectionCls)
        self._adapter.cert_verify(pool, self._endpoint, verify, cert)
        return pool, self._adapter.request_url(blank, proxies), {**cast("dict[str, str]", blank.headers)}

    def _settings(self) -> tuple[Any, Any, Any]:
        """Proxies and certificates (those that are trusted, and our own), as the environment has them. Of certificates
        requests has variables of its own, and takes no notice of the one that everything else here goes by."""
        settings = Session().merge_environment_settings(self._endpoint, {}, stream=True, verify=None, cert=None)
        named = os.environ.get(CERTIFICATES_VARIABLE, "")
        if settings["verify"] is True and Path(named).is_file():
            settings["verify"] = named
        return settings["proxies"], settings["verify"], settings["cert"]


def _body(response: BaseHTTPResponse) -> bytes:
    """Raises `AnswerTooLarge`, `MalformedBytes`."""
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise MalformedBytes("answer", "it is packed, which nobody asked for")
    pieces, size = [], 0
    while piece := _piece(response):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_ANSWER:
            raise AnswerTooLarge
    return b"".join(pieces)


def _piece(response: BaseHTTPResponse) -> bytes:
    """The next piece of an answer: not by requests' own method, which reads the lengths of chunks without a limit."""
    try:
        return bytes(response.read(_PIECE))
    except Exception as failure:
        raise NoConnection(failure) from None


# -------------------------------------------------------------------- reading in the time that is left for all of it


class _Reading(io.RawIOBase):
    """The bytes from a socket: each piece is read in the time that is left."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._source = connected.makefile("rb", buffering=0)  # the socket stays open as long as this does

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(require_time())
        return self._source.readinto(buffer)

    def close(self) -> None:
        self._source.close()
        super().close()


class _Socket:
    """A connected socket that is read in the time that is left. All other methods are the socket's own."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def makefile(self, *_: object, **__: object) -> io.BufferedReader:
        """A file to read a response from."""
        return io.BufferedReader(_Reading(self._socket))

    def sendall(self, data: Any) -> None:
        """Send a request."""
        self._socket.settimeout(require_time())
        self._socket.sendall(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)


@cache
def _bounded(connection: Any) -> Any:
    """The same kind of connection, made and read in the time that is left."""

    def new_connection(self: Any) -> socket.socket:
        made = connected(self.host, self.port)
        made.settimeout(self.timeout)  # for TLS
        for option in self.socket_options or ():
            made.setsockopt(*option)
        return made

    def connect(self: Any) -> None:
        connection.connect(self)
        self.sock = _Socket(self.sock)

    return type(connection.__name__, (connection,), {"connect": connect, "_new_conn": new_connection})
