"""One thread asks an endpoint all that a process wants of it."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from forcemove.chain import worker as module
from forcemove.chain.asking import Steps, ask, together
from forcemove.chain.errors import EndpointFailed, EndpointHangs, NotAnEthereumEndpoint
from forcemove.chain.rpc import Rpc
from forcemove.chain.task_queue import Priority
from forcemove.chain.worker import EndpointWorker, wait_for, waiting_for


class Endpoint(Rpc):
    """Answers each method with its own name, once the gate is open. `asked`: all methods, in their order."""

    is_here = False

    def __init__(self) -> None:
        self.endpoint, self.asked = "test", list[str]()
        self.gate, self.threads = threading.Event(), set[threading.Thread]()
        self.began = threading.Semaphore(0)

    def ask(self, method: str, *_: Any) -> Any:
        self.asked.append(method)
        self.threads.add(threading.current_thread())
        self.began.release()
        self.gate.wait()
        if method == "fails":
            raise EndpointFailed(method, "no")
        return method


def begun() -> tuple[Endpoint, EndpointWorker]:
    endpoint = Endpoint()
    return endpoint, EndpointWorker(SimpleNamespace(rpc=endpoint))


def asking(*methods: str) -> Steps[list[str]]:
    found = []
    for each in methods:
        found.append((yield from ask(each)))
    return found


def test_the_result_is_in_the_future() -> None:
    endpoint, worker = begun()
    endpoint.gate.set()
    assert worker.begin(asking("a", "b")).result(10) == ["a", "b"]
    with pytest.raises(EndpointFailed):
        worker.begin(asking("a", "fails", "b")).result(10)
    assert endpoint.asked == ["a", "b", "a", "fails"]


def test_what_makes_no_sense_is_the_endpoints_failure() -> None:
    endpoint, worker = begun()
    endpoint.gate.set()

    def odd() -> Steps[int]:
        return int((yield from ask("no number")))

    with pytest.raises(NotAnEthereumEndpoint):
        worker.begin(odd()).result(10)


def test_what_is_urgent_goes_between_the_questions_of_what_is_not() -> None:
    endpoint, worker = begun()
    later = worker.begin(asking("old 1", "old 2", "old 3"), Priority.CATCH_UP)
    assert endpoint.began.acquire(timeout=10)  # the first question is on its way
    settled = worker.begin(asking("settle"), Priority.SETTLE)
    defended = worker.begin(asking("defend 1", "defend 2"), Priority.DEFEND)
    endpoint.gate.set()
    for each in (later, settled, defended):
        each.result(10)
    assert endpoint.asked == ["old 1", "defend 1", "defend 2", "settle", "old 2", "old 3"]
    assert len(endpoint.threads) == 1


def test_those_of_one_urgency_take_turns() -> None:
    endpoint, worker = begun()
    first = worker.begin(asking("a1", "a2", "a3"))
    assert endpoint.began.acquire(timeout=10)
    second = worker.begin(asking("b1", "b2"))
    endpoint.gate.set()
    first.result(10), second.result(10)
    assert endpoint.asked == ["a1", "b1", "a2", "b2", "a3"]


def test_what_several_ask_is_asked_once() -> None:
    endpoint, worker = begun()
    first = worker.begin(asking("gate"))
    assert endpoint.began.acquire(timeout=10)
    others = [worker.begin(asking("same", "own")) for _ in range(5)]
    endpoint.gate.set()
    assert [each.result(10) for each in (first, *others)] == [["gate"], *[["same", "own"]] * 5]
    assert endpoint.asked == ["gate", "same", "own"]


def test_who_is_cancelled_asks_no_further_question() -> None:
    endpoint, worker = begun()
    ended: list[str] = []

    def closed() -> Steps[None]:
        try:
            yield from ask("a")
            yield from ask("b")
        finally:
            ended.append("closed")

    asked = worker.begin(closed())
    assert endpoint.began.acquire(timeout=10)
    assert asked.cancel()
    endpoint.gate.set()
    worker.begin(asking("c")).result(10)
    assert (endpoint.asked, ended) == (["a", "c"], ["closed"])


def test_who_is_cancelled_between_questions_that_go_together_asks_no_more_of_them() -> None:
    """Else a slow endpoint is asked in vain, and what comes after it waits."""
    endpoint, worker = begun()
    asked = worker.begin(together(map(ask, ("first", "second", "third"))))
    assert endpoint.began.acquire(timeout=10)
    assert asked.cancel()
    other = worker.begin(asking("other"))
    endpoint.gate.set()
    assert other.result(10) == ["other"]
    assert endpoint.asked == ["first", "other"]


def test_a_thread_that_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint, worker = begun()
    clock = SimpleNamespace(monotonic=time.monotonic)
    monkeypatch.setattr(module, "time", clock)
    hanging = worker.begin(asking("a", "b"))
    assert endpoint.began.acquire(timeout=10)
    clock.monotonic = lambda: time.monotonic() + 61
    other = worker.begin(asking("c"))
    assert endpoint.began.acquire(timeout=10)
    endpoint.gate.set()
    assert (other.result(10), hanging.result(10)) == (["c"], ["a", "b"])
    assert len(endpoint.threads) == 2


def test_threat_46_a_look_finds_that_its_endpoint_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up; the next one is asked by another thread."""
    endpoint, worker = begun()
    clock = SimpleNamespace(monotonic=time.monotonic)
    monkeypatch.setattr(module, "time", clock)
    look = waiting_for(worker, asking("a", "b"))
    (hanging,) = next(look)
    assert endpoint.began.acquire(timeout=10)
    assert next(look) == (hanging,)
    clock.monotonic = lambda: time.monotonic() + 61
    with pytest.raises(EndpointHangs):
        next(look)
    assert hanging.cancelled()
    other = worker.begin(asking("c"))
    assert endpoint.began.acquire(timeout=10)
    endpoint.gate.set()
    assert other.result(10) == ["c"]
    assert endpoint.asked == ["a", "c"]


