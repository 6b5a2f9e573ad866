"""Games for nothing, without a chain: the same rules and signatures, restarted anywhere, ended by all signatures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from forcemove import ChannelSetup, Game, InvalidValue, ManagedChannel, MemoryMessenger, Node, Phase, open_journal
from forcemove.flow.channel import moves_of_new
from forcemove.node import errors, events, friendly, leases
from forcemove.protocol import agreement, encoding, signing, types
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.codec.wire import decode_message
from forcemove.protocol.machine.inputs import ConcludeWanted, Greeted, StateReceived
from forcemove.store.errors import JournalUnwritable
from forcemove.store.journal import Journal
from forcemove.store.records import Batch, ChannelUpdate, Ownership
from tests.expected import known
from tests.installed import GAMES_FOR_TWO
from tests.process import wrap_commits
from tests.sampled import sampled
from tests.scenarios.story import KEYS, Story

LAST = 20
each_game_for_two = pytest.mark.parametrize(
    "table", GAMES_FOR_TWO, ids=[each.name for each in GAMES_FOR_TWO], indirect=True
)


def agreement_of(game: Game, chain_id: int = encoding.NO_CHAIN) -> agreement.Agreement:
    participants = tuple(key.address for key in KEYS[:2])
    return agreement.agree(
        encoding.Domain(chain_id, types.ZERO_ADDRESS),
        types.FixedPart(participants, 7, types.ZERO_ADDRESS, 3600),
        game,
        0,
        ((types.ETHER, (0, 0)),),
        tuple(map(types.address_destination, participants)),
    )


class Table:
    """Both players, each with a node and a journal in a file. `troubles`: what the nodes have told."""

    def __init__(self, folder: Path, game: Game) -> None:
        self.folder, self.game, self.agreement, self.now = folder, game, agreement_of(game), 1_000.0
        self.lines = MemoryMessenger.table(2)
        self.signed: list[list[events.Sent]] = [[], []]
        self.faults: list[events.CounterpartyFault] = []
        self.journals: list[Journal] = []
        self.troubles: list[Exception] = []
        self.nodes: list[Node] = []
        self.players: list[ManagedChannel] = []
        for seat in range(2):
            self.journals.append(self.journal(seat))
            self.nodes.append(self.node(self.journals[seat]))
            self.players.append(self.player(seat, self.nodes[seat]))

    def journal(self, seat: int) -> Journal:
        return open_journal(str(self.folder / f"{seat}.journal"), owner=os.urandom(16), clock=lambda: self.now)

    def node(self, journal: Journal) -> Node:
        return Node(journal, lease=30, on_error=self.troubles.append, clock=lambda: self.now)

    def player(self, seat: int, node: Node) -> ManagedChannel:
        choose = moves_of_new(
            lambda secrets: self.game.bot(seat, secrets=secrets),
            another_round=lambda state: state.turn_num < LAST,
        )

        def hear(event: events.Event) -> None:
            if isinstance(event, events.Sent):
                self.signed[seat].append(event)
            elif isinstance(event, events.CounterpartyFault):
                self.faults.append(event)

        assembly = friendly.FriendlyAssembly(self.game, self.agreement)
        return node.add(ChannelSetup(assembly, KEYS[seat], self.lines[seat], choose, on_event=hear))

    def restart(self, seat: int, *, loses: bool) -> None:
        """As after kill -9: nothing is given back. `loses`: what was on the line, too."""
        self.journals[seat].close()
        if loses:
            self.lines[seat].receive()
        self.now += 60
        self.journals[seat] = self.journal(seat)
        self.nodes[seat] = self.node(self.journals[seat])
        self.players[seat] = self.player(seat, self.nodes[seat])

    def play(self, after_each: Callable[[int], None] = lambda _: None) -> None:
        for number in range(500):
            self.nodes[number % 2].poll()
            after_each(number)
            if all(each.is_done for each in self.players):
                assert self.troubles == []
                return
            self.now += 1
        raise AssertionError([each.channel for each in self.players])

    def close(self) -> None:
        for each in self.journals:
            each.close()


@pytest.fixture
def table(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Table]:
    table = Table(tmp_path, request.param)
    yield table
    table.close()


def require_right_end(table: Table) -> None:
    """Both have the same end, signed by both, and each has signed one state a turn."""
    first, second = (each.channel for each in table.players)
    assert first.newest is not None
    assert second.newest is not None
    assert first.newest.state == second.newest.state
    assert first.newest.state.is_final
    assert first.newest.state.turn_num > LAST
    for index, key in enumerate(KEYS[:2]):
        hashes = encoding.hash_state(table.agreement.channel_id, first.newest.state)
        signature = first.newest.signed.signatures[index]
        signing.require_signer(encoding.digest(table.agreement.domain, hashes.state), signature, key.address)
    for signed in table.signed:
        states = {each.signed.state.turn_num: each.signed.state for each in signed}
        assert all(states[each.signed.state.turn_num] == each.signed.state for each in signed)
    assert [each.phase for each in table.players] == [Phase.CLOSED] * 2
    assert [[kept.ownership for kept in each.channels()] for each in table.journals] == [[Ownership.FINISHED]] * 2


@each_game_for_two
def test_it_is_played_to_an_end_that_both_have_signed(table: Table) -> None:
    table.play()
    require_right_end(table)
    assert table.faults == []


@each_game_for_two
def test_the_end_is_told_again_to_who_was_killed_before_it_came(table: Table) -> None:
    """No chain tells of it, and anyone who has all signatures is done."""
    killed: list[int] = []

    def kill(_: int) -> None:
        waiting = [seat for seat, each in enumerate(table.players) if not each.is_done]
        if len(waiting) == 1 and not killed:
            killed.append(waiting[0])
            table.restart(waiting[0], loses=True)

    table.play(kill)
    assert len(killed) == 1


@each_game_for_two
@pytest.mark.parametrize(
    ("seat", "every", "loses"),
    sampled([(seat, *each) for each in [(1, False), (2, False), (3, True), (5, True)] for seat in (0, 1)], every=3),
)
def test_a_player_that_is_killed_again_and_again_plays_on(table: Table, seat: int, every: int, loses: bool) -> None:
    def kill(number: int) -> None:
        if number % every == 0 and not table.players[seat].is_done:
            table.restart(seat, loses=loses)

    table.play(kill)
    require_right_end(table)


@each_game_for_two
def test_what_we_have_said_before_we_were_killed_is_nobodys_fault(table: Table) -> None:
    """A log gives it back from its beginning: states, and greetings, which nobody signs."""
    said: list[bytes] = []
    send = table.lines[1].send

    def remembered(message: bytes) -> None:
        said.append(message)
        send(message)

    def kill(number: int) -> None:
        if number % 6 == 0 and not table.players[1].is_done:
            table.restart(1, loses=False)
            for message in said:
                table.lines[1].take(message)

    table.lines[1].send = remembered  # type: ignore[method-assign]  # as it was, and written down
    table.play(kill)
    require_right_end(table)
    assert table.faults == []
    assert any(isinstance(decode_message(each)[1], Greeted) for each in said)


@each_game_for_two
def test_threat_24_what_is_sent_is_in_the_journal_before(table: Table) -> None:
    sent = 0

    def check(seat: int, message: bytes) -> None:
        nonlocal sent
        _, said = decode_message(message)
        if isinstance(said, StateReceived):
            kept = known(table.journals[seat].load(table.agreement.channel_id))
            newest = known(CHANNELS.decode(kept.snapshot).newest)
            assert newest.state == said.signed.state
            sent += 1

    for seat, line in enumerate(table.lines):
        send = line.send

        def checked(message: bytes, seat: int = seat, send: Callable[[bytes], None] = send) -> None:
            check(seat, message)
            send(message)

        line.send = checked  # type: ignore[method-assign]  # the same, with a look at the journal before
    table.play()
    assert sent > LAST


@each_game_for_two
def test_whoever_wants_to_leave_ends_it_with_the_next_turn(table: Table) -> None:
    while table.players[0].channel.next_turn < 8:
        for each in table.nodes:
            each.poll()
    table.players[0].feed(ConcludeWanted())
    for _ in range(4):
        for each in table.nodes:
            each.poll()
    assert all(each.is_done for each in table.players)
    newest = known(table.players[0].channel.newest)
    assert newest.state.turn_num <= 10


@each_game_for_two
def test_one_process_drives_it_and_another_takes_over_what_fell_silent(table: Table) -> None:
    table.nodes[0].poll()
    other = table.journal(0)
    successor = table.node(other)
    with pytest.raises(errors.ChannelInUse):
        table.player(0, successor)
    table.now += 60
    table.player(0, successor)
    table.nodes[0].poll()
    assert [type(each) for each in table.troubles] == [errors.LeaseLost]
    assert table.nodes[0].channels == {}
    assert successor.poll()
    other.close()


@each_game_for_two
def test_threat_48_a_table_is_played_by_one_process(table: Table) -> None:
    held, other = leases.HeldLease(table.journals[0], b"\x01" * 32, 30), table.journal(0)
    with pytest.raises(errors.ChannelInUse):
        leases.HeldLease(other, b"\x01" * 32, 30)
    held.release()
    leases.HeldLease(other, b"\x01" * 32, 30).renew()
    with pytest.raises(errors.LeaseLost):
        held.renew()
    other.close()


def play_to(table: Table, turn: int) -> None:
    """Bob is to move, who is still."""
    while table.players[0].channel.next_turn < turn or table.players[0].channel.is_our_turn:
        table.nodes[table.players[0].channel.next_turn % 2].poll()
        table.nodes[0].poll()


@each_game_for_two
def test_what_arrives_for_a_game_that_was_put_away_changes_and_signs_nothing(table: Table) -> None:
    play_to(table, 8)
    put_away, journal = table.players[0], table.journals[0]
    table.nodes[1].poll()  # the answer is on the line already
    put_away.put_away()
    before, signed = known(journal.load(put_away.id)), list(table.signed[0])
    assert (put_away.is_done, before.ownership) == (True, Ownership.PUT_AWAY)
    for _ in range(5):
        for node in table.nodes:
            node.poll()
        table.now += 10
    table.players[1].feed(ConcludeWanted())
    table.nodes[1].poll()
    table.nodes[0].poll()
    assert (known(journal.load(put_away.id)), table.signed[0], table.troubles) == (before, signed, [])
    with pytest.raises(errors.NotOursToDrive):
        table.player(0, table.nodes[0])
    update = ChannelUpdate(put_away.id, before.version, b"another")
    assert journal.commit(Batch((update,))) == {put_away.id}


@each_game_for_two
def test_a_game_whose_end_another_has_to_sign_is_put_away_and_a_finished_one_stays_so(table: Table) -> None:
    play_to(table, 8)
    table.players[1].feed(ConcludeWanted())
    table.nodes[1].poll()
    assert not table.players[1].is_done
    table.players[1].put_away()
    table.nodes[0].poll()
    assert table.players[0].is_done
    table.players[0].put_away()
    assert [[kept.ownership for kept in each.channels()] for each in table.journals] == [
        [Ownership.FINISHED],
        [Ownership.PUT_AWAY],
    ]


def test_a_commit_of_one_game_leaves_in_doubt_whether_another_was_saved(tmp_path: Path) -> None:
    """A commit that is reported as failed was made. Of its two games one is put away before the next step."""
    table = Table(tmp_path, GAMES_FOR_TWO[0])
    node, journal = table.nodes[0], table.journals[0]
    other = replace(table.agreement, fixed_part=replace(table.agreement.fixed_part, channel_nonce=8))
    assembly = friendly.FriendlyAssembly(table.game, other)
    node.add(ChannelSetup(assembly, KEYS[0], MemoryMessenger.table(2)[0], lambda _: None))

    def on_disk(commit: Callable[[], frozenset[bytes]]) -> frozenset[bytes]:
        commit()
        raise JournalUnwritable("here", "the disk is full")

    commit = journal.commit
    wrap_commits(journal, on_disk)
    with pytest.raises(JournalUnwritable):
        node.poll()
    journal.commit = commit  # type: ignore[method-assign]  # as before
    table.players[0].put_away()
    node.poll()
    assert (list(node.channels), table.troubles) == ([other.channel_id], [])
    for each in table.journals:
        each.close()


def test_a_game_with_a_stake_is_not_put_away(story: Story) -> None:
    story.play_until(6)
    with pytest.raises(InvalidValue):
        story.alice.client.managed.put_away()
    story.ends_as_agreed()


@each_game_for_two
def test_a_channel_with_a_chain_is_refused(table: Table) -> None:
    table.agreement = agreement_of(table.game, chain_id=1)
    with pytest.raises(InvalidValue):
        table.player(0, table.nodes[0])


class ConnectedLine:
    """One that is connected now, and then it is not."""

    url, is_connected = "memory", True

    def __init__(self, line: MemoryMessenger) -> None:
        self.send, self.receive = line.send, line.receive


@pytest.mark.parametrize("table", [GAMES_FOR_TWO[0]], indirect=True)
def test_a_channel_that_is_added_again_and_given_back_leaves_nothing_behind(table: Table) -> None:
    """Or the node would end with the next look at its messengers' connections."""
    node, assembly = table.nodes[0], friendly.FriendlyAssembly(table.game, table.agreement)
    for _ in range(2):
        node.add(ChannelSetup(assembly, KEYS[0], ConnectedLine(table.lines[0]), lambda _: None))
    node.release_channel(assembly.agreement.channel_id)
    for _ in range(3):
        table.now += 2
        assert not node.poll()
    assert table.troubles == []
