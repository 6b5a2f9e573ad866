"""`forcemove channel`: somebody comes back to a journal after a while, on a real chain, and nobody else is there."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from forcemove import Adjudicator, ChannelSetup, Node, Phase, SignedState, open_journal
from forcemove.chain import addresses, errors, worker
from forcemove.chain.asking import Steps, ask_now
from forcemove.chain.chain import Chain
from forcemove.chain.local import AnvilChain, connect, local_keys
from forcemove.cli.channel.session import JournalSession
from forcemove.cli.wrapping import wrapped
from forcemove.follower.errors import AnotherChain
from forcemove.follower.follower import Follower, FollowerLook
from forcemove.inspect.journal_channel import read_channels, read_listed_channel
from forcemove.keys.key_files import UNLOCK_VARIABLE, write_key_file
from forcemove.protocol.encoding import hash_state
from forcemove.protocol.rules import build_support_proof
from forcemove.sessions.defence import Defence, Nobody
from forcemove.store.errors import JournalBusy
from forcemove.store.journal import Journal
from forcemove.store.records import ChannelLease, LeaseName, Ownership
from forcemove.text.amounts import format_amount
from forcemove.workers.outbox import Outbox
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.chain.test_endpoints import Endpoint, chains
from tests.chain.world import deploy_contract
from tests.cli.command import Command, Said
from tests.cli.nodes import wait_until
from tests.cli.screens import COMMAND, Screen
from tests.node.test_node import House
from tests.scenarios.story import DEPOSIT, DURATION, KEYS, STAKE, Playground

PASSPHRASE = "long enough for a test"  # noqa: S105  # it opens a key that everybody knows
ETHER = bytes(20)


@pytest.fixture(scope="session")
def ground(anvil: AnvilChain) -> Playground:
    return Playground.on(anvil)


@dataclass
class Home:
    """Alice's home, weeks later: a journal in which channels were played up to a turn, and her key."""

    house: House
    forcemove: Command
    states: tuple[SignedState, ...]

    @property
    def ids(self) -> list[bytes]:
        return [each.agreement.channel_id for each in self.house.assemblies]

    def __call__(self, *arguments: str) -> Said:
        """`forcemove channel` with her journal."""
        return self.forcemove("channel", arguments[0], "--store", "0.journal", *arguments[1:])

    def act(self, *arguments: str, seat: int = 0) -> Said:
        """The same with the chain and a key."""
        return self(*arguments, "--chain", self.house.chain.endpoint, "--key", f"{seat}.key")

    def held(self, number: int = 0) -> int:
        assembly = self.house.assemblies[number]
        return assembly.adjudicator.holdings_of(assembly.agreement.channel_id, ETHER, 0).amount

    def challenge_with_an_old_state(self) -> None:
        """By Bob, who has lost and hopes that nobody is at home."""
        assembly = self.house.assemblies[0]
        proof = build_support_proof(assembly.agreement.fixed_part, self.states[:2])
        assert proof is not None
        assembly.adjudicator.send(assembly.adjudicator.challenge(assembly.agreement.fixed_part, proof), KEYS[1])


@pytest.fixture
def home(
    ground: Playground, tmp_path: Path, forcemove: Command, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Home]:
    """With `until`, the last turn that was played, and `count` channels."""
    monkeypatch.setenv(UNLOCK_VARIABLE, PASSPHRASE)

    def make(until: int = 6, count: int = 1, *, payers: int = 2) -> Home:
        house = House(ground, tmp_path, count, TIC_TAC_TOE)
        house.stops_at = until
        if payers == 2:
            house.play()
        else:
            _agree(house)
        alone = house.processes[0].node
        while payers == 1 and (alone.poll() or alone.is_sending):
            pass
        alice = next(iter(house.processes[0].node.channels.values()))
        for process in house.processes:
            process.node.release()
            process.journal.close()
        for seat, key in enumerate(KEYS):
            write_key_file(tmp_path / f"{seat}.key", key, PASSPHRASE, scrypt_work=2)
        return Home(house, forcemove, alice.channel.signed_states)

    return make


def _agree(house: House) -> None:
    """Until Alice is about to pay in."""
    alice, bob = house.processes
    while alice.phases != {Phase.FUNDING}:
        alice.node.poll()
        bob.node.poll()


