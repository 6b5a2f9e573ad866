"""Two friends with a wheel each, in two empty folders: they type the first page's commands into a shell of 80 columns,
one pastes what the other's screen shows, and the game is played to its payout."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forcemove import local_keys, write_key_file
from forcemove.transport.links import LINK_HEAD, parse_link
from tests.cli.nodes import PASSPHRASE, Node
from tests.cli.screens import Screen, Shown
from tests.packaging.wheel import install_with_ours
from tests.readme.text import sections_with

RELAY, CHAIN = "ws://127.0.0.1:4600", "http://127.0.0.1:8545"
_COLUMNS, _WIDE = 80, 400
_DONE = "and-that-ended-with"
_SEATS = ("relay", "alice", "bob", "carol")
_QUESTION = re.compile(r"\[y/N\]|Passphrase|\?:")
START = 10**18


FRIENDLY, FOR_A_STAKE = "README.md: Play with a friend", "docs/play.md: For a stake"
THREE = "docs/play.md: More than two"


def typed(title: str, program: str = "forcemove") -> list[str]:
    """The commands of a section, each as it is typed."""
    (section,) = [each for each in sections_with("text") if str(each) == title]
    block = section.blocks("text")[0].replace(".venv/bin/forcemove", program)
    return re.sub(r" *\\\n *", " ", block).splitlines()


class Machines:
    """Where each friend has installed the wheel, once for all of these tests."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self._wheel, self._folder = wheel, folder
        self._programs: dict[str, Path] = {}

    def programs(self, name: str) -> Path:
        """The folder of this friend's programs."""
        if name not in self._programs:
            self._programs[name] = install_with_ours(self._wheel, self._folder / name)
        return self._programs[name]


@pytest.fixture(scope="module")
def machines(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Machines:
    return Machines(wheel, tmp_path_factory.mktemp("environments"))


class Friend:
    """At a shell, in an empty folder, with a wheel of their own."""

    def __init__(
        self, machines: Machines, folder: Path, name: str, where: dict[str, str], columns: int = _COLUMNS
    ) -> None:
        self.folder = folder / name
        self.folder.mkdir()
        programs = machines.programs(name)
        pip = f"{sys.executable} -m pip --python {programs / 'python'} install --no-build-isolation"
        self._where = {**where, ".venv/bin/python -m pip install": pip}
        environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(self.folder), "PS1": "$ "}
        bash = ("bash", "--norc", "--noprofile", "--noediting")
        self.screen = Screen(*bash, columns=columns, folder=self.folder, environment=environment)
        self.key = local_keys()[_SEATS.index(name)]
        write_key_file(self.folder / f"{name}.json", self.key, PASSPHRASE, scrypt_work=2**4)
        self.reach, self._runs = self.screen.reach, 0

    def enter(self, text: str) -> None:
        """Type a line of the page."""
        for there, here in self._where.items():
            text = text.replace(there, here)
        self.screen.type(f"{text}\r")

    def run(self, command: str) -> None:
        """Type a command, and wait until it has ended well."""
        self._runs += 1
        self.enter(f"{command}; echo {_DONE[:-5]}'-with'={self._runs}:$?")
        self.reach(f"{_DONE}={self._runs}:0")

    def copied(self, begin: str, waiting: str = "Waiting for somebody to join") -> str:
        """What a mouse takes from the screen: a line of our program, which the terminal shows in several rows where it
        is longer than one."""
        self.reach(waiting)
        rows = self.screen.lines
        at = max(number for number, row in enumerate(rows) if row.startswith(begin))
        end = next(number for number, row in enumerate(rows) if number > at and not row.strip())
        assert all(len(row) == _COLUMNS for row in rows)
        return "".join(rows[at:end]).rstrip()

    def leave(self) -> Shown:
        """The shell's exit code is that of the last command."""
        self.screen.type("exit\r")
        return self.screen.end()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


