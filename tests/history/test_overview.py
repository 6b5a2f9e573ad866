"""An overview against the chain: what it says would be paid is what the chain pays when exactly that is done."""

from __future__ import annotations

import pytest

from forcemove import ChallengeWanted, ChannelHistory, Choice, ConcludeWanted, Game, Overview, Phase, overview
from forcemove.history.entries import (
    AppointmentAcknowledged,
    ConnectionLost,
    ConnectionRestored,
    Entry,
    TxMined,
    TxRefused,
    TxReorged,
    TxRequested,
    TxSent,
)
from forcemove.protocol.errors import WrongPhase
from forcemove.protocol.machine.results import Ending, Share
from tests.installed import GAMES_FOR_TWO
from tests.sampled import sampled, with_sample
from tests.scenarios.story import Player, Playground, Story

NOTHING = ChannelHistory()
TURNS = with_sample(range(3, 11), (3, 4, 7))
LOOKS = sampled(range(1, 14), every=3)
"""How often the two players look in turns until one of them is never seen again: from nothing signed into the game."""


@pytest.fixture(params=GAMES_FOR_TWO, ids=lambda game: game.name)
def played(request: pytest.FixtureRequest, playground: Playground) -> Story:
    game: Game = request.param
    return playground.story(game)


def seen_by(player: Player, choices: tuple[Choice, ...] = ()) -> Overview:
    return overview(player.client.channel, NOTHING, player.client.managed.time(), choices=choices)


def gains_of(shares: tuple[Share, ...]) -> list[int]:
    return [share.payable - share.deposited for share in shares]


# ------------------------------------------------------------------------------------------------- against the chain


@pytest.mark.parametrize("turn", TURNS)
def test_what_would_be_paid_if_it_ended_now_is_paid(played: Story, turn: int) -> None:
    played.play_until(turn)
    seen = [seen_by(player) for player in played.players]
    assert gains_of(seen[0].result.shares) == gains_of(seen[1].result.shares)
    for player in played.players:
        player.client.feed(ConcludeWanted())
    played.play()
    assert played.gains == gains_of(seen[0].result.shares)
    ended = seen_by(played.alice).result
    assert (ended.ending, gains_of(ended.shares)) == (Ending.CONCLUDED, played.gains)


@pytest.mark.parametrize("is_challenged", [False, True])
@pytest.mark.parametrize("turn", TURNS)
def test_what_would_be_paid_if_the_mover_is_silent_is_paid(played: Story, turn: int, *, is_challenged: bool) -> None:
    played.play_until(turn)
    silent, other = played.players[(turn + 1) % 2], played.players[turn % 2]
    if is_challenged:
        other.client.feed(ChallengeWanted())
        for player in (silent, other):
            player.client.poll()
    said = [seen_by(player).silence for player in played.players]
    for silence in said:
        assert silence is not None
        assert silence.participant == silent.seat
        assert (silence.finalizes_at == played.finalizes_at) if is_challenged else silence.finalizes_at is None
    if not is_challenged:
        other.client.feed(ChallengeWanted())
    played.expire()
    played.play(other)
    for silence in said:
        assert silence is not None
        assert silence.shares is not None
        assert played.gains == gains_of(silence.shares)


@pytest.mark.parametrize("looks", LOOKS)
def test_in_the_opening_too(played: Story, looks: int) -> None:
    """Anyone who is waited for is never seen again; the other one challenges where that is possible."""
    for player in played.players:
        player.is_silent = True
    for look in range(looks):
        played.players[look % 2].client.poll()
    one = played.players[looks % 2]
    played.play(one)  # all that the other has sent is taken in, and the other is never seen again
    silence = seen_by(one).silence
    if silence is None or silence.participant == one.seat:
        return
    if silence.shares is None:
        with pytest.raises(WrongPhase):
            one.client.feed(ChallengeWanted())
        assert played.gains == [0, 0]
        return
    one.client.feed(ChallengeWanted())
    played.play(one)
    played.expire()
    played.play(one)
    played.mine()
    played.play(one)
    assert played.gains == gains_of(silence.shares)


# ---------------------------------------------------------------------------------------------------------- the rest


@pytest.mark.parametrize("turn", TURNS)
def test_each_choice_says_what_is_paid_after_it(played: Story, turn: int) -> None:
    played.play_until(turn)
    mover = played.players[(turn + 1) % 2]
    choices = tuple(played.game.choices(mover.newest.state, bytes, mover.bot.secrets()))
    seen = seen_by(mover, choices)
    moves = [each for each in seen.options if each.kind == "move"]
    assert [each.word for each in moves] == [each.word for each in choices]
    assert seen.options[-1].kind == "leave"
    assert seen.options[-1].shares == seen.result.shares
    for option, choice in zip(moves, choices, strict=True):
        assert [each.allocated for each in option.shares] == [each.amount for each in choice.move.outcome]
    waiting = [each.kind for each in seen_by(played.players[turn % 2]).options]
    assert waiting == ["challenge", "leave"]


