"""Pictures of positions that games draw: shapes of a few kinds in a few tones, and the spots that can be chosen there.

A picture is drawn by a game, which may be a stranger's, into a page that moves money. So it is made of values, and not
of markup: `Svg.markup` writes only shapes, attributes and tones that are on the lists below, and escapes all words. It
knows no page, no colours and no screen: a page gives each tone its colour, light and dark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from math import isfinite

from forcemove.errors import InvalidValue

__all__ = [
    "MAX_SHAPES",
    "TONES",
    "Shape",
    "Spot",
    "Svg",
    "circle",
    "line",
    "path",
    "rect",
    "text",
]

TONES = (
    "none",
    "ink",
    "muted",
    "edge",
    "paper",
    "cell",
    "lit",
    "good",
    "bad",
    *(f"seat-{seat}" for seat in range(8)),
)
"""What a shape can be filled and drawn with: nothing, text, less important text, edges, the ground, a cell, a cell that
is lit up, good and bad, and each participant's own tone."""

MAX_SHAPES = 500
"""Shapes of one picture, spots among them."""
_ISOLATES = str.maketrans("", "", "\N{FIRST STRONG ISOLATE}\N{POP DIRECTIONAL ISOLATE}")
"""Stand around names that are read from right to left."""
_MAX_WORDS = 200
_MAX_PATH = 2_000
_FARTHEST = 10_000
_PATH = re.compile(r"[MLHVCSQTAZmlhvcsqtaz0-9 ,.+-]*")
_TONED = frozenset({"fill", "stroke", "face"})
_ANCHORS = ("start", "middle", "end")
_FACES = ("plain", "bold", "mono")

_POINTS = {
    "rect": ("x", "y", "width", "height", "rx"),
    "circle": ("cx", "cy", "r"),
    "line": ("x1", "y1", "x2", "y2"),
    "path": (),
    "text": ("x", "y", "font-size"),
}
"""The kinds of shapes, with the numbers of each."""

