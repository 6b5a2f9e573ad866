"""Who shuffles last signs two decks for one turn: with shares of both, under one key, it could read cards in the one by
what it was given of the other. The honest player gives shares of one deck alone, whatever it is shown, and where."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from forcemove import Bot, Move, SignedState, VariablePart
from forcemove_games.cards.deck import decode_deck, encode_deck
from forcemove_games.cards.shuffle_proof import shuffle
from forcemove_games.discard import evidence, game, hand, moves, position, secrets, steps
from forcemove_games.discard_sra.cards import SIZE
from tests.games.cards.dealt import stream
from tests.scenarios.conftest import PLACES
from tests.scenarios.story import Playground

GAME = game.Discard()
FIRST_SHUFFLE, SECOND_SHUFFLE, DEAL = 6, 7, 8
ALICE, BOB = 0, 1
SOMEWHERE = pytest.mark.parametrize("place", ["memory", *PLACES], indirect=True)


class Recorder:
    """A bot whose shuffled decks, of which it has given shares, are kept in `given`."""

    def __init__(self, bot: Bot, given: set[bytes]) -> None:
        self._bot, self._given = bot, given
        self.is_lost, self.secrets = bot.is_lost, bot.secrets

    def move(self, state: VariablePart, *, another_round: bool, between: Sequence[VariablePart] = ()) -> Move | None:
        found = self._bot.move(state, another_round=another_round, between=between)
        if found and position.decode(found.app_data).position_type is position.PositionType.DEALT_FIRST:
            self._given.add(state.app_data)
        return found


class TwoDecks:
    """Bob has two shuffles of Alice's deck, and is silent but for what the test does. `given`: see `Recorder`."""

    def __init__(self, place: Playground) -> None:
        self.story, self.given = place.story(GAME), set[bytes]()
        self.story.play_until(FIRST_SHUFFLE)
        self.alice, self.bob = self.story.players
        self.bob.is_silent, self.alice.stops_at = True, DEAL
        self.alice.bot = Recorder(self.alice.bot, self.given)
        self.first = self.bob.newest
        self.second = [self._shuffled(label) for label in ("one", "the other")]

    def _shuffled(self, label: str) -> SignedState:
        side = hand.PlayerSide.of_mover(self.first.state, secrets.HandSecrets.decode(self.bob.client.channel.secrets))
        joint, before = hand.joint_of(side.core), decode_deck(side.position.deck, SIZE)
        deck, proof = shuffle(before, joint, side.core.channel_id, SECOND_SHUFFLE, stream(label))
        shown = evidence.ShuffleProof(proof)
        made = moves.made(side, steps.shuffled(side.core), shown, side.secrets, encode_deck(deck))
        return self.story.sign(made.move.after(self.first.state), BOB)

    def say(self, number: int) -> None:
        self.story.say(BOB, self.second[number])
        self.story.play(self.alice)

    def challenge(self, number: int) -> None:
        """Let the clock run for Alice's answer."""
        self.story.challenge(BOB, self.first, self.second[number])
        self.story.play(self.alice)

    def come_back(self) -> None:
        """Alice's process is killed, and another one has what was stored."""
        stored = self.alice.stored
        assert stored is not None
        self.story.start(self.alice)
        self.alice.bot = Recorder(GAME.bot(ALICE, secrets=stored.secrets), self.given)
        self.story.play(self.alice)


@SOMEWHERE
@pytest.mark.parametrize("is_killed", [False, True], ids=["", "killed"])
def test_a_second_deck_on_the_chain_is_answered_with_the_deal_of_the_first(place: Playground, is_killed: bool) -> None:
    """It is a legal state, and a clock runs: the deal that was made answers it, and no share of the other is given."""
    decks = TwoDecks(place)
    story = decks.story
    decks.say(0)
    deal = decks.alice.newest
    assert deal.state.turn_num == DEAL
    if is_killed:
        decks.come_back()
    decks.challenge(1)
    assert story.record == (DEAL, False)
    decks.say(1)
    assert decks.alice.newest == deal
    assert decks.given == {decks.second[0].state.app_data}


@SOMEWHERE
@pytest.mark.parametrize("is_killed", [False, True], ids=["", "killed"])
def test_a_second_deck_that_is_sent_is_not_dealt_from_once_the_chain_has_the_answer(
    place: Playground, is_killed: bool
) -> None:
    decks = TwoDecks(place)
    story = decks.story
    decks.challenge(0)
    deal = decks.alice.newest
    assert (deal.state.turn_num, *story.record) == (DEAL, DEAL, False)
    if is_killed:
        decks.come_back()
    decks.say(1)
    assert decks.alice.newest == deal
    assert decks.given == {decks.second[0].state.app_data}
