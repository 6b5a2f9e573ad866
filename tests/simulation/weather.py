"""What an honest player's machine and its endpoint may do to it, as a schedule says: all of it ends in time."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from forcemove.chain.errors import Unreachable
from forcemove.chain.rpc import as_number
from forcemove.store.errors import JournalUnwritable
from forcemove.store.journal import Journal
from tests.simulation.grounds import Ground

__all__ = ["LONGEST_FAULT", "Weather"]

LONGEST_FAULT = 10
"""Ticks: well within a challenge."""
_GWEI = 10**9
_SPIKE = 40
_OFTEN = 0.15
_NOW_AND_THEN = 0.3
_FAULTS = ("down", "flaky", "blind", "late", "nonsense", "full", "slow", "dear")
_NONSENSE: tuple[object, ...] = (None, "0x", "no", -1, True, [], {}, {"hash": "0x"}, [{}], {"number": "0x0"})
_MOST_BEHIND = 4


class Weather:
    """Of one machine. Faults by name: the endpoint is `down`, `flaky` (often), `blind` to logs, `late` by some blocks,
    answers `nonsense` (often); the disk is `full`, or so `slow` that blocks go by; gas is `dear`."""

    def __init__(self, ground: Ground, random: Random) -> None:
        self._ground, self._random = ground, random
        self._until: dict[str, int] = {}
        self._tick, self._behind = 0, 1

    def has(self, fault: str) -> bool:
        return self._until.get(fault, 0) > self._tick

    def change(self) -> None:
        """Begin a fault now and then."""
        self._tick += 1
        if self._random.random() < _OFTEN:
            self._begin(self._random.choice(_FAULTS))
        self._ground.base_fee = _SPIKE * _GWEI if self.has("dear") else _GWEI

    def _begin(self, fault: str) -> None:
        self._until[fault] = self._tick + self._random.randint(1, LONGEST_FAULT)
        self._behind = self._random.randint(1, _MOST_BEHIND)

    def replace_the_endpoint(self) -> None:
        """By one that has seen less, and knows of nothing that waits."""
        for fault in ("down", "flaky", "blind", "nonsense"):
            self._until.pop(fault, None)
        self._begin("late")
        self._ground.forget()

    def calm(self) -> None:
        self._until.clear()
        self._ground.base_fee = _GWEI

    # ----------------------------------------------------------------------------------------------------- the endpoint

    def answer(self, method: str, *params: Any) -> Any:
        if self.has("down") or (self.has("flaky") and self._random.random() < _NOW_AND_THEN):
            raise Unreachable("weather", "bad weather")
        if self.has("nonsense") and self._random.random() < _NOW_AND_THEN:
            return self._random.choice(_NONSENSE)
        if method == "eth_getLogs" and self.has("blind"):
            return []
        return self._late(method, *params) if self.has("late") else self._ground.ask(method, *params)

    def _late(self, method: str, *params: Any) -> Any:
        """As if the newest blocks were not there."""
        shown = max(self._ground.height - self._behind, 0)
        match method, params:
            case "eth_blockNumber", _:
                return hex(shown)
            case "eth_getLogs", (request,):
                last = min(int(request["toBlock"], 16), shown)
                return (
                    []
                    if last < int(request["fromBlock"], 16)
                    else self._ground.ask(method, {**request, "toBlock": hex(last)})
                )
            case "eth_getBlockByNumber", (number, *_) if number.startswith("0x") and int(number, 16) > shown:
                return None
            case "eth_getTransactionReceipt", _:
                found = self._ground.ask(method, *params)
                return None if found is None or as_number(found["blockNumber"]) > shown else found
            case _:
                back = [hex(shown) if each in ("latest", "pending") else each for each in params]
                return self._ground.ask(method, *back)

    # --------------------------------------------------------------------------------------------------------- the disk

    def over(self, journal: Journal, pass_time: Callable[[], None]) -> None:
        """Let the disk of this journal be as bad as the schedule says."""

        def worsened(commit: Callable[..., Any]) -> Callable[..., Any]:
            def committing(*arguments: Any) -> Any:
                if self.has("full"):
                    raise JournalUnwritable(journal.where, "disk full")
                if self.has("slow"):
                    pass_time()
                return commit(*arguments)

            return committing

        journal.commit = worsened(journal.commit)  # type: ignore[method-assign]
        journal.transactions.commit = worsened(journal.transactions.commit)  # type: ignore[method-assign]
