"""The heap as a picture: a page makes a button of each spot in it."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove import Spot, Svg
from forcemove.picture import circle, text

__all__ = ["draw"]

_IN_A_ROW, _STEP, _RADIUS = 7, 14, 6


def draw(heap: int, choices: Sequence[str]) -> Svg:
    """The heap. `choices`: the words that can be chosen now, each a number of stones: the last stone of that many is
    the spot that takes them."""
    places = [(_STEP * (stone % _IN_A_ROW), _STEP * (stone // _IN_A_ROW)) for stone in range(heap)]
    takes = {heap - int(word): word for word in choices if int(word) <= heap}
    stones = [
        circle(x + _STEP / 2, y + _STEP / 2, _RADIUS, fill="lit" if stone in takes else "cell", stroke="seat-0")
        for stone, (x, y) in enumerate(places)
    ]
    spots = [
        Spot(word, *places[stone], _STEP, _STEP, f"stone {stone + 1} of {heap}") for stone, word in takes.items()
    ]
    rows = max(1, -(-heap // _IN_A_ROW))
    words = f"{heap} on the heap"
    label = text(_STEP * _IN_A_ROW / 2, _STEP * rows + 8, words, size=6, fill="muted")
    return Svg(_STEP * _IN_A_ROW, _STEP * rows + 12, (*stones, label), tuple(spots), words)
