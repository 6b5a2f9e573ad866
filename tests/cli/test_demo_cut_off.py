"""A demonstration on a node that is cut off: it says what is locked where, and the same command brings it home."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.errors import Unreachable
from forcemove.chain.local import connect
from forcemove.protocol.codec.wire import decode_file
from forcemove.protocol.encoding import channel_id, hash_state
from forcemove.protocol.types import ETHER
from tests.cli.nodes import (
    COUNTERPARTY,
    IMPATIENT,
    PAYER,
    QUICK,
    START,
    Demo,
    Node,
    held_at,
    records,
    require_all_home,
    spawn,
    start,
    start_demo,
    unfinished,
    wait_until,
)

HONEST = ("--game", "tic-tac-toe", "--scenario", "honest")
CRASHED = 77
NOTHING_LOST = "nothing of value is lost"

AT_SAVE = """
import os
from forcemove.store.journal import Journal
commit, left = Journal.commit, [{count}]
def crash(self, batch):
    dropped = commit(self, batch)
    left[0] -= 1
    left[0] or os._exit(77)
    return dropped
Journal.commit = crash
"""
"""Ends the process when its journals have been written this many times: what it was about to send is not sent."""

AT_BROADCAST = """
import os
from forcemove.chain.rpc import Rpc
request, left = Rpc.request, [{count}]
def crash(self, method, *params):
    answer = request(self, method, *params)
    left[0] -= method == "eth_sendRawTransaction"
    left[0] or os._exit(77)
    return answer
Rpc.request = crash
"""
"""Ends the process when it has sent this many transactions: what comes of the last one it does not learn."""


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the state of a node that has the contracts, and with their address book."""
    folder = tmp_path_factory.mktemp("deployed")
    node = Node(folder)
    assert start_demo(folder, node, *HONEST, before=QUICK).end() == 0
    node.stop()
    return folder


@pytest.fixture
def node(deployed: Path, tmp_path: Path) -> Iterator[Node]:
    for file in deployed.iterdir():
        shutil.copy(file, tmp_path)
    node = Node(tmp_path)
    node.give(COUNTERPARTY.address, 0)
    yield node
    node.stop()


def held(node: Node, folder: Path) -> int:
    """What the channels hold that are kept."""
    agreements = [channels[0].agreement for channels in unfinished(folder).values()]
    return sum(
        Adjudicator(node.chain, each.domain.adjudicator)
        .holdings_of(each.channel_id, ETHER, each.fixed_part.total)
        .amount
        for each in agreements
    )


def play_again(folder: Path, node: Node, first: Demo, *arguments: str) -> Demo:
    """The same command once more; it must bring everything home and play to the end."""
    again = start_demo(folder, node, *(arguments or HONEST), before=QUICK)
    assert again.end() == 0, again.complained
    assert again.said.count("found, as expected") == 2
    require_all_home(node, first, again)
    return again


# ---------------------------------------------------------------------------------------------- signals and dead nodes


@pytest.mark.parametrize(
    ("by", "moment", "times"),
    [
        pytest.param(signal.SIGINT, "sends the throw-away counterparty", 1, marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, "signs the prefund state", 2, marks=pytest.mark.long),
        (signal.SIGINT, "Alice deposits", 1),
        pytest.param(signal.SIGTERM, "Bob deposits", 1, marks=pytest.mark.long),
        (signal.SIGTERM, "turn    7", 1),
        pytest.param(signal.SIGINT, "turn   1", 1, marks=pytest.mark.long),
        pytest.param(signal.SIGINT, "concludes", 1, marks=pytest.mark.long),
    ],
)
def test_what_is_locked_when_it_is_interrupted_comes_home_with_the_same_command(
    tmp_path: Path, node: Node, by: signal.Signals, moment: str, times: int
) -> None:
    first = start_demo(tmp_path, node, *HONEST, before=held_at(moment, times))
    first.reach(moment, times)
    assert first.end(by=by) == 128 + by
    assert first.complained.startswith("Error: Interrupted.")
    if records(tmp_path) and held(node, tmp_path):
        assert "Locked: at most 0.002 ether" in first.complained
    assert "Run the same command in the same directory" in first.complained

    again = play_again(tmp_path, node, first)

    assert ("Left over from an earlier run" in again.said) == ("What gets it back is in" in first.complained)


def test_it_says_exactly_what_is_locked_where(tmp_path: Path, node: Node) -> None:
    first = start_demo(tmp_path, node, *HONEST, before=held_at("turn    6"))
    first.reach("turn    6")
    first.end(by=signal.SIGINT)
    (id_, (kept, _)), *_ = unfinished(tmp_path).items()
    adjudicator = Adjudicator(node.chain, kept.agreement.domain.adjudicator)

    assert adjudicator.holdings_of(id_, ETHER, 0).amount == 2 * 10**15
    told = first.complained.splitlines()
    assert told[:4] == [
        "Error: Interrupted.",
        "Locked: at most 0.002 ether",
        f"  in channel 0x{id_.hex()}",
        "What gets it back is in alice.journal.",
    ]
    assert all(len(line) <= 80 for line in told)