class Place:
    """Two friends, and where they play."""

    def __init__(self, machines: Machines, folder: Path) -> None:
        self.node = Node(folder)
        where = self.where = {CHAIN: self.node.endpoint, RELAY[5:]: f"127.0.0.1:{free_port()}"}
        self.alice, self.bob = (Friend(machines, folder, name, where) for name in ("alice", "bob"))
        for friend in (self.alice, self.bob):
            self.node.give(friend.key.address, START)
        self._relay = Friend(machines, folder, "relay", where)
        self._relay.enter(typed(FRIENDLY)[0])
        self._relay.reach("The relay listens at")

    def close(self) -> None:
        self._relay.screen.type("\x03")
        self._relay.leave()
        self.node.stop()


@pytest.fixture
def place(machines: Machines, tmp_path: Path) -> Iterator[Place]:
    place = Place(machines, tmp_path)
    try:
        yield place
    finally:
        place.close()


def play(alice: Friend, bob: Friend, *, has_stake: bool = False) -> None:
    """Alice has three in a row, and Bob leaves."""
    for turn, cell in enumerate((0, 3, 1, 4, 2), 4):
        friend = (alice, bob)[turn % 2]
        friend.reach(f"turn {turn - 1:>4}" if turn > 4 else "Your turn to place the first X.")
        friend.reach(f"  {cell}         place an")
        friend.enter(str(cell))
    bob.reach("Host wins the round: three in a row.")
    leave(bob, has_stake=has_stake)


def leave(friend: Friend, *, has_stake: bool) -> None:
    """And say so once more where there is money in it."""
    friend.enter("leave")
    if has_stake:
        friend.reach("no        play on")
        friend.enter("yes")


def questions(shown: Shown) -> list[str]:
    """Lines in which a program has asked something."""
    return [line for line in shown.lines if _QUESTION.search(line)]


@pytest.mark.long
def test_friends_play_for_nothing_with_the_link_as_it_is_printed(place: Place) -> None:
    _, create, join = typed(FRIENDLY)
    alice, bob = place.alice, place.bob
    alice.enter(create)
    link = alice.copied(LINK_HEAD)
    parse_link(link)
    bob.enter(join.replace("LINK", link))
    bob.reach("Join on these terms?")
    bob.enter("y")
    play(alice, bob)
    for friend in (alice, bob):
        friend.reach("both have signed its end")
    ends = [each.leave() for each in (alice, bob)]
    assert [each.code for each in ends] == [0, 0], ends
    assert [len(questions(each)) for each in ends] == [0, 1], [questions(each) for each in ends]


def test_a_newcomer_plays_a_round_with_a_friend_by_five_commands_as_they_are_printed(
    machines: Machines, tmp_path: Path
) -> None:
    """The program is on nobody's PATH: what is printed names it by its path."""
    relay, create, _ = typed(FRIENDLY, program=".venv/bin/forcemove")
    commands, where = list[str](), {RELAY[5:]: f"127.0.0.1:{free_port()}"}
    host, waiter, guest = (Friend(machines, tmp_path, name, where, _WIDE) for name in ("alice", "relay", "bob"))

    def enter(friend: Friend, command: str) -> None:
        commands.append(command)
        friend.enter(command)

    for friend in (host, waiter, guest):
        (friend.folder / f"{friend.folder.name}.json").unlink()
    for friend in (host, waiter):
        (friend.folder / ".venv").symlink_to(machines.programs("alice").parent)
        friend.enter("PATH=/usr/bin:/bin")
    guest.enter("PATH=/usr/bin:/bin")
    enter(host, ".venv/bin/forcemove key new alice.json")
    host.reach("Keep the file and the passphrase")
    enter(waiter, relay)
    waiter.reach("The relay listens at")
    enter(host, create)
    host.reach("Waiting for somebody to join")
    program, shown = host.folder / ".venv/bin/forcemove", "\n".join(map(str.rstrip, host.screen.lines))
    enter(guest, f"{program} key new key.json" if f"`{program} key new key.json` makes one." in shown else "")
    guest.reach("Keep the file and the passphrase")
    enter(guest, next(line for line in shown.splitlines() if line.startswith(f"{program} play tic-tac-toe --join ")))
    guest.reach("Join on these terms?")
    guest.enter("y")
    play(host, guest)
    for friend in (host, guest):
        friend.reach("both have signed its end")
    assert [each.leave().code for each in (host, guest)] == [0, 0]
    waiter.screen.type("\x03")
    waiter.leave()
    assert len(commands) == 5
    assert sorted(each.name for each in guest.folder.iterdir() if each.name[0] != ".") == ["key.journal", "key.json"]


