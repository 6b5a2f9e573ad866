"""What endpoints do besides answering: requests that fail, before or after they were carried out; logs that are left
out, blocks that are shown late, answers that make no sense."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from forcemove.chain.errors import Unreachable
from forcemove.chain.rpc import Rpc
from tests.simulation.node import MemoryNode

__all__ = ["Endpoint", "FlakyNode"]


class Endpoint(Rpc):
    """A node as one endpoint shows it. `counts`: its requests, by method. `answer`: what it makes of a request, for a
    test to replace; it is given the node's own way to answer."""

    def __init__(self, node: MemoryNode, name: str = "memory") -> None:
        self.endpoint, self.node = name, node
        self.counts: Counter[str] = Counter()
        self.answer: Callable[..., Any] = node.ask

    def ask(self, method: str, *params: Any) -> Any:
        self.counts[method] += 1
        return self.answer(method, *params)

    def replace(self, method: str, made_of: Callable[[Any], Any]) -> None:
        """Answer this method with what is made of the true answer."""
        before = self.answer

        def answer(asked: str, *params: Any) -> Any:
            found = before(asked, *params)
            return made_of(found) if asked == method else found

        self.answer = answer

    def stay_at(self, height: int, *, forks: bool = False) -> None:
        """Show no block after `height`; `forks`: the newer blocks are others, with nothing in them."""

        def answer(method: str, *params: Any) -> Any:
            match method, params:
                case "eth_blockNumber", _:
                    return hex(len(self.node.blocks) - 1 if forks else height)
                case "eth_getLogs", (request,):
                    last = min(int(request["toBlock"], 16), height)
                    return self.node.ask(method, {**request, "toBlock": hex(last)})
                case "eth_getBlockByNumber", (asked, *_):
                    return self._block(asked, height, forks=forks)
                case "eth_call", (request, at):
                    is_later = at in ("latest", "pending") or int(at, 16) > height
                    return self.node.ask(method, request, hex(height) if is_later else at)
                case _:
                    return self.node.ask(method, *params)

        self.answer = answer

    def _block(self, asked: str, height: int, *, forks: bool) -> Any:
        found = self.node.ask("eth_getBlockByNumber", asked, False)
        if found is None or found["number"] <= height or asked == "pending":
            return found
        if forks:
            return {**found, "hash": bytes(31) + b"\x01", "parentHash": bytes(32)}
        return self.node.ask("eth_getBlockByNumber", hex(height), False) if asked == "latest" else None

    def be_honest(self) -> None:
        """Answer as the node does."""
        self.answer = self.node.ask


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
