"""Limits of a request to a node: time, bytes, depth. Knows neither a node nor a library for one.

A deadline belongs to its thread: all requests within it share the seconds that are left. A timeout for each read would
be none: an answer that comes a byte at a time never meets it.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

from forcemove.errors import MalformedBytes
from forcemove.protocol.codec.json_text import require_shallow

REQUEST_SECONDS = 10.0
"""Seconds for one request, from connecting to the last byte. While one endpoint is waited for no other is asked, and
challenges may last for no more than a minute."""
MAX_ANSWER = 16 * 2**20
"""Bytes of an answer."""
_MOST_VALUES = 2**19
"""JSON values in an answer: a few bytes of JSON become a hundred of memory. 16 MiB of logs are some 300,000."""

_FIRST_INTERVAL, _LONGEST_INTERVAL, _ANSWERS_IN_A_ROW = 0.05, 0.2, 20
"""Seconds from one request to the next, after the first refusal and at most; after how many answers the rate rises."""


class AnswerTooLarge(Exception):
    """The answer is larger than allowed. Stays inside this package: a smaller range may be asked for."""


class RequestRate:
    """How often an endpoint may be asked, learned from its refusals; all threads that ask it share this. Each refusal
    halves the rate, at most one in each pause; each twenty answers in a row raise it again by a quarter."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._interval, self._next, self._refused_until = 0.0, 0.0, 0.0
        self._answers = 0

    @property
    def most_at_once(self) -> int:
        """How many requests may go out together: those of a second."""
        return max(int(1 / self._interval), 1) if self._interval else _MOST_VALUES

    def take_turn(self, now: float, longest: float, count: int = 1) -> float | None:
        """The seconds until the endpoint may be asked; the caller makes `count` requests then. None where it would have
        to wait for more than `longest`. `now`: monotonic seconds, here and below."""
        with self._lock:
            wait = max(self._next - now, 0.0)
            if wait > longest:
                return None
            self._next = now + wait + count * self._interval
            return wait

    def on_refused(self, now: float, seconds: float) -> None:
        """The endpoint has refused a request, and asks for a pause of `seconds`."""
        with self._lock:
            if now >= self._refused_until:
                self._interval = min(max(2 * self._interval, _FIRST_INTERVAL), _LONGEST_INTERVAL)
            self._refused_until, self._answers = now + seconds, 0
            self._next = max(self._next, now + seconds)

    def on_answered(self) -> None:
        """The endpoint has answered."""
        with self._lock:
            self._answers += 1
            if self._answers % _ANSWERS_IN_A_ROW == 0:
                faster = self._interval * 0.8
                self._interval = faster if faster >= _FIRST_INTERVAL else 0.0


class _Deadline(threading.local):
    at: float = inf


_deadline = _Deadline()


@contextmanager
def most_seconds(seconds: float) -> Iterator[None]:
    """Limit what this thread does within the block to this many seconds, or to an outer block's where these are
    fewer."""
    outer = _deadline.at
    _deadline.at = min(outer, time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.at = outer


def seconds_left() -> float:
    """Until the deadline of this thread; 0 or less when it is over."""
    return _deadline.at - time.monotonic()


def require_time() -> float:
    """The seconds that are left until the deadline of this thread. Raises `TimeoutError` where none are."""
    left = seconds_left()
    if left <= 0:
        raise TimeoutError
    return left


def parse_answer(data: bytes) -> dict[str, Any]:
    """The object that a JSON-RPC answer is. Raises `MalformedBytes`, `AnswerTooLarge`."""
    answer = parse_json(data)
    if not isinstance(answer, dict):
        raise MalformedBytes("answer", "it is not JSON-RPC")
    return answer


def parse_json(data: bytes) -> Any:
    """What an answer holds, which is an array where a batch was asked for. Raises as `parse_answer`."""
    if data.count(b",") + data.count(b"{") + data.count(b"[") > _MOST_VALUES:
        raise AnswerTooLarge
    require_shallow(data, "answer")
    try:
        return json.loads(data)
    except ValueError:  # not JSON, not UTF-8, or a number with thousands of digits
        raise MalformedBytes("answer", "it is not JSON-RPC") from None
