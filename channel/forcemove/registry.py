"""The games that are installed: found by entry point, each with its distribution.

A distribution announces a game with an entry point of the group `forcemove.games`, whose name is the game's and whose
value is a `forcemove.game.Game`. Each game that cannot be used has an error of its own; the other games can be used.

Knows no game by name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from forcemove.artifact import ADJUDICATOR, Artifact
from forcemove.errors import LocalError
from forcemove.game import Game
from forcemove.protocol.types import MAX_PARTICIPANTS, MIN_PARTICIPANTS

GROUP = "forcemove.games"
"""The entry points' group of games for channels."""


class UnknownGame(LocalError):
    """No game of this name is installed; `installed` are those that are."""

    name: str
    installed: tuple[str, ...]


class GameUnusable(LocalError):
    """The game `name` of an installed `distribution` (its name and version) cannot be used: it could not be imported,
    or is not a game. Its author must mend it."""

    name: str
    distribution: str
    reason: str


class GameInstalledTwice(LocalError):
    """Several `distributions` have a game of this name, and nothing says which is meant. One must be uninstalled."""

    name: str
    distributions: tuple[str, ...]


class ContractInstalledTwice(LocalError):
    """Several `distributions` have a contract of this name, and they are not the same one: an address book could not
    tell them apart. One must be uninstalled. `name`: the game's."""

    name: str
    contract: str
    distributions: tuple[str, ...]


Problem = GameUnusable | GameInstalledTwice | ContractInstalledTwice
"""What can be wrong with an installed game."""


@dataclass(frozen=True, slots=True)
class InstalledGame:
    """A game, and the name and version of the distribution that it came with, such as `forcemove 0.2.0`."""

    game: Game
    distribution: str


@dataclass(frozen=True, slots=True)
class InstalledGames:
    """The installed games by name: those that can be used, and what is wrong with the others."""

    usable: tuple[InstalledGame, ...]
    errors: tuple[Problem, ...]

    @property
    def games(self) -> tuple[Game, ...]:
        """The games that can be used."""
        return tuple(each.game for each in self.usable)

    def distribution_of(self, game: object) -> str | None:
        """The distribution of a game; None where the game is not installed."""
        return next((each.distribution for each in self.usable if each.game is game), None)


@cache
def game_names() -> tuple[str, ...]:
    """The names of the installed games, in order. Imports none of them."""
    return names_in(GROUP)


def names_in(group: str) -> tuple[str, ...]:
    """The names of the entry points of a group, in order."""
    return tuple(sorted({point.name for point in points_in(group)}))


@cache
def points_in(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group. Every distribution there is has to be asked for them, which is done once."""
    return tuple(entry_points(group=group))


@cache
def installed_games() -> InstalledGames:
    """All installed games, by name. Imports them."""
    usable: list[InstalledGame] = []
    errors: list[Problem] = []
    for name in game_names():
        try:
            usable.append(_load_game(name))
        except (GameUnusable, GameInstalledTwice) as error:
            errors.append(error)
    twice = _contracts_installed_twice(usable)
    left = tuple(each for each in usable if each.game.name not in twice)
    return InstalledGames(left, (*errors, *twice.values()))


def find_game(name: str) -> InstalledGame:
    """The installed game of this name. Raises `UnknownGame`, `GameUnusable`, `GameInstalledTwice`,
    `ContractInstalledTwice`."""
    installed = installed_games()
    for each in installed.usable:
        if each.game.name == name:
            return each
    for error in installed.errors:
        if error.name == name:
            raise error
    raise UnknownGame(name, game_names())


def _load_game(name: str) -> InstalledGame:
    point = find_entry_point(GROUP, name)
    if point is None:
        raise UnknownGame(name, game_names())
    return InstalledGame(load_value(point, Game, _fault_of_game), _distribution(point))


def find_entry_point(group: str, name: str) -> EntryPoint | None:
    """The entry point of this name, or None. Raises `GameInstalledTwice`."""
    points = [each for each in points_in(group) if each.name == name]
    if len(points) > 1:
        raise GameInstalledTwice(name, tuple(sorted(map(_distribution, points))))
    return points[0] if points else None


def load_value(point: EntryPoint, port: type, fault_of: Callable[[Any], str | None] = lambda _: None) -> Any:
    """The value that an entry point names, which has what the protocol `port` asks for, and its name. `fault_of`: what
    else is wrong with the value, None where nothing is. Raises `GameUnusable`."""
    try:
        value = point.load()
        missing = [name for name in _members(port) if not hasattr(value, name)]
    except Exception as error:
        raise _unusable(point, f"{point.value} cannot be loaded ({type(error).__name__}: {error})") from error
    if missing:
        raise _unusable(point, f"{point.value} is not a {port.__name__}: it lacks {', '.join(missing)}")
    fault = f"its name is {value.name!a:.80}" if value.name != point.name else fault_of(value)
    if fault is not None:
        raise _unusable(point, f"{point.value} is not a usable {port.__name__}: {fault}")
    return value


def _members(port: type) -> Iterable[str]:
    """What a protocol and its bases ask for."""
    bases = [base for base in port.__mro__ if base not in (object, Protocol)]
    return sorted({name for base in bases for name in (*vars(base), *_annotated(base)) if not name.startswith("_")})


def _annotated(base: type) -> Mapping[str, object]:
    annotated: Mapping[str, object] = vars(base).get("__annotations__", {})
    return annotated


def _unusable(point: EntryPoint, reason: str) -> GameUnusable:
    return GameUnusable(point.name, _distribution(point), reason)


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unnamed distribution"


def _fault_of_game(game: Any) -> str | None:
    if not isinstance(game.artifact, Artifact):
        return "its artifact is not a forcemove.artifact.Artifact"
    if game.artifact.name == ADJUDICATOR:
        return f"its contract is named {ADJUDICATOR}, like the contract that decides on channels"
    if type(game.dispute_gas) is not int or game.dispute_gas <= 0:
        return f"its dispute gas is {game.dispute_gas!a:.80} instead of a number above 0"
    if not _are_seats(game.seats):
        allowed = f"rising numbers from {MIN_PARTICIPANTS} to {MAX_PARTICIPANTS}"
        return f"its seats are {game.seats!a:.80} instead of {allowed}"
    return None


def _are_seats(seats: object) -> bool:
    if not isinstance(seats, Sequence) or not seats or not all(type(each) is int for each in seats):
        return False
    return list(seats) == sorted(set(seats)) and seats[0] >= MIN_PARTICIPANTS and seats[-1] <= MAX_PARTICIPANTS


def _contracts_installed_twice(usable: Iterable[InstalledGame]) -> dict[str, ContractInstalledTwice]:
    """By the name of the game; two games may well share one contract."""
    by_contract: defaultdict[str, list[InstalledGame]] = defaultdict(list)
    for each in usable:
        by_contract[each.game.artifact.name].append(each)
    return {
        each.game.name: ContractInstalledTwice(each.game.name, contract, tuple(other.distribution for other in sharing))
        for contract, sharing in by_contract.items()
        if len({other.game.artifact.creation_code_hash for other in sharing}) > 1
        for each in sharing
    }