@pytest.mark.parametrize(
    ("scenario", "moment"),
    [
        pytest.param("honest", "turn    6", marks=pytest.mark.long),
        pytest.param("stale-state", "challenges with an old state", marks=pytest.mark.long),
        ("cheat", "tells only the chain"),
    ],
)
def test_a_node_that_dies_is_told_and_the_money_comes_home_when_it_is_back(
    tmp_path: Path, node: Node, scenario: str, moment: str
) -> None:
    arguments = ("--game", "tic-tac-toe", "--scenario", scenario)
    first = start_demo(tmp_path, node, *arguments, before=held_at(moment))
    first.reach(moment)
    node.stop()
    first.go_on()
    assert first.end() == 1
    assert "Nobody answers at http://127.0.0.1" in first.complained
    assert "Locked: at most 0.002 ether\n  in channel 0x" in first.complained

    while_it_is_gone = start_demo(tmp_path, node, *arguments)
    assert while_it_is_gone.end() == 1
    assert "Nobody answers" in while_it_is_gone.complained
    node.start()

    assert held(node, tmp_path) == 2 * 10**15
    again = play_again(tmp_path, node, first, *arguments)
    assert "The money in channel 0x" in again.said


def test_a_challenge_that_was_running_is_answered_or_waited_for(tmp_path: Path, node: Node) -> None:
    arguments = ("--game", "tic-tac-toe", "--scenario", "stall")
    moment = "challenges: the clock starts"
    first = start_demo(tmp_path, node, *arguments, before=held_at(moment) + IMPATIENT)
    first.reach(moment)
    assert first.end(by=signal.SIGTERM) == 143
    assert "Locked: at most 0.002 ether" in first.complained

    play_again(tmp_path, node, first)


def test_what_is_left_is_gone_on_with_as_any_game_is(tmp_path: Path, node: Node) -> None:
    first = start_demo(tmp_path, node, *HONEST, before=held_at("turn    6"))
    first.reach("turn    6")
    first.end(by=signal.SIGINT)
    ((id_, (kept, _)),) = unfinished(tmp_path).items()
    adjudicator = Adjudicator(node.chain, kept.agreement.domain.adjudicator)

    of_alice = ("--chain", node.endpoint, "--key", "alice.json", "--max-cost", "0.01 ether")
    concluding = start(tmp_path, "channel", "conclude", id_.hex(), *of_alice)
    wait_until(lambda: adjudicator.status_of(id_, ETHER).finalizes_at != 0)
    node.chain.rpc.ask("evm_increaseTime", 61)
    node.chain.rpc.ask("evm_mine")
    assert concluding.end() == 0, concluding.complained

    assert "All is paid out." in concluding.said
    play_again(tmp_path, node, first)


def test_it_is_told_in_json_too(tmp_path: Path, node: Node) -> None:
    first = start_demo(tmp_path, node, *HONEST, "--json", before=AT_SAVE.format(count=20).replace("os._exit(77)", END))
    assert first.end() == 130

    content = json.loads(first.said)
    error = content["error"]
    assert (error["type"], error["details"]["cause"]) == ("CutOff", "Stopped")
    (id_,) = unfinished(tmp_path)
    assert error["details"]["channels"] == ["0x" + id_.hex()]
    assert content["scenarios"] == []
    assert [each["operation"] for each in content["otherTransactions"]][:2] == ["fund", "deposit"]
    play_again(tmp_path, node, first)


END = "os.kill(os.getpid(), 2)"


def test_a_reader_who_leaves_cuts_nothing_off(tmp_path: Path, node: Node) -> None:
    demo = start_demo(tmp_path, node, *HONEST, before=READ_TWENTY_LINES)
    assert demo.end() == 1
    assert demo.complained == ""

    require_all_home(node, demo)


READ_TWENTY_LINES = """
import os, subprocess, sys
reader = subprocess.Popen(["head", "-n", "20"], stdin=subprocess.PIPE)
os.dup2(reader.stdin.fileno(), 1)
reader.stdin.close()
"""


# ------------------------------------------------------------------------------------------------------------- crashes


def signed_states(folder: Path) -> dict[tuple[bytes, int], bytes]:
    """Of every saved state of a turn, by its channel, the hash."""
    found = {}
    for path in folder.iterdir():
        file = decode_file(path.read_text("utf-8"))
        id_ = channel_id(file.fixed_part, file.domain)
        found[id_, file.signed.state.turn_num] = hash_state(id_, file.signed.state).state
    return found