@contextmanager
def no_answer_in_time(home: Home) -> Iterator[None]:
    """As soon as a challenge runs, its time is over."""
    chain, is_over = connect(home.house.chain.endpoint), Event()
    adjudicator = Adjudicator(chain, home.house.assemblies[0].adjudicator.address)

    def watch() -> None:
        while not is_over.wait(0.05):
            ends = adjudicator.status_of(home.ids[0], ETHER).finalizes_at
            if ends and ends > chain.now():
                chain.rpc.ask("evm_setNextBlockTimestamp", hex(ends + 1))
                chain.rpc.ask("evm_mine")

    thread = Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_channels_are_listed_as_they_were_left(home: Callable[..., Home]) -> None:
    alice = home(count=2)
    said = alice("list")
    assert said.code == 0
    assert said.out.count("Tic-tac-toe") == 2
    assert "So the journal last saw them" in said.out
    for id_ in alice.ids:
        assert f"0x{id_.hex()[:8]}" in said.out
    listed = json.loads(alice("list", "--json").out)
    assert {each["channelId"] for each in listed["channels"]} == {"0x" + id_.hex() for id_ in alice.ids}
    first = listed["channels"][0]
    assert (first["phase"], first["ownership"], first["turnNum"], first["participant"]) == ("playing", "active", 6, 0)
    assert first["ours"] == [{"asset": "0x" + "0" * 40, "amount": str(DEPOSIT + STAKE)}]


@pytest.mark.parametrize("until", [6, 100])
def test_the_list_says_the_same_without_summaries(home: Callable[..., Home], tmp_path: Path, until: int) -> None:
    """As it was left by an older program: the channels themselves are read."""
    alice = home(until, count=2)
    quick = [alice("list", "--all").out, json.loads(alice("list", "--all", "--json").out)]
    with closing(sqlite3.connect(tmp_path / "0.journal")) as journal, journal:
        assert journal.execute("SELECT count(summary) FROM channels").fetchone() == (2,)
        journal.execute("UPDATE channels SET summary = NULL")
    assert [alice("list", "--all").out, json.loads(alice("list", "--all", "--json").out)] == quick
    assert [each["result"] is None for each in quick[1]["channels"]] == [until == 6] * 2


def test_a_list_decodes_no_channel(home: Callable[..., Home], tmp_path: Path) -> None:
    home()
    with open_journal(str(tmp_path / "0.journal"), owner=b"o" * 16) as journal:
        (stored,) = journal.summaries()
    assert read_listed_channel(stored, [TIC_TAC_TOE]) is not None


def test_a_channel_is_shown_with_its_board_and_its_chain(home: Callable[..., Home]) -> None:
    alice = home()
    short = alice.ids[0].hex()[:6]
    said = alice("show", short)
    assert said.code == 0
    for words in (
        "Tic-tac-toe, as the journal has it",
        "participant 0",
        "board",
        "has signed",
        "phase           playing",
    ):
        assert words in said.out
    beside = alice("show", short, "--chain", alice.house.chain.endpoint)
    assert "On the chain, at block" in beside.out
    values = json.loads(alice("show", short, "--json").out)
    assert (values["newest"]["state"]["turnNum"], values["result"]) == (6, None)


def test_the_history_has_states_logs_and_faults(home: Callable[..., Home]) -> None:
    alice = home()
    said = alice("history", alice.ids[0].hex()[:8], "--chain", alice.house.chain.endpoint)
    assert said.code == 0
    assert said.out.partition("On the chain")[2].count("Deposited") == 2
    assert "turn     6" in said.out
    found = json.loads(alice("history", alice.ids[0].hex(), "--json").out)
    assert [each["turnNum"] for each in found["states"]] == [4, 5, 6]
    assert found["logs"] is None


def test_the_history_says_all_that_has_happened_without_a_chain(home: Callable[..., Home]) -> None:
    alice = home()
    found = json.loads(alice("history", alice.ids[0].hex(), "--json").out)["history"]
    states = [(each["kind"], each["turnNum"]) for each in found if each["kind"].startswith("State")]
    assert states == [("StateSigned" if turn % 2 == 0 else "StateAccepted", turn) for turn in range(7)]
    logs = [(each["log"], each["isReorged"]) for each in found if each["kind"] == "LogIncluded"]
    assert logs == [("Deposited", False), ("Deposited", False)]
    deposit = [each for each in found if each.get("operation") == "deposit"]
    assert [each["kind"] for each in deposit] == ["TxRequested", "TxSent", "TxMined"]
    assert deposit[1]["transactionHash"] == deposit[2]["transactionHash"]
    assert (deposit[1]["nonce"].isdigit(), deposit[1]["replaces"]) == (True, None)


