"""Processes that end, logs that are missed, chains that change their mind, nodes that do not mine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from forcemove import ChallengeWanted, ForcemoveError, Phase, VariablePart
from forcemove.chain.errors import NotMined
from forcemove.chain.local import AnvilChain
from forcemove.node.events import Mined
from forcemove.protocol.errors import MoneyMissing
from forcemove.store.records import Ownership
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.process import wrap_commits
from tests.scenarios.story import Playground, Story

# ------------------------------------------------------------------------------------------------- processes that end


class KilledError(Exception):
    """The process has ended."""


class Dying:
    """Ends the process at the given commit, before or after it was written down."""

    def __init__(self, at: int, *, is_saved: bool) -> None:
        self.at, self.is_saved, self.calls = at, is_saved, 0

    def __call__(self, commit: Callable[[], frozenset[bytes]]) -> frozenset[bytes]:
        self.calls += 1
        lost = commit() if self.calls != self.at or self.is_saved else frozenset[bytes]()
        if self.calls == self.at:
            raise KilledError
        return lost


def play_and_restart(story: Story) -> None:
    """Whenever Alice's process has ended, it is started again with the same journal and nothing else; where nothing
    happens any more, a minute passes."""
    for _ in range(200):
        try:
            if [player for player in story.players if player.client.poll()]:
                continue
            if {player.phase for player in story.players} == {Phase.CLOSED}:
                return
            story.seconds += 60
        except KilledError:
            story.lines[0].receive()
            story.start(story.alice)


@pytest.mark.parametrize("is_saved", [True, False], ids=["after saving", "before saving"])
def test_threat_21_a_client_that_dies_at_any_save_goes_on(playground: Playground, is_saved: bool) -> None:
    """On a real chain; `test_machine_crashes` kills at every point there is."""
    at, calls = 0, 1
    while at < calls:
        at += 1
        story = playground.story(TIC_TAC_TOE)
        dying = Dying(at, is_saved=is_saved)
        wrap_commits(story.alice.journal, dying)
        for player in story.players:
            player.leave_after = 4
        play_and_restart(story)
        calls = dying.calls
        story.ends_with(story.alice.newest.state.outcome)
        assert story.bob.faults == []
    assert at > 8


def test_threat_22_a_client_that_was_off_during_the_challenge_answers_when_it_is_back(story: Story) -> None:
    """It has to look at all logs again: the one that it missed lies somewhere in between."""
    story.play_until(9)
    story.challenge(1, *story.opening()[2:])
    story.mine(5)
    story.chain.travel_to(story.finalizes_at - 60)
    story.start(story.alice)
    story.alice.client.poll()
    assert story.alice.mined[-1] == "SubmitCheckpoint"
    assert story.record == (9, False)


def test_threat_22_logs_of_the_past_are_not_answered_again(story: Story) -> None:
    """A challenge that was cleared long ago comes by when a client starts anew. It knows how that ended."""
    story.play_until(9)
    story.challenge(1, *story.opening()[2:])
    story.alice.client.poll()
    story.play()
    sent = len(story.alice.events)
    story.start(story.alice)
    story.alice.stops_at = 9
    story.alice.client.poll()
    assert [event for event in story.alice.events[sent:] if isinstance(event, Mined)] == []
    assert story.alice.refused == []
    assert story.alice.phase is Phase.PLAYING


def test_threat_22_the_move_that_a_dead_process_was_asked_for_is_asked_for_again(story: Story) -> None:
    story.play_until(6)
    story.bob.decide_at_last()
    story.alice.client.poll()
    asked = story.alice.questions
    story.alice.stops_at = None
    story.start(story.alice)
    story.alice.client.poll()
    assert story.alice.questions == asked + 1
    assert story.alice.newest.state.turn_num == 8


def test_a_client_for_a_closed_channel_has_nothing_to_do(story: Story) -> None:
    story.play()
    story.start(story.alice)
    sent = len(story.alice.events)
    story.play()
    assert story.alice.phase is Phase.CLOSED
    assert story.alice.events[sent:] == []


# ---------------------------------------------------------------------------------------- chains that change their mind


def test_threat_22_an_answer_that_a_reorganisation_took_is_given_again(story: Story) -> None:
    story.play_until(9)
    story.challenge(1, *story.opening()[2:])
    before = story.chain.block_number()
    story.alice.client.poll()
    assert story.record == (9, False)
    story.reorganise(before, mined=3)
    assert story.record == (3, True)
    story.alice.client.poll()
    assert story.record == (9, False)
    assert story.alice.mined.count("SubmitCheckpoint") == 2


def test_threat_22_a_challenge_that_a_reorganisation_took_is_forgotten(story: Story) -> None:
    story.play_until(6)
    before = story.chain.block_number()
    story.challenge(1, *story.opening()[2:])
    story.alice.client.poll()
    story.reorganise(before, mined=3)
    story.spent = [0, 0]
    story.alice.client.poll()
    assert story.alice.phase is Phase.PLAYING
    assert story.alice.client.channel.status.is_empty


@pytest.mark.parametrize("turn", [3, 6])
def test_threat_49_play_stops_while_a_deposit_is_undone_and_goes_on_when_it_is_back(story: Story, turn: int) -> None:
    """Alice's deposit goes first, so Bob can only wait for it; he signs nothing meanwhile, not even an end."""
    before = story.chain.block_number()
    story.play_until(turn)
    story.reorganise(before, mined=6)
    story.spent = [0, 0]
    signed = story.bob.client.channel.last_signed
    for player in story.players:
        player.stops_at = None
    for _ in range(3):
        story.bob.client.poll()
    if turn == 6:
        with pytest.raises(MoneyMissing):
            story.bob.decide_at_last()
    assert story.bob.client.channel.last_signed == signed
    story.play()
    story.ends_with(story.alice.newest.state.outcome)
    assert [player.mined.count("SubmitDeposit") for player in story.players] == [2, 2]