def test_gas_is_said_where_something_goes_to_the_chain(played: Story) -> None:
    played.play_until(6)
    gas = {"challenge": 90_000, "respond": 80_000, "conclude": 60_000}
    channel, now = played.alice.client.channel, played.alice.client.managed.time()
    assert [each.gas for each in overview(channel, NOTHING, now, gas=gas).options] == [90_000, 60_000]
    played.alice.client.feed(ChallengeWanted())
    for player in (*played.players, *played.players):
        player.client.poll()
    channel, state = played.bob.client.channel, played.bob.newest.state
    choices = tuple(played.game.choices(state, bytes, played.bob.bot.secrets()))
    seen = overview(channel, NOTHING, now, choices=choices, gas=gas)
    assert seen.answer_by == played.finalizes_at - 600
    assert {each.gas for each in seen.options if each.kind == "move"} == {80_000}


def test_money_that_is_still_to_come(played: Story) -> None:
    played.play_until(6)
    played.alice.client.feed(ChallengeWanted())
    played.alice.client.poll()
    played.alice.client.poll()
    channel, end = played.alice.client.channel, played.finalizes_at
    ((asset, owed),) = overview(channel, NOTHING, end).to_come
    seen = overview(channel, NOTHING, end)
    assert (seen.phase, seen.silence, seen.options) == (Phase.FINALIZED, None, ())
    assert (asset, owed) == (played.asset, seen.result.shares[0].payable)


def test_what_is_on_its_way_to_the_chain(played: Story) -> None:
    def pending(*entries: Entry) -> list[tuple[str, int | None, int, str]]:
        found = overview(played.alice.client.channel, ChannelHistory(entries), 0).safety.pending
        return [(each.operation, each.nonce, each.versions, each.refused) for each in found]

    asked = TxRequested(1, b"a" * 32, "deposit")
    sent = TxSent(2, b"a" * 32, "deposit", 7, b"1" * 32, 100, 1, None)
    bumped = TxSent(3, b"a" * 32, "deposit", 7, b"2" * 32, 120, 1, b"1" * 32)
    refused = TxRefused(3, b"a" * 32, "deposit", "HoldingsBelowExpected", "", 0)
    mined = TxMined(4, b"a" * 32, "deposit", b"2" * 32, 5, b"b" * 32, 46_000, 9)
    undone = TxReorged(5, b"a" * 32, "deposit", b"2" * 32, b"b" * 32)
    assert pending() == []
    assert pending(asked) == [("deposit", None, 0, "")]
    assert pending(asked, sent) == [("deposit", 7, 1, "")]
    assert pending(asked, sent, bumped) == [("deposit", 7, 2, "")]
    assert pending(asked, sent, refused) == [("deposit", 7, 1, "HoldingsBelowExpected")]
    assert pending(asked, sent, bumped, mined) == []
    assert pending(asked, sent, bumped, mined, undone) == [("deposit", 7, 2, "")]


def test_the_block_of_a_deposit_is_known_until_it_is_as_deep_as_it_is_believed(played: Story) -> None:
    def block(*entries: Entry) -> int | None:
        return overview(channel, ChannelHistory(entries), 0).safety.deposit_block

    channel = played.alice.client.channel
    mined = TxMined(4, b"a" * 32, "deposit", b"2" * 32, 5, b"b" * 32, 46_000, 9)
    undone = TxReorged(5, b"a" * 32, "deposit", b"2" * 32, b"b" * 32)
    again = TxMined(6, b"a" * 32, "deposit", b"2" * 32, 6, b"c" * 32, 46_000, 9)
    other = TxMined(6, b"d" * 32, "challenge", b"3" * 32, 9, b"c" * 32, 46_000, 9)
    assert block() is None
    assert block(mined, other) == 5
    assert block(mined, undone) is None
    assert block(mined, undone, again) == 6
    played.play_until(6)
    channel = played.alice.client.channel
    assert block(mined) is None


def test_how_safe_the_money_is(played: Story) -> None:
    played.play_until(6)
    channel, now = played.alice.client.channel, played.alice.client.managed.time()
    safe = overview(channel, NOTHING, now).safety
    assert (safe.is_genuine, safe.is_funded, safe.is_denied, safe.is_connected) == (True, True, False, True)
    assert (safe.provable_turn, safe.watched_turn) == (6, None)
    entries = (AppointmentAcknowledged(1, "tower", 5), ConnectionLost(2, "relay"))
    watched = overview(channel, ChannelHistory(entries), now).safety
    assert (watched.watched_turn, watched.is_connected) == (5, False)
    back = overview(channel, ChannelHistory((*entries, ConnectionRestored(3, "relay"))), now).safety
    assert back.is_connected
