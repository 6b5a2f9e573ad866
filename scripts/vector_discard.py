"""The golden vectors of Discard: a whole hand, and changed words with the error that each is refused with. See
`scripts/vectors.py`; the gas of disputes is measured for a hand of the same label."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

from msgspec.structs import replace

from forcemove import AppError, VariablePart, address_destination
from forcemove.testing.calls import ID
from forcemove_games.discard.position import decode
from forcemove_games.discard.rules import require_legal
from scripts.measuring.discard_hands import LABEL
from scripts.vector_values import KEYS, hex_, state_to_json
from tests.games.discard.dealer import Dealer, begin, draw_first

__all__ = ["discard_vectors"]

_CHANGES = 3
"""How many words of each state are changed."""


def discard_vectors() -> dict[str, Any]:
    """Everything of `contracts/discard-vectors.json`."""
    dealer = Dealer(LABEL)
    states = dealer.play(draw_first, _begin())
    return {
        "version": 2,
        "channelId": hex_(ID),
        "secrets": [hex_(dealer.secret(0, seat).to_bytes(32, "big")) for seat in range(2)],
        "states": [{"type": decode(state.app_data).position_type.label} | state_to_json(state) for state in states],
        "refusals": list(_refusals(states)),
    }


def _begin() -> VariablePart:
    first = begin(ID)
    paid = tuple(
        replace(allocation, destination=address_destination(key.address))
        for allocation, key in zip(first.outcome, KEYS[:2], strict=True)
    )
    return replace(first, outcome=paid)


def _refusals(states: list[VariablePart]) -> Iterator[dict[str, Any]]:
    """Moves to states of the hand with one word of appData or evidence changed. `state`: the number of the changed
    one. `word`: in its appData, or, as if it followed there, in its evidence."""
    chance = Random(LABEL)  # noqa: S311  # nothing secret
    for number, (from_, to) in enumerate(pairwise(states), 1):
        data, length = to.app_data + to.evidence, len(to.app_data)
        for word in sorted(chance.sample(range(len(data) // 32), _CHANGES)):
            value = bytearray(data[32 * word : 32 * word + 32])
            value[31] ^= 1
            changed = data[: 32 * word] + bytes(value) + data[32 * word + 32 :]
            found = _refusal(from_, replace(to, app_data=changed[:length], evidence=changed[length:]))
            yield {"state": number, "word": word, "value": hex_(bytes(value)), **found}


def _refusal(from_: VariablePart, to: VariablePart) -> dict[str, Any]:
    """The error's name, null where there is none, and its values as words."""
    try:
        require_legal(ID, from_, to, 2)
    except AppError as error:
        return {"error": type(error).__name__, "values": [_word(value) for value in error.values().values()]}
    return {"error": None, "values": []}


def _word(value: Any) -> str:
    return hex_(value if isinstance(value, bytes) else value.to_bytes(32, "big"))