def test_friends_play_for_a_stake_with_the_command_as_it_is_printed(place: Place) -> None:
    fund, deploy, create, copy, fund_too, join = typed(FOR_A_STAKE)
    alice, bob = place.alice, place.bob
    for friend, command in ((alice, fund), (alice, deploy), (bob, copy), (bob, fund_too)):
        friend.run(command)
    before = [place.node.chain.balance(friend.key.address) for friend in (alice, bob)]
    alice.enter(create)
    printed = alice.copied("forcemove play tic-tac-toe --join")
    link = next(word for word in printed.split() if word.startswith(LINK_HEAD))
    assert printed == f"forcemove play tic-tac-toe --join {link} --chain {place.node.endpoint}"
    assert join.replace("LINK", link) == printed.replace(place.node.endpoint, CHAIN).replace(
        link, f"{link} --key bob.json"
    )
    bob.run("export FORCEMOVE_KEY=bob.json")
    bob.enter(printed)
    bob.reach("Join on these terms?")
    bob.enter("y")
    play(alice, bob, has_stake=True)
    alice.reach("You win 0.1 ether")
    bob.reach("You lose 0.1 ether")
    ends = [each.leave() for each in (alice, bob)]
    assert [each.code for each in ends] == [0, 0], ends
    assert [len(questions(each)) for each in ends] == [0, 1], [questions(each) for each in ends]
    won = [place.node.chain.balance(f.key.address) - b for f, b in zip((alice, bob), before, strict=True)]
    assert abs(won[0] - 10**17) < 10**15
    assert abs(won[1] + 10**17) < 10**15
    assert sorted(each for each in os.listdir(bob.folder) if each[0] != ".") == [
        "bob.journal",
        "bob.json",
        "forcemove-31337.json",
    ]


def test_three_friends_play_a_game_of_their_own_for_a_stake(place: Place, machines: Machines, tmp_path: Path) -> None:
    new, install, deploy, create, copy, install_copy, *joins = typed(THREE)
    carol = Friend(machines, tmp_path, "carol", place.where)
    place.node.give(carol.key.address, START)
    alice, guests = place.alice, [place.bob, carol]
    for command in (new, install, deploy):
        alice.run(command)
    before = [place.node.chain.balance(friend.key.address) for friend in (alice, *guests)]
    alice.enter(create)
    link = alice.copied(LINK_HEAD, "1 of 3 are here")
    for guest, join in zip(guests, joins, strict=True):
        guest.run(copy)
        guest.run(install_copy)
        guest.enter(join.replace("LINK", link))
        guest.reach("Join on these terms?")
        guest.enter("y")
        alice.reach(f"is here: {2 + guests.index(guest)} of 3.")
    for turn, (friend, count) in enumerate(zip((alice, *guests, alice), (3, 3, 3, 1), strict=True), 6):
        friend.reach(f"turn {turn - 1:>4}" if turn > 6 else "Your turn to start a round")
        friend.reach(f"  {count}         take")
        friend.enter(str(count))
    for guest in guests:
        guest.reach("Alice wins the round: the heap is empty.")
    leave(place.bob, has_stake=True)
    alice.reach("You win 0.2 ether")
    for guest in guests:
        guest.reach("You lose 0.1 ether")
    ends = [each.leave() for each in (alice, *guests)]
    assert [each.code for each in ends] == [0, 0, 0], ends
    for friend, had, won in zip((alice, *guests), before, (2 * 10**17, -(10**17), -(10**17)), strict=True):
        assert abs(place.node.chain.balance(friend.key.address) - had - won) < 10**15
