"""Cheats at Discard in live channels, on real chains: whatever a player tries in any position, by message and on the
chain, the honest one ends with no less than the rules give, and before the first deal with its deposit."""

from __future__ import annotations

from itertools import count

import pytest

from forcemove import AppError, ChannelHistory, Move, Outcome, Overview, Phase, RuleError, overview
from forcemove.game import Level
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.protocol.machine.results import Share
from forcemove.protocol.types import SignedState, VariablePart
from forcemove_games.discard import bot, errors, game, moves
from forcemove_games.discard.hand import PlayerSide
from forcemove_games.discard.position import CORE_LENGTH, PositionType, decode
from forcemove_games.discard.secrets import HandSecrets
from forcemove_games.discard_sra.cards import SIZE
from forcemove_games.two_player import shift
from tests.games.cards.dealt import stream
from tests.scenarios.conftest import PLACES
from tests.scenarios.story import DEPOSIT, KEYS, STAKE, Player, Playground, Story

GAME = game.Discard()
FIRST_TURN = 3
LAST_TURN = 90
ON_ANVIL = (PositionType.SHUFFLED, PositionType.PLAYING)
"""Of the normal run; all in the long one."""
EVERYWHERE = [
    pytest.param(
        place,
        kind,
        id=f"{kind.label} on {place}",
        marks=[] if place == "eth-tester" or kind in ON_ANVIL else pytest.mark.long,
    )
    for place in PLACES
    for kind in PositionType
]
IN_EVERY_POSITION = pytest.mark.parametrize(("place", "kind"), EVERYWHERE, indirect=["place"])
NAMED = {
    PositionType.KEYED_FIRST: {"copies the other's key and proof", "shows a key of another one's"},
    PositionType.KEYED: {"sends a deck that is cut off"},
    PositionType.SHUFFLED_FIRST: {"sends a deck that is cut off"},
    PositionType.SHUFFLED: {"swaps two shares", "gives shares without a proof", "deals with shares of another key"},
    PositionType.DEALT_FIRST: {"swaps two shares", "gives shares without a proof", "deals with shares of another key"},
    PositionType.PLAYING: {"gives a share without a proof", "gives a share of another turn"},
}
"""Of what is tried after a position of each type, what must be among it."""


def kind_of(signed: SignedState) -> PositionType:
    return decode(signed.state.app_data).position_type


class Hand:
    """A hand in a channel that has come to a position of some type. `cheat` is to move, `honest` has moved last."""

    def __init__(self, place: Playground, kind: PositionType) -> None:
        for number in count():
            self.story = place.story(GAME)
            for player in self.story.players:
                player.bot = GAME.bot(player.seat, stream(f"{kind} {number} {player.seat}"), level=Level.EASY)
            if self._play_to(kind):
                break
        self.honest = self.story.players[self.newest.state.turn_num % 2]
        self.cheat = self.story.players[1 - self.honest.seat]

    @property
    def newest(self) -> SignedState:
        return self.story.alice.newest

    def _play_to(self, kind: PositionType) -> bool:
        """Whether this hand comes to it."""
        self.story.play_until(FIRST_TURN)
        while not self._is_at(kind):
            if kind_of(self.newest) in (PositionType.OVER, PositionType.TIED):
                return False
            step(self.story)
        return True

    def _is_at(self, kind: PositionType) -> bool:
        """In play it is only one if a share is due, and can be wrong."""
        core = decode(self.newest.state.app_data).core
        return core.position_type is kind and (kind is not PositionType.PLAYING or bool(core.pending))

    @property
    def due(self) -> Outcome:
        """What the rules give where the player who is to move leaves."""
        kind = kind_of(self.newest)
        is_dealt = PositionType.DEALT_FIRST <= kind < PositionType.TIED
        return shift(self.story.agreement.setup_state(0).outcome, self.honest.seat, STAKE * is_dealt)


def step(story: Story) -> None:
    """One more turn."""
    turn = story.alice.newest.state.turn_num + 1
    for player in story.players:
        player.stops_at = turn
    story.players[turn % 2].decide_at_last()
    story.play()
    assert story.alice.newest.state.turn_num == story.bob.newest.state.turn_num == turn


