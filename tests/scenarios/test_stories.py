"""How channels end: honestly, by stalling, by lying, by dying; the balances after each of them."""

from __future__ import annotations

from random import Random

import pytest

from forcemove import ChallengeWanted, ConcludeWanted, EmbeddedChain, Game, RuleError, SignedState, VariablePart
from forcemove.chain.chain import Call
from forcemove.chain.codec import function
from forcemove.game import Level
from forcemove.node.events import Mined
from forcemove.protocol.errors import MessageRefused
from tests.chain.world import deploy_contract
from tests.scenarios.story import ALICE, BOB, DEPOSIT, KEYS, Playground, Story

# --------------------------------------------------------------------------------------------------------------- honest


@pytest.mark.parametrize("leave_after", [4, 12, 24])
def test_honest_players_pay_for_three_transactions(story: Story, leave_after: int) -> None:
    for player in story.players:
        player.leave_after = leave_after
    story.play()
    final = story.alice.newest.state
    assert final.is_final
    story.ends_with(final.outcome)
    assert sorted(story.alice.mined + story.bob.mined) == ["SubmitConclude", "SubmitDeposit", "SubmitDeposit"]
    assert story.alice.faults == story.bob.faults == []


def test_honest_players_play_for_tokens(playground: Playground, game: Game) -> None:
    token = deploy_contract(playground.chain, "TestToken")
    for key in KEYS:
        playground.chain.send(Call(token, function("mint", "TestToken").encode(key.address, DEPOSIT)), ALICE)
    story = playground.story(game, asset=token)
    story.play()
    story.ends_with(story.alice.newest.state.outcome)


# ------------------------------------------------------------------------------------------------------------- stalling


def test_who_stalls_loses_what_the_challenged_state_says(story: Story) -> None:
    story.play_until(6)
    alice, bob = story.players
    bob.is_silent = True
    alice.client.poll()
    staller = story.players[7 % 2]
    other = story.players[1 - staller.seat]
    challenged = other.newest.state
    other.client.feed(ChallengeWanted())
    assert story.record == (6, True)
    story.expire()
    story.play(other)
    assert story.gains == [entry.amount - DEPOSIT for entry in challenged.outcome]
    story.play()
    story.ends_with(challenged.outcome)
    assert other.mined[-2:] == ["SubmitChallenge", "SubmitTransfer"]
    assert staller.mined == ["SubmitDeposit"]


def test_a_late_reply_on_chain_goes_on_with_the_game(story: Story) -> None:
    """Bob is reminded by the chain, moves, and his client sends the move there as well."""
    story.play_until(6)
    story.alice.client.feed(ChallengeWanted())
    story.bob.client.poll()
    assert story.bob.question is not None
    assert story.bob.question.answer_by == story.finalizes_at - 600
    story.bob.decide_at_last()
    assert story.record == (7, False)
    story.play()
    story.ends_as_agreed()
    assert story.bob.mined.count("SubmitRespond") == 1
    assert "SubmitTransfer" not in story.alice.mined + story.bob.mined


def test_a_late_reply_at_the_table_is_taken_to_the_chain_by_who_challenged(story: Story) -> None:
    story.play_until(6)
    story.alice.client.feed(ChallengeWanted())
    move = story.bob.decide()
    story.bob.client.feed(move)
    story.alice.client.poll()
    assert story.alice.mined[-1] == "SubmitRespond"
    assert story.record == (7, False)
    story.play()
    story.ends_as_agreed()


def test_who_is_absent_from_the_keyboard_concludes_rather_than_loses(story: Story) -> None:
    """Bob's process runs, but he does not choose. His stake in the running round is all that he can lose."""
    story.play_until(6)
    agreed = story.alice.newest.state.outcome
    story.alice.client.feed(ChallengeWanted())
    story.bob.client.poll()
    story.chain.travel_to(story.finalizes_at - 600)
    story.mine()
    story.play()
    story.ends_with(agreed)
    assert story.bob.mined[1:2] == ["SubmitRespond"]
    assert "SubmitTransfer" not in story.alice.mined + story.bob.mined


# ---------------------------------------------------------------------------------------------------------------- lying


@pytest.mark.parametrize("old", [1, 3])
def test_a_stale_state_is_answered_with_the_newest(story: Story, old: int) -> None:
    story.play_until(9)
    story.challenge(1, *story.opening()[old - 1 : old + 1])
    story.alice.client.poll()
    assert story.alice.mined[-1] == "SubmitCheckpoint"
    assert story.record == (9, False)
    story.ends_as_agreed()


def test_threat_18_an_illegal_move_is_refused_by_the_client_and_by_the_chain(story: Story) -> None:
    """All that the game's own list of illegal moves knows, at several turns."""
    for turn in (4, 6, 8):
        story.play_until(turn)
        before = story.alice.newest
        moves = story.game.illegal_moves(before.state)
        assert moves
        for _, move in moves:
            signed, faults = story.sign(move, 1), len(story.alice.faults)
            story.say(1, signed)
            fault = story.alice.faults[faults:]
            assert [type(each) for each in fault] == [MessageRefused]
            assert story.alice.newest == before
            operation = story.adjudicator.challenge(story.agreement.fixed_part, story.proof([before, signed]))
            with pytest.raises(RuleError) as refused:
                story.adjudicator.simulate(operation, BOB.address)
            assert refused.value == fault[0].reason  # type: ignore[attr-defined]
        story.players[(turn + 1) % 2].decide_at_last()


