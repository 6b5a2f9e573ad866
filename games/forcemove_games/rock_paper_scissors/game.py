"""Rock-paper-scissors as a value: what channels, command lines and demonstrations need of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from forcemove import (
    AppError,
    Artifact,
    Choice,
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
from forcemove_games.commitment import Opening
from forcemove_games.randomness import Randomness, system_randomness
from forcemove_games.rock_paper_scissors import rules
from forcemove_games.rock_paper_scissors.bot import RockPaperScissorsBot
from forcemove_games.rock_paper_scissors.cheats import cheats
from forcemove_games.rock_paper_scissors.choices import choices
from forcemove_games.rock_paper_scissors.openings import decode_openings, find_opening
from forcemove_games.rock_paper_scissors.picture import draw
from forcemove_games.rock_paper_scissors.position import Position, PositionType, Weapon, decode, initial
from forcemove_games.two_player import PLAYERS, movers, round_result

_GAME_OVER = "The game is over."
_SEATS = seat_names(PLAYERS)
_PROMPTS = {
    PositionType.START: "choose a weapon",
    PositionType.ROUND_PROPOSED: "choose a weapon, or reject the round",
    PositionType.ROUND_ACCEPTED: "reveal the hidden weapon",
    PositionType.REVEAL: "start another round",
}
_MADE_BY_A = (PositionType.ROUND_PROPOSED, PositionType.REVEAL)


class RockPaperScissors:
    """See `forcemove.game.Game`."""

    name = "rock-paper-scissors"
    artifact: Artifact = artifact("RockPaperScissors")
    title = "Rock-paper-scissors"
    rules_text = (
        "Both players choose rock, paper or scissors.",
        "Rock beats scissors, scissors beat paper, paper beats rock. The same choice is a draw.",
        "The first player hides the choice behind a commitment, the other plays openly, and the first reveals.",
        "A commitment cannot be changed, and the other cannot see what is behind it.",
        "The winner gets the stake from the loser. A draw moves nothing.",
        "A player who does not reveal loses the stake.",
        "Between two rounds everybody may leave, and nothing is lost.",
    )
    seats = (PLAYERS,)
    dispute_gas = 97_500
    table: tuple[TransitionRow, ...] = rules.TABLE
    errors: Mapping[str, type[AppError]] = rules.ERRORS

    def initial_app_data(self, terms: Terms) -> bytes:
        """The first round, not yet proposed."""
        return initial(terms.channel_id, terms.stake).encode()

    def stake_of(self, app_data: bytes) -> int:
        """The stake of a position."""
        return decode(app_data).stake

    valid_transition = staticmethod(rules.valid_transition)

    def position(self, state: VariablePart) -> Mapping[str, JsonValue]:
        """`type`, `stake`, `roundNum` (decimal digits), `channelId` (hex), the seats of `a` and `b`; `aPlay` and
        `bPlay` ("rock", "paper", "scissors"), `preCommit` and `salt` (hex), `proposedAt` (decimal digits), each null
        where the position does not have it."""
        if state.is_final:
            return {"type": "Final"}
        position = decode(state.app_data)
        a, b = _players(state, position)
        kind = position.position_type
        has_proposal, has_play, has_reveal = (
            kind >= each for each in (PositionType.ROUND_PROPOSED, PositionType.ROUND_ACCEPTED, PositionType.REVEAL)
        )
        return {
            "type": kind.label,
            "stake": str(position.stake),
            "channelId": "0x" + position.channel_id.hex(),
            "roundNum": str(position.round_num),
            "a": a,
            "b": b,
            "preCommit": "0x" + position.pre_commit.hex() if has_proposal else None,
            "proposedAt": str(position.proposed_at) if has_proposal else None,
            "bPlay": _weapon(position.b_play) if has_play else None,
            "aPlay": _weapon(position.a_play) if has_reveal else None,
            "salt": "0x" + position.salt.hex() if has_reveal else None,
        }

    def move_text(self, before: VariablePart | None, after: VariablePart) -> str:
        """What the mover did; a weapon that is hidden stays hidden."""
        position = decode(after.app_data)
        match position.position_type:
            case PositionType.START:
                old = None if before is None else decode(before.app_data).position_type
                return "rejected the round" if old is PositionType.ROUND_PROPOSED else "asked for another round"
            case PositionType.ROUND_PROPOSED:
                return "chose a weapon, which stays hidden"
            case PositionType.ROUND_ACCEPTED:
                return f"played {_weapon(position.b_play)}"
            case PositionType.REVEAL:
                return f"revealed {_weapon(position.a_play)}"

    def prompt(self, state: VariablePart) -> str:
        """What the next mover is asked for."""
        return _PROMPTS[decode(state.app_data).position_type]

    def result(self, state: VariablePart) -> RoundResult | None:
        """How the round ended, with the reveal."""
        position = None if state.is_final else decode(state.app_data)
        if position is None or position.position_type is not PositionType.REVEAL:
            return None
        if position.a_play == position.b_play:
            return round_result(None, f"both played {_weapon(position.a_play)}", position.stake)
        a, b = _players(state, position)
        a_wins = Weapon(position.a_play).beats(Weapon(position.b_play))
        best, other = map(_weapon, (position.a_play, position.b_play) if a_wins else (position.b_play, position.a_play))
        verb = "beat" if best == _weapon(Weapon.SCISSORS) else "beats"
        return round_result(a if a_wins else b, f"{best} {verb} {other}", position.stake)

    def board(self, state: VariablePart, names: Names = _SEATS, secrets: bytes = b"") -> str:
        """Two lines, A's hand and then B's. With A's openings as `secrets`, A's weapon is shown before it is
        revealed."""
        if state.is_final:
            return _GAME_OVER
        position = decode(state.app_data)
        a, b = (names[seat] for seat in _players(state, position))
        width = max(map(len, names))
        hands = ((a, _hand_of_a(position, decode_openings(secrets))), (b, _hand_of_b(position)))
        return "\n".join(f"{name + ':':<{width + 1}} {hand}" for name, hand in hands)

    def picture(
        self,
        state: VariablePart,
        viewer: int | None,
        own: bytes,
        names: Names,
        choices: Sequence[str],
        _before: VariablePart | None = None,
    ) -> Svg:
        """Both hands; see `forcemove.game.Pictured`. A's stays face down, with its commitment, until it was revealed,
        which the rules have verified then; A itself sees it.

        - `state`: no final one.
        - `viewer`: the seat that looks.
        - `own`: the viewer's openings.
        - `names`: of the players.
        - `choices`: what the viewer can choose.
        - `_before`: is in the position already.
        """
        return draw(state, viewer, own, names, _players(state, decode(state.app_data))[0], choices)

    def choices(
        self, state: VariablePart, randomness: Randomness, secrets: bytes, _between: Sequence[VariablePart] = (), /
    ) -> tuple[Choice, ...]:
        """A weapon; or to reject a round that was proposed."""
        return () if state.is_final else choices(state, randomness, secrets)

    def bot(
        self,
        seat: int,
        randomness: Randomness = system_randomness,
        secrets: bytes = b"",
        level: Level = Level.HARD,  # noqa: ARG002  # thinking does not help
    ) -> RockPaperScissorsBot:
        """A player whose moves nobody can predict, at any level."""
        return RockPaperScissorsBot(seat, randomness, secrets)

    def illegal_moves(self, state: VariablePart, secrets: bytes = b"") -> list[tuple[str, VariablePart]]:
        """Successors that the core lets pass and the game refuses, each with a label; the same with any openings."""
        decode_openings(secrets)
        if state.is_final:
            return []
        require_legal = partial(rules.require_legal, decode(state.app_data).channel_id)
        return refused(require_legal, state, cheats(state))


def _players(state: VariablePart, position: Position) -> tuple[int, int]:
    """The seats of A and B."""
    last, next_ = movers(state)
    return (last, next_) if position.position_type in _MADE_BY_A else (next_, last)


def _weapon(play: int) -> str:
    return Weapon(play).name.lower()


def _hand_of_a(position: Position, openings: Iterable[Opening]) -> str:
    if position.position_type is PositionType.REVEAL:
        return _weapon(position.a_play)
    if position.position_type is PositionType.START:
        return "nothing yet"
    hidden, opening = f"hidden ({position.pre_commit.hex()})", find_opening(openings, position)
    return hidden if opening is None or opening.choice not in set(Weapon) else f"{_weapon(opening.choice)}, {hidden}"


def _hand_of_b(position: Position) -> str:
    return _weapon(position.b_play) if position.position_type >= PositionType.ROUND_ACCEPTED else "nothing yet"
