"""The port that games plug into: what a game offers to programs that know no game by name.

`App` (`forcemove.protocol.app`) is what the core needs of a game, `PlayableApp` adds what a client and a deployment
need, and `Game` adds what command lines, demonstrations and tests show of it. States are `VariablePart`s; seats are the
participants' indices, from 0; of n participants the mover of a state is `turn_num % n`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple, Protocol, runtime_checkable

from forcemove.artifact import Artifact
from forcemove.errors import AppError, LocalError
from forcemove.picture import Svg
from forcemove.protocol.app import App
from forcemove.protocol.types import Outcome, VariablePart

Randomness = Callable[[int], bytes]
"""Given a number of bytes, this many unpredictable ones."""

Names = tuple[str, ...]
"""What to call the participants in texts, by seat: as many names as there are participants."""

JsonValue = None | bool | int | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"]
"""What JSON can hold. Amounts are decimal digits in quotes, since programs in many languages could not hold them
otherwise, and bytes are hex with 0x."""


def seat_names(count: int) -> Names:
    """The names of this many participants who have none."""
    return tuple(f"Participant {seat}" for seat in range(count))


class NotOurTurn(LocalError):
    """A bot was asked to answer a state after which the other seat is to move."""

    turn_num: int
    seat: int


class LabelledEnum(IntEnum):
    """Numbers in appData, with the names that the rules' pages give them."""

    # As numbers they are equal and as numbers they are looked up: an Enum's own hash is that of its name, and slower.
    __hash__ = int.__hash__

    @property
    def label(self) -> str:
        """The name in capitalised words without gaps, such as `RoundProposed`."""
        return "".join(part.capitalize() for part in self.name.split("_"))


class Move(NamedTuple):
    """What a mover decides on: the outcome and the appData of the next state, and its evidence, where the rules look
    for something in a move that no later move needs: a proof, or what a hash stands for."""

    outcome: Outcome
    app_data: bytes
    evidence: bytes = b""

    def after(self, state: VariablePart) -> VariablePart:
        """The state that this move makes of `state`."""
        return VariablePart(self.outcome, self.app_data, state.turn_num + 1, evidence=self.evidence)


class Choice(NamedTuple):
    """One thing that a person may do on a turn.

    `word`: what is typed, in lower case and without gaps, such as `rock`. `text`: what it does, for people. `move`: the
    move. `secrets`: what a player must be given from then on to go on, as `Bot.secrets` returns it; None: the secrets
    do not change. `is_forced`: any other move only loses, so this one is made without asking, such as a reveal.
    """

    word: str
    text: str
    move: Move
    secrets: bytes | None = None
    is_forced: bool = False

    def __repr__(self) -> str:
        """Without secrets; the word and the move may be one, too."""
        return f"Choice(is_forced={self.is_forced})"


class FalseMove(NamedTuple):
    """A move that the contract lets pass and that breaks the game's rules: only the players can see what is wrong.

    `label`: what the cheat does, as in `sends a deck with a card twice`. `move`: the move. `secrets`: what the cheat
    must be given from then on to go on; None: its secrets do not change. `is_seen`: whether the next player sees it at
    once, and leaves; else the game goes on, and by its rules the cheat gains nothing.
    """

    label: str
    move: Move
    secrets: bytes | None = None
    is_seen: bool = True

    def __repr__(self) -> str:
        """Without secrets."""
        return f"FalseMove(label={self.label!r}, move={self.move!r}, is_seen={self.is_seen})"


class RoundResult(NamedTuple):
    """How a round has ended.

    `winner`: the seat that has won it; None where it is drawn. `reason`: by what, such as `paper beats rock`.
    `changes`: what each seat has gained since the round began, or lost, in the asset's smallest unit, by seat; their
    sum is 0.
    """

    winner: int | None
    reason: str
    changes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TransitionRow:
    """One row of a game's table: a kind of move that the rules allow.

    `from_type`, `to_type`: the position types. `signer`: the maker of the move. `move`: its name. `stakes`: what the
    mover takes from the other, in stakes (a text, as it may depend on the result). `requires`: further conditions, each
    a short clause.
    """

    from_type: LabelledEnum
    to_type: LabelledEnum
    signer: str
    move: str
    stakes: str
    requires: tuple[str, ...] = ()