def tried(hand: Hand) -> list[tuple[str, VariablePart]]:
    """All that the cheat could sign that the rules forbid."""
    state, secrets = hand.newest.state, hand.cheat.client.channel.secrets
    found = GAME.illegal_moves(state, secrets)
    if kind_of(hand.newest) in (PositionType.KEYED, PositionType.SHUFFLED_FIRST):
        honest = hand.cheat.decide()
        assert isinstance(honest, MoveChosen)
        for length in (CORE_LENGTH, len(honest.app_data) - 32):
            cut = VariablePart(honest.outcome, honest.app_data[:length], state.turn_num + 1)
            found.append(("sends a deck that is cut off", cut))
    return found


def require_refused(hand: Hand, state: VariablePart) -> None:
    """Neither the honest client nor the chain takes it."""
    story, before = hand.story, hand.honest.newest
    signed, faults = story.sign(state, hand.cheat.seat), len(hand.honest.faults)
    story.say(hand.cheat.seat, signed)
    assert hand.honest.newest == before
    assert len(hand.honest.faults) == faults + 1
    operation = story.adjudicator.challenge(story.agreement.fixed_part, story.proof([before, signed]))
    with pytest.raises((AppError, RuleError)):
        story.adjudicator.simulate(operation, KEYS[hand.cheat.seat].address)


def seen_by(player: Player) -> Overview:
    """What its screen says before anything has come of it."""
    return overview(player.client.channel, ChannelHistory(), player.client.managed.time())


def amounts(shares: tuple[Share, ...]) -> list[int]:
    return [share.payable for share in shares]


def end_by_the_clock(story: Story, honest: Player) -> None:
    """The other is silent from now on."""
    honest.client.feed(ChallengeWanted())
    story.expire()
    story.play(honest)
    story.play()


@IN_EVERY_POSITION
def test_what_the_rules_forbid_is_refused_and_silence_costs_what_is_at_stake(
    place: Playground, kind: PositionType
) -> None:
    """Wrong shares, shares of another turn, copied keys, decks cut off, wrong payments; then not another word."""
    hand = Hand(place, kind)
    found = tried(hand)
    assert {label for label, _ in found} >= NAMED.get(kind, set())
    for _, state in found:
        require_refused(hand, state)
    due = hand.due
    for player in hand.story.players:
        silence = seen_by(player).silence
        assert silence is not None
        assert silence.participant == hand.cheat.seat
        assert silence.shares is not None
        assert amounts(silence.shares) == [each.amount for each in due]
    end_by_the_clock(hand.story, hand.honest)
    hand.story.ends_with(due)


@IN_EVERY_POSITION
def test_a_final_state_pays_what_the_rules_give_and_no_other_is_taken(place: Playground, kind: PositionType) -> None:
    hand = Hand(place, kind)
    newest, seat = hand.newest.state, hand.cheat.seat
    require_refused(hand, VariablePart(shift(newest.outcome, seat, STAKE), b"", newest.turn_num + 1, is_final=True))
    require_refused(hand, VariablePart(newest.outcome, newest.app_data, newest.turn_num + 1, is_final=True))
    due = hand.due
    for player in hand.story.players:
        assert amounts(seen_by(player).result.shares) == [each.amount for each in due]
    hand.cheat.client.feed(ConcludeWanted())
    hand.story.play()
    hand.story.ends_with(due)


@pytest.mark.parametrize("place", PLACES, indirect=True)
@pytest.mark.parametrize("kind", [PositionType.SHUFFLED, PositionType.PLAYING])
def test_a_final_state_that_only_the_chain_is_shown_pays_the_same(place: Playground, kind: PositionType) -> None:
    hand = Hand(place, kind)
    story, newest, due = hand.story, hand.newest, hand.due
    final = VariablePart(newest.state.outcome, b"", newest.state.turn_num + 1, is_final=True)
    story.challenge(hand.cheat.seat, newest, story.sign(final, hand.cheat.seat))
    story.play(hand.honest)
    assert hand.honest.phase is Phase.CLOSED
    assert story.gains[hand.honest.seat] == due[hand.honest.seat].amount - DEPOSIT
    story.play()
    story.ends_with(due)


