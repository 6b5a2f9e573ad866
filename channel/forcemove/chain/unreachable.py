"""Why there is no answer from an endpoint, in words, whatever library was to fetch it."""

from __future__ import annotations

from http.client import RemoteDisconnected
from ssl import SSLError

from forcemove.chain.errors import TlsFailed, Unreachable
from forcemove.connecting import connection_words


def unreachable(endpoint: str, failure: OSError) -> Unreachable:
    """The error of an endpoint that gives no answer. Names no URL but the endpoint's.

    - `endpoint`: as it may be shown.
    - `failure`: what a library has raised; the innermost reason counts.
    """
    cause = _cause(failure)
    if isinstance(cause, SSLError):
        return TlsFailed(endpoint, connection_words(cause))
    if isinstance(cause, TimeoutError):
        return Unreachable(endpoint, "it did not answer in time")
    if isinstance(cause, RemoteDisconnected | EOFError):
        return Unreachable(endpoint, "it ended the connection before it answered")
    return Unreachable(endpoint, connection_words(cause) if isinstance(cause, OSError) else type(cause).__name__)


def _cause(failure: BaseException) -> BaseException:
    """The innermost reason."""
    innermost, seen = failure, {id(failure)}
    while (deeper := _deeper(innermost)) is not None and id(deeper) not in seen:
        innermost = deeper
        seen.add(id(deeper))
    return innermost


def _deeper(failure: BaseException) -> BaseException | None:
    if isinstance(failure, TimeoutError):  # whatever a library has waited for
        return None
    nested = (vars(failure).get("reason"), *failure.args, failure.__cause__, failure.__context__)
    return next((each for each in nested if isinstance(each, BaseException)), None)
