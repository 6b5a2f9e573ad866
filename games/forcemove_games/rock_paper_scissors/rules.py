"""The rules of rock-paper-scissors: the table, the twin of `RockPaperScissors.sol`, and the legal moves.

The functions that make moves return what the mover signs next; a move that they return is legal, and where there is
none they raise the `AppError` that forbids it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index

from msgspec.structs import replace

from forcemove import UINT256_MAX, AppError, Move, TransitionRow, VariablePart
from forcemove_games import two_player
from forcemove_games.commitment import Opening
from forcemove_games.rock_paper_scissors.openings import pre_commit_of
from forcemove_games.rock_paper_scissors.position import Position, PositionType, Weapon, decode

_START, _PROPOSED, _ACCEPTED, _REVEAL = PositionType

TABLE: tuple[TransitionRow, ...] = (
    TransitionRow(_START, _PROPOSED, "A", "propose", "0", ("both can pay the stake", "the proposal names its turn")),
    TransitionRow(_PROPOSED, _START, "B", "reject", "0"),
    TransitionRow(_PROPOSED, _ACCEPTED, "B", "accept", "+1", ("commitment and turn stay",)),
    TransitionRow(
        _ACCEPTED,
        _REVEAL,
        "A",
        "reveal",
        "A wins +2, tie +1, B wins 0",
        ("commitment, turn and B's weapon stay", "A's weapon and salt open the commitment"),
    ),
    TransitionRow(_REVEAL, _START, "B", "next round", "0", ("the round's number is one higher",)),
)
"""Every kind of move. `stakes` is what the signer takes from the other; nothing else but the named fields changes."""


class WrongProposedAt(AppError):
    """A proposal names the turn on which it is made."""

    expected: int
    submitted: int


class ProposedAtChanged(AppError):
    """The turn of the proposal stays as it is until the commitment is opened."""

    from_: int
    to: int


class PreCommitChanged(AppError):
    """The commitment stays as it is until it is opened."""

    from_: bytes
    to: bytes


class BPlayChanged(AppError):
    """The weapon of B stays as it is."""

    from_: int
    to: int


class WrongReveal(AppError):
    """What A reveals is not what it has committed to."""

    pre_commit: bytes
    revealed: bytes


class WrongRound(AppError):
    """This is not the round that must follow."""

    expected: int
    submitted: int


class RoundNumberOverflow(AppError):
    """No round has a higher number."""

    round_num: int


ERRORS: dict[str, type[AppError]] = {
    error.__name__: error
    for error in (
        *two_player.SHARED_ERRORS,
        two_player.UnwantedEvidence,
        two_player.OtherChannel,
        WrongProposedAt,
        ProposedAtChanged,
        PreCommitChanged,
        BPlayChanged,
        WrongReveal,
        WrongRound,
        RoundNumberOverflow,
    )
}
"""The twins of the contract's custom errors, by name."""

# -------------------------------------------------------------------------------------------- the twin of the contract


