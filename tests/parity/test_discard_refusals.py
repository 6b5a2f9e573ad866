"""What a cheat at Discard could sign: refused by the contract and by its twin, each for its own reason."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from forcemove import UINT48_MAX, AppError, VariablePart
from forcemove.contracts import artifact
from forcemove.testing.calls import ID, Bench, TransitionCall, outcome
from forcemove_games.cards import curve, errors, key_proof
from forcemove_games.cards.deck import CardWords, path_of
from forcemove_games.discard import rules
from forcemove_games.discard.errors import (
    CardDenied,
    CardDoesNotFit,
    CardNotHeld,
    CardNotInDeck,
    CouldDraw,
    NothingToDraw,
    OtherChannel,
    UnexpectedWord,
    WrongEvidenceLength,
)
from forcemove_games.discard.evidence import (
    DealtShares,
    Evidence,
    MoveShares,
    ShownCards,
    TouchedCard,
    encode_evidence,
    evidence_of,
)
from forcemove_games.discard.position import Core, CoreWord, Position, PositionType, decode
from forcemove_games.discard_sra.cards import fits
from forcemove_games.two_player import BalanceTooLow, MalformedPosition, NoSuchTransition, StakeChanged, WrongAmount
from tests.games.cards.dealt import ABOVE_ORDER, stream
from tests.games.discard.dealer import BALANCE, STAKE, Dealer, begin, core_of, draw_first, lay_first

BENCH = Bench(artifact("Discard"), rules)
DEALER, QUICK = Dealer("draw first 62", hands=2), Dealer("lay first 0", hands=2)
LONG, SHORT = DEALER.play(draw_first), QUICK.play(lay_first)
Pair = tuple[VariablePart, VariablePart]


def require_refused(from_: VariablePart, to: VariablePart, error: AppError | type[AppError]) -> None:
    """Both refuse, with this error; its values are compared where they are given."""
    with pytest.raises(AppError) as caught:
        rules.valid_transition(ID, from_, to, 2)
    found = type(caught.value) if isinstance(error, type) else caught.value
    assert found == error, caught.value
    BENCH.require_refused(TransitionCall(from_, to))


def with_core(state: VariablePart, **changes: Any) -> VariablePart:
    """The state with another core, and all else as it was."""
    return replace(state, app_data=replace(core_of(state), **changes).encode() + decode(state.app_data).deck)


def with_deck(state: VariablePart, deck: bytes) -> VariablePart:
    return replace(state, app_data=Position(core_of(state), deck).encode())


def with_evidence(state: VariablePart, shown: Evidence) -> VariablePart:
    return replace(state, evidence=encode_evidence(shown))


def shown_in(state: VariablePart) -> Any:
    return evidence_of(state)


def move_to(wanted: Callable[[Core, Core], bool], states: list[VariablePart] = LONG) -> Pair:
    """The first move that is as wanted."""
    return next(pair for pair in pairwise(states) if wanted(*map(core_of, pair)))


def to_type(kind: PositionType, states: list[VariablePart] = LONG) -> Pair:
    return move_to(lambda _, to: to.position_type is kind, states)


def seat_of(to: VariablePart) -> int:
    return to.turn_num % 2


def with_pair(pair: tuple[Any, Any], seat: int, value: Any) -> tuple[Any, Any]:
    return (value, pair[1]) if seat == 0 else (pair[0], value)


# ------------------------------------------------------------------------------------------------------- any position


@pytest.mark.parametrize("kind", PositionType)
def test_a_hand_stays_in_its_channel(kind: PositionType) -> None:
    from_, to = to_type(kind)
    elsewhere = [with_core(state, channel_id=b"\x11" * 32) for state in (from_, to)]
    require_refused(elsewhere[0], to, OtherChannel(ID, b"\x11" * 32))
    require_refused(elsewhere[0], elsewhere[1], OtherChannel(ID, b"\x11" * 32))
    require_refused(
        from_, elsewhere[1], UnexpectedWord(CoreWord.CHANNEL_ID, int.from_bytes(ID), int.from_bytes(b"\x11" * 32))
    )


@pytest.mark.parametrize("kind", PositionType)
def test_evidence_has_the_length_that_the_position_asks_for(kind: PositionType) -> None:
    from_, to = to_type(kind)
    shown = to.evidence
    for other in {shown + b"\0", shown + bytes(32), shown[:-1], shown[:-32], b""} - {shown}:
        require_refused(from_, replace(to, evidence=other), WrongEvidenceLength(len(shown), len(other)))


@pytest.mark.parametrize("kind", PositionType)
def test_the_stake_stays_and_is_paid_exactly(kind: PositionType) -> None:
    from_, to = to_type(kind)
    require_refused(from_, with_core(to, stake=STAKE + 1), StakeChanged(STAKE, STAKE + 1))
    seat, (first, second) = seat_of(to), (allocation.amount for allocation in to.outcome)
    more = (first + 1, second - 1) if seat == 0 else (first - 1, second + 1)
    expected = (first, second)[seat]
    require_refused(from_, replace(to, outcome=outcome(*more)), WrongAmount(seat, expected, expected + 1))


@pytest.mark.parametrize("from_type", PositionType)
def test_no_row_is_left_out_or_taken_twice(from_type: PositionType) -> None:
    allowed = {row.to_type for row in rules.TABLE if row.from_type is from_type}
    from_ = next(state for state in LONG + SHORT if core_of(state).position_type is from_type)
    for kind in PositionType:
        to = next(state for state in LONG + SHORT if core_of(state).position_type is kind)
        if kind not in allowed:
            require_refused(from_, replace(to, turn_num=from_.turn_num + 1), NoSuchTransition(from_type, kind))


# --------------------------------------------------------------------------------------------------------------- set-up


@pytest.mark.parametrize("hand", [0, 2])
def test_the_next_hand_has_the_next_number(hand: int) -> None:
    from_, to = to_type(PositionType.READY)
    assert core_of(from_).hand == 0
    require_refused(from_, with_core(to, hand=hand), UnexpectedWord(CoreWord.HAND, 1, hand))


def test_there_is_no_hand_after_the_last_number() -> None:
    from_, to = to_type(PositionType.READY)
    last = with_core(from_, hand=UINT48_MAX)
    require_refused(last, with_core(to, hand=0), MalformedPosition(CoreWord.HAND, UINT48_MAX + 1))


def test_both_can_pay_before_a_hand_begins() -> None:
    from_ = begin(ID, outcome(STAKE, STAKE))
    (to,) = DEALER.successors(from_)
    BENCH.require_accepted(TransitionCall(from_, to))
    for amounts, poor in (((STAKE - 1, BALANCE), 0), ((BALANCE, STAKE - 1), 1)):
        paid = outcome(*amounts)
        error = BalanceTooLow(poor, STAKE - 1, 1, STAKE)
        require_refused(replace(from_, outcome=paid), replace(to, outcome=paid), error)


def test_a_copied_key_is_refused() -> None:
    """Its proof is for another turn, and who does not know the secret can make none for this one."""
    from_, to = to_type(PositionType.KEYED)
    core = core_of(from_)
    copied = with_core(to, keys=(core.keys[0], core.keys[0]))
    require_refused(from_, with_evidence(copied, shown_in(from_)), errors.KeyRefused)
    require_refused(from_, copied, errors.KeyRefused)


def test_a_key_of_the_hand_before_needs_a_new_proof() -> None:
    first, second = (pair for pair in pairwise(LONG) if core_of(pair[1]).position_type is PositionType.KEYED_FIRST)
    seat = seat_of(second[1])
    old_turn = next(state for state in LONG if core_of(state).keys[seat] != (0, 0))
    stale = with_core(second[1], keys=with_pair(((0, 0), (0, 0)), seat, core_of(old_turn).keys[seat]))
    require_refused(second[0], with_evidence(stale, shown_in(old_turn)), errors.KeyRefused)
    assert first[1].turn_num < second[1].turn_num


def test_a_key_is_a_point_with_an_x_below_the_order() -> None:
    from_, to = to_type(PositionType.KEYED)
    keys = core_of(to).keys
    for x, y in ((keys[1][0], curve.FIELD - keys[1][1] - 1), (keys[1][0], keys[1][1] + 2**255), (0, 0), ABOVE_ORDER):
        require_refused(from_, with_core(to, keys=(keys[0], (x, y % 2**256))), errors.PointRefused(x, y % 2**256))


def test_the_others_key_stays() -> None:
    from_, to = to_type(PositionType.KEYED)
    (x, y), own = core_of(to).keys
    require_refused(from_, with_core(to, keys=((x + 1, y), own)), UnexpectedWord(CoreWord.KEYS, x, x + 1))
    from_, to = to_type(PositionType.KEYED_FIRST)
    other, proof = key_proof.prove_key(5, ID, to.turn_num, stream("other"))
    second = with_core(to, keys=((0, 0), (other.x, other.y)))
    require_refused(from_, with_evidence(second, proof), UnexpectedWord(6, 0, other.x))
    assert isinstance(proof, key_proof.KeyProof)


@pytest.mark.parametrize("kind", [PositionType.DEALT_FIRST, PositionType.DEALT])
def test_a_deal_has_the_right_shares_of_this_turn(kind: PositionType) -> None:
    from_, to = to_type(kind)
    shown = shown_in(to)
    assert isinstance(shown, DealtShares)
    swapped = shown._replace(items=(shown.items[1], shown.items[0], *shown.items[2:]))
    require_refused(from_, with_evidence(to, swapped), errors.MaskRefused)
    forged = shown._replace(proof=shown.proof._replace(challenge=shown.proof.challenge ^ 1))
    require_refused(from_, with_evidence(to, forged), errors.MaskRefused)
    late = [replace(state, turn_num=state.turn_num + 2) for state in (from_, to)]
    require_refused(late[0], late[1], errors.ShareRefused)


def test_a_share_of_another_secret_is_refused() -> None:
    """A dealer with other keys makes a proof that would hold for its own."""
    from_, to = to_type(PositionType.DEALT_FIRST)
    stranger = Dealer("stranger")
    (made,) = stranger.successors(from_)
    require_refused(from_, made, errors.ShareRefused)
    assert made.turn_num == to.turn_num


def test_the_first_deal_changes_nothing_else_in_the_deck() -> None:
    from_, to = to_type(PositionType.DEALT_FIRST)
    deck = decode(to.app_data).deck
    for index in (0, 1, 2, 11, 12, 13, 22, 23, 24, 47, 48):
        data = bytearray(deck)
        data[32 * index + 31] ^= 1
        value = int.from_bytes(data[32 * index : 32 * index + 32])
        error = UnexpectedWord(19 + index, value ^ 1, value)
        require_refused(from_, with_deck(to, bytes(data)), error)


def test_parities_of_cards_that_are_not_there_end_with_the_deal() -> None:
    from_, to = to_type(PositionType.DEALT_FIRST)
    deck = bytearray(decode(from_.app_data).deck)
    deck[0] = 0x80
    dirty = with_deck(from_, bytes(deck))
    BENCH.require_accepted(TransitionCall(dirty, to))
    kept = bytearray(decode(to.app_data).deck)
    kept[0] = 0x80
    require_refused(dirty, with_deck(to, bytes(kept)), UnexpectedWord)


def test_the_second_deal_has_its_root_hands_and_top_card() -> None:
    from_, to = to_type(PositionType.DEALT)
    core = core_of(to)
    root, changed = int.from_bytes(core.root), b"\x07" * 32
    require_refused(from_, with_core(to, root=changed), UnexpectedWord(CoreWord.ROOT, root, int.from_bytes(changed)))
    require_refused(from_, with_core(to, held=core.held[::-1]), UnexpectedWord(CoreWord.HELD, 31, 31 << 5))
    require_refused(from_, with_core(to, held=(31, 31)), UnexpectedWord(CoreWord.HELD + 1, 31 << 5, 31))
    require_refused(from_, with_core(to, drawn=10), UnexpectedWord(CoreWord.DRAWN, 11, 10))
    top = (core.top + 1) % 24
    require_refused(from_, with_core(to, top=top), errors.CardUnknown(top))


# ----------------------------------------------------------------------------------------------------------------- play


def lays(from_: Core, to: Core) -> bool:
    return bool(to.laid and from_.position_type is PositionType.PLAYING and not to.shared)


def shares(from_: Core, to: Core) -> bool:
    return bool(from_.pending and to.shared)


def cannot_move(_: Core, to: Core) -> bool:
    return bool(to.passes)


def made(state: VariablePart, core: Core, shown: Evidence) -> VariablePart:
    """The state after `state` with this position, paid for as a move of play is."""
    return DEALER.made(state, core, shown)


def test_what_is_laid_is_in_the_movers_hand() -> None:
    from_, to = move_to(lays, SHORT)
    core, seat = core_of(from_), seat_of(to)
    for index in (core_of(SHORT[-1]).drawn, 23, *_bits(core.held[1 - seat])[:1]):
        require_refused(from_, with_core(to, laid=index + 1), CardNotHeld(index))


def _bits(held: int) -> list[int]:
    return [index for index in range(24) if held >> index & 1]


def test_what_is_laid_fits() -> None:
    for from_, to in pairwise(SHORT):
        core, seat = core_of(from_), seat_of(to)
        if core.position_type not in (PositionType.DEALT, PositionType.PLAYING):
            continue
        for index in _bits(core.held[seat]):
            card = QUICK.number(core, index)
            if not fits(card, core.top) and not core.pending:
                lay = QUICK.lay(core, seat, to.turn_num, index, card, core.root)
                laid = made(from_, lay.core, lay.evidence())
                require_refused(from_, laid, CardDoesNotFit(card, core.top))
                return
    raise AssertionError("every card fits")


def test_what_is_laid_opens_as_the_card_that_is_said() -> None:
    from_, to = move_to(lays, SHORT)
    core, card = core_of(from_), core_of(to).top
    other = next(number for number in range(24) if fits(number, core.top) and number != card)
    require_refused(from_, with_core(to, top=other), errors.CardUnknown(other))


def test_what_is_laid_leaves_the_hand_and_nothing_else_changes() -> None:
    from_, to = move_to(lays, SHORT)
    core, seat, held = core_of(to), seat_of(to), core_of(to).held
    kept = held[seat] | 1 << core.laid - 1
    require_refused(from_, with_core(to, held=with_pair(held, seat, kept)), UnexpectedWord(9 + seat, held[seat], kept))
    less = held[1 - seat] & held[1 - seat] - 1
    taken = with_core(to, held=with_pair(held, 1 - seat, less))
    require_refused(from_, taken, UnexpectedWord(10 - seat, held[1 - seat], less))
    require_refused(from_, with_core(to, drawn=core.drawn - 1), UnexpectedWord(11, core.drawn, core.drawn - 1))
    require_refused(from_, with_core(to, denied=(1, 0)), UnexpectedWord(CoreWord.DENIED, 0, 1))
    require_refused(from_, with_core(to, denied=(0, 1)), UnexpectedWord(CoreWord.DENIED + 1, 0, 1))
    require_refused(from_, with_core(to, pending=1), UnexpectedWord(CoreWord.PENDING, 0, 1))
    require_refused(from_, with_core(to, passes=1), UnexpectedWord(CoreWord.PASSES, 0, 1))
    root = int.from_bytes(core.root)
    require_refused(from_, with_core(to, root=bytes(32)), UnexpectedWord(CoreWord.ROOT, root, 0))


def test_the_last_card_ends_the_hand_and_no_other_does() -> None:
    from_, to = to_type(PositionType.OVER, SHORT)
    require_refused(from_, with_core(to, position_type=PositionType.PLAYING), UnexpectedWord(0, 8, 7))
    from_, to = move_to(lays, SHORT)
    require_refused(from_, with_core(to, position_type=PositionType.OVER), UnexpectedWord(0, 7, 8))


def test_a_card_of_another_deck_or_place_is_refused() -> None:
    from_, to = move_to(lays, SHORT)
    shown, index = shown_in(to), core_of(to).laid - 1
    laid: TouchedCard = shown.laid
    foreign = DEALER.deck(core_of(to_type(PositionType.DEALT)[1]))[index]
    for touched in (
        laid._replace(card=CardWords.of(foreign)),
        laid._replace(card=laid.card._replace(parities=laid.card.parities ^ 2)),
        laid._replace(card=laid.card._replace(parities=laid.card.parities | 4)),
        laid._replace(path=(laid.path[1], laid.path[0], *laid.path[2:])),
        laid._replace(path=path_of(QUICK.deck(core_of(from_)), index ^ 1)),
    ):
        require_refused(from_, with_evidence(to, shown._replace(laid=touched)), CardNotInDeck(index))


def test_what_was_drawn_is_shared_at_once() -> None:
    from_, to = move_to(lambda a, b: shares(a, b) and bool(b.pending))
    core = core_of(to)
    kept = replace(core, shared=0, root=core_of(from_).root)
    require_refused(from_, made(from_, kept, None), UnexpectedWord(CoreWord.SHARED, core.shared, 0))
    shown = shown_in(to)
    other = with_core(to, shared=core.shared - 1)
    require_refused(from_, other, UnexpectedWord(CoreWord.SHARED, core.shared, core.shared - 1))
    assert isinstance(shown, MoveShares)


def test_a_wrong_share_of_this_turn_is_refused() -> None:
    """One of another secret, one of a turn before, and one that leaves another root."""
    from_, to = move_to(lambda a, b: shares(a, b) and bool(b.pending))
    shown, core = shown_in(to), core_of(to)
    item = shown.shared.item
    wrong = shown.shared._replace(item=item._replace(dy=curve.FIELD - item.dy))
    require_refused(from_, with_evidence(to, shown._replace(shared=wrong)), errors.MaskRefused)
    late = [replace(state, turn_num=state.turn_num + 2) for state in (from_, to)]
    require_refused(late[0], late[1], errors.ShareRefused)
    root = int.from_bytes(core.root)
    stale = with_core(to, root=core_of(from_).root)
    require_refused(from_, stale, UnexpectedWord(CoreWord.ROOT, root, int.from_bytes(core_of(from_).root)))


def test_keys_that_are_no_points_share_nothing() -> None:
    """Such positions were never played; the verdict is one all the same."""
    from_, to = move_to(shares)
    seat, keys = seat_of(to), core_of(to).keys
    for key in ((keys[seat][0], keys[seat][1] ^ 2), ABOVE_ORDER):
        changed = with_pair(keys, seat, key)
        require_refused(with_core(from_, keys=changed), with_core(to, keys=changed), errors.PointRefused(*key))


def test_the_next_card_of_the_pile_is_drawn_while_there_is_one() -> None:
    from_, to = move_to(lambda _, b: bool(b.pending))
    core, seat = core_of(to), seat_of(to)
    require_refused(from_, with_core(to, pending=core.pending + 1), UnexpectedWord(15, core.pending, core.pending + 1))
    require_refused(from_, with_core(to, drawn=core.drawn + 1), UnexpectedWord(11, core.drawn, core.drawn + 1))
    kept = with_core(to, held=core_of(from_).held)
    require_refused(from_, kept, UnexpectedWord(9 + seat, core.held[seat], core_of(from_).held[seat]))
    require_refused(from_, with_core(to, top=(core.top + 1) % 24), UnexpectedWord(12, core.top, (core.top + 1) % 24))
    empty, after = move_to(lambda a, b: a.drawn == 24 and not a.pending and not b.shared)
    drawn = replace(core_of(empty), pending=24, shared=0, laid=0, passes=0)
    require_refused(empty, made(empty, drawn, None), NothingToDraw(24))
    assert after.turn_num == empty.turn_num + 1


def test_nobody_is_stuck_while_cards_are_left() -> None:
    from_, to = move_to(lambda _, b: bool(b.pending and not b.shared))
    stuck = replace(core_of(from_), position_type=PositionType.PLAYING, passes=1, denied=(2**24 - 1, 2**24 - 1))
    require_refused(from_, made(from_, stuck, None), CouldDraw(core_of(from_).drawn))
    assert core_of(to).pending


def test_cannot_move_denies_every_card_that_fits_and_counts() -> None:
    from_, to = move_to(cannot_move)
    core, seat = core_of(to), seat_of(to)
    for card in (card for card in range(24) if fits(card, core.top)):
        less = core.denied[seat] & ~(1 << card)
        hidden = with_core(to, denied=with_pair(core.denied, seat, less))
        require_refused(from_, hidden, UnexpectedWord(13 + seat, core.denied[seat], less))
    require_refused(from_, with_core(to, passes=core.passes - 1), UnexpectedWord(16, core.passes, core.passes - 1))
    other = with_pair(core.denied, 1 - seat, core.denied[1 - seat] ^ 1)
    require_refused(
        from_, with_core(to, denied=other), UnexpectedWord(14 - seat, core.denied[1 - seat], other[1 - seat])
    )


def test_after_two_cannot_moves_cards_are_shown_and_not_before() -> None:
    from_, to = move_to(lambda _, b: b.passes == 1)
    shown = replace(core_of(from_), position_type=PositionType.SHOWING, shared=0, laid=0)
    require_refused(from_, made(from_, shown, None), NoSuchTransition(7, 9))
    from_, to = to_type(PositionType.SHOWING)
    again = replace(core_of(from_), passes=0)
    require_refused(from_, made(from_, again, None), NoSuchTransition(7, 7))
    assert core_of(to).laid


# ------------------------------------------------------------------------------------------------------------- showing


def test_four_cards_are_shown_or_all_and_the_lowest_first() -> None:
    from_, to = to_type(PositionType.SHOWING)
    core, seat, shown = core_of(to), seat_of(to), shown_in(to)
    assert isinstance(shown, ShownCards)
    assert core.laid == 4
    fewer = with_evidence(with_core(to, laid=3), shown._replace(cards=shown.cards[:3]))
    require_refused(from_, fewer, UnexpectedWord(CoreWord.LAID, 4, 3))
    none = with_evidence(with_core(to, laid=0), None)
    require_refused(from_, none, UnexpectedWord(CoreWord.LAID, 4, 0))
    first, second, *rest = shown.cards
    places = _bits(core_of(from_).held[seat])
    swapped = shown._replace(cards=(second, first, *rest))
    require_refused(from_, with_evidence(to, swapped), CardNotInDeck(places[0]))
    kept = with_core(to, held=core_of(from_).held)
    before = core_of(from_).held[seat]
    require_refused(from_, kept, UnexpectedWord(9 + seat, core.held[seat], before))


def test_a_card_is_shown_as_what_it_is() -> None:
    from_, to = to_type(PositionType.SHOWING)
    shown = shown_in(to)
    denied = core_of(from_).denied[seat_of(to)]
    others = [number for number in range(24) if not denied >> number & 1 and number != shown.cards[0].number]
    for number in (others[0], 24, 2**256 - 1):
        cards = (shown.cards[0]._replace(number=number), *shown.cards[1:])
        require_refused(from_, with_evidence(to, shown._replace(cards=cards)), errors.CardUnknown(number))
    first, second, *rest = shown.cards
    swapped = shown._replace(cards=(second._replace(number=24), first, *rest))
    require_refused(from_, with_evidence(to, swapped), errors.CardUnknown(24))
    for at, number in ((0, _bits(denied)[0]), (3, _bits(denied)[-1])):
        changed = list(shown.cards)
        changed[at] = changed[at]._replace(number=number)
        require_refused(from_, with_evidence(to, shown._replace(cards=tuple(changed))), CardDenied(number))


def test_it_is_a_tie_when_both_have_shown_all() -> None:
    from_, to = to_type(PositionType.TIED)
    require_refused(from_, called(from_, to, PositionType.SHOWING), UnexpectedWord(0, 10, 9))
    from_, to = move_to(lambda a, b: a.position_type is b.position_type is PositionType.SHOWING)
    require_refused(from_, called(from_, to, PositionType.TIED), UnexpectedWord(0, 9, 10))


def called(from_: VariablePart, to: VariablePart, kind: PositionType) -> VariablePart:
    """The state as if it were of another type, and paid for as such."""
    return made(from_, replace(core_of(to), position_type=kind), shown_in(to))


@pytest.mark.parametrize("kind", [PositionType.SHOWING, PositionType.TIED])
def test_while_cards_are_shown_nothing_else_changes(kind: PositionType) -> None:
    from_, to = move_to(lambda a, b: a.position_type is PositionType.SHOWING and b.position_type is kind)
    core = core_of(to)
    for changes, error in (
        ({"hand": core.hand + 1}, UnexpectedWord(3, core.hand, core.hand + 1)),
        ({"root": bytes(32)}, UnexpectedWord(8, int.from_bytes(core.root), 0)),
        ({"drawn": 23}, UnexpectedWord(11, 24, 23)),
        ({"top": (core.top + 1) % 24}, UnexpectedWord(12, core.top, (core.top + 1) % 24)),
        ({"denied": (0, core.denied[1])}, UnexpectedWord(13, core.denied[0], 0)),
        ({"denied": (core.denied[0], 0)}, UnexpectedWord(14, core.denied[1], 0)),
        ({"passes": 1}, UnexpectedWord(16, 2, 1)),
    ):
        require_refused(from_, with_core(to, **changes), error)
