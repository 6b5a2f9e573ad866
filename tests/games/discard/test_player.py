"""What a player of Discard sees to itself: wrong shuffles, liars, its own screen and its choices."""

from __future__ import annotations

from itertools import count, islice, pairwise

import pytest
from msgspec.structs import replace

from forcemove import AppError, ChooseMove, ConcludeWanted, FalseMove, VariablePart
from forcemove.inspect.apps import KnownApp, KnownBy, PositionFacts, read_position
from forcemove.rounds import UNASKED, position_line
from forcemove.sessions.playing import content, counted_bot, human_player, played_channel
from forcemove.testing.calls import ID, Bench
from forcemove.testing.false_moves import require_false_moves_seen
from forcemove_games.discard import GAME
from forcemove_games.discard.board import board, own_cards
from forcemove_games.discard.bot import DiscardBot
from forcemove_games.discard.cheats import cheats, false_moves
from forcemove_games.discard.choices import choices
from forcemove_games.discard.evidence import ShownCards, evidence_of
from forcemove_games.discard.hand import PlayerSide, objection
from forcemove_games.discard.picture import draw
from forcemove_games.discard.position import CORE_LENGTH, DECK_LENGTH, PositionType, decode
from forcemove_games.discard.rules import require_legal
from forcemove_games.discard.secrets import HandSecrets, HandSecretsLost
from forcemove_games.discard_sra.cards import SIZE, count_text, fits, names
from tests.games.cards.dealt import stream
from tests.games.discard.dealer import BALANCE, STAKE, begin
from tests.games.discard.hands import NAMES as HANDS
from tests.games.discard.hands import by_type, games
from tests.games.discard.players import Pair, amounts, kind_of

NAMES = ("Alice", "Bob")
ENDS = (PositionType.OVER, PositionType.TIED)
SHUFFLES = (PositionType.KEYED, PositionType.SHUFFLED_FIRST)


def false_shuffles(kind: PositionType) -> tuple[Pair, list[FalseMove]]:
    pair = Pair("cheats")
    pair.play_to(kind)
    return pair, list(false_moves(pair.newest, stream("false"), pair.stored[pair.mover]))


def reason(state: VariablePart, stored: bytes) -> str:
    return objection(PlayerSide.of_mover(state, HandSecrets.decode(stored)))


# -------------------------------------------------------------------------------------------------------- shuffles

CHEATS = {
    PositionType.KEYED: (
        "sends a deck that has a card twice",
        "sends a proof that does not hold",
        "sends a deck that is none",
    ),
    PositionType.SHUFFLED_FIRST: (
        "sends a deck that has a card twice",
        "sends a proof that does not hold",
        "sends a deck that is none",
        "puts a deck of its own in place of the other's",
        "sends the other's deck and proof again",
    ),
}


@pytest.mark.parametrize("kind", SHUFFLES)
def test_the_false_shuffles_are_these(kind: PositionType) -> None:
    assert tuple(each.label for each in false_shuffles(kind)[1]) == CHEATS[kind]


@pytest.mark.parametrize(("kind", "label"), [(kind, label) for kind in SHUFFLES for label in CHEATS[kind]])
def test_who_is_given_a_wrong_shuffle_leaves_with_what_it_had_and_says_why(kind: PositionType, label: str) -> None:
    pair, found = false_shuffles(kind)
    false = next(each for each in found if each.label == label)
    bad = pair.take(false.move, false.secrets or b"")
    assert pair.bot(pair.mover).move(bad, another_round=True) is None
    assert choices(bad, stream("any"), pair.stored[pair.mover]) == ()
    assert reason(bad, pair.stored[pair.mover]).startswith("has sent a deck that is not a shuffle of the one before (")
    assert amounts(bad) == (BALANCE, BALANCE)