def valid_transition(channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
    """Whether `to` may follow `from_`: True, or an `AppError`. The twin of `RockPaperScissors.validTransition`."""
    require_legal(channel_id, from_, to, num_participants)
    return True


def require_legal(channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> None:
    """Refuse, with an `AppError`, a state that may not follow `from_` in this channel."""
    two_player.require_two_players(from_.outcome, to.outcome, num_participants)
    two_player.require_no_evidence(to.evidence)
    old, next_ = decode(from_.app_data), decode(to.app_data)
    two_player.require_same_stake(old.stake, next_.stake)
    if next_.channel_id != channel_id:
        raise two_player.OtherChannel(channel_id, next_.channel_id)
    stakes = _require_move(old, next_, to.turn_num)
    if old.position_type is _START:
        two_player.require_both_afford(from_.outcome, old.stake)
    two_player.require_paid(from_.outcome, to.outcome, to.turn_num % two_player.PLAYERS, stakes, old.stake)


def stakes_taken_by_a(a_play: int, b_play: int) -> int:
    """What a reveal gives to A, in stakes. B took one when it accepted: a tie gives it back, a win brings another."""
    if a_play == b_play:
        return 1
    return 2 if Weapon(a_play).beats(Weapon(b_play)) else 0


def _require_move(old: Position, next_: Position, turn_num: int) -> int:
    """Check the rows of the table; returns how many stakes the mover takes from the other."""
    rule = _RULES.get((old.position_type, next_.position_type))
    if rule is None:
        raise two_player.NoSuchTransition(int(old.position_type), int(next_.position_type))
    return rule(old, next_, turn_num)


def _require_proposal(old: Position, next_: Position, turn_num: int) -> int:
    _require_round(old.round_num, next_.round_num)
    if next_.proposed_at != turn_num:
        raise WrongProposedAt(turn_num, next_.proposed_at)
    return 0


def _require_rejection(old: Position, next_: Position, _turn_num: int) -> int:
    _require_round(old.round_num, next_.round_num)
    return 0


def _require_acceptance(old: Position, next_: Position, _turn_num: int) -> int:
    _require_round(old.round_num, next_.round_num)
    _require_same_proposal(old, next_)
    return 1


def _require_reveal(old: Position, next_: Position, _turn_num: int) -> int:
    _require_round(old.round_num, next_.round_num)
    _require_same_proposal(old, next_)
    if next_.b_play != old.b_play:
        raise BPlayChanged(old.b_play, next_.b_play)
    revealed = pre_commit_of(next_.channel_id, next_.proposed_at, Opening(next_.a_play, next_.salt))
    if revealed != next_.pre_commit:
        raise WrongReveal(next_.pre_commit, revealed)
    return stakes_taken_by_a(next_.a_play, next_.b_play)


def _require_next_round(old: Position, next_: Position, _turn_num: int) -> int:
    if old.round_num == UINT256_MAX:
        raise RoundNumberOverflow(old.round_num)
    _require_round(old.round_num + 1, next_.round_num)
    return 0


def _require_round(expected: int, submitted: int) -> None:
    if submitted != expected:
        raise WrongRound(expected, submitted)


def _require_same_proposal(old: Position, next_: Position) -> None:
    if next_.pre_commit != old.pre_commit:
        raise PreCommitChanged(old.pre_commit, next_.pre_commit)
    if next_.proposed_at != old.proposed_at:
        raise ProposedAtChanged(old.proposed_at, next_.proposed_at)


_RULES: dict[tuple[PositionType, PositionType], Callable[[Position, Position, int], int]] = {
    (_START, _PROPOSED): _require_proposal,
    (_PROPOSED, _START): _require_rejection,
    (_PROPOSED, _ACCEPTED): _require_acceptance,
    (_ACCEPTED, _REVEAL): _require_reveal,
    (_REVEAL, _START): _require_next_round,
}

# ------------------------------------------------------------------------------------------------------ legal moves


def propose(state: VariablePart, opening: Opening) -> Move:
    """A offers a round, and commits to the weapon that `opening` hides: see `pre_commit_of`."""
    old, turn_num = decode(state.app_data), state.turn_num + 1
    pre_commit = pre_commit_of(old.channel_id, turn_num, opening)
    return _legal(state, Position(_PROPOSED, old.stake, old.channel_id, pre_commit, turn_num, round_num=old.round_num))


def reject(state: VariablePart) -> Move:
    """B declines the round that A has offered."""
    old = decode(state.app_data)
    return _legal(state, Position(_START, old.stake, old.channel_id, round_num=old.round_num))


def accept(state: VariablePart, weapon: int) -> Move:
    """B plays its weapon, and takes A's stake until A reveals."""
    return _legal(state, replace(decode(state.app_data), position_type=_ACCEPTED, b_play=index(weapon)), stakes=1)


def reveal(state: VariablePart, opening: Opening) -> Move:
    """A opens its commitment and takes what it has won."""
    old = decode(state.app_data)
    next_ = replace(old, position_type=_REVEAL, a_play=opening.choice, salt=opening.salt)
    return _legal(state, next_, stakes_taken_by_a(next_.a_play, next_.b_play))


def next_round(state: VariablePart) -> Move:
    """B ends the round."""
    old = decode(state.app_data)
    round_num = min(old.round_num + 1, UINT256_MAX)
    return _legal(state, Position(_START, old.stake, old.channel_id, round_num=round_num))


def _legal(state: VariablePart, next_: Position, stakes: int = 0) -> Move:
    """The move to a position in which the mover takes this many stakes. Raises the error of the rule that forbids
    it."""
    outcome = two_player.take_stakes(state.outcome, (state.turn_num + 1) % two_player.PLAYERS, stakes, next_.stake)
    move = Move(outcome, next_.encode())
    require_legal(next_.channel_id, state, move.after(state), two_player.PLAYERS)
    return move


def legal_moves(state: VariablePart, opening: Opening) -> list[Move]:
    """Every move of the game from a state. `opening`: what A commits to, or opens its commitment with."""
    moves: dict[PositionType, tuple[Callable[[], Move], ...]] = {
        _START: (lambda: propose(state, opening),),
        _PROPOSED: (lambda: reject(state), *(lambda weapon=weapon: accept(state, weapon) for weapon in Weapon)),
        _ACCEPTED: (lambda: reveal(state, opening),),
        _REVEAL: (lambda: next_round(state),),
    }
    legal = []
    for move in moves[decode(state.app_data).position_type]:
        try:
            legal.append(move())
        except AppError:
            continue
    return legal