def test_the_history_is_readable_at_80_columns(home: Callable[..., Home]) -> None:
    alice = home()
    said = alice("history", alice.ids[0].hex())
    told = said.out.partition("What has happened\n")[2].partition("\nStates that are kept")[0]
    lines = wrapped(told, 80)
    assert max(map(len, lines)) <= 80
    assert all(line[:4].strip().isdigit() or line.startswith(" " * 12) for line in lines if line)
    for words in ("we signed turn 6: ", "signed turn 5: ", "the channel holds 0.5 ether (block ", "asked for deposit"):
        assert told.count(words) == 1, words


def test_a_damaged_history_says_so_and_the_rest_is_shown(home: Callable[..., Home], tmp_path: Path) -> None:
    alice = home()
    with closing(sqlite3.connect(tmp_path / "0.journal")) as journal, journal:
        journal.execute("UPDATE recent_history SET parts = 7 WHERE number = 1")
    said = alice("history", alice.ids[0].hex())
    assert (said.code, "1 pieces of the history cannot be read" in said.out) == (0, True)
    assert "we signed turn 6: " in said.out


def test_what_is_kept_is_verified_by_itself_and_beside_its_chain(home: Callable[..., Home]) -> None:
    alice = home()
    id_ = alice.ids[0].hex()
    said = alice("verify", id_, "--chain", alice.house.chain.endpoint)
    assert (said.code, said.out.splitlines()[-1]) == (0, "It is sound.")
    for words in ("the signatures of turn 6", "turn 5 obeys the rules", "the contracts are genuine", "all deposits"):
        assert words in said.out
    assert json.loads(alice("verify", id_, "--json").out)["sound"] is True


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("0xzz", "is not a channel's id"),
        ("0x", "is not a channel's id"),
        ("ffffffff", "has no channel"),
        ("12", "Give at least 4 hex digits"),
    ],
)
def test_what_names_no_channel_is_refused(home: Callable[..., Home], typed: str, words: str) -> None:
    said = home()("show", typed)
    assert said.code == 1
    assert words in said.err


def test_a_journal_that_is_not_there_is_not_made(forcemove: Command, tmp_path: Path) -> None:
    said = forcemove("channel", "list", code=1)
    assert "There is no journal at 'forcemove.journal'" in said.err
    assert list(tmp_path.iterdir()) == []


# --------------------------------------------------------------------------------------------------------------- acting


def test_conclude_leaves_a_channel_whose_counterparty_is_gone(home: Callable[..., Home]) -> None:
    """It is Alice's turn: she signs the final state, and the chain decides."""
    alice = home(until=7)
    said = alice.act("challenge", alice.ids[0].hex())
    assert said.code == 1
    assert "Turn 8 is for participant 0" in said.err
    with no_answer_in_time(alice):
        said = alice.act("conclude", alice.ids[0].hex())
    assert (said.code, said.out.splitlines()[0]) == (0, "All is paid out.")
    assert "a challenge was not answered in time" in said.out
    assert "to participant 1, who " in said.out
    assert "gas             0.0" in said.out
    assert alice.held() == 0
    assert "There are no open channels." in alice("list").out
    shown = alice("show", alice.ids[0].hex()).out
    assert "finished" in shown
    assert "to participant 1, who " in shown
    result = json.loads(alice("show", alice.ids[0].hex(), "--json").out)["result"]
    assert sum(int(share["payable"]) for share in result["shares"]) == 2 * DEPOSIT


def test_challenge_starts_the_clock_and_collect_brings_the_money_home(home: Callable[..., Home]) -> None:
    alice = home(until=6)
    id_ = alice.ids[0].hex()
    said = alice.act("challenge", id_)
    assert said.code == 0
    assert "The clock runs until" in said.out
    assert "challenge: in block" in said.err
    waiting = alice.act("collect")
    assert waiting.code == 1
    assert "`collect` again after" in waiting.out
    alice.house.chain.travel_to(alice.house.chain.now() + DURATION + 1)
    said = alice.act("collect")
    assert said.code == 0
    assert "closed; nothing is left on the chain" in said.out
    assert alice.held() == 0


DRAWN_AT_ONCE = """
from functools import partialmethod
from rich.live import Live
Live.start = partialmethod(Live.start, True)
"""
"""A status that is on the screen as soon as it is there, and not a moment later."""


def test_at_a_terminal_each_line_is_one_of_its_own_beside_the_status(home: Callable[..., Home], tmp_path: Path) -> None:
    alice = home(until=6)
    id_, endpoint = alice.ids[0].hex(), alice.house.chain.endpoint
    asked = ("--store", "0.journal", "--chain", endpoint, "--key", "0.key")
    command = (COMMAND, "channel", "collect", id_, *asked)
    seen = Screen(*command, columns=200, folder=tmp_path, before=DRAWN_AT_ONCE).end()
    assert [line for line in seen.lines if line] == [line for line in seen.lines if line.startswith(f"0x{id_[:8]}…")]
    assert seen.code == 1, seen.lines


