"""Positions of Discard in words: for screens, and as data. Own cards are shown to who has the secrets of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from forcemove import JsonValue, Names, VariablePart, keccak256
from forcemove_games.discard.hand import PlayerSide
from forcemove_games.discard.position import CORE_LENGTH, NO_KEY, Core, PositionType, decode
from forcemove_games.discard.secrets import HandSecrets, HandSecretsLost
from forcemove_games.discard.steps import indices
from forcemove_games.discard.tails import ShownCards
from forcemove_games.discard_sra import cards
from forcemove_games.two_player import PLAYERS, movers

__all__ = ["board", "count_text", "describe", "own_cards", "position_data"]

_SET_UP = {
    PositionType.KEYED_FIRST: "{last} has shown a key; {next} is to show one, too.",
    PositionType.KEYED: "{last} has shown a key, too; {next} is to shuffle.",
    PositionType.SHUFFLED_FIRST: "{last} has shuffled; {next} is to check that, and to shuffle, too.",
    PositionType.SHUFFLED: "{last} has shuffled, too; {next} is to check that, and to deal.",
    PositionType.DEALT_FIRST: "{last} has given its shares of the cards of {next}, who is to give its own.",
}
_IS_DEALT = PositionType.DEALT


def count_text(count: int) -> str:
    """How many cards, in words."""
    return "1 card" if count == 1 else f"{count or 'no'} cards"


# ------------------------------------------------------------------------------------------------------- in one line


def describe(state: VariablePart, names: Names) -> str:
    """What has happened, and who is to do what; `state` is not final."""
    core = decode(state.app_data).core
    last, next_ = (names[seat] for seat in movers(state))
    kind = core.position_type
    if kind is PositionType.READY:
        return f"Hand {core.hand + 1}: {next_} is to show the first key."
    if kind in _SET_UP:
        return _SET_UP[kind].format(last=last, next=next_)
    if kind is PositionType.DEALT:
        return f"The cards are dealt, {cards.name(core.top)} is turned up; {next_} is to move."
    if kind in (PositionType.SHOWING, PositionType.TIED):
        return _shown(state, core, last, next_)
    if kind is PositionType.OVER:
        return f"{last} lays {cards.name(core.top)}, its last card, and wins the hand."
    return _played(core, last, next_)


def _played(core: Core, last: str, next_: str) -> str:
    if core.laid:
        return f"{last} lays {cards.name(core.top)}; {next_} is to move."
    if core.pending:
        return f"{last} draws a card; {next_} is to let it be read, and to move."
    if core.passes == PLAYERS:
        return f"{last} can't move either; {next_} is to show its cards."
    return f"{last} can't move; {next_} is to move."


def _shown(state: VariablePart, core: Core, last: str, next_: str) -> str:
    tail = decode(state.app_data).tail
    shown = " ".join(_names(each.number for each in tail.cards)) if isinstance(tail, ShownCards) else "no card"
    if core.position_type is PositionType.TIED:
        return f"{last} shows {shown}: nobody wins the hand."
    return f"{last} shows {shown}; {next_} is to show its cards."


# -------------------------------------------------------------------------------------------------------- as a board


def own_cards(state: VariablePart, secrets: bytes) -> tuple[int, tuple[int, ...]] | None:
    """The seat of the player with these secrets, and its cards that it can read in this state. None where the secrets
    are of another hand, or the state is an older one than those that they are kept for. Raises `MalformedBytes`."""
    found = HandSecrets.decode(secrets)
    core = decode(state.app_data).core
    seats = [seat for seat in range(PLAYERS) if core.keys[seat] != NO_KEY and found.seed_with(core.keys[seat])]
    if core.position_type < _IS_DEALT or not seats:
        return None
    try:
        return seats[0], tuple(sorted(PlayerSide(state, seats[0], found).hand.values()))
    except HandSecretsLost:
        return None


def board(state: VariablePart, names: Names, secrets: bytes) -> str:
    """Three lines: both players' cards, and the table; `state` is not final."""
    core, own = decode(state.app_data).core, own_cards(state, secrets)
    rows = [(name, _hand(core, seat, own)) for seat, name in enumerate(names)]
    rows.append(("table", _table(core)))
    width = max(len(label) for label, _ in rows) + 1
    return "\n".join(f"{label + ':':<{width}} {text}" for label, text in rows)


def _hand(core: Core, seat: int, own: tuple[int, tuple[int, ...]] | None) -> str:
    if core.position_type < _IS_DEALT:
        return "no cards yet"
    count = core.held[seat].bit_count()
    text = count_text(count)
    if own is not None and own[0] == seat and count:
        unread = ["?"] * (count - len(own[1]))
        text = f"{' '.join([cards.names(own[1]), *unread]).strip()} ({text})"
    denied = indices(core.denied[seat])
    return f"{text}; has none of {cards.names(denied)}, it says" if denied else text


def _table(core: Core) -> str:
    if core.position_type < _IS_DEALT:
        return f"the deck of {cards.SIZE}"
    return f"{cards.name(core.top)} on top, {count_text(core.pile)} in the pile"


# --------------------------------------------------------------------------------------------------------- as data


def position_data(state: VariablePart) -> dict[str, JsonValue]:
    """See `forcemove_games.discard.game.Discard.position`; `state` is not final."""
    position = decode(state.app_data)
    core, tail, rest = position.core, position.tail, state.app_data[CORE_LENGTH:]
    is_dealt = core.position_type >= _IS_DEALT
    shown = [each.number for each in tail.cards] if isinstance(tail, ShownCards) else []
    return {
        "type": core.position_type.label,
        "stake": str(core.stake),
        "channelId": _hex(core.channel_id),
        "hand": str(core.hand),
        "keys": [None if key == NO_KEY else [_hex(each.to_bytes(32, "big")) for each in key] for key in core.keys],
        "root": _hex(core.root) if is_dealt else None,
        "held": [list(indices(each)) for each in core.held],
        "pile": core.pile if is_dealt else None,
        "top": cards.name(core.top) if is_dealt else None,
        "denied": [_names(indices(each)) for each in core.denied],
        "drawn": core.pending - 1 if core.pending else None,
        "passes": core.passes,
        "shared": core.shared - 1 if core.shared else None,
        "laid": core.laid - 1 if core.laid and not shown else None,
        "shown": _names(shown),
        "proofs": _hex(keccak256(rest)) if rest else None,
    }


def _names(numbers: Iterable[int]) -> list[str]:
    """What cards are called, also those that no deck has."""
    return [cards.name(number) if number < cards.SIZE else f"card {number}" for number in numbers]


def _hex(data: bytes) -> str:
    return "0x" + data.hex()
