"""Many channels in one process: driven to their ends, restarted anywhere, and never by two processes at once."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import structs

from forcemove import ChannelSetup, ChooseMove, Game, ManagedChannel, MemoryMessenger, Node, Phase, open_journal
from forcemove.chain.errors import NotGenuine, NoTransientStorage, Unreachable
from forcemove.flow.channel import moves_of_new
from forcemove.follower.errors import AnotherChain
from forcemove.node.assemble import Assembly, assemble, reassemble
from forcemove.node.errors import ChannelInUse, LeaseLost, NotOursToDrive
from forcemove.node.events import Event, Mined, Sent
from forcemove.node.metadata import CURSORS
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.inputs import ChainUpdate, ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import ETHER
from forcemove.store.errors import JournalUnwritable
from forcemove.store.journal import Journal
from forcemove.store.records import Account, Batch, ChannelLease, ChannelUpdate, ExportKind
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.chain.world import place
from tests.expected import known
from tests.installed import GAMES_FOR_TWO
from tests.scenarios.story import DEPOSIT, DURATION, KEYS, STAKE, Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.node import MemoryNode


@dataclass
class Process:
    """One player's process: a journal in a file, and a node on it. `now`: its own clock."""

    house: House
    seat: int
    path: Path
    now: float = 0.0
    told: list[tuple[int, Event]] = field(default_factory=list)
    troubles: list[Exception] = field(default_factory=list)
    journal: Journal = field(init=False)
    node: Node = field(init=False)

    def start(self) -> None:
        self.journal = open_journal(str(self.path), owner=secrets.token_bytes(16), clock=lambda: self.now)
        self.node = Node(self.journal, clock=lambda: self.now, on_error=self.troubles.append)

    def drive(self, number: int) -> ManagedChannel:
        answers = moves_of_new(
            lambda secrets: self.house.game.bot(self.seat, secrets=secrets),
            another_round=lambda state: state.turn_num < self.house.leave_after,
        )

        def choose(question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
            return answers(question) if question.state.turn_num < self.house.stops_at else None

        line = self.house.lines[number][self.seat]
        assembly, key = self.house.assemblies[number], KEYS[self.seat]
        return self.node.add(
            ChannelSetup(assembly, key, line, choose, on_event=lambda event: self.told.append((number, event)))
        )

    @property
    def events(self) -> list[Event]:
        return [event for _, event in self.told]

    def die(self, away: float = 3600) -> None:
        """Without a word. `away`: seconds until the next process, which finds that the old leases have expired."""
        self.journal.close()
        self.now += away
        self.start()
        for number in range(len(self.house.assemblies)):
            self.drive(number)

    @property
    def phases(self) -> set[Phase]:
        return {each.phase for each in self.node.channels.values()}


class House:
    """Channels between Alice's process and Bob's."""

    def __init__(self, playground: Playground, folder: Path, count: int, game: Game = TIC_TAC_TOE) -> None:
        self.chain, self.game, self.stops_at, self.leave_after = playground.chain, game, 10**6, 8
        self.assemblies = [_assembly(playground, game) for _ in range(count)]
        self.lines = [MemoryMessenger.table(2) for _ in range(count)]
        self.processes = [Process(self, seat, folder / f"{seat}.journal") for seat in range(2)]
        for process in self.processes:
            process.start()
            for number in range(count):
                process.drive(number)

    def play(self, rounds: int = 2_000, until: int | None = None) -> None:
        """Until nothing happens any more, and no node has a transaction that a real chain has not mined yet.
        `until`: the turn after which nobody moves, from now on."""
        self.stops_at = self.stops_at if until is None else until
        for _ in range(rounds):
            if not [each for each in self.processes if each.node.poll() or each.node.is_sending]:
                return
        raise AssertionError("they never come to rest")

    def held(self) -> int:
        return sum(
            each.adjudicator.holdings_of(each.agreement.channel_id, bytes(20), 0).amount for each in self.assemblies
        )

    def close(self) -> None:
        for process in self.processes:
            process.journal.close()


def _assembly(playground: Playground, game: Game) -> Assembly:
    addresses = [key.address for key in KEYS]
    return assemble(playground.chain, playground.book, game, addresses, stake=STAKE, deposit=DEPOSIT, duration=DURATION)


@pytest.fixture
def house(playground: Playground, tmp_path: Path) -> Iterator[Callable[[int], House]]:
    made: list[House] = []

    def make(count: int, game: Game = TIC_TAC_TOE) -> House:
        made.append(House(playground, tmp_path, count, game))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.parametrize("count", [1, 5])
def test_channels_are_played_to_their_ends(house: Callable[[int], House], count: int) -> None:
    home = house(count)
    home.play()
    assert [process.phases for process in home.processes] == [{Phase.CLOSED}] * 2
    assert home.held() == 0
    for process in home.processes:
        assert process.troubles == []
        mined = Counter(type(event.submission).__name__ for event in process.events if isinstance(event, Mined))
        assert mined["SubmitDeposit"] == count
    signed = [event.signed.state.turn_num for event in home.processes[0].events if isinstance(event, Sent)]
    assert len(signed) > 4 * count


def test_a_transaction_on_its_way_holds_up_its_own_channel_alone(
    house: Callable[[int], House], playground: Playground
) -> None:
    """A table whose channel was over waited for the transactions of all others."""
    home, chain = house(2), _node(playground)
    alice, (first, second) = home.processes[0].node, [each.agreement.channel_id for each in home.assemblies]
    for process in home.processes:
        process.node.release_channel(second)
    chain.is_mining = False
    try:
        while not chain.waiting:
            for process in home.processes:
                process.node.poll()
        assert (alice.is_sending_for(first), alice.is_sending_for(second)) == (True, False)
    finally:
        chain.is_mining = True
        chain.mine()
    home.play()
    assert not alice.is_sending_for(first)


def test_threat_44_a_conclusion_on_its_way_becomes_the_answer_to_a_challenge(
    playground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No block takes it, at what it may cost; an older state is challenged at a higher price."""
    story, chain = playground.story(TIC_TAC_TOE), _node(playground)
    story.play_until(6)
    old = story.bob.states
    monkeypatch.setattr(chain, "is_mining", False)
    story.go_on(leave_after=6)
    (concluding,) = [each for each in story.players if each.client.node.is_sending]
    conclusion, chain.waiting, chain.is_mining = chain.waiting, [], True
    story.challenge(1 - concluding.seat, *old)
    chain.waiting, chain.is_mining = conclusion, False
    story.play()
    (worker,) = concluding.client.node._workers.accounts.values()
    assert worker._sender is not None
    (pending,) = worker._sender[0]._pending.by_nonce.values()
    assert pending.request.deadline == story.finalizes_at > 0
    chain.mine()
    story.play()
    assert concluding.phase is Phase.CLOSED


def test_what_is_kept_is_what_is_played(house: Callable[[int], House]) -> None:
    home = house(2)
    home.play()
    for process in home.processes:
        kept = process.journal.channels()
        assert {each.channel_id for each in kept} == set(process.node.channels)
        for each in kept:
            assert CHANNELS.decode(each.snapshot) == process.node.channels[each.channel_id].channel


def test_a_turn_is_one_commit(house: Callable[[int], House], monkeypatch: pytest.MonkeyPatch) -> None:
    """What was heard, and our answer to it."""
    home = house(1)
    home.leave_after = 60
    alice, bob = home.processes
    (managed,) = alice.node.channels.values()

    def play_until(turn: int) -> None:
        while managed.channel.next_turn < turn:
            alice.node.poll()
            bob.node.poll()

    play_until(6)
    alice.told.clear()
    commits: list[Batch] = []
    commit = alice.journal.commit

    def counted(batch: Batch) -> frozenset[bytes]:
        commits.append(batch)
        return commit(batch)

    monkeypatch.setattr(alice.journal, "commit", counted)
    play_until(26)
    sent = [event for event in alice.events if isinstance(event, Sent)]
    assert len(commits) == len(sent) == 10


def deaths() -> list[object]:
    """How often the process dies, its seat and the game: all under --long. The more often, the longer it takes."""
    normal = {(3, 1, GAMES_FOR_TWO[-2]), (5, 0, GAMES_FOR_TWO[0])}
    return [
        pytest.param(*each, id=f"{each[0]}-{each[1]}-{each[2].name}", marks=() if each in normal else pytest.mark.long)
        for each in product((1, 2, 3, 5), (0, 1), GAMES_FOR_TWO)
    ]


@pytest.mark.parametrize(("every", "seat", "game"), deaths())
def test_threat_21_a_process_that_dies_again_and_again_loses_nothing_and_signs_no_turn_twice(
    house: Callable[..., House], seat: int, every: int, game: Game
) -> None:
    """Nor does it forget what it has committed itself to."""
    home = house(2, game)
    victim = home.processes[seat]
    for round_ in range(400):
        busy = [each.node.poll() for each in home.processes]
        if round_ % every == 0:
            victim.die()
        elif not any(busy) and all(process.phases == {Phase.CLOSED} for process in home.processes):
            break
        for process in home.processes:
            process.now += 2
    home.play()
    assert [process.phases for process in home.processes] == [{Phase.CLOSED}] * 2
    assert home.held() == 0
    signatures: dict[tuple[int, int], set[bytes]] = {}
    for number, event in victim.told:
        if isinstance(event, Sent) and seat in event.signed.signatures:
            place = (number, event.signed.state.turn_num)
            signatures.setdefault(place, set()).add(event.signed.signatures[seat].compact)
    assert len(signatures) > 4
    assert {len(each) for each in signatures.values()} == {1}


def test_a_dispute_is_settled_while_others_play(house: Callable[[int], House]) -> None:
    home = house(4)
    home.play(until=5)
    home.stops_at = 10**6
    alice, bob = home.processes
    disputed = home.assemblies[0].agreement.channel_id
    bob.node.channels.pop(disputed)
    mover = alice.node.channels[disputed].channel.next_turn % 2
    assert mover == 0 or alice.node.channels[disputed].phase is Phase.PLAYING
    for process in home.processes:
        for managed in list(process.node.channels.values()):
            if managed.id != disputed and managed.channel.is_our_turn:
                question = known(managed.channel.newest)
                bot_move = home.game.bot(process.seat).move(question.state, another_round=False)
                managed.feed(ConcludeWanted() if bot_move is None else MoveChosen(*bot_move))
    if mover == 1:
        alice.node.channels[disputed].feed(ChallengeWanted())
    home.play()
    others = [each for each in alice.node.channels.values() if each.id != disputed]
    assert {each.phase for each in others} == {Phase.CLOSED}


def test_threat_51_a_round_that_was_disputed_without_need_is_the_last(house: Callable[..., House]) -> None:
    """Bob challenges with an old state; Alice's node answers, and her player leaves when the round is over."""
    home = house(1)
    home.leave_after = 60
    alice, bob = home.processes
    (managed,) = alice.node.channels.values()
    while managed.channel.next_turn < 8:
        alice.node.poll()
        bob.node.poll()
    assembly, states = home.assemblies[0], managed.channel.signed_states
    proof = known(build_support_proof(assembly.agreement.fixed_part, states[:2]))
    assembly.adjudicator.send(assembly.adjudicator.challenge(assembly.agreement.fixed_part, proof), KEYS[1])
    home.play()
    newest = known(managed.channel.newest)
    assert newest.state.turn_num < home.leave_after
    assert (managed.phase, bob.phases) == (Phase.CLOSED, {Phase.CLOSED})


# ------------------------------------------------------------------------------------------------------------- leases


def test_threat_48_a_channel_is_driven_by_one_process(house: Callable[[int], House], playground: Playground) -> None:
    home = house(1)
    alice = home.processes[0]
    other = Process(home, 0, alice.path)
    other.start()
    with pytest.raises(ChannelInUse):
        other.drive(0)
    other.journal.close()


def test_threat_48_what_could_not_be_added_is_left_to_others(
    house: Callable[[int], House], playground: Playground
) -> None:
    """Another process has the channel, and this one keeps no lease of the account for which it sends nothing."""
    home = house(1)
    for process in home.processes:
        process.node.release()
    alice, account = home.processes[0], Account(home.chain.chain_id, KEYS[0].address)
    with open_journal(str(alice.path), owner=secrets.token_bytes(16), clock=lambda: alice.now) as another:
        another.leases.take([ChannelLease(home.assemblies[0].agreement.channel_id)], 60)
        with pytest.raises(ChannelInUse):
            alice.drive(0)
        assert another.leases.take([account], 60).granted == {account}


def test_threat_48_who_was_away_for_longer_than_its_lease_sends_nothing(house: Callable[[int], House]) -> None:
    """It sleeps in the middle of the game; another process takes the channel over; it wakes, and hears a move."""
    home = house(1)
    home.play(until=5)
    alice, bob = home.processes
    asleep = alice.node
    heir = Process(home, 0, alice.path, now=alice.now + 3600)
    heir.start()
    heir.drive(0)
    home.stops_at = 10**6
    (managed,) = asleep.channels.values()
    newest = known(managed.channel.newest)
    home.lines[0][1].receive()
    if managed.channel.is_our_turn:
        move = known(home.game.bot(0).move(newest.state, another_round=True))
        managed.feed(MoveChosen(*move))
    else:
        managed.feed(ChallengeWanted())
    asleep.poll()
    assert asleep.channels == {}
    assert [type(each) for each in alice.troubles] == [LeaseLost]
    assert home.lines[0][1].receive() == ()
    heir.journal.close()
    assert bob.troubles == []


def test_a_channel_that_was_imported_in_a_later_version_is_free(house: Callable[[int], House]) -> None:
    """Who has driven it drives it no more, and lets any process do so."""
    home = house(1)
    home.play(until=5)
    alice = home.processes[0]
    with closing(sqlite3.connect(alice.path)) as connection, connection:
        connection.execute("UPDATE channels SET version = version + 1")
    (managed,) = alice.node.channels.values()
    managed.note_receipt("a tower", 5)
    alice.now += 2
    alice.node.poll()
    assert [type(each) for each in alice.troubles] == [LeaseLost]
    heir = Process(home, 0, alice.path, now=alice.now)
    heir.start()
    assert heir.drive(0).id == home.assemblies[0].agreement.channel_id
    heir.journal.close()


def test_threat_53_what_was_moved_away_is_not_driven(house: Callable[[int], House]) -> None:
    home = house(1)
    home.play(until=5)
    alice = home.processes[0]
    alice.node.release()
    alice.journal.export(alice.journal.ids(), ExportKind.MOVE)
    with pytest.raises(NotOursToDrive):
        alice.drive(0)


# ------------------------------------------------------------------------------------------------------- what it costs


def test_a_block_costs_the_same_requests_for_many_channels(
    playground: Playground, tmp_path: Path, house: Callable[[int], House]
) -> None:
    counts = []
    for count in (1, 20):
        (folder := tmp_path / str(count)).mkdir()
        endpoint = Endpoint(_node(playground))
        through = Playground(MemoryChain(endpoint), playground.book)
        home = House(through, folder, count)
        home.play(until=5)
        _node(playground).mine()
        endpoint.counts.clear()
        home.processes[0].node.poll()
        counts.append(dict(endpoint.counts))
        home.close()
    assert counts[0] == counts[1]
    assert sum(counts[0].values()) <= 4


def _node(playground: Playground) -> MemoryNode:
    assert isinstance(playground.chain, MemoryChain)
    return playground.chain.node


@pytest.mark.parametrize("seed", range(5))
def test_threat_43_an_endpoint_that_often_fails_costs_time_only(
    playground: Playground, tmp_path: Path, seed: int
) -> None:
    endpoint, random = Endpoint(_node(playground)), Random(seed)
    home = House(Playground(MemoryChain(endpoint), playground.book), tmp_path, 2)
    answers = endpoint.answer

    def often_failing(method: str, *params: object) -> object:
        if random.random() < 0.1:
            raise Unreachable("memory", "now and then")
        return answers(method, *params)

    endpoint.answer = often_failing
    for _ in range(400):
        for process in home.processes:
            process.node.poll()
            process.now += 2
    assert [process.phases for process in home.processes] == [{Phase.CLOSED}] * 2
    assert all(isinstance(each, Unreachable) for process in home.processes for each in process.troubles)
    home.close()


def test_a_commit_that_failed_after_it_was_made_is_gone_on_with(house: Callable[[int], House]) -> None:
    """The disk, or the server, did not answer in time: whether it is there is looked up."""
    home = house(2)
    alice = home.processes[0]
    commit, fails = alice.journal.commit, [True, False, False, True, True, False]

    def failing(batch: Batch) -> frozenset[bytes]:
        if not fails or not fails.pop():
            return commit(batch)
        commit(batch)
        raise JournalUnwritable(alice.journal.where, "it took too long")

    alice.journal.commit = failing  # type: ignore[method-assign]
    for _ in range(100):
        with suppress(JournalUnwritable):
            alice.node.poll()
        home.processes[1].node.poll()
    assert [process.phases for process in home.processes] == [{Phase.CLOSED}] * 2
    assert fails == []
    assert alice.troubles == []


def test_nothing_leaves_while_nothing_can_be_committed(house: Callable[[int], House]) -> None:
    home = house(1)
    alice, bob = home.processes

    def full(batch: Batch) -> frozenset[bytes]:
        raise JournalUnwritable(alice.journal.where, "disk full")

    commit, alice.journal.commit = alice.journal.commit, full  # type: ignore[method-assign]
    for _ in range(3):
        with pytest.raises(JournalUnwritable):
            alice.node.poll()
        assert home.lines[0][1].receive() == ()
    alice.journal.commit = commit  # type: ignore[method-assign]
    home.play()
    assert {alice.phases.pop(), bob.phases.pop()} == {Phase.CLOSED}


def test_threat_21_what_is_committed_is_told_once_it_is_on_disk(house: Callable[[int], House]) -> None:
    """And nothing else is, while nothing can be committed. A listener that fails is reported, and costs nothing."""
    home, told = house(1), list[bool]()
    alice = home.processes[0]
    commit, is_full = alice.journal.commit, [True]

    def sometimes_full(batch: Batch) -> frozenset[bytes]:
        if is_full:
            raise JournalUnwritable(alice.journal.where, "disk full")
        return commit(batch)

    def listener(managed: ManagedChannel) -> None:
        stored = alice.journal.load(managed.id)
        told.append(stored is not None and CHANNELS.decode(stored.snapshot) == managed.channel)
        raise ZeroDivisionError

    alice.journal.commit = sometimes_full  # type: ignore[method-assign]
    alice.node.on_committed(listener)
    with pytest.raises(JournalUnwritable):
        alice.node.poll()
    assert told == []
    is_full.clear()
    home.play()
    assert len(told) > 5
    assert all(told)
    assert {type(each) for each in alice.troubles} == {ZeroDivisionError}
    assert alice.phases == {Phase.CLOSED}


def test_threat_32_nothing_is_signed_where_a_contract_is_not_the_games(
    house: Callable[[int], House], playground: Playground
) -> None:
    home = house(1)
    alice = home.processes[0]
    strange = place(playground.chain, b"\x60\x00")
    agreement = home.assemblies[0].agreement
    fixed_part = structs.replace(agreement.fixed_part, app_definition=strange)
    home.assemblies.append(replace(home.assemblies[0], agreement=structs.replace(agreement, fixed_part=fixed_part)))
    home.lines.append(MemoryMessenger.table(2))
    managed = alice.drive(1)
    for _ in range(3):
        alice.node.poll()
    assert isinstance(managed.error, NotGenuine)
    assert managed.channel.last_signed is None
    home.play()
    assert alice.node.channels[agreement.channel_id].phase is Phase.CLOSED


def test_threat_32_nothing_is_signed_on_a_chain_that_cannot_pay(
    house: Callable[[int], House], playground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = playground.chain.rpc.ask

    def before_cancun(method: str, *params: Any) -> Any:
        return bytes(32) if method == "eth_call" and "to" not in params[0] else ask(method, *params)

    monkeypatch.setattr(playground.chain.rpc, "ask", before_cancun)
    alice = house(1).processes[0]
    (managed,) = alice.node.channels.values()
    for _ in range(3):
        alice.node.poll()
    assert isinstance(managed.error, NoTransientStorage)
    assert managed.channel.last_signed is None


def test_news_that_could_not_be_taken_in_are_told_again(
    house: Callable[[int], House], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = house(1)
    (managed,) = home.processes[0].node.channels.values()
    see, fails = managed.client.on_chain_update, [True] * 3

    def failing(read: ChainUpdate | None, now: int, **others: Any) -> None:
        if read is not None and fails:
            fails.pop()
            raise RuntimeError("a bug of somebody's")
        see(read, now, **others)

    monkeypatch.setattr(managed.client, "on_chain_update", failing)
    for _ in range(3):
        home.play()
    assert home.processes[0].phases == {Phase.CLOSED}
    assert fails == []


@pytest.mark.parametrize("count", [3])
def test_a_node_runs_by_itself(house: Callable[[int], House], count: int) -> None:
    """Its looks in threads, its steps in a loop, until everything is paid out."""
    home = house(count)

    async def both() -> None:
        tasks = [asyncio.create_task(each.node.run(look_every=0.01, listen_every=0.001)) for each in home.processes]
        while any(process.phases != {Phase.CLOSED} for process in home.processes):
            assert not any(task.done() for task in tasks)
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()

    for process in home.processes:
        process.node._clock = time.monotonic
    asyncio.run(asyncio.wait_for(both(), 60))
    assert home.held() == 0


# ------------------------------------------------------------------------------------------------------ another chain


@pytest.mark.parametrize("stops_at", [1, 5])
def test_threat_43_nothing_is_signed_or_sent_on_another_chain(house: Callable[[int], House], stops_at: int) -> None:
    """It has the same id, and the same contracts at the same addresses: a test chain that was started anew."""
    home = house(1)
    home.stops_at = stops_at
    home.play()
    alice, other = home.processes[0], MemoryChain()
    other.node.next_time += 1_000
    Playground.on(other)
    assembly = home.assemblies[0]
    while other.block_number() < assembly.from_block:
        other.node.mine()
    kept = alice.journal.load(assembly.agreement.channel_id)
    home.assemblies[0] = reassemble(
        other, assembly.agreement, TIC_TAC_TOE, from_block=assembly.from_block, origin_hash=assembly.origin_hash
    )
    home.stops_at = 10**6
    nonce, height = other.nonce_of(KEYS[0].address), other.block_number()
    alice.die()
    (managed,) = alice.node.channels.values()
    for _ in range(10):
        alice.node.poll()
        other.node.mine()
    assert isinstance(managed.error, AnotherChain)
    assert {type(each) for each in alice.troubles} == {AnotherChain}
    assert (other.nonce_of(KEYS[0].address), other.block_number()) == (nonce, height + 10)
    after = alice.journal.load(assembly.agreement.channel_id)
    assert kept is not None
    assert after is not None
    assert kept.snapshot == after.snapshot


# ---------------------------------------------------------------------------------------------- what was read before


@pytest.mark.parametrize("seat", [0, 1])
def test_after_a_restart_the_chain_is_read_on_from_where_it_was_read(
    playground: Playground, tmp_path: Path, seat: int
) -> None:
    """Not from the channel's first block on; and what was logged meanwhile is found, and answered."""
    endpoint, asked = Endpoint(_node(playground)), list[int]()
    home = House(Playground(MemoryChain(endpoint), playground.book), tmp_path, 1)
    home.play(until=7)
    process, assembly = home.processes[seat], home.assemblies[0]
    for _ in range(20):
        _node(playground).mine()
    process.node.poll()
    states = next(iter(process.node.channels.values())).channel.signed_states
    proof = known(build_support_proof(assembly.agreement.fixed_part, states[:2]))
    assembly.adjudicator.send(assembly.adjudicator.challenge(assembly.agreement.fixed_part, proof), KEYS[1 - seat])
    answers = endpoint.answer

    def noting(method: str, *params: dict[str, str]) -> object:
        if method == "eth_getLogs":
            asked.append(int(params[0]["fromBlock"], 16))
        return answers(method, *params)

    endpoint.answer = noting
    process.die()
    while process.node.poll():
        pass
    status = assembly.adjudicator.status_of(assembly.agreement.channel_id, ETHER)
    assert (status.finalizes_at, status.turn_num_record) == (0, 7)
    assert min(asked) > assembly.from_block + 2
    assert process.troubles == []
    home.close()


@pytest.mark.parametrize("was_asked", [False, True])
def test_a_challenge_that_is_asked_for_before_the_chain_is_read_is_sent(
    house: Callable[[int], House], was_asked: bool
) -> None:
    """Also where a process has asked for it that died before it was sent."""
    home = house(1)
    home.play(until=6)
    alice = home.processes[0]
    id_ = home.assemblies[0].agreement.channel_id
    if was_asked:
        alice.node.channels[id_].feed(ChallengeWanted())
        alice.node.step()
    alice.die()
    assert home.assemblies[0].adjudicator.status_of(id_, ETHER).finalizes_at == 0
    alice.node.channels[id_].feed(ChallengeWanted())
    while alice.node.poll() or alice.node.is_sending:
        pass
    assert home.assemblies[0].adjudicator.status_of(id_, ETHER).finalizes_at > 0
    assert alice.node.channels[id_].phase is Phase.CHALLENGED


def test_where_nothing_happens_for_long_what_was_read_is_kept_all_the_same(house: Callable[[int], House]) -> None:
    """Or a channel that waits for a month would be read for a month."""
    home = house(1)
    home.play(until=5)
    process, id_ = home.processes[0], home.assemblies[0].agreement.channel_id
    versions = [process.journal.versions([id_])[id_]]
    assert isinstance(home.chain, MemoryChain)
    node = home.chain.node
    for blocks in (500, 501, 500):
        for _ in range(blocks):
            node.mine()
        home.play()
        versions.append(process.journal.versions([id_])[id_])
    assert [after - before for before, after in pairwise(versions)] == [0, 1, 0]
    kept = known(process.journal.load(id_))
    assert CURSORS.decode(kept.cursor).block_number > node.latest.number - 1_000


@pytest.mark.parametrize("reached", [b"\xff", b"\x93\x01", b"{}"])
def test_a_cursor_that_nobody_can_read_strands_no_channel(house: Callable[[int], House], reached: bytes) -> None:
    """Another program has written it: everything is read."""
    home = house(1)
    home.play(until=5)
    process, id_ = home.processes[0], home.assemblies[0].agreement.channel_id
    kept = known(process.journal.load(id_))
    process.journal.commit(Batch((ChannelUpdate(id_, kept.version, kept.snapshot, cursor=reached),)))
    process.die()
    home.stops_at = 10**6
    home.play()
    assert process.phases == {Phase.CLOSED}
