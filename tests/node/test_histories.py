"""What a node enters in histories and notifies its owner of; that nothing secret is in them; and that nothing that is
wrong with them keeps a node from its work."""

from __future__ import annotations

from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest

from forcemove import ChannelHistory, MemoryMessenger, Phase, VariablePart
from forcemove.errors import JournalError
from forcemove.history.entries import (
    ConnectionLost,
    ConnectionRestored,
    Entry,
    FaultFound,
    LogIncluded,
    LogReorged,
    SignatureAdded,
    StateAccepted,
    StateSigned,
    TxMined,
    TxRefused,
    TxRequested,
    TxSent,
)
from forcemove.node import histories, recorder
from forcemove.node.events import LogAdded, LogRemoved, Mined, Received, Sent, SubmissionRefused
from forcemove.node.histories import Histories, load_history
from forcemove.node.recorder import ChannelRecorder
from forcemove.protocol.codec.wire import encode_message
from forcemove.protocol.machine.effects import SubmitDeposit
from forcemove.sender.errors import GasTooDear
from forcemove.sender.transactions import Approval, ChannelTx, GapFiller, PendingTx, RequestId, TxRequest, Version
from forcemove.store.errors import JournalDamaged, JournalUnwritable
from forcemove.store.journal import Journal
from forcemove.store.records import StoredHistory
from forcemove.workers import outbox
from forcemove.workers.outbox import JournalledTxStore
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from tests.process import memory_journal, wrap_commits
from tests.scenarios.story import KEYS, Player, Playground, Story
from tests.store.places import ACCOUNT, id_of


def read(journal: Journal, channel_id: bytes) -> ChannelHistory:
    return load_history(journal, channel_id)


def entries(player: Player, *kinds: type[Entry]) -> list[Any]:
    """The player's history, or what it has of these kinds."""
    found = read(player.journal, player.client.managed.id).entries
    return [each for each in found if not kinds or isinstance(each, kinds)]


# ------------------------------------------------------------------------------------------------------ what is entered


def test_a_whole_game_is_in_the_history(story: Story) -> None:
    story.play()
    last = story.alice.newest.state.turn_num
    for player in story.players:
        states = entries(player, StateSigned, StateAccepted)
        assert [each.signed.state.turn_num for each in states] == list(range(last + 1))
        mine = [each.signed.state.turn_num for each in states if isinstance(each, StateSigned)]
        assert mine == [turn for turn in range(last + 1) if turn % 2 == player.seat]
        logs = [type(each.log).__name__ for each in entries(player, LogIncluded)]
        assert logs == ["Deposited", "Deposited", "Closed"]
    countersigned = [(each.turn_num, each.participant) for each in entries(story.alice, SignatureAdded)]
    assert countersigned == [(last, 1 - last % 2)]


def test_a_transaction_is_followed_from_the_request_to_its_block(story: Story) -> None:
    story.play()
    deposit = [each for each in entries(story.alice) if getattr(each, "operation", "") == "deposit"]
    assert [type(each) for each in deposit] == [TxRequested, TxSent, TxMined]
    assert len({each.request for each in deposit}) == 1
    event = next(each for each in story.alice.events if isinstance(each, Mined))
    assert deposit[2].block_hash == event.receipt.block_hash
    assert deposit[1].transaction_hash == deposit[2].transaction_hash == event.receipt.transaction_hash


def test_a_fault_is_entered_with_what_was_refused(story: Story) -> None:
    story.play_until(5)
    bad = story.sign(VariablePart(story.alice.newest.state.outcome, b"nonsense", 6), 1)
    story.say(1, bad)
    story.seconds += 2
    story.alice.client.poll()
    (fault,) = entries(story.alice, FaultFound)
    assert (fault.participant, fault.refused) == (1, bad)
    assert fault.kind == story.alice.evidence[0]


def test_the_very_state_of_a_flood_of_faults_is_bounded(story: Story) -> None:
    story.play_until(5)
    for number in range(300):
        bad = story.sign(VariablePart(story.alice.newest.state.outcome, b"%d" % number, 6), 1)
        story.lines[1].send(encode_message(story.agreement.channel_id, bad))
        story.seconds += 0.1
        story.alice.client.poll()
    story.seconds += 2
    story.alice.client.poll()
    assert len(entries(story.alice, FaultFound)) == 100


def test_what_happens_around_a_channel_is_entered_within_a_second(story: Story) -> None:
    story.play_until(5)
    story.alice.client.managed.recorder.add(ConnectionLost(1, "ws://relay"))
    story.alice.client.poll()
    story.seconds += 2
    story.alice.client.poll()
    assert entries(story.alice, ConnectionLost) == [ConnectionLost(1, "ws://relay")]


class Relayed(MemoryMessenger):
    """A line over a relay that comes and goes."""

    url, is_connected = "ws://relay", False


