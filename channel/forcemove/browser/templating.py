"""The package's HTML templates, filled in. Every value is escaped, but for pictures, which are checked (see
`forcemove.picture`), and for what another template has made."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from forcemove.text.harmless import harmless
from forcemove.text.situation.presence import presence_pattern, presence_text

Links = tuple[tuple[str, str], ...]
"""Pages: path and name of each."""


class PlayedGame(NamedTuple):
    """A game that a person plays here. `path`: of its page; `text`: whose turn it is; `is_ours`: whether the person is
    to move."""

    path: str
    text: str
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Nav:
    """What every page leads to. `links`: the same pages at all times; `games`: those that are played now."""

    links: Links = (("/games", "Games"),)
    games: tuple[PlayedGame, ...] = ()


PLAIN_NAV = Nav()
"""That of a server that has nothing but channels."""


@cache
def environment() -> Environment:
    """The templates; a name that no value has is an error."""
    made = Environment(
        loader=PackageLoader("forcemove.browser"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {"num": _number, "harmless": harmless}
    made.filters |= {"presence_pattern": presence_pattern, "presence_text": presence_text}
    return made


def _number(value: float) -> str:
    """A number as short as SVG wants it."""
    return f"{value:.4g}"


def fill_in(template: str, **values: object) -> str:
    """The HTML that a template of the package makes of these values. `template`: its file's name."""
    return environment().get_template(template).render(values)


def fill_in_once(template: str, **values: Hashable) -> str:
    """The same as `fill_in`; of the values that were given last, it is made once. With each move most panels of a page
    stay as they are."""
    return _filled_in(template, tuple(values.items()))


@lru_cache(maxsize=256)
def _filled_in(template: str, values: tuple[tuple[str, Hashable], ...]) -> str:
    return fill_in(template, **dict(values))