def test_threat_09_a_forged_signature_is_refused_by_the_client_and_by_the_chain(story: Story) -> None:
    story.play_until(6)
    state = story.alice.newest.state
    everything = VariablePart(state.outcome, b"", 7, True)
    bobs = story.sign(everything, 1).signatures[1]
    before = story.alice.client.channel
    story.say(1, SignedState(everything, {0: bobs, 1: bobs}))
    assert story.alice.client.channel == before
    assert len(story.alice.faults) == 1
    operation = story.adjudicator.conclude(story.agreement.fixed_part, state.outcome, 7, (bobs, bobs))
    with pytest.raises(RuleError):
        story.adjudicator.simulate(operation, BOB.address)
    story.ends_as_agreed()


def test_threat_26_a_move_made_on_chain_and_withheld_is_found_there_and_answered(story: Story) -> None:
    story.play_until(6)
    story.bob.decide_at_last()
    story.lines[0].receive()  # lost on purpose
    story.bob.client.feed(ChallengeWanted())
    story.alice.stops_at = None
    story.alice.client.poll()
    assert story.alice.states[-2].state == story.bob.newest.state
    assert story.alice.mined[-1] == "SubmitRespond"
    assert story.record == (8, False)
    story.play()
    story.ends_as_agreed()


def test_threat_26_another_move_on_chain_than_at_the_table_is_not_built_upon(channel: Story) -> None:
    """Bob shows Alice one move and the chain another. What he has shown her first is what counts."""
    channel.play_until(6)
    before = channel.alice.newest
    first = channel.bob.decide()
    channel.bob.client.feed(first)
    channel.alice.client.poll()
    bot = channel.game.bot(1, level=Level.EASY)
    others = (bot.move(before.state, another_round=True) for _ in range(100))
    second = next(each.after(before.state) for each in others if each and each[:2] != (first.outcome, first.app_data))  # type: ignore[union-attr]
    channel.challenge(1, before, channel.sign(second, 1))
    channel.alice.stops_at = None
    channel.alice.client.poll()
    assert channel.alice.mined[-1] == "SubmitCheckpoint"
    assert channel.record == (8, False)
    channel.play()
    channel.ends_as_agreed()


@pytest.mark.parametrize("challenged", [1, 3, 6])
def test_threat_29_what_all_have_signed_is_concluded_against_an_older_challenge(story: Story, challenged: int) -> None:
    """Bob has signed the end, and then challenges with something that he likes better."""
    story.play_until(6)
    older = [*story.opening(), *(each for each in story.alice.states if each.state.turn_num > 3)]
    story.bob.client.feed(ConcludeWanted())
    story.alice.client.poll()
    final = story.alice.newest
    assert final.signatures.keys() == {0, 1}
    story.challenge(1, *older[challenged - 1 : challenged + 1])
    story.alice.client.poll()
    assert story.alice.mined[-1] == "SubmitConclude"
    assert story.gains == [entry.amount - DEPOSIT for entry in final.state.outcome]
    story.play()
    story.ends_with(final.state.outcome)


# ------------------------------------------------------------------------------------------------------------- on anvil


def test_a_stalled_game_and_an_honest_one_on_a_real_node(anvil_playground: Playground, game: Game) -> None:
    """The same clients against anvil, over HTTP."""
    honest = anvil_playground.story(game)
    honest.play()
    honest.ends_with(honest.alice.newest.state.outcome)

    stalled = anvil_playground.story(game)
    stalled.play_until(6)
    stalled.alice.client.feed(ChallengeWanted())
    stalled.expire()
    stalled.play(stalled.alice)
    stalled.play()
    stalled.ends_with(stalled.alice.newest.state.outcome)


def test_the_two_chains_charge_the_same_gas(anvil_playground: Playground, game: Game) -> None:
    """Of what is done by the same player on both: who ends a hand of cards is chance, as the cards follow from the
    channel's id."""
    used: list[dict[tuple[int, str], int]] = []
    for place in (Playground.on(EmbeddedChain()), anvil_playground):
        story = place.story(game)
        for player in story.players:  # who has lost everything is not paid: the same has to happen on both
            player.bot = game.bot(player.seat, Random(player.seat).randbytes)
        story.play()
        mined = [
            (player.seat, event) for player in story.players for event in player.events if isinstance(event, Mined)
        ]
        used.append({(seat, type(each.submission).__name__): each.receipt.gas_used for seat, each in mined})
    both = used[0].keys() & used[1].keys()
    assert {(0, "SubmitDeposit"), (1, "SubmitDeposit")} <= both
    for each in both:
        assert abs(used[0][each] - used[1][each]) < 500  # calldata of other signatures and addresses has other zeros