def test_a_connection_that_is_lost_and_back_is_entered(story: Story) -> None:
    """Before the first connection nothing is lost."""
    line = Relayed()
    story.start(story.alice, line)
    for is_connected in (False, True, True, False, False, True):
        line.is_connected = is_connected
        story.seconds += 2
        story.alice.client.poll()
    found = entries(story.alice, ConnectionLost, ConnectionRestored)
    assert [(type(each), each.url) for each in found] == [
        (ConnectionLost, "ws://relay"),
        (ConnectionRestored, "ws://relay"),
    ]


def test_a_commit_that_was_doubted_is_not_entered_twice(story: Story) -> None:
    """Its disk has written it, and not said so."""
    story.play_until(5)

    def fail(commit: Any) -> frozenset[bytes]:
        commit()
        raise JournalUnwritable("alice", "its disk is full")

    plain = story.alice.journal.commit
    wrap_commits(story.alice.journal, fail)
    story.bob.stops_at = story.alice.stops_at = None
    with pytest.raises(JournalUnwritable):
        story.alice.decide_at_last()
    story.alice.journal.commit = plain  # type: ignore[method-assign]
    story.play()
    states = [each.signed.state.turn_num for each in entries(story.alice, StateSigned, StateAccepted)]
    assert states == list(range(story.alice.newest.state.turn_num + 1))


# ------------------------------------------------------------------------------------------------------- notifications


def test_the_owner_is_notified_of_received_states(story: Story) -> None:
    story.play()
    theirs = [each.signed.state.turn_num for each in story.alice.events if isinstance(each, Received)]
    sent = [each.signed.state.turn_num for each in story.bob.events if isinstance(each, Sent)]
    assert theirs == sent


def test_the_owner_is_notified_of_logs_and_of_their_removal(story: Story) -> None:
    story.play_until(6)
    before = story.chain.block_number()
    story.challenge(1, *story.opening()[2:])
    story.alice.client.poll()
    story.reorganise(before, mined=3)
    story.alice.client.poll()
    told = [each for each in story.alice.events if isinstance(each, LogAdded | LogRemoved)]
    assert [(type(each), type(each.log).__name__) for each in told] == [
        (LogAdded, "Deposited"),
        (LogAdded, "Deposited"),
        (LogAdded, "ChallengeRegistered"),
        (LogAdded, "Checkpointed"),
        (LogRemoved, "Checkpointed"),
        (LogRemoved, "ChallengeRegistered"),
    ]
    assert told[2].position == told[5].position
    story.start(story.alice)
    count = len(story.alice.events)
    story.alice.client.poll()
    assert not [each for each in story.alice.events[count:] if isinstance(each, LogAdded | LogRemoved)]


def test_logs_before_a_restart_stay_when_the_chain_forks_after_it(story: Story) -> None:
    """A process that goes on from a checkpoint does not read them again."""
    story.play_until(6)
    story.mine(2)
    story.start(story.alice)
    story.alice.client.poll()
    height = story.chain.block_number()
    story.challenge(1, *story.opening()[2:])
    story.alice.client.poll()
    story.reorganise(height, mined=4)
    story.alice.client.poll()
    removed = [type(each.log).__name__ for each in entries(story.alice, LogReorged)]
    assert removed == ["Checkpointed", "ChallengeRegistered"]


# ------------------------------------------------------------------------------------------------------------- secrets


def test_nothing_secret_is_in_a_history(playground: Playground) -> None:
    """A hidden choice is not opened yet: neither its salt nor any key is in the journal's history."""
    story = playground.story(ROCK_PAPER_SCISSORS)
    for turn in range(4, 9):
        story.play_until(turn)
        for player in story.players:
            kept = b"".join(player.journal.history(story.agreement.channel_id).bodies)
            secrets = [KEYS[player.seat].secret, _unopened(player)]
            assert not [each for each in secrets for piece in _pieces(each) if piece in kept]
        for player in story.players:
            player.stops_at = None
        story.players[story.alice.client.channel.next_turn % 2].decide_at_last()


def _unopened(player: Player) -> bytes:
    """The player's secrets, as long as the position has not opened them."""
    secrets = player.client.channel.secrets
    opened = b"".join(each.state.app_data for each in player.states)
    return b"" if any(piece in opened for piece in _pieces(secrets)) else secrets


def _pieces(secret: bytes) -> list[bytes]:
    return [secret[start : start + 12] for start in range(len(secret) - 11)]


# ----------------------------------------------------------------------------------------------- what cannot hinder it