def crash_and_play_again(folder: Path, node: Node, before: str) -> None:
    """A crash, and the same command again: all comes home, and nobody has signed two states for one turn."""
    first = start_demo(folder, node, *HONEST, "--save", "first", before=before)
    assert first.end() == CRASHED, first.complained
    kept = unfinished(folder)
    play_again(folder, node, first, *HONEST, "--save", "again")

    before_, after = signed_states(folder / "first"), signed_states(folder / "again")
    for (id_, turn_num), state_hash in after.items():
        if (id_, turn_num) in before_:
            assert before_[id_, turn_num] == state_hash
        for channel in kept.get(id_, ()):
            if channel.last_signed is not None and channel.last_signed[0] == turn_num:
                assert channel.last_signed[1] == state_hash


@pytest.mark.parametrize("count", [5])
def test_a_crash_before_what_was_written_down_is_sent_loses_nothing(tmp_path: Path, node: Node, count: int) -> None:
    crash_and_play_again(tmp_path, node, AT_SAVE.format(count=count))


@pytest.mark.long
@pytest.mark.parametrize("count", range(1, 25))
def test_a_crash_at_any_write_loses_nothing(tmp_path: Path, node: Node, count: int) -> None:
    crash_and_play_again(tmp_path, node, AT_SAVE.format(count=count))


@pytest.mark.parametrize("count", [2, *(pytest.param(count, marks=pytest.mark.long) for count in (1, 3, 4, 5))])
def test_a_crash_after_any_transaction_was_sent_loses_nothing(tmp_path: Path, node: Node, count: int) -> None:
    crash_and_play_again(tmp_path, node, AT_BROADCAST.format(count=count))


# ---------------------------------------------------------------------------------------------------- chains of our own


@pytest.mark.parametrize("chain", ["eth-tester", "anvil"])
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_on_a_chain_of_its_own_nothing_is_lost(tmp_path: Path, chain: str, by: signal.Signals) -> None:
    demo = spawn(tmp_path, "--chain", chain, before=held_at("turn    6"))
    demo.reach("turn    6")

    assert demo.end(by=by) == 128 + by
    assert demo.complained.startswith("Error: Interrupted.")
    assert NOTHING_LOST in demo.complained
    assert "Locked" not in demo.complained
    assert records(tmp_path) == []


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_an_anvil_of_its_own_goes_with_it(tmp_path: Path, by: signal.Signals) -> None:
    demo = spawn(tmp_path, "--chain", "anvil", before=NAME_THE_ENDPOINT + held_at("turn    6"))
    demo.reach("turn    6")
    endpoint = demo.said.splitlines()[0]
    assert connect(endpoint).block_number() > 0

    demo.end(by=by)

    with pytest.raises(Unreachable):
        connect(endpoint)


NAME_THE_ENDPOINT = """
from forcemove.chain import local
start = local.AnvilChain.__init__
def named(self):
    start(self)
    print(self.endpoint, flush=True)
local.AnvilChain.__init__ = named
"""


# ------------------------------------------------------------------------------------------------------- two at once


def test_two_at_once_do_not_share_a_record(tmp_path: Path, node: Node) -> None:
    first = start_demo(tmp_path, node, *HONEST, before=held_at("turn    4"))
    first.reach("turn    4")
    first.process.send_signal(signal.SIGSTOP)

    second = start_demo(tmp_path, node, *HONEST)
    assert second.end() == 1
    assert "Another process sends the transactions of account" in second.complained
    first.go_on()
    assert first.end(by=signal.SIGCONT) == 0
    require_all_home(node, first)


def test_money_that_lies_with_the_counterparty_alone_is_used_and_returned(tmp_path: Path, node: Node) -> None:
    node.give(COUNTERPARTY.address, 10**18)
    node.give(PAYER.address, START - 10**18)

    demo = start_demo(tmp_path, node, *HONEST, before=QUICK)

    assert demo.end() == 0
    assert "sends the throw-away counterparty ether" not in demo.said
    require_all_home(node, demo)


def test_a_channel_of_a_chain_that_began_anew_waits_for_its_chain(tmp_path: Path, node: Node, deployed: Path) -> None:
    first = start_demo(tmp_path, node, *HONEST, before=held_at("turn    6"))
    first.reach("turn    6")
    first.end(by=signal.SIGINT)
    kept = unfinished(tmp_path).keys()
    node.stop()
    old_chain = (tmp_path / "node.json").rename(tmp_path / "old.json")
    node.start()
    node.give(PAYER.address, START)

    anew = start_demo(tmp_path, node, *HONEST, before=QUICK)
    assert anew.end() == 0, anew.complained
    assert "another chain with the same id, and waits for that chain in" in anew.said
    assert unfinished(tmp_path).keys() == kept

    node.stop()
    old_chain.rename(tmp_path / "node.json")
    node.start()
    play_again(tmp_path, node, first)