class Level(Enum):
    """How well a bot plays, by name: `EASY` moves without thinking, `MEDIUM` thinks about two moves in three, `HARD`
    about each."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"

    def thinks(self, randomness: Randomness) -> bool:
        """Whether a bot of this level thinks about its next move. `randomness`: asked by `MEDIUM` alone."""
        return self is Level.HARD or (self is Level.MEDIUM and randomness(1)[0] % 3 != 0)


class Bot(Protocol):
    """A player of one seat in one channel."""

    def move(self, state: VariablePart, *, another_round: bool, between: Sequence[VariablePart] = ()) -> Move | None:
        """The answer to `state`; None means: sign the final state with its outcome.

        It is None where the position lies between two rounds and the next is not wanted or not affordable, after a
        final state, and where the last move was a false one, see `PlayerChecked`. Where the bot keeps secrets,
        `secrets()` must be stored before the move is signed.

        - `state`: the newest one.
        - `another_round`: whether to begin another round.
        - `between`: the states before it since the bot's own last one, the oldest first; none where two play. Those
          that only the chain was given are missing.

        Raises `NotOurTurn` where the other seat is to move.
        """
        ...

    def is_lost(self, state: VariablePart) -> bool:
        """Whether it is this bot's turn after `state` and the round, as far as it can see, only ends in its loss."""
        ...

    def secrets(self) -> bytes:
        """What another bot for this seat must be given to go on in this one's place; empty where nothing is needed."""
        ...


class PlayableApp(App, Protocol):
    """An app whose contract is known: it can be deployed, found genuine, and its reverts can be told apart."""

    @property
    def artifact(self) -> Artifact:
        """Its compiled contract. Its name is the contract's name in address books."""
        ...

    @property
    def errors(self) -> Mapping[str, type[AppError]]:
        """The twins of its contract's custom errors, by name."""
        ...