def test_a_history_that_cannot_be_read_keeps_no_challenge_from_its_answer(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.play_until(9)

    def damaged(*_: object) -> StoredHistory:
        raise JournalDamaged("alice", "its history")

    monkeypatch.setattr(story.alice.journal, "history", damaged)
    monkeypatch.setattr(story.alice.journal, "gather_history", damaged)
    story.start(story.alice)
    story.challenge(1, *story.opening()[2:])
    for _ in range(6):
        try:
            story.alice.client.poll()
        except JournalDamaged:
            continue
    assert story.record == (9, False)


@pytest.mark.parametrize("part", ["_enter_step", "_enter_logs", "_enter_event"])
def test_an_error_of_ours_in_the_recording_stops_nothing(
    story: Story, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError(part)

    monkeypatch.setattr(ChannelRecorder, part, fail)
    failed = 0
    for _ in range(400):
        for player in story.players:
            try:
                player.client.poll()
            except ZeroDivisionError:
                failed += 1
    assert failed
    assert {player.phase for player in story.players} == {Phase.CLOSED}


@pytest.mark.parametrize("where", [recorder, outbox])
def test_what_cannot_be_packed_is_left_out_and_the_money_is_moved_all_the_same(
    story: Story, where: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise OverflowError("our error")

    monkeypatch.setattr(where, "pack", fail)
    for _ in range(100):
        for player in story.players:
            with suppress(OverflowError):  # it is reported
                player.client.poll()
    assert [player.phase for player in story.players] == [Phase.CLOSED, Phase.CLOSED]
    story.ends_with(story.alice.newest.state.outcome)
    lost = TxSent if where is outbox else StateSigned
    assert entries(story.alice, lost) == []


def test_a_journal_that_cannot_be_tidied_up_is_reported_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[Exception] = []
    journal = memory_journal()
    tidied = Histories(journal, errors.append)

    def fail() -> bool:
        raise JournalUnwritable("alice", "its disk is full")

    monkeypatch.setattr(journal, "gather_history", fail)
    tidied.on_appended(histories._GATHER_AFTER)
    tidied.tidy_up(is_idle=True)
    assert [type(each) for each in errors] == [JournalUnwritable]
    assert all(isinstance(each, JournalError) for each in errors)


def test_the_journal_is_tidied_up_when_there_is_time_or_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    journal, calls = memory_journal(), list[int]()

    def gathered() -> bool:
        calls.append(1)
        return False

    tidied = Histories(journal, lambda _: None)
    monkeypatch.setattr(journal, "gather_history", gathered)
    cases = (
        (511, True, 0),
        (1, False, 0),
        (0, True, 1),
        (512, False, 1),
        (15_872, False, 2),
    )
    for appended, is_idle, expected in cases:
        tidied.on_appended(appended)
        tidied.tidy_up(is_idle=is_idle)
        assert len(calls) == expected


# ------------------------------------------------------------------------------------------------- an account's journal

DEPOSIT = SubmitDeposit(bytes(20), 0, 5)


def pending(request_id: RequestId, *hashes: bytes) -> PendingTx:
    request = TxRequest(request_id, b"\xad" * 20, b"", 0, 10**18)
    versions = tuple(Version(each * 32, b"raw", 10 + place, place, False, 99) for place, each in enumerate(hashes))
    return PendingTx(request, 3, 21_000, 0, versions)


def test_each_version_of_a_transaction_is_entered_once_with_what_it_replaces() -> None:
    journal = memory_journal()
    journal.leases.take([ACCOUNT], 60)
    request = ChannelTx(id_of(1), DEPOSIT)
    store = JournalledTxStore(journal, ACCOUNT)
    store.update([pending(request, b"a")], ())
    store.update([pending(request, b"a", b"b")], ())
    store = JournalledTxStore(journal, ACCOUNT)  # another process goes on
    store.update([pending(request, b"a", b"b")], ())
    store.update([pending(request, b"a", b"b", b"c")], ())
    sent = [each for each in read(journal, id_of(1)).entries if isinstance(each, TxSent)]
    assert [(each.transaction_hash[:1], each.replaces and each.replaces[:1]) for each in sent] == [
        (b"a", None),
        (b"b", b"a"),
        (b"c", b"b"),
    ]
    assert [(each.nonce, each.max_fee, each.tip, each.time, each.operation) for each in sent] == [
        (3, 10 + place, place, 99, "deposit") for place in range(3)
    ]


def test_an_approval_is_of_the_channel_that_needs_it_and_a_gap_of_none() -> None:
    journal = memory_journal()
    journal.leases.take([ACCOUNT], 60)
    store = JournalledTxStore(journal, ACCOUNT)
    store.update([pending(Approval(ChannelTx(id_of(1), DEPOSIT)), b"a")], ())
    store.update([], [3])
    store.update([pending(GapFiller(3), b"b")], ())
    (sent,) = read(journal, id_of(1)).entries
    assert isinstance(sent, TxSent)
    assert (sent.operation, sent.transaction_hash) == ("approval", b"a" * 32)


def test_a_refusal_is_entered_once_however_often_it_comes(story: Story) -> None:
    story.play_until(5)
    recording = story.alice.client.managed.recorder
    for error in (GasTooDear(5, 4), GasTooDear(5, 4), GasTooDear(6, 4)):
        recording.on_event(SubmissionRefused(DEPOSIT, error, 7))
    story.seconds += 2
    story.alice.client.poll()
    refused = entries(story.alice, TxRefused)
    assert [(each.kind, each.operation, each.cost) for each in refused] == [("GasTooDear", "deposit", 7)] * 2
    assert len({each.facts for each in refused}) == 2
