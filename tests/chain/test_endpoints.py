"""Endpoints that are asked side by side."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from forcemove.chain import asking, chain, errors, rpc
from forcemove.chain.chain import Chain, answering, answers, poll
from tests.simulation.chain import MemoryChain


class Endpoint(rpc.Rpc):
    """`number`: of its newest block, None where it is down. `gate`: before that it answers nothing."""

    is_here = False

    def __init__(self, number: int | None, gate: threading.Event | None = None) -> None:
        self.endpoint = "test"
        self._number, self._gate = number, gate

    def ask(self, method: str, *_: Any) -> Any:
        if method == "eth_chainId":
            return 1
        if self._gate is not None:
            self._gate.wait()
        if self._number is None:
            raise errors.Unreachable(self.endpoint, "it is down")
        return self._number


def chains(*endpoints: Endpoint) -> list[Chain]:
    return [MemoryChain(each) for each in endpoints]


def _number(chain: Chain) -> asking.Steps[int]:
    return chain.block_number.steps()


def test_who_hangs_is_not_waited_for_where_another_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "_GRACE", 0.01)
    gate = threading.Event()
    found: list[list[int]] = []
    asked = chains(Endpoint(1, gate), Endpoint(2))
    thread = threading.Thread(target=lambda: found.append(answers(asked, _number)), daemon=True)
    thread.start()
    thread.join(10)
    gate.set()
    assert found == [[2]]


def test_where_an_answer_is_wanted_others_are_waited_for_until_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "_GRACE", 0.0)
    late, never = threading.Event(), threading.Event()
    found: list[list[int]] = []
    asked = chains(Endpoint(1), Endpoint(2, late), Endpoint(3, never))

    def ask() -> None:
        answered, _ = poll(asked, _number, lambda number: number == 2)
        found.append(list(answered.values()))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(0.2)
    late.set()
    thread.join(10)
    never.set()
    assert found == [[1, 2]]


def test_who_is_down_is_left_out() -> None:
    down, *there = chains(Endpoint(None), Endpoint(3), Endpoint(4))
    assert answering([down, *there]) == there


def test_where_nobody_answers_the_first_says_why() -> None:
    with pytest.raises(errors.Unreachable, match="down"):
        answers(chains(Endpoint(None), Endpoint(None)), _number)


def test_where_nobody_answers_in_time_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "_LONGEST", 0.01)
    gate = threading.Event()
    with pytest.raises(errors.Unreachable, match="in time"):
        answers(chains(Endpoint(1, gate)), _number)
    gate.set()