def test_what_was_given_up_is_forgotten_where_no_other_thread_may_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_HANGING", 0)
    endpoint, worker = begun()
    clock = SimpleNamespace(monotonic=time.monotonic)
    monkeypatch.setattr(module, "time", clock)
    worker.begin(asking("a"))
    assert endpoint.began.acquire(timeout=10)
    clock.monotonic = lambda: time.monotonic() + 61
    for _ in range(20):
        with pytest.raises(EndpointHangs):
            next(waiting_for(worker, asking("b")))
    assert len(worker._tasks) <= 2
    endpoint.gate.set()


def test_a_look_that_is_closed_asks_no_more() -> None:
    endpoint, worker = begun()
    look = waiting_for(worker, asking("a", "b"))
    next(look)
    assert endpoint.began.acquire(timeout=10)
    look.close()
    endpoint.gate.set()
    assert wait_for(waiting_for(worker, asking("c"))) == ["c"]
    assert endpoint.asked == ["a", "c"]


def test_what_is_not_urgent_is_asked_all_the_same() -> None:
    """However much is urgent."""
    endpoint, worker = begun()
    first = worker.begin(asking("first"))
    assert endpoint.began.acquire(timeout=10)
    urgent = [worker.begin(asking(*(f"{number}" for _ in range(20))), Priority.DEFEND) for number in range(2)]
    later = worker.begin(asking("old"), Priority.CATCH_UP)
    endpoint.gate.set()
    for each in (first, *urgent, later):
        each.result(10)
    assert 10 < endpoint.asked.index("old") < 30


def test_what_is_urgent_goes_between_what_is_asked_together() -> None:
    endpoint, worker = begun()
    old = worker.begin(together([asking("old 1"), asking("old 2"), asking("old 3")]), Priority.CATCH_UP)
    assert endpoint.began.acquire(timeout=10)
    urgent, same = worker.begin(asking("urgent"), Priority.DEFEND), worker.begin(asking("same"), Priority.CATCH_UP)
    endpoint.gate.set()
    for each in (old, urgent, same):
        each.result(10)
    assert endpoint.asked == ["old 1", "urgent", "old 2", "old 3", "same"]


def test_a_chain_of_this_process_is_asked_at_once_in_the_same_thread() -> None:
    endpoint, worker = begun()
    endpoint.gate.set()
    endpoint.is_here = True
    assert worker.begin(asking("a", "b")).done()
    assert endpoint.threads == {threading.current_thread()}
    with pytest.raises(EndpointFailed):
        worker.begin(asking("fails")).result(0)


def test_parts_that_are_asked_together_fail_alone() -> None:
    endpoint, worker = begun()
    endpoint.gate.set()
    found = worker.begin(together([asking("a", "b"), asking("fails"), asking("c")])).result(10)
    assert found[0] == ["a", "b"]
    assert isinstance(found[1], EndpointFailed)
    assert found[2] == ["c"]
