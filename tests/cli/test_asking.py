"""Endpoints that are asked side by side."""

from __future__ import annotations

import threading
from typing import cast

import pytest

from forcemove.chain.chain import Chain
from forcemove.chain.errors import Unreachable
from forcemove.chain.rpc import Rpc
from forcemove.tables import asking
from forcemove.tables.asking import answering, answers


class Endpoint(Rpc):
    """`number`: of its newest block, None where it is down. `gate`: before that it answers nothing."""

    def __init__(self, number: int | None, gate: threading.Event | None = None) -> None:
        self.endpoint, self.rpc = "test", self
        self._number, self._gate = number, gate

    def block_number(self) -> int:
        if self._gate is not None:
            self._gate.wait()
        if self._number is None:
            raise Unreachable(self.endpoint, "it is down")
        return self._number


def chains(*endpoints: Endpoint) -> list[Chain]:
    return [cast("Chain", each) for each in endpoints]


def _number(chain: Chain) -> int:
    return chain.block_number()


def test_who_hangs_is_not_waited_for_where_another_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_GRACE", 0.01)
    gate = threading.Event()
    hanging, honest = Endpoint(1, gate), Endpoint(2)
    found: list[list[int]] = []
    thread = threading.Thread(target=lambda: found.append(answers(chains(hanging, honest), _number)), daemon=True)
    thread.start()
    thread.join(10)
    gate.set()
    assert found == [[2]]


def test_who_is_down_is_left_out() -> None:
    down, *there = chains(Endpoint(None), Endpoint(3), Endpoint(4))
    assert answering([down, *there]) == there


def test_where_nobody_answers_the_first_says_why() -> None:
    with pytest.raises(Unreachable, match="down"):
        answers(chains(Endpoint(None), Endpoint(None)), _number)
