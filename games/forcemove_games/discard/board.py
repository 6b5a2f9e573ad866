"""Positions of Discard in words: for screens, and as data. Own cards are shown to who has the secrets of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from forcemove import JsonValue, Names, RoundResult, VariablePart, keccak256
from forcemove_games.discard.evidence import ShownCards, evidence_of
from forcemove_games.discard.hand import PlayerSide
from forcemove_games.discard.position import NO_KEY, Core, PositionType, decode
from forcemove_games.discard.secrets import HandSecrets, HandSecretsLost
from forcemove_games.discard.steps import indices
from forcemove_games.discard_sra import cards
from forcemove_games.two_player import PLAYERS, round_result

_IS_DEALT = PositionType.DEALT
_SHOWN = (PositionType.SHOWING, PositionType.TIED)


# --------------------------------------------------------------------------------------------------------- in words


def move_text(state: VariablePart) -> str:
    """What the mover of a state did; `state` is not final."""
    core = decode(state.app_data).core
    kind = core.position_type
    if kind is PositionType.READY:
        return "asked for another hand"
    if kind < _IS_DEALT:
        return "dealt"
    if kind is _IS_DEALT:
        return f"turned {cards.name(core.top)} up: the cards are dealt"
    if kind in _SHOWN:
        return f"showed {' '.join(_names(_shown(state))) or cards.count_text(core.laid)}"
    if kind is PositionType.OVER:
        return f"laid {cards.name(core.top)}, the last card"
    if core.laid:
        return f"laid {cards.name(core.top)}"
    return "drew a card" if core.pending else "could not move"


def prompt(state: VariablePart) -> str:
    """What the next mover is asked for; `state` is not final."""
    core = decode(state.app_data).core
    kind = core.position_type
    if kind is PositionType.READY and core.hand:  # to the first one both have agreed by sitting down
        return "agree to another hand"
    if kind < _IS_DEALT:
        return "Dealing\N{HORIZONTAL ELLIPSIS}"
    if kind in (PositionType.OVER, PositionType.TIED):
        return "start another hand"
    if kind is PositionType.SHOWING or core.passes == PLAYERS:
        return "show cards"
    return "lay a card, or draw one" if core.pile else "lay a card"


def result(state: VariablePart) -> RoundResult | None:
    """How the hand ended; `state` is not final."""
    core = decode(state.app_data).core
    match core.position_type:
        case PositionType.OVER:
            return round_result(state.turn_num % PLAYERS, "no card is left in the hand", core.stake)
        case PositionType.TIED:
            return round_result(None, "nobody could move", core.stake)
    return None


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
    text = cards.count_text(count)
    if own is not None and own[0] == seat and count:
        unread = ["?"] * (count - len(own[1]))
        text = f"{' '.join([cards.names(own[1]), *unread]).strip()} ({text})"
    denied = indices(core.denied[seat])
    return f"{text}; has none of {cards.names(denied)}, it says" if denied else text


def _table(core: Core) -> str:
    if core.position_type < _IS_DEALT:
        return f"the deck of {cards.SIZE}"
    return f"{cards.name(core.top)} on top, {cards.count_text(core.pile)} in the pile"


# --------------------------------------------------------------------------------------------------------- as data


def position_data(state: VariablePart) -> dict[str, JsonValue]:
    """See `forcemove_games.discard.game.Discard.position`; `state` is not final."""
    position = decode(state.app_data)
    core = position.core
    is_dealt, is_shown = core.position_type >= _IS_DEALT, core.position_type in _SHOWN
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
        "laid": core.laid - 1 if core.laid and not is_shown else None,
        "shown": _names(_shown(state)),
        "deck": _hash(position.deck),
        "evidence": _hash(state.evidence),
    }


def _shown(state: VariablePart) -> list[int]:
    """The cards that are shown in a state, by their numbers; none where only its position is at hand."""
    evidence = evidence_of(state) if state.evidence else None
    return [each.number for each in evidence.cards] if isinstance(evidence, ShownCards) else []


def _names(numbers: Iterable[int]) -> list[str]:
    """What cards are called, also those that no deck has."""
    return [cards.name(number) if number < cards.SIZE else f"card {number}" for number in numbers]


def _hash(data: bytes) -> str | None:
    return _hex(keccak256(data)) if data else None


def _hex(data: bytes) -> str:
    return "0x" + data.hex()