Attribute = int | float | str


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape, made by the functions of this module. `kind`: such as `rect`; `attributes`: names with values;
    `words`: of a text. Raises `InvalidValue` on what is not on the lists of this module."""

    kind: str
    attributes: tuple[tuple[str, Attribute], ...]
    words: str = ""

    def __post_init__(self) -> None:
        _markup(self)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place of a picture that can be chosen.

    - `word`: of the choice that it makes, see `Choice.word`.
    - `x`, `y`, `width`, `height`: where it is.
    - `text`: what it is, for those who do not see it, such as `the middle, free`.
    - `reason`: why it can never be chosen in this position, such as `it is taken`; else empty.

    Raises `InvalidValue` on what is not a place.
    """

    word: str
    x: float
    y: float
    width: float
    height: float
    text: str
    reason: str = ""

    def __post_init__(self) -> None:
        for name in ("word", "text", "reason"):
            _require_words(name, getattr(self, name))
        for name in ("x", "y", "width", "height"):
            _number(name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class Svg:
    """A picture. `width`, `height`: its size, in units of its own; `shapes`: the later ones are above the earlier ones;
    `text`: the same in words, in a line. Raises `InvalidValue` on what is not a picture."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    spots: tuple[Spot, ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            if _number(name, getattr(self, name)) <= 0:
                raise InvalidValue(name, getattr(self, name), "more than nothing")
        _require_words("text", self.text)
        if type(self.shapes) is not tuple or type(self.spots) is not tuple:
            raise InvalidValue("shapes", type(self.shapes).__name__, "a tuple")
        if len(self.shapes) + len(self.spots) > MAX_SHAPES:
            raise InvalidValue("shapes", len(self.shapes) + len(self.spots), f"at most {MAX_SHAPES}")

    def markup(self) -> str:
        """The shapes as the content of an `svg` element, with nothing in it that is not on the lists of this module.
        Everything is checked as it is written: a program can change even what is frozen. Raises `InvalidValue`."""
        self.__post_init__()
        for spot in self.spots:
            if type(spot) is not Spot:
                raise InvalidValue("spots", type(spot).__name__, "a Spot")
            spot.__post_init__()
        return "".join(map(_markup, self.shapes))


# -------------------------------------------------------------------------------------------------------------- shapes


def rect(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    fill: str = "cell",
    stroke: str = "none",
    thickness: float = 1,
    radius: float = 0,
) -> Shape:
    """A rectangle.

    - `x`: of its left side.
    - `y`: of its upper side.
    - `width`: in the picture's units.
    - `height`: in the same.
    - `fill`: one of `TONES`.
    - `stroke`: of its edge, one of `TONES`.
    - `thickness`: of its edge.
    - `radius`: of its corners.
    """
    points = (("x", x), ("y", y), ("width", width), ("height", height), ("rx", radius))
    return Shape("rect", (*points, *_tones(fill, stroke, thickness)))


def circle(
    x: float, y: float, radius: float, *, fill: str = "none", stroke: str = "none", thickness: float = 1
) -> Shape:
    """A circle.

    - `x`: of its middle.
    - `y`: of its middle.
    - `radius`: in the picture's units.
    - `fill`: as of `rect`.
    - `stroke`: as of `rect`.
    - `thickness`: as of `rect`.
    """
    return Shape("circle", (("cx", x), ("cy", y), ("r", radius), *_tones(fill, stroke, thickness)))


def line(x1: float, y1: float, x2: float, y2: float, *, stroke: str = "ink", thickness: float = 1) -> Shape:
    """A line with round ends.

    - `x1`: where it begins.
    - `y1`: where it begins.
    - `x2`: where it ends.
    - `y2`: where it ends.
    - `stroke`: as of `rect`.
    - `thickness`: as of `rect`.
    """
    return Shape("line", (("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2), *_tones("none", stroke, thickness)))


def path(d: str, *, fill: str = "none", stroke: str = "ink", thickness: float = 1) -> Shape:
    """A path. `d`: the letters and numbers of SVG's own `d`; the others as of `rect`."""
    return Shape("path", (("d", d), *_tones(fill, stroke, thickness)))


def text(
    x: float,
    y: float,
    words: str,
    *,
    size: float = 6,
    fill: str = "ink",
    anchor: str = "middle",
    face: str = "plain",
) -> Shape:
    """Words in a line.

    - `x`: where they are anchored.
    - `y`: of the line that they stand on.
    - `words`: at most 200 characters that can be printed.
    - `size`: of the letters.
    - `fill`: one of `TONES`.
    - `anchor`: which part of the words is at `x`: `start`, `middle` or `end`.
    - `face`: `plain`, `bold` or `mono`.
    """
    where = (("x", x), ("y", y), ("font-size", size), ("text-anchor", anchor))
    return Shape("text", (*where, ("fill", fill), ("face", face)), words)


def _tones(fill: str, stroke: str, thickness: float) -> tuple[tuple[str, Attribute], ...]:
    drawn: tuple[tuple[str, Attribute], ...] = (("fill", fill),)
    return drawn if stroke == "none" else (*drawn, ("stroke", stroke), ("stroke-width", thickness))


# -------------------------------------------------------------------------------------------------------------- checks


def _markup(shape: Shape) -> str:
    """One shape as markup, which is checked piece by piece as it is written."""
    if type(shape) is not Shape or type(shape.kind) is not str or shape.kind not in _POINTS:
        raise InvalidValue("shape", type(shape).__name__, "a shape that a function of forcemove.picture has made")
    if type(shape.attributes) is not tuple:
        raise InvalidValue("attributes", type(shape.attributes).__name__, "a tuple")
    tones, attributes, numbers = list[str](), "", _POINTS[shape.kind]
    for pair in shape.attributes:
        if type(pair) is not tuple or len(pair) != 2 or type(pair[0]) is not str:
            raise InvalidValue("attributes", type(pair).__name__, "names with values")
        name, value = pair
        if name in _TONED:
            tones.append(_tone(name, value))
        elif name in numbers or name == "stroke-width":
            attributes += f' {name}="{_number(name, value):g}"'
        else:
            attributes += f' {name}="{_value(shape.kind, name, value)}"'
    classes = f' class="{" ".join(tones)}"' if tones else ""
    end = f">{_words(shape)}</text>" if shape.kind == "text" else "/>"
    return f"<{shape.kind}{attributes}{classes}{end}"


def _words(shape: Shape) -> str:
    _require_words("words", shape.words)
    return escape(shape.words)


def _tone(name: str, value: Attribute) -> str:
    allowed = _FACES if name == "face" else TONES
    if type(value) is not str or value not in allowed:
        raise InvalidValue(name, value, f"one of {', '.join(allowed)}")
    return f"{name[0]}-{value}" if name != "face" else value


def _value(kind: str, name: str, value: Attribute) -> str:
    if kind == "text" and name == "text-anchor" and type(value) is str and value in _ANCHORS:
        return value
    if kind == "path" and name == "d" and type(value) is str:
        if len(value) <= _MAX_PATH and _PATH.fullmatch(value):
            return value
        raise InvalidValue(name, value, "a path of letters and numbers, not too long")
    raise InvalidValue("attribute", name, f"one that a {kind} can have")


def _number(name: str, value: object) -> float:
    if type(value) not in (int, float) or not isfinite(value) or abs(value) > _FARTHEST:  # type: ignore[arg-type]
        raise InvalidValue(name, value, f"a number, at most {_FARTHEST} from zero")
    return value  # type: ignore[return-value]


def _require_words(name: str, value: object) -> None:
    if type(value) is not str or len(value) > _MAX_WORDS or not value.translate(_ISOLATES).isprintable():
        raise InvalidValue(name, type(value).__name__, f"a text of at most {_MAX_WORDS} characters that can be printed")
