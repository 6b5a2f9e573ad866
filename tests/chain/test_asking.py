"""What drives functions that yield questions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from forcemove.chain.asking import Steps, ask, together
from forcemove.chain.errors import Unreachable
from forcemove.chain.rpc import Rpc
from forcemove.chain.worker import EndpointWorker
from forcemove.errors import ForcemoveError


class Slow(Rpc):
    """Answers each request with its number, a second later."""

    def __init__(self) -> None:
        self.endpoint, self.time = "slow", 0.0

    def ask(self, method: str, *params: Any) -> Any:
        self.time += 1
        if method == "fail":
            raise Unreachable("slow", "it is away")
        return int(self.time)


def ask_until(rpc: Slow, steps: Steps[str], seconds: float) -> str | None:
    return EndpointWorker(SimpleNamespace(rpc=rpc)).begin(steps, is_over=lambda: rpc.time >= seconds).result(0)


def one_after_the_other(count: int, kept: list[object]) -> Steps[str]:
    for _ in range(count):
        kept.append((yield from ask("count")))
    return "done"


def side_by_side(count: int, kept: list[object]) -> Steps[str]:
    found = yield from together(ask("count") for _ in range(count))
    kept.extend(each for each in found if not isinstance(each, ForcemoveError))
    for each in found:
        if isinstance(each, ForcemoveError):
            raise each
    return "done"


@pytest.mark.parametrize("steps", [one_after_the_other, side_by_side])
@pytest.mark.parametrize(("seconds", "answered"), [(-1.0, 1), (0.0, 1), (2.5, 3), (3.0, 3), (10.0, 5)])
def test_what_is_asked_within_a_time_is_closed_when_it_is_over(steps: Any, seconds: float, answered: int) -> None:
    """What was answered by then is kept, and at least one answer is."""
    rpc, kept = Slow(), list[object]()
    found = ask_until(rpc, steps(5, kept), seconds)
    assert kept == list(range(1, answered + 1))
    assert found == ("done" if answered == 5 else None)


def test_what_fails_within_the_time_fails() -> None:
    rpc = Slow()
    with pytest.raises(Unreachable, match="away"):
        ask_until(rpc, ask("fail"), 5.0)