@runtime_checkable
class Game(PlayableApp, Protocol):
    """A game as command lines, demonstrations and tests use it."""

    @property
    def title(self) -> str:
        """The name for people, such as `Tic-tac-toe`."""
        ...

    @property
    def rules_text(self) -> Sequence[str]:
        """The rules for somebody who has never played it: at most ten sentences, each with its full stop."""
        ...

    @property
    def seats(self) -> Sequence[int]:
        """How many participants it can have, rising, such as `(2,)` or `range(2, 5)`: from 2 to 8."""
        ...

    @property
    def table(self) -> tuple[TransitionRow, ...]:
        """The rules as rows; the moves that are in no row are illegal. The first row leads from the position in which a
        channel starts."""
        ...

    @property
    def dispute_gas(self) -> int:
        """What the dearest dispute of the game costs, in units of gas: the most that one challenge, or one answer to
        it, uses under Osaka (`Prices.dispute` says what it is under another fork). A channel is worth its disputes,
        and players are told what they cost, by this number."""
        ...

    def position(self, state: VariablePart) -> Mapping[str, JsonValue]:
        """The position as data, for screens: all that appData says, and which seat has which part in it. Where evidence
        is not at hand the state has none: what depends on it then says less, here and in `move_text`.

        Raises an `AppError` on bytes that are not a position. Of a final state, whose appData nobody reads, it is
        `{"type": "Final"}`; else `type` is the label of the position's type.
        """
        ...

    def move_text(self, before: VariablePart | None, after: VariablePart) -> str:
        """What the mover of `after` did, as the end of a sentence that begins with a name or `You`, in the past:
        `placed an X in the middle`. It is for everybody, so nothing hidden is in it.

        - `before`: the state before, None where it is not at hand: then the text may say less.
        - `after`: made by a move of the game, and not final.

        Raises an `AppError` on bytes that are not a position.
        """
        ...

    def prompt(self, state: VariablePart) -> str:
        """What the next mover is asked for, as the end of a sentence that begins with `Your turn to`: `place an O`.
        Where nobody is asked, since the players' programs act by themselves, what they do, with an ellipsis at its end:
        `Dealing…`. `state`: not final. Raises an `AppError` on bytes that are not a position."""
        ...

    def result(self, state: VariablePart) -> RoundResult | None:
        """How the round ended that a move has ended with this state. None where no round ends: also in the opening,
        though a round may not be running then, and of a final state. Raises an `AppError` on bytes that are not a
        position."""
        ...

    def board(self, state: VariablePart, names: Names = ..., secrets: bytes = b"") -> str:
        """The position as plain text of one or more lines, as the player with these secrets sees it.

        - `names`: one for each participant, so that their number is the number of seats; `seat_names` of the fewest
          seats unless given.
        - `secrets`: the viewer's, see `Choice.secrets`; empty for a spectator, who sees what everybody may see.

        Raises an `AppError` on bytes that are not a position, `MalformedBytes` on secrets that this game has not given.
        """
        ...

    def choices(
        self, state: VariablePart, randomness: Randomness, secrets: bytes, between: Sequence[VariablePart] = (), /
    ) -> Sequence[Choice]:
        """What a person may do whose turn it is after `state`, each choice with another word.

        Leaving is always possible and is none of the choices. There is no choice after a final state, where one player
        cannot pay for another round, and after a false move, see `PlayerChecked`.

        - `state`: the newest one.
        - `randomness`: of what is hidden by the choices.
        - `secrets`: those of an earlier choice of this person, or of a bot in their place.
        - `between`: as of `Bot.move`.

        Raises an `AppError` on bytes that are not a position, `MalformedBytes` on secrets that this game has not given,
        and a `LocalError` where a secret is missing without which there is no move.
        """
        ...

    def bot(self, seat: int, randomness: Randomness = ..., secrets: bytes = b"", level: Level = ...) -> Bot:
        """A player for a seat; given the `secrets` of an earlier bot, it goes on in its place. `level`: how well it
        plays; hard unless given, since it plays for money.

        The bot sees the number of participants in the states. Raises `InvalidValue` on a seat that the game does not
        have, `MalformedBytes` on secrets that no bot of this game gave.
        """
        ...

    def illegal_moves(self, state: VariablePart, secrets: bytes = b"") -> list[tuple[str, VariablePart]]:
        """Successors of a reachable state that the core lets pass and the game refuses, each with a label. `secrets`:
        the mover's, with which there may be more of them; empty where they are not known. Raises `MalformedBytes` on
        secrets that this game has not given."""
        ...


@runtime_checkable
class PlayerChecked(Protocol):
    """A game with moves that its contract cannot judge, so that the players do. The port is optional.

    Who is given a false move leaves with a final state: its bot answers None, and there is no choice. So what a player
    has to lose must not be at stake before it has checked.
    """

    def objection(self, state: VariablePart, secrets: bytes, /) -> str:
        """What is wrong with the newest move, as the end of a sentence such as `Bob sent ...`; empty where nothing is.
        `secrets`: those of the player who is to answer. Raises as `Game.choices`."""
        ...

    def false_moves(self, state: VariablePart, randomness: Randomness, secrets: bytes, /) -> Sequence[FalseMove]:
        """False moves that a cheat could make after `state`: the contract lets each of them pass. There are none where
        the contract sees to everything. `secrets`: those of the cheat. Raises as `Game.choices`."""
        ...


@runtime_checkable
class Pictured(Protocol):
    """A game that draws its positions. The port is optional: a game without it is shown as the text of `Game.board`,
    with a button for each choice."""

    def picture(
        self,
        state: VariablePart,
        viewer: int | None,
        own: bytes,
        names: Names,
        choices: Sequence[str],
        before: VariablePart | None = None,
        /,
    ) -> Svg:
        """The picture of a position for one viewer, with a spot for each choice that has a place in it: the others get
        buttons. It is asked for again whenever something changes, so it is quick, and the same for the same values.

        - `state`: no final one.
        - `viewer`: the seat that looks; None for somebody who has no seat.
        - `own`: the viewer's secrets, see `Choice.secrets`; empty where there are none.
        - `names`: one for each participant.
        - `choices`: the words that the viewer can choose now; none while another is to move.
        - `before`: the state before this one, where it is at hand.

        Raises an `AppError` on bytes that are not a position, `MalformedBytes` on secrets that this game has not given.
        """
        ...
