"""What two players agree on by an offer and a join, what of an offer is refused, and how rounds are counted."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from forcemove import Game, Key, address_destination, find_game
from forcemove.chain.local import EmbeddedChain, deploy_locally, local_keys
from forcemove.rounds import RoundCount
from forcemove.sessions.errors import CannotPayIn, GameNotInBook, MoveTimeTooShort, OfferDiffers
from forcemove.sessions.meetings.terms import agreement_of
from forcemove.sessions.meetings.venues import GameOnChain, is_ours, new_offer, require_ours
from forcemove.sessions.playing.counted_bot import CountedBot
from forcemove.text.explanations import explain
from forcemove.transport.joins import Join
from forcemove.transport.offers import Offer, OfferOfAnotherChain

HOST, GUEST = local_keys()[:2]
OTHER = b"\x77" * 20
STAKE = 10**16


@pytest.fixture(scope="module")
def venue() -> GameOnChain:
    chain, game = EmbeddedChain(), find_game("tic-tac-toe").game
    return GameOnChain((chain,), deploy_locally(chain, [game]), game)


@pytest.fixture
def offer(venue: GameOnChain) -> Offer:
    return new_offer(venue, HOST.address, HOST.address, STAKE, 3600)


def test_host_and_guest_make_the_same_of_an_offer_and_a_join(venue: GameOnChain, offer: Offer) -> None:
    paid_elsewhere = msgspec.structs.replace(offer, payout=OTHER)
    join = Join(paid_elsewhere.hash, GUEST.address, b"\x88" * 20)
    agreement = agreement_of(paid_elsewhere, (join,), venue.game)
    assert agreement == agreement_of(paid_elsewhere, (join,), venue.game)
    fixed = agreement.fixed_part
    assert fixed.participants == (HOST.address, GUEST.address)
    assert (fixed.channel_nonce, fixed.app_definition, fixed.challenge_duration) == (offer.nonce, venue.app, 3600)
    assert agreement.destinations == tuple(map(address_destination, (OTHER, b"\x88" * 20)))
    assert agreement.deposits == ((bytes(20), (5 * STAKE, 5 * STAKE)),)
    assert (agreement.domain.chain_id, agreement.domain.adjudicator) == (venue.chain_id, venue.adjudicator)
    assert venue.game.stake_of(agreement.app_data) == STAKE


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("game", "rock-paper-scissors", "game"),
        ("adjudicator", OTHER, "adjudicator"),
        ("app", OTHER, "contract of the game"),
        ("asset", OTHER, "asset"),
    ],
)
def test_an_offer_that_is_not_of_our_book_and_game_is_refused(
    venue: GameOnChain, offer: Offer, field: str, value: str | bytes, what: str
) -> None:
    require_ours(offer, venue)
    with pytest.raises(OfferDiffers) as refused:
        require_ours(msgspec.structs.replace(offer, **{field: value}), venue)
    assert (refused.value.what, refused.value.offered) == (what, value)


def test_a_guest_whose_book_lacks_the_game_is_told_what_a_guest_can_do(venue: GameOnChain, offer: Offer) -> None:
    """Offers of it are not listed, and it is not said that a deployment was not finished: that was not the guest's."""
    others = {name: each for name, each in venue.book.contracts.items() if name != venue.game.artifact.name}
    lacking = replace(venue, book=replace(venue.book, contracts=others))
    with pytest.raises(GameNotInBook) as refused:
        require_ours(offer, lacking)
    assert not is_ours(offer, lacking)
    said = explain(refused.value)
    assert "has no TicTacToe, which this game needs" in said
    assert f"Ask the host for a copy of theirs: it goes into your folder as forcemove-{venue.chain_id}.json" in said


def test_an_offer_of_another_chain_is_refused(venue: GameOnChain, offer: Offer) -> None:
    with pytest.raises(OfferOfAnotherChain):
        require_ours(msgspec.structs.replace(offer, chain_id=1), venue)


def test_who_cannot_pay_is_told_before_anything_is_signed(venue: GameOnChain, offer: Offer) -> None:
    assert any("0.05 ether" in line for line in venue.costs_lines(offer, HOST.address))
    with pytest.raises(CannotPayIn) as refused:
        list(venue.costs_lines(offer, Key(b"\x01" * 32).address))
    assert "has 0 ether, and needs 0.05" in explain(refused.value)


def test_a_time_for_a_move_that_nobody_could_keep_is_refused(
    venue: GameOnChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offered(move_time: int) -> Offer:
        return new_offer(venue, HOST.address, HOST.address, STAKE, 3600, move_time=move_time)

    venue.costs_lines(offered(1), HOST.address)
    monkeypatch.setattr("forcemove.node.policy.LOCAL_CHAINS", frozenset())  # a block each second, and one upon it
    with pytest.raises(MoveTimeTooShort) as refused:
        venue.costs_lines(offered(1), HOST.address)
    assert "At least 2 seconds are needed. Offer --move-time" in explain(refused.value)
    venue.costs_lines(offered(refused.value.needed), HOST.address)
    venue.costs_lines(offered(0), HOST.address)


@pytest.mark.parametrize("name", ["rock-paper-scissors", "tic-tac-toe"])
@pytest.mark.parametrize("wanted", [1, 3])
def test_players_that_are_made_anew_for_each_move_play_as_many_rounds(
    venue: GameOnChain, offer: Offer, name: str, wanted: int
) -> None:
    game: Game = find_game(name).game
    state = agreement_of(offer, (Join(offer.hash, GUEST.address, GUEST.address),), game).setup_state(3)
    states, secrets = [state], [b"", b""]
    while True:
        seat = (state.turn_num + 1) % 2
        player = CountedBot(game, game.bot(seat, secrets=secrets[seat]), wanted, states)
        move = player.move(state, another_round=True)
        if move is None:
            break
        secrets[seat] = player.secrets()
        state = move.after(state)
        states.append(state)
    assert len(RoundCount(game, states).results) == wanted
    assert game.result(state) is not None, "and no other round was begun"
