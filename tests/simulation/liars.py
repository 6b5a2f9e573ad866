"""Endpoints of a node in this process that lie: what they may tell, and some that tell something else each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count, repeat
from random import Random
from typing import Any

from forcemove.chain.errors import Unreachable
from tests.liars.lies import LIES, MONEY, Lie, Lies
from tests.liars.misbehaviour import MISBEHAVIOUR
from tests.liars.proxy import Ask, Misbehaves, Tell

__all__ = ["TOLD", "Fickle", "Moody", "Restless", "telling"]

_NO_ANSWER = tuple(f": {each}" for each in MISBEHAVIOUR if each != "closed")
_OTHERS = {name: lie for name, lie in LIES.items() if not name.endswith(_NO_ANSWER)}
TOLD: Mapping[str, Lie | Lies] = {**MONEY, **_OTHERS}
"""Those for money first. What is done to a connection is all the same here."""


class Fickle:
    """Tells some lies until the next `change`, then others, and sometimes the truth; the truth before the first."""

    def __init__(self, random: Random, told: Mapping[str, Lie | Lies] = TOLD) -> None:
        """`told`: what it may tell, those for money among it."""
        self._random, self._told, self._now = random, told, Lies(())

    def change(self) -> None:
        """Other lies from now on."""
        names = self._random.choices(
            self._random.choice((tuple(self._told), tuple(MONEY))), k=self._random.randint(0, 3)
        )
        told = [self._told[each] for each in names]
        self._now = Lies(tuple(lie for each in told for lie in (each.told if isinstance(each, Lies) else (each,))))

    def be_honest(self) -> None:
        """From now on."""
        self._now = Lies(())

    def __call__(self, ask: Ask, method: str, *params: Any) -> Any:
        return self._now(ask, method, *params)


class Restless(Fickle):
    """Over HTTP: changes its lies by itself after each this many requests; some of them are done to a connection."""

    def __init__(self, random: Random, every: int) -> None:
        super().__init__(random, LIES)
        self._every = every
        self._numbers: Iterator[int] = count(1)

    def be_honest(self) -> None:
        self._numbers = repeat(1)
        super().be_honest()

    def __call__(self, ask: Ask, method: str, *params: Any) -> Any:
        if next(self._numbers) % self._every == 0:
            self.change()
        return super().__call__(ask, method, *params)


class Moody(Fickle):
    """Over HTTP: after each `change` it lies for this many requests, and is honest again."""

    def __init__(self, random: Random, lasting: int) -> None:
        super().__init__(random, LIES)
        self._lasting = lasting
        self._left: Iterator[int] = iter(())

    def change(self) -> None:
        super().change()
        self._left = iter(range(self._lasting))

    def __call__(self, ask: Ask, method: str, *params: Any) -> Any:
        if next(self._left, None) is None:
            self.be_honest()
        return super().__call__(ask, method, *params)


def telling(ask: Ask, tell: Tell) -> Callable[..., Any]:
    """What a liar answers before a node that answers with `ask`. One that stumbles over its own words says nothing."""

    def in_words(method: str, *params: Any) -> Any:
        return _in_words(ask(method, *params))

    def answer(method: str, *params: Any) -> Any:
        try:
            told = tell(in_words, method, *params)
        except Misbehaves:
            raise Unreachable("liar", "it misbehaves") from None
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise Unreachable("liar", str(error)) from None
        return None if told is ... else told

    return answer


def _in_words(answer: Any) -> Any:
    """JSON's: liars know no others."""
    match answer:
        case bool() | None:
            return answer
        case int():
            return hex(answer)
        case bytes():
            return "0x" + answer.hex()
        case Mapping():
            return {name: _in_words(each) for name, each in answer.items()}
        case list() | tuple():
            return [_in_words(each) for each in answer]
        case _:
            return answer
