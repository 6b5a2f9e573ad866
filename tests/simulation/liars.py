"""Endpoints of a node in this process that lie: what they may tell, and one that tells something else each time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from forcemove.channel.chain.errors import Unreachable
from tests.liars.lies import LIES, MONEY, Lie, Lies
from tests.liars.misbehaviour import MISBEHAVIOUR
from tests.liars.proxy import Ask, Misbehaves, Tell

__all__ = ["TOLD", "Fickle", "telling"]

_NO_ANSWER = tuple(f": {each}" for each in MISBEHAVIOUR if each != "closed")
_OTHERS = {name: lie for name, lie in LIES.items() if not name.endswith(_NO_ANSWER)}
TOLD: Mapping[str, Lie | Lies] = {**MONEY, **_OTHERS}
"""Those for money first. What is done to a connection is all the same here."""


class Fickle:
    """Tells some lies until the next `change`, then others, and sometimes the truth; the truth before the first."""

    def __init__(self, random: Random) -> None:
        self._random, self._now = random, Lies(())

    def change(self) -> None:
        """Other lies from now on."""
        names = self._random.choices(self._random.choice((tuple(TOLD), tuple(MONEY))), k=self._random.randint(0, 3))
        told = [TOLD[each] for each in names]
        self._now = Lies(tuple(lie for each in told for lie in (each.told if isinstance(each, Lies) else (each,))))

    def be_honest(self) -> None:
        """From now on."""
        self._now = Lies(())

    def __call__(self, ask: Ask, method: str, *params: Any) -> Any:
        return self._now(ask, method, *params)


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