def test_threat_49_an_end_is_not_countersigned_while_a_deposit_is_undone(story: Story) -> None:
    """Alice has signed a final state before she knows."""
    before = story.chain.block_number()
    story.play_until(7)
    final = VariablePart(story.bob.newest.state.outcome, b"", 8, True)
    story.reorganise(before, mined=6)
    story.bob.client.poll()
    story.say(0, story.sign(final, 0))
    assert story.bob.newest.state == final
    assert set(story.bob.newest.signatures) == {0}


def test_threat_22_a_conclusion_that_a_reorganisation_took_is_made_again(story: Story) -> None:
    """Also by a process that dies in between: the journal has the channel as an open one."""
    story.play_until(6)
    before = story.chain.block_number()
    story.go_on(leave_after=6)
    journal, open_ = story.alice.journal, list[tuple[bytes, ...]]()
    assert journal.ids(Ownership.ACTIVE) == ()
    story.alice.client.node.on_committed(lambda _: open_.append(journal.ids(Ownership.ACTIVE)))
    story.reorganise(before, mined=3)
    story.spent = [0, 0]
    story.play()
    assert open_[0] == (story.agreement.channel_id,)
    assert journal.ids(Ownership.ACTIVE) == ()
    assert [player.phase for player in story.players] == [Phase.CLOSED, Phase.CLOSED]
    assert story.held == 0


def test_a_challenge_is_believed_when_it_is_deep_enough(playground: Playground) -> None:
    story = playground.story(ROCK_PAPER_SCISSORS, confirmations=3)
    for player in story.players:
        player.stops_at = 6
    for _ in range(12):
        story.mine()
        story.play()
    story.challenge(1, *story.opening()[2:])
    for _ in range(2):
        story.alice.client.poll()
        assert story.alice.phase is Phase.PLAYING
        story.mine()
    story.alice.client.poll()
    assert story.record == (6, False)


# --------------------------------------------------------------------------------------------- nodes that do not mine


@pytest.fixture
def private_anvil() -> Iterator[AnvilChain]:
    with AnvilChain() as chain:
        yield chain


def test_a_transaction_that_is_not_mined_is_sent_again_with_a_higher_fee(private_anvil: AnvilChain) -> None:
    """The base fee rises while Alice's deposit waits. It is replaced, not doubled."""
    ask = private_anvil.rpc.ask
    story = Playground.on(private_anvil).story(TIC_TAC_TOE)
    story.alice.client.poll()
    story.bob.client.poll()
    ask("evm_setAutomine", False)
    story.alice.client.poll()
    fee = waiting_fee(private_anvil)
    ask("anvil_setNextBlockBaseFeePerGas", hex(fee * 2))
    ask("evm_mine")
    assert story.held == 0
    story.alice.client.poll()
    assert waiting_fee(private_anvil) > fee * 2
    ask("evm_mine")
    ask("evm_setAutomine", True)
    story.play()
    assert story.held == 0
    assert [player.phase for player in story.players] == [Phase.CLOSED, Phase.CLOSED]
    assert story.bob.refused == []


def names(errors: list[ForcemoveError]) -> list[str]:
    assert all(isinstance(error, NotMined) for error in errors)
    return [type(error).__name__ for error in errors]


def waiting_fee(chain: AnvilChain) -> int:
    """What the one transaction in the pool offers for a unit of gas."""
    pool = chain.rpc.ask("txpool_content")
    (transactions,) = pool["pending"].values()
    (transaction,) = transactions.values()
    return int(transaction["maxFeePerGas"], 16)


def test_who_is_answered_too_late_collects(story: Story) -> None:
    """Bob comes back after the end: there is nothing to answer any more."""
    story.play_until(6)
    story.alice.client.feed(ChallengeWanted())
    story.expire()
    story.mine()
    story.play(story.bob)
    story.play()
    story.ends_with(story.alice.newest.state.outcome)
    assert "SubmitRespond" not in story.bob.mined