def test_threat_104_after_a_closed_laptop_commands_tell_what_was_paid(home: Callable[..., Home]) -> None:
    """Bob has settled with the state before Alice's last one. The journal cannot know; with the chain it is told."""
    alice = home(until=6)
    chain, assembly, settled = alice.house.chain, alice.house.assemblies[0], alice.states[1].state
    before = chain.balance(KEYS[0].address)
    alice.challenge_with_an_old_state()
    chain.travel_to(chain.now() + DURATION + 1)
    hash_ = hash_state(alice.ids[0], settled).state
    assembly.adjudicator.send(assembly.adjudicator.transfer(alice.ids[0], ETHER, hash_, settled.outcome), KEYS[1])
    paid = chain.balance(KEYS[0].address) - before
    assert paid == settled.outcome[0].amount < DEPOSIT < alice.states[2].state.outcome[0].amount
    lost = f"closed: you lose {format_amount(DEPOSIT - paid)}; the chain has decided: a challenge was not answered"

    where = ("--chain", chain.endpoint)
    assert f"on the chain: {lost}" in alice("list", *where).out
    assert f"on the chain: {lost}" in alice("show", alice.ids[0].hex(), *where).out
    for asked in (alice("list", "--json", *where), alice("show", alice.ids[0].hex(), "--json", *where)):
        said = json.loads(asked.out)
        (shown,) = said.get("channels", [said])
        assert (shown["phase"], shown["result"]) == ("playing", None)
        assert shown["onChain"]["result"]["shares"][0]["payable"] == str(paid)

    assert alice.act("collect").code == 0
    assert lost in alice("list", "--all").out
    shown = json.loads(alice("show", alice.ids[0].hex(), "--json").out)
    assert (shown["isElsewhere"], shown["onChain"]) == (None, None)
    assert (shown["ours"], shown["result"]["ending"]) == ([], "unanswered")
    assert shown["result"]["shares"][0]["payable"] == str(paid)


