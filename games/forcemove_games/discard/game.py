"""Discard in a channel as a value: what channels, command lines and demonstrations need of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from forcemove import (
    AppError,
    Artifact,
    Choice,
    FalseMove,
    JsonValue,
    Level,
    Names,
    RoundResult,
    Terms,
    TransitionRow,
    VariablePart,
    seat_names,
)
from forcemove.contracts import artifact
from forcemove.picture import Svg
from forcemove_games.cheats import refused
from forcemove_games.discard import board, rules
from forcemove_games.discard.bot import DiscardBot
from forcemove_games.discard.cheats import cheats, false_moves
from forcemove_games.discard.choices import choices
from forcemove_games.discard.errors import ERRORS
from forcemove_games.discard.hand import PlayerSide, objection
from forcemove_games.discard.picture import draw
from forcemove_games.discard.position import decode, initial
from forcemove_games.discard.secrets import HandSecrets
from forcemove_games.randomness import Randomness, system_randomness
from forcemove_games.two_player import PLAYERS

_GAME_OVER = "The game is over."
_SEATS = seat_names(PLAYERS)


class Discard:
    """See `forcemove.game.Game`, `Pictured` and `PlayerChecked`."""

    name = "discard"
    artifact: Artifact = artifact("Discard")
    title = "Discard"
    rules_text = (
        "There are 24 cards: 9, 10, jack, queen, king and ace of four suits. Each player is dealt five.",
        "One card is turned up. In turns, lay a card of its suit or of its value on it.",
        "If none of your cards fits, or if you prefer to, draw a card from the pile.",
        "Once the pile is empty, a player whose cards do not fit says so.",
        "The first player without a card wins the hand, and gets the stake from the other.",
        "If neither can move, both show their cards, and nobody wins.",
        "Nobody deals: both shuffle the deck under their own keys, so neither sees the other's cards.",
        "In a hand the player to move has less than before: leaving then costs the stake.",
    )
    seats = (PLAYERS,)
    dispute_gas = 295_000
    table: tuple[TransitionRow, ...] = rules.TABLE
    errors: Mapping[str, type[AppError]] = ERRORS

    def initial_app_data(self, terms: Terms) -> bytes:
        """The first hand, of which no key is shown yet."""
        return initial(terms.channel_id, terms.stake).encode()

    def stake_of(self, app_data: bytes) -> int:
        """The stake of a position."""
        return decode(app_data).stake

    valid_transition = staticmethod(rules.valid_transition)

    def position(self, state: VariablePart) -> Mapping[str, JsonValue]:
        """What the core says, by the names of its words: `stake` and `hand` in decimal digits, `keys` as pairs of hex,
        `held` as the indices of each player's cards, cards by their names, and null where the type does not use it.
        `pile`: how many are left. `drawn`, `shared`, `laid`: indices. `shown`: cards, where the evidence is at hand.
        `deck`, `evidence`: the hashes of their bytes."""
        return {"type": "Final"} if state.is_final else board.position_data(state)

    def move_text(self, _before: VariablePart | None, after: VariablePart) -> str:
        """What the mover did. `_before`: is not needed."""
        return board.move_text(after)

    def prompt(self, state: VariablePart) -> str:
        """What the next mover is asked for."""
        return board.prompt(state)

    def result(self, state: VariablePart) -> RoundResult | None:
        """How the hand ended: with an empty hand, or two players who cannot move."""
        return None if state.is_final else board.result(state)

    def board(self, state: VariablePart, names: Names = _SEATS, secrets: bytes = b"") -> str:
        """Three lines: how many cards both hold, the viewer's own with their names, and the table."""
        return _GAME_OVER if state.is_final else board.board(state, names, secrets)

    def picture(
        self,
        state: VariablePart,
        viewer: int | None,
        own: bytes,
        names: Names,
        choices: Sequence[str],
        _before: VariablePart | None = None,
    ) -> Svg:
        """Both hands and the table, the viewer's own hand open; see `forcemove.game.Pictured`.

        - `state`: no final one.
        - `viewer`: the seat that looks.
        - `own`: the viewer's secrets.
        - `names`: of the players.
        - `choices`: the words of cards that the viewer can lay, and `draw`.
        - `_before`: is not needed.
        """
        return draw(state, viewer, own, names, choices)

    def choices(
        self, state: VariablePart, randomness: Randomness, secrets: bytes, _between: Sequence[VariablePart] = (), /
    ) -> tuple[Choice, ...]:
        """A card that fits, or to draw. Setting a hand up is forced, and so are "can't move" and showing cards."""
        return () if state.is_final else choices(state, randomness, secrets)

    def bot(
        self,
        seat: int,
        randomness: Randomness = system_randomness,
        secrets: bytes = b"",
        level: Level = Level.HARD,
    ) -> DiscardBot:
        """A player who lays cards that are hard to answer, where it thinks."""
        return DiscardBot(seat, randomness, secrets, level)

    def illegal_moves(self, state: VariablePart, secrets: bytes = b"") -> list[tuple[str, VariablePart]]:
        """Successors that the core lets pass and the game refuses, each with a label; more of them with secrets."""
        if state.is_final:
            return []
        require_legal = partial(rules.require_legal, decode(state.app_data).core.channel_id)
        return refused(require_legal, state, cheats(state, secrets))

    def objection(self, state: VariablePart, secrets: bytes, /) -> str:
        """What is wrong with the shuffle in a state; see `forcemove.game.PlayerChecked`."""
        return "" if state.is_final else objection(PlayerSide.of_mover(state, HandSecrets.decode(secrets)))

    def false_moves(self, state: VariablePart, randomness: Randomness, secrets: bytes, /) -> tuple[FalseMove, ...]:
        """Shuffles that are none, and a "can't move" of a player who could; see `forcemove.game.PlayerChecked`."""
        return () if state.is_final else tuple(false_moves(state, randomness, secrets))