class Screen:
    """Keeps what a match says."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def note(self, text: str) -> None:
        self.said.append(text)

    def show(self, _content: content.TableContent) -> None:
        pass


@pytest.mark.parametrize("is_person", [True, False], ids=["person", "bot"])
@pytest.mark.parametrize("kind", SHUFFLES)
def test_the_screen_says_why_a_player_leaves(kind: PositionType, is_person: bool) -> None:
    pair, (false, *_) = false_shuffles(kind)
    bad = pair.take(false.move, false.secrets or b"")
    question, screen = ChooseMove(bad, secrets=pair.stored[pair.mover]), Screen()
    choose = human_player.HumanPlayer(GAME).choose if is_person else counted_bot.choose_rounds(GAME, pair.mover, 1)
    decided = played_channel.PlayedChannel(GAME, choose, 60, screen, NAMES).answer(question)
    assert decided == ConcludeWanted()
    cheat = NAMES[1 - pair.mover]
    assert screen.said[-1].startswith(f"You leave, with what the balances are now: {cheat} has sent a deck that is no")


@pytest.mark.parametrize("kind", [PositionType.SHUFFLED_FIRST, PositionType.SHUFFLED])
@pytest.mark.parametrize("place", range(0, 4_848, 97))
def test_a_shuffle_with_one_byte_changed_is_wrong(kind: PositionType, place: int) -> None:
    pair = Pair("bytes")
    state = pair.play_to(kind)
    data = bytearray(state.app_data[CORE_LENGTH:] + state.evidence)
    data[place] ^= 1
    deck, proof = bytes(data[:DECK_LENGTH]), bytes(data[DECK_LENGTH:])
    changed = replace(state, app_data=state.app_data[:CORE_LENGTH] + deck, evidence=proof)
    assert reason(changed, pair.stored[pair.mover])


def test_an_honest_shuffle_and_all_other_moves_are_no_reason_to_leave() -> None:
    pair = Pair("honest", (0, 1))
    for state in pair.play(lambda state: kind_of(state) in ENDS):
        assert reason(state, pair.stored[pair.mover]) == ""


def test_who_has_lost_its_own_shuffle_cannot_judge_the_others() -> None:
    pair = Pair("gone")
    state = pair.play_to(PositionType.SHUFFLED)
    with pytest.raises(HandSecretsLost) as found:
        reason(state, b"")
    assert found.value.what == "the deck as we have shuffled it"


# ------------------------------------------------------------------------------------------------------------ liars


def lied(label: str) -> tuple[Pair, int, set[int]] | None:
    """A hand in which somebody says that it can't move, and could; the liar's seat and what it has denied. The liar
    lies whenever it can. None where nobody had an occasion."""
    pair, liar, denied = Pair(label, (0, 1)), -1, set[int]()
    while kind_of(pair.newest) not in ENDS:
        lies = [each for each in _lies(pair) if liar in (-1, pair.mover)]
        if lies:
            liar, side = pair.mover, PlayerSide.of_mover(pair.newest, HandSecrets.decode(pair.stored[pair.mover]))
            denied |= {card for card in side.hand.values() if fits(card, side.core.top)}
            pair.take(lies[0].move, lies[0].secrets or b"")
        elif not pair.step():
            break
    return (pair, liar, denied) if liar >= 0 else None


def _lies(pair: Pair) -> list[FalseMove]:
    if kind_of(pair.newest) not in (PositionType.DEALT, PositionType.PLAYING):
        return []
    return list(false_moves(pair.newest, stream("lie"), pair.stored[pair.mover]))


def test_who_denies_a_card_never_lays_it_never_shows_it_and_loses() -> None:
    """Thirty lies: some are found out when cards are shown, the others when the honest player lays its last."""
    hands = list(islice((found for number in count() if (found := lied(f"lie {number}")) is not None), 12))
    lies = sum(_lies_in(pair, liar) for pair, liar, _ in hands)
    endings = set()
    for pair, liar, denied in hands:
        shown: set[int] = set()
        for state in pair.states:
            shown_now, core = evidence_of(state), decode(state.app_data).core
            if state.turn_num % 2 == liar and core.position_type in (PositionType.PLAYING, PositionType.OVER):
                assert not core.laid or core.denied[liar] >> core.top & 1 == 0
            if state.turn_num % 2 == liar and isinstance(shown_now, ShownCards):
                shown |= {each.number for each in shown_now.cards}
        assert not shown & denied
        endings.add(kind_of(pair.newest))
        assert kind_of(pair.newest) is not PositionType.TIED
        if kind_of(pair.newest) is PositionType.OVER:
            assert pair.newest.turn_num % 2 == 1 - liar
        else:
            assert pair.mover == liar
        assert amounts(pair.newest)[liar] == BALANCE - STAKE
    assert lies >= 30
    assert endings >= {PositionType.OVER}
    assert len(endings) > 1, "shown as well"


def _lies_in(pair: Pair, liar: int) -> int:
    return sum(
        decode(after.app_data).core.passes > 0 and after.turn_num % 2 == liar and kind_of(after) is PositionType.PLAYING
        for _, after in pairwise(pair.states)
    )


# ----------------------------------------------------------------------------------------------------------- screens


def test_a_player_sees_its_own_hand_and_of_the_other_only_a_count() -> None:
    pair = Pair("screens", (0,))
    for state in pair.play(lambda state: kind_of(state) in ENDS):
        truth = [own_cards(state, stored) for stored in pair.stored]
        for seat, stored in enumerate(pair.stored):
            shown, public = board(state, NAMES, stored).splitlines(), board(state, NAMES, b"").splitlines()
            assert shown[1 - seat] == public[1 - seat]
            assert shown[2] == public[2]
            own = truth[seat]
            if own is not None and own[1]:
                assert own[0] == seat
                assert shown[seat].startswith(f"{NAMES[seat]}:")
                assert names(own[1]) in shown[seat]
    hands = [decode(state.app_data).core for state in pair.states if kind_of(state) is PositionType.PLAYING]
    assert hands


def test_what_both_see_is_together_what_was_dealt() -> None:
    pair = Pair("together")
    state = pair.play_to(PositionType.DEALT)
    mine, theirs = (own_cards(state, stored) for stored in pair.stored)
    assert mine is not None
    assert theirs is not None
    cards = [*mine[1], *theirs[1], decode(state.app_data).core.top]
    assert len(set(cards)) == 11
    assert set(cards) <= set(range(SIZE))


def test_what_was_drawn_just_now_is_unread_until_the_other_has_answered() -> None:
    pair = Pair("drawn", (0, 1))
    while not decode(pair.play_to_next().app_data).core.pending:
        pass
    drawer = 1 - pair.mover
    assert " ? (" in board(pair.newest, NAMES, pair.stored[drawer]).splitlines()[drawer]
    before = own_cards(pair.newest, pair.stored[drawer])
    pair.step()
    after = own_cards(pair.newest, pair.stored[drawer])
    assert before is not None
    assert after is not None
    assert set(before[1]) < set(after[1])
    assert len(after[1]) == len(before[1]) + 1


@pytest.mark.parametrize("hand", HANDS)
def test_every_position_is_in_one_line_three_rows_and_a_picture(hand: str) -> None:
    for state in games()[hand][::9]:
        assert position_line(GAME, None, state, NAMES).endswith((".", UNASKED))
        assert len(board(state, NAMES, b"").splitlines()) == 3
        assert draw(state, None, b"", NAMES, ()).markup()


def test_the_picture_opens_our_cards_and_no_others_and_has_a_spot_for_each_move() -> None:
    pair = Pair("picture")
    while not (kind_of(pair.newest) is PositionType.PLAYING and len(pair.states) > 9):
        pair.step()
    mover, offered = pair.mover, choices(pair.newest, stream("any"), pair.stored[pair.mover])
    words = [each.word for each in offered]
    picture = draw(pair.newest, mover, pair.stored[mover], NAMES, words)
    assert {spot.word for spot in picture.spots if not spot.reason} == set(words)
    other = draw(pair.newest, 1 - mover, pair.stored[1 - mover], NAMES, ())
    public = draw(pair.newest, None, b"", NAMES, ())
    assert other.spots == public.spots == ()
    own = own_cards(pair.newest, pair.stored[mover])
    assert own is not None
    for markup, faces in ((picture.markup(), 1 + len(own[1])), (public.markup(), 1)):
        assert sum(markup.count(f">{sign}<") for sign in "♠♥♦♣") == faces


# ----------------------------------------------------------------------------------------------------------- choices


def test_setting_up_is_forced_and_a_card_is_chosen_by_its_name() -> None:
    pair = Pair("choices")
    for state in pair.play(lambda state: kind_of(state) is PositionType.DEALT):
        offered = choices(state, stream("any"), pair.stored[pair.mover])
        if kind_of(state) is not PositionType.DEALT:
            assert [each.is_forced for each in offered] == [True]
    assert not any(each.is_forced for each in offered)
    assert offered[-1].word == "draw"
    for each in offered:
        require_legal(ID, pair.newest, each.move.after(pair.newest), 2)


def test_a_second_hand_is_asked_for_by_both() -> None:
    pair = Pair("again")
    for state in pair.play(lambda state: kind_of(state) is PositionType.READY and len(pair.states) > 1):
        offered = choices(state, stream("any"), pair.stored[pair.mover])
        if kind_of(state) in ENDS:
            assert [(each.word, each.is_forced) for each in offered] == [("next", False)]
        if kind_of(state) is PositionType.READY and decode(state.app_data).core.hand:
            assert [(each.word, each.is_forced) for each in offered] == [("deal", False)]
            assert position_line(GAME, pair.states[-2], state, ("Ann", "Ben"), pair.mover) == (
                f"{('Ann', 'Ben')[1 - pair.mover]} asked for another hand. Your turn to agree to another hand."
            )
        assert all(each.is_forced for each in offered) or not GAME.prompt(state).endswith(UNASKED)


def test_a_person_that_goes_on_for_a_bot_has_its_hand() -> None:
    pair = Pair("taken over")
    pair.play_to(PositionType.DEALT)
    offered = choices(pair.newest, stream("any"), pair.stored[pair.mover])
    bot = DiscardBot(pair.mover, secrets=pair.stored[pair.mover])
    assert bot.move(pair.newest, another_round=True) in [each.move for each in offered]


# ------------------------------------------------------------------------------------------------------------ cheats


def test_illegal_moves_are_refused_and_told_apart_with_and_without_secrets() -> None:
    pair = Pair("illegal", (0, 1))
    more = 0
    for state in pair.play(lambda state: kind_of(state) in ENDS):
        plain, knowing = (_refused(state, stored) for stored in (b"", pair.stored[pair.mover]))
        assert len(plain) >= 4
        assert set(plain) <= set(knowing)
        more += len(knowing) > len(plain)
    assert more > 5


def _refused(state: VariablePart, stored: bytes) -> list[str]:
    labels = []
    for label, move in cheats(state, stored):
        try:
            require_legal(ID, state, move.after(state), 2)
        except AppError:
            labels.append(label)
    assert len(set(labels)) == len(labels)
    return labels


def test_the_contract_lets_false_moves_pass_and_the_next_player_leaves() -> None:
    """Each false shuffle of two hands, and the lies that were possible in them."""
    assert require_false_moves_seen(Bench(GAME.artifact, GAME), GAME, begin(ID), games=2) >= 16


@pytest.mark.parametrize("kind", PositionType)
def test_every_type_of_position_is_explained_to_who_inspects_it(kind: PositionType) -> None:
    state = by_type()[kind][0]
    facts = read_position(KnownApp(GAME, KnownBy.CODE), state, NAMES)
    assert isinstance(facts, PositionFacts)
    assert facts.description == position_line(GAME, None, state, NAMES)
    assert facts.board == board(state, NAMES, b"")
    assert facts.data["type"] == kind.label
    assert facts.stake == STAKE


def test_a_position_whose_evidence_is_not_at_hand_is_explained_too() -> None:
    state = replace(next(each for each in by_type()[PositionType.SHOWING] if each.evidence), evidence=b"")
    facts = read_position(KnownApp(GAME, KnownBy.BYTES), state, NAMES)
    assert isinstance(facts, PositionFacts)
    count = decode(state.app_data).core.laid
    assert f"showed {count_text(count)}" in facts.description
    assert (facts.data["shown"], facts.data["evidence"]) == ([], None)
