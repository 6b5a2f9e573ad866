"""Which game a channel plays, and what its appData means there: found by its contract, an address book, or the
bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from forcemove.chain.book import AddressBook
from forcemove.errors import AppError
from forcemove.game import Game, JsonValue, Names, seat_names
from forcemove.protocol.types import VariablePart
from forcemove.rounds import position_line


class KnownBy(Enum):
    """How an app was found: by its address on the chain, which follows from its creation code, by the address book, or
    only by appData that the game can read."""

    CODE = "code"
    BOOK = "book"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class KnownApp:
    """A game that a channel plays, or seems to play."""

    game: Game
    known_by: KnownBy


def app_in_book(address: bytes, book: AddressBook | None, games: Iterable[Game]) -> KnownApp | None:
    """The game that the book has at this address (20 bytes)."""
    contracts = book.contracts if book else {}
    for game in games:
        contract = game.artifact.name
        if contract in contracts and contracts[contract].address == address:
            return KnownApp(game, KnownBy.BOOK)
    return None


def guess_app(app_data: bytes, games: Iterable[Game]) -> KnownApp | None:
    """The first game of which these bytes are a position."""
    return next((KnownApp(game, KnownBy.BYTES) for game in games if _is_position(game, app_data)), None)


def _is_position(game: Game, app_data: bytes) -> bool:
    try:
        game.stake_of(app_data)
    except AppError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class PositionFacts:
    """A game's position: in a line, as a board of one or more lines, its stake in the asset's smallest unit, and the
    game's own `data` of it."""

    description: str
    board: str
    stake: int
    data: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class NoPosition:
    """Bytes that are not a position of the app, and the app's error for them."""

    problem: AppError


def read_position(
    app: KnownApp | None, state: VariablePart, names: Names | None = None
) -> PositionFacts | NoPosition | None:
    """The position of a state; None where no app is known, and of a final state, which has none. `names`: what to call
    the participants, where it is not by their numbers."""
    if app is None or state.is_final:
        return None
    names, game = names or seat_names(min(app.game.seats)), app.game
    try:
        texts = position_line(game, None, state, names), game.board(state, names)
        return PositionFacts(*texts, game.stake_of(state.app_data), game.position(state))
    except AppError as error:
        return NoPosition(error)