def test_threat_46_a_clock_is_answered_through_an_endpoint_that_never_gives_logs(
    home: Callable[..., Home], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a channel that is driven, of which it cannot read everything."""
    alice = home(until=6, count=2)
    chain = connect(alice.house.chain.endpoint)
    ask = chain.rpc.request_some

    def without_logs(requests: Sequence[tuple[str, tuple[Any, ...]]]) -> list[object]:
        (method, _), *_ = requests
        if method == "eth_getLogs":
            return [errors.EndpointFailed(method, "it has none")]
        return ask([*takewhile(lambda each: each[0] != "eth_getLogs", requests)])

    monkeypatch.setattr(chain.rpc, "request_some", without_logs)
    journal = open_journal(str(tmp_path / "0.journal"), owner=b"o" * 16)
    node = Node(journal)
    defence = Defence(journal, node, [chain], [TIC_TAC_TOE], KEYS[0], lambda _: None)
    (driven,) = (each for each in read_channels(journal, [TIC_TAC_TOE])[0] if each.id == alice.ids[1])
    node.add(ChannelSetup(driven.assembly(chain), KEYS[0], Nobody(), lambda _: None))
    alice.challenge_with_an_old_state()

    def is_answered() -> bool:
        defence.step()
        node.poll()
        return not alice.house.assemblies[0].adjudicator.status_of(alice.ids[0], ETHER).finalizes_at

    try:
        wait_until(is_answered)
    finally:
        node.release()
        journal.close()


@pytest.mark.parametrize("method", [(Journal, "commit"), (Outbox, "waiting")])
def test_a_command_goes_on_while_the_journal_cannot_be_written(
    home: Callable[..., Home], monkeypatch: pytest.MonkeyPatch, method: tuple[type, str]
) -> None:
    """Another process writes, or the disk is full: the first time."""
    alice, left = home(until=6), [1]
    before = getattr(*method)

    def fail_first(*arguments: object) -> object:
        if left[0]:
            left[0] -= 1
            raise JournalBusy("here", "another process writes")
        return before(*arguments)

    monkeypatch.setattr(*method, fail_first)
    monkeypatch.setattr(Node, "poll", at_most(300, Node.poll))
    said = alice.act("challenge", alice.ids[0].hex())
    assert (said.code, left) == (0, [0]), said.err
    assert "challenge: in block" in said.err


def test_a_defence_goes_on_where_the_journal_cannot_be_written_at_its_end(
    home: Callable[..., Home], tmp_path: Path
) -> None:
    """It gives the channel back to others as soon as it can be."""
    alice, seconds = home(until=6), [0.0]
    lease, chain = ChannelLease(alice.ids[0]), alice.house.chain
    with (
        open_journal(str(tmp_path / "0.journal"), owner=b"o" * 16) as journal,
        open_journal(str(tmp_path / "0.journal"), owner=b"p" * 16) as other,
    ):
        release, node = journal.leases.release, Node(journal, clock=lambda: seconds[0])
        defence = Defence(journal, node, [chain], [TIC_TAC_TOE], KEYS[0], lambda _: None)

        def fail(names: Iterable[LeaseName]) -> None:
            raise JournalBusy("here", "another process writes")

        def is_over() -> bool:
            defence.step()
            node.poll()
            return not node.channels and not alice.house.assemblies[0].adjudicator.status_of(*of_it).finalizes_at

        of_it = alice.ids[0], ETHER
        journal.leases.release = fail  # type: ignore[method-assign]
        alice.challenge_with_an_old_state()
        wait_until(is_over)
        assert other.leases.take([lease], 60).refused
        journal.leases.release = release  # type: ignore[method-assign]
        seconds[0] += 60
        node.step()
        assert other.leases.take([lease], 60).granted


def test_threat_104_who_stands_by_reads_what_became_of_a_clock_that_another_let_run_out(
    home: Callable[..., Home], tmp_path: Path
) -> None:
    """Another process holds the channel, and does nothing, until all is over."""
    alice = home(until=6)
    chain, assembly, settled = alice.house.chain, alice.house.assemblies[0], alice.states[1].state
    journal = open_journal(str(tmp_path / "0.journal"), owner=b"o" * 16)
    held = open_journal(str(tmp_path / "0.journal"), owner=b"p" * 16)
    assert held.leases.take([ChannelLease(alice.ids[0])], 600).granted
    node = Node(journal)
    defence = Defence(journal, node, [chain], [TIC_TAC_TOE], local_keys()[7], lambda _: None)

    def step_until(is_so: Callable[[], bool]) -> None:
        def step() -> bool:
            defence.step()
            node.poll()
            return is_so()

        wait_until(step)

    alice.challenge_with_an_old_state()
    try:
        step_until(lambda: bool(defence._with_clocks))
        chain.travel_to(chain.now() + DURATION + 1)
        hash_ = hash_state(alice.ids[0], settled).state
        assembly.adjudicator.send(assembly.adjudicator.transfer(alice.ids[0], ETHER, hash_, settled.outcome), KEYS[1])
        ((viewer,),) = defence._viewers.values()
        step_until(lambda: not viewer.statuses[alice.ids[0]])
        held.leases.release([ChannelLease(alice.ids[0])])
        step_until(lambda: not defence._with_clocks)
    finally:
        node.release()
        held.close()
        journal.close()
    assert "closed: you lose 0.1 ether; the chain has decided" in alice("list", "--all").out


def test_before_a_payment_was_seen_none_is_told(home: Callable[..., Home]) -> None:
    """The clock that the journal knows has run out since: an answer may have stopped it."""
    alice = home(until=6)
    assert alice.act("challenge", alice.ids[0].hex()).code == 0
    chain = alice.house.chain
    chain.travel_to(chain.now() + DURATION + 1)
    assert "in challenge, turn 6; it gives us" in alice("list").out
    told = alice("list", "--chain", chain.endpoint).out
    assert "would be paid to you; a clock has run out, and no payment was seen yet" in told


def test_collect_tells_what_could_not_be_paid_and_exits_1(home: Callable[..., Home], tmp_path: Path) -> None:
    """Something at Alice's address refuses ether."""
    alice = home(until=6)
    chain, payer = alice.house.chain, local_keys()[7]
    write_key_file(tmp_path / "payer.key", payer, PASSPHRASE, scrypt_work=2**4)
    assert alice.act("challenge", alice.ids[0].hex()).code == 0
    chain.travel_to(chain.now() + DURATION + 1)
    refusing = deploy_contract(chain, "RevertingRecipient")
    chain.rpc.ask("anvil_setCode", addresses.show_address(KEYS[0].address), "0x" + chain.code(refusing).hex())
    try:
        said = alice.act("collect", "--account", "payer.key")
    finally:
        chain.rpc.ask("anvil_setCode", addresses.show_address(KEYS[0].address), "0x")
    assert said.code == 1
    assert f"0.6 ether are still owed to {addresses.show_address(KEYS[0].address)}: a payment failed." in said.err
    assert "PaymentRefused" in said.err
    said = alice.act("collect")
    assert (said.code, "owed" in said.err) == (0, False)


def test_another_account_than_the_players_sends_and_pays(home: Callable[..., Home], tmp_path: Path) -> None:
    alice = home(until=6)
    chain, payer = alice.house.chain, local_keys()[7]
    write_key_file(tmp_path / "payer.key", payer, PASSPHRASE, scrypt_work=2**4)
    before = chain.balance(KEYS[0].address), chain.balance(payer.address)
    said = alice.act("challenge", alice.ids[0].hex(), "--account", "payer.key")
    assert said.code == 0, said.err
    assert "challenge: in block" in said.err
    assert chain.balance(KEYS[0].address) == before[0]
    assert chain.balance(payer.address) < before[1]


def test_a_challenge_waits_until_the_chain_is_read(home: Callable[..., Home], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first look fails: what comes from the chain first does away with what another process may have asked for."""
    alice = home(until=6)
    looks, look = count(), Follower.look

    def fail_first(follower: Follower, uncertain: Collection[bytes]) -> worker.Look[FollowerLook]:
        if next(looks) == 0:
            raise errors.EndpointFailed("eth_call", "not now")
        return (yield from look(follower, uncertain))

    monkeypatch.setattr(Follower, "look", fail_first)
    monkeypatch.setattr("forcemove.sessions.defence._FIRST_LOOK", -1.0)
    monkeypatch.setattr(Node, "poll", at_most(300, Node.poll))
    said = alice.act("challenge", alice.ids[0].hex())
    assert said.code == 0, said.err
    assert "challenge: in block" in said.err


def test_a_challenge_that_fails_is_told(home: Callable[..., Home], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its transaction would revert: nobody waits for it any more."""
    alice = home(until=6)
    reverting = replace(alice.house.assemblies[0].agreement.fixed_part, challenge_duration=DURATION + 1)
    call = Adjudicator.challenge
    monkeypatch.setattr(Adjudicator, "challenge", lambda it, _, *rest: call(it, reverting, *rest))
    monkeypatch.setattr(Node, "poll", at_most(300, Node.poll))
    said = alice.act("challenge", alice.ids[0].hex())
    assert said.code == 1
    assert "The challenge did not come about" in said.err


def at_most(times: int, poll: Callable[[Node], bool]) -> Callable[[Node], bool]:
    """To poll so often, and then to find that something is waited for in vain."""
    left = iter(range(times))

    def counted(node: Node) -> bool:
        assert next(left, None) is not None, "it waits in vain"
        return poll(node)

    return counted


def test_a_command_waits_for_no_node_that_hangs_before_it_begins() -> None:
    """It did for each channel in turn, twice: a quarter of a minute each, before anything was answered."""
    gate, found = Event(), list[AnotherChain | None]()

    def steps(chain: Chain) -> Steps[None]:
        yield from chain.block_number.steps()

    session: Any = SimpleNamespace(_chains=chains(Endpoint(None, gate), Endpoint(7)))
    stored: Any = SimpleNamespace(elsewhere_steps=steps, elsewhere=lambda chain: ask_now(chain.rpc, steps(chain)))
    thread = Thread(target=lambda: found.append(JournalSession.elsewhere(session, stored)), daemon=True)
    thread.start()
    thread.join(10)
    gate.set()
    assert found == [None]


def test_collect_answers_an_old_state_and_signs_nothing(home: Callable[..., Home]) -> None:
    alice = home(until=7)
    alice.challenge_with_an_old_state()
    said = alice.act("collect")
    assert said.code == 1
    assert "`conclude` leaves it" in said.out
    assembly = alice.house.assemblies[0]
    status = assembly.adjudicator.status_of(alice.ids[0], ETHER)
    assert (status.finalizes_at, status.turn_num_record) == (0, 7)
    assert json.loads(alice("list", "--json").out)["channels"][0]["turnNum"] == 7


def test_threat_57_what_else_the_journal_has_is_defended_though_a_node_is_away(
    home: Callable[..., Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forcemove.follower.cross_check._SILENT", 3.0)
    alice = home(until=6, count=2)
    alice.challenge_with_an_old_state()
    said = alice.act("challenge", alice.ids[1].hex(), "--chain", "http://127.0.0.1:9")
    assert said.code == 0, said.err
    assert "The node at 127.0.0.1:9 does not answer" in said.err
    assert f"besides     0x{alice.ids[0].hex()[:8]}\u2026 respond: in block" in said.err
    statuses = [alice.house.assemblies[0].adjudicator.status_of(id_, ETHER) for id_ in alice.ids]
    assert [status.finalizes_at == 0 for status in statuses] == [True, False]


def test_collect_leaves_what_is_played_and_looks_at_every_channel(home: Callable[..., Home]) -> None:
    alice = home(count=3)
    said = alice.act("collect")
    assert said.code == 1
    assert said.out.count("Its players continue it") == 3
    assert [alice.held(number) for number in range(3)] == [2 * DEPOSIT] * 3


def test_collect_pays_nothing_in(home: Callable[..., Home]) -> None:
    alice = home(payers=0)
    said = alice.act("collect")
    assert (said.code, said.err) == (0, "")
    assert "funding; nothing is left on the chain" in said.out
    assert alice.held() == 0


def test_conclude_of_what_nobody_has_paid_for_pays_nothing_in(home: Callable[..., Home]) -> None:
    alice = home(payers=0)
    with no_answer_in_time(alice):
        said = alice.act("conclude", alice.ids[0].hex())
    assert (said.code, said.out, said.err) == (0, "Nothing is left on the chain.\n", "")
    assert alice.held() == 0


def test_collect_with_another_key_has_nothing_to_do(home: Callable[..., Home]) -> None:
    alice = home()
    said = alice.act("collect", seat=1)
    assert (said.code, said.out) == (0, "No open channel of this key is of this chain.\n")
    said = alice.act("conclude", alice.ids[0].hex(), seat=1)
    assert said.code == 1
    assert "That is not the key that plays this channel." in said.err


def test_conclude_takes_back_a_deposit_that_nobody_followed(home: Callable[..., Home]) -> None:
    alice = home(payers=1)
    assert alice.held() == DEPOSIT
    said = alice.act("challenge", alice.ids[0].hex())
    assert "Play has not begun" in said.err
    with no_answer_in_time(alice):
        said = alice.act("conclude", alice.ids[0].hex())
    assert said.code == 0, said.err
    assert alice.held() == 0


# --------------------------------------------------------------------------------------------------------------- moving


def test_a_move_takes_a_channel_away_and_it_goes_on_elsewhere(home: Callable[..., Home], forcemove: Command) -> None:
    alice = home()
    id_ = alice.ids[0].hex()
    said = alice("export", id_, "--move", "--out", "moved.bin")
    assert said.code == 0, said.err
    assert Path("moved.bin").stat().st_mode & 0o777 == 0o600
    assert "moved" in alice("list", "--all").out
    assert "was moved from this journal" in alice.act("conclude", id_).err
    assert "moved" in alice("export", id_, "--move", "--out", "again.bin").err
    forcemove("channel", "import", "--store", "elsewhere.journal", "moved.bin", code=0)
    with open_journal("elsewhere.journal", owner=os.urandom(16)) as journal:
        assert [each.ownership for each in journal.channels()] == [Ownership.ACTIVE]


def test_a_channel_that_another_process_plays_is_not_moved(home: Callable[..., Home]) -> None:
    alice = home(count=2)
    with open_journal("0.journal", owner=os.urandom(16)) as playing:
        playing.leases.take([ChannelLease(alice.ids[1])], 60.0)
        said = alice("export", "--all", "--move", "--out", "moved.bin")
        assert (said.code, Path("moved.bin").exists()) == (1, False)
        assert f"Another process plays channel 0x{alice.ids[1].hex()}" in said.err
        assert {each.ownership for each in playing.channels()} == {Ownership.ACTIVE}
        assert alice("export", "--all", "--backup", "--out", "backup.bin").code == 0
        assert alice("export", alice.ids[0].hex(), "--move", "--out", "moved.bin").code == 0
        playing.leases.release([ChannelLease(alice.ids[1])])
    assert alice("export", alice.ids[1].hex(), "--move", "--out", "other.bin").code == 0


@pytest.mark.parametrize(("data", "reason"), [(b"", "it is empty"), (b"\x89\xbc junk", "it is something else")])
def test_what_is_no_export_makes_no_journal(forcemove: Command, tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "file").write_bytes(data)
    said = forcemove("channel", "import", "--store", "new.journal", "file")
    assert (said.code, reason in said.err) == (1, True)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_move_that_cannot_be_written_down_takes_nothing_away(home: Callable[..., Home]) -> None:
    alice = home()
    Path("moved.bin.partial").symlink_to("/dev/full")
    said = alice("export", alice.ids[0].hex(), "--move", "--out", "moved.bin")
    assert said.code == 1
    with open_journal("0.journal", owner=os.urandom(16)) as journal:
        assert [each.ownership for each in journal.channels()] == [Ownership.ACTIVE]


def test_an_export_that_was_interrupted_is_found_again(
    home: Callable[..., Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = home()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert alice("export", "--all", "--move", "--out", "moved.bin").code == 130
    said = alice("export", alice.ids[0].hex(), "--move", "--out", "moved.bin")
    assert "What it has written is moved.bin.partial: import that." in said.err
    said = alice.forcemove("channel", "import", "--store", "elsewhere.journal", "moved.bin.partial")
    assert said.code == 0, said.err


def test_a_backup_is_a_copy_that_collects(home: Callable[..., Home], forcemove: Command) -> None:
    alice = home()
    id_ = alice.ids[0].hex()
    assert alice("export", "--all", "--backup", "--out", "backup.bin").code == 0
    said = forcemove("channel", "import", "--store", "copy.journal", "backup.bin")
    assert "a copy" in said.out
    there = ("--store", "copy.journal", "--chain", alice.house.chain.endpoint, "--key", "0.key")
    assert "Nothing is signed in channel" in forcemove("channel", "conclude", id_, *there).err
    assert forcemove("channel", "challenge", id_, *there).code == 0
    alice.house.chain.travel_to(alice.house.chain.now() + DURATION + 1)
    forcemove("channel", "collect", *there, code=0)
    assert alice.held() == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--all", "--out", "x"), "either --move or --backup"),
        (("--all", "--move", "--backup", "--out", "x"), "either --move or --backup"),
        (("--backup", "--out", "x"), "Name channels, or say --all"),
    ],
)
def test_an_export_says_what_it_is(home: Callable[..., Home], options: tuple[str, ...], words: str) -> None:
    said = home()("export", *options)
    assert said.code == 2
    assert words in said.err


def test_what_is_no_export_is_refused_and_changes_nothing(home: Callable[..., Home]) -> None:
    alice = home()
    Path("other.bin").write_bytes(b"something else")
    said = alice("import", "other.bin")
    assert said.code == 1
    assert json.loads(alice("list", "--json").out)["channels"][0]["ownership"] == "active"


def test_the_game_must_be_installed_to_act(home: Callable[..., Home], monkeypatch: pytest.MonkeyPatch) -> None:
    alice = home()
    monkeypatch.setattr("forcemove.cli.channel.stores.usable_games", lambda: (ROCK_PAPER_SCISSORS,))
    said = alice("list")
    assert "TicTacToe" in said.out
    assert "no game that is installed has it.\nInstall" in alice.act("conclude", alice.ids[0].hex()).err


# ------------------------------------------------------------------------------------------------------- another chain


@dataclass
class Anew:
    """A journal of channels whose chain was started anew since: `bare`, with nothing on it, and `deployed`, with the
    same contracts at the same addresses."""

    home: Home
    bare: AnvilChain
    deployed: AnvilChain

    @property
    def chains(self) -> tuple[AnvilChain, AnvilChain]:
        return (self.bare, self.deployed)


@pytest.fixture
def anew(home: Callable[..., Home]) -> Iterator[Anew]:
    alice = home(count=2)
    later = "--timestamp", str(alice.house.chain.now() + 3_600)  # two that begin in one second have the same blocks
    with AnvilChain(*later) as bare, AnvilChain(*later) as deployed:
        Playground.on(deployed)
        for chain in (bare, deployed):
            chain.rpc.ask("anvil_mine", hex(alice.house.chain.block_number()), "0x5")
        yield Anew(alice, bare, deployed)


def test_threat_43_a_chain_that_was_started_anew_is_named_as_such(anew: Anew) -> None:
    """Nothing is signed or sent on it, and the journal stays as it was."""
    id_, before = anew.home.ids[0].hex(), json.loads(anew.home("list", "--json").out)
    for chain in anew.chains:
        where = ("--chain", chain.endpoint)
        for action in ("challenge", "conclude"):
            said = anew.home(action, id_, *where, "--key", "0.key")
            assert said.code == 1
            assert "did not begin on it" in said.err
        for look in ("show", "history", "verify"):
            assert "did not begin on it" in anew.home(look, id_, *where).err
        collected = anew.home("collect", *where, "--key", "0.key")
        assert collected.code == 0
        assert collected.err.count("of another chain with the same id") == 2
        assert chain.nonce_of(KEYS[0].address) == 0
    assert json.loads(anew.home("list", "--json").out) == before


def test_the_list_says_which_channels_are_of_another_chain(anew: Anew) -> None:
    for chain in anew.chains:
        said = anew.home("list", "--chain", chain.endpoint)
        assert said.out.count("of another chain with the same id") == 2
    found = json.loads(anew.home("list", "--json", "--chain", anew.bare.endpoint).out)["channels"]
    assert [each["isElsewhere"] for each in found] == [True, True]
    right = json.loads(anew.home("list", "--json", "--chain", anew.home.house.chain.endpoint).out)["channels"]
    assert [each["isElsewhere"] for each in right] == [False, False]