# ---------------------------------------------------------------------------------------------------- false can't-moves


class Lie:
    """A hand in which a player says that it can't move, and could. It has come to an end, or to the liar's turn to show
    what it has denied."""

    def __init__(self, place: Playground, label: str) -> None:
        self.story, self.liar = place.story(GAME), -1
        for player in self.story.players:
            player.bot = GAME.bot(player.seat, stream(f"{label} {player.seat}"), level=Level.EASY)
        self.story.play_until(FIRST_TURN)
        while not self.is_over and not self.is_found_out:
            self._step()

    @property
    def state(self) -> VariablePart:
        return self.story.alice.newest.state

    @property
    def mover(self) -> Player:
        return self.story.players[(self.state.turn_num + 1) % 2]

    @property
    def side(self) -> PlayerSide:
        return PlayerSide.of_mover(self.state, HandSecrets.decode(self.mover.client.channel.secrets))

    @property
    def is_over(self) -> bool:
        return decode(self.state.app_data).position_type in (PositionType.OVER, PositionType.TIED)

    @property
    def is_found_out(self) -> bool:
        return self.liar == self.mover.seat and self.side.shows_next and not self.side.can_show

    def _step(self) -> None:
        """Both draw all that there is. From then on the liar lies whenever it can."""
        core, side = decode(self.state.app_data).core, self.side
        is_in_play = core.position_type in (PositionType.DEALT, PositionType.PLAYING)
        if is_in_play and core.drawn < SIZE:
            drawn = moves.draw(side)
            self._make(drawn.move, drawn.secrets.encode())
            return
        lies = GAME.false_moves(self.state, stream("lie"), side.secrets.encode()) if is_in_play else ()
        if lies and self.liar in (-1, side.seat):
            self.liar = side.seat
            self._make(lies[0].move, lies[0].secrets or b"")
        else:
            step(self.story)

    def _make(self, move: Move, secrets: bytes) -> None:
        """This move, which is a legal one."""
        mover, turn = self.mover, self.state.turn_num + 1
        for player in self.story.players:
            player.stops_at = turn
        mover.client.feed(MoveChosen(*move, secrets=secrets))
        mover.bot = bot.DiscardBot(mover.seat, stream("later"), secrets)
        self.story.play()
        assert self.state.turn_num == turn


def lie_that(place: Playground, *, has_to_show: bool) -> Lie:
    """A lie of which this is the end; which one it is depends on the channel's id, so some are tried."""
    lies = (Lie(place, f"lie {number}") for number in count())
    return next(lie for lie in lies if lie.liar >= 0 and lie.is_found_out is has_to_show)


def require_lost(lie: Lie) -> None:
    story, honest = lie.story, lie.story.players[1 - lie.liar]
    even = story.agreement.setup_state(0).outcome
    end_by_the_clock(story, honest)
    story.ends_with(shift(even, honest.seat, STAKE))


@pytest.mark.parametrize("place", PLACES, indirect=True)
def test_who_has_to_show_what_it_has_denied_loses_its_stake(place: Playground) -> None:
    """The chain takes it no more than the honest client."""
    lie = lie_that(place, has_to_show=True)
    story, honest = lie.story, lie.story.players[1 - lie.liar]
    before, shown = honest.newest, story.sign(moves.show(lie.side).move.after(lie.state), lie.liar)
    story.say(lie.liar, shown)
    assert honest.newest == before
    operation = story.adjudicator.challenge(story.agreement.fixed_part, story.proof([before, shown]))
    with pytest.raises(errors.CardDenied):
        story.adjudicator.simulate(operation, KEYS[lie.liar].address)
    require_lost(lie)


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES, indirect=True)
def test_a_liar_loses_its_stake_where_the_other_lays_all_its_cards_first(place: Playground) -> None:
    require_lost(lie_that(place, has_to_show=False))
