"""What a person may do in rock-paper-scissors, by its words. Pure but for the salts."""

from __future__ import annotations

from forcemove import Choice, Randomness, VariablePart
from forcemove_games.commitment import Opening
from forcemove_games.rock_paper_scissors import rules
from forcemove_games.rock_paper_scissors.openings import decode_openings, encode_openings, opening_of
from forcemove_games.rock_paper_scissors.position import Position, PositionType, Weapon, decode
from forcemove_games.two_player import can_afford


def choices(state: VariablePart, randomness: Randomness, secrets: bytes) -> tuple[Choice, ...]:
    """See `forcemove.game.Game.choices`; `state` is not final."""
    position = decode(state.app_data)
    match position.position_type:
        case PositionType.START:
            can_play = can_afford(state.outcome, position.stake)
            return tuple(_propose(state, weapon, randomness, secrets) for weapon in Weapon) if can_play else ()
        case PositionType.ROUND_PROPOSED:
            return (*(_accept(state, weapon) for weapon in Weapon), _reject(state))
        case PositionType.ROUND_ACCEPTED:
            return (_reveal(state, position, secrets),)
        case PositionType.REVEAL:
            can_play = can_afford(state.outcome, position.stake)
            return (Choice("next", "go on to the next round", rules.next_round(state)),) if can_play else ()


def _word(weapon: Weapon) -> str:
    return weapon.name.lower()


def _propose(state: VariablePart, weapon: Weapon, randomness: Randomness, secrets: bytes) -> Choice:
    """A proposal. Earlier openings stay: a proposal that was asked for twice may have been signed the first time."""
    opening = Opening.fresh(weapon, randomness)
    kept = encode_openings((*decode_openings(secrets), opening))
    text = f"choose {_word(weapon)}, which stays hidden until the other has played"
    return Choice(_word(weapon), text, rules.propose(state, opening), kept)


def _accept(state: VariablePart, weapon: Weapon) -> Choice:
    return Choice(_word(weapon), f"play {_word(weapon)}", rules.accept(state, weapon))


def _reject(state: VariablePart) -> Choice:
    return Choice("reject", "play no such round: nothing is won or lost", rules.reject(state))


def _reveal(state: VariablePart, position: Position, secrets: bytes) -> Choice:
    opening = opening_of(decode_openings(secrets), position)
    text = f"show that you have chosen {_word(Weapon(opening.choice))}"
    return Choice("reveal", text, rules.reveal(state, opening), encode_openings((opening,)), is_forced=True)
