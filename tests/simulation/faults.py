"""What endpoints do besides answering: a node whose every request may fail, before or after it was carried out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from forcemove.channel.chain.errors import Unreachable
from tests.simulation.node import MemoryNode

__all__ = ["FlakyNode"]


class FlakyNode:
    """Makes a node fail while `flaky` is entered. `often`: how likely it is before a request, and again after it."""

    def __init__(self, node: MemoryNode, random: Random, often: float) -> None:
        self._node, self._random, self._often = node, random, often

    @contextmanager
    def flaky(self) -> Iterator[None]:
        """Within this the node fails; what it raises then costs no test."""
        answer = self._node.ask

        def ask(method: str, *params: Any) -> Any:
            self._may_fail("before")
            answered = answer(method, *params)
            self._may_fail("after")
            return answered

        self._node.ask = ask  # type: ignore[method-assign]
        try:
            yield
        except Unreachable:
            pass
        finally:
            self._node.ask = answer  # type: ignore[method-assign]

    def _may_fail(self, when: str) -> None:
        if self._random.random() < self._often:
            raise Unreachable("memory", when)
