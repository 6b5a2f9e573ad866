"""A node for demonstrations that are cut off: a real anvil that can be killed and come back with its state; and the
demonstration as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forcemove import ETHER, Adjudicator, Chain, connect, local_keys, write_key_file
from forcemove.chain.anvil import find_anvil
from forcemove.chain.errors import Unreachable
from forcemove.demo.environment import counterparty_key
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.channel import Channel
from forcemove.store.opening import open_journal
from forcemove.store.records import Ownership
from tests.cli import warm

PAYER = local_keys()[0]
COUNTERPARTY = counterparty_key(PAYER)
PASSPHRASE = "long enough for a test"  # noqa: S105  # it opens a key that everybody knows
START = 10 * 10**18
GAS_AT_MOST = 5 * 10**16
"""Wei: more than a deployment and all scenarios use on a local chain."""
DUST = 10**15
QUICK = """
from functools import partialmethod
from forcemove.demo.environment import DemoEnvironment
DemoEnvironment.__init__ = partialmethod(DemoEnvironment.__init__, look_every=0.2)
"""
"""A demonstration that looks at the chain more often than each second."""
IMPATIENT = QUICK + "DemoEnvironment.__init__ = partialmethod(DemoEnvironment.__init__, patience=3.0)"
"""One with players who wait three seconds for each other, not a minute."""
_HELD = (
    QUICK
    + """
import time
from pathlib import Path
from forcemove.cli.terminal import Terminal
say, left = Terminal.say, [{times}]
def hold(self, text, style=""):
    say(self, text, style)
    left[0] -= {moment!r} in text
    while left[0] == 0 and not Path("{go_on}").exists():
        time.sleep(0.01)
Terminal.say = hold
"""
)
_GO_ON = "go-on"
_SECONDS = 60.0
_CHANNEL = re.compile(r"^channel +0x([0-9a-f]{64})$", re.MULTILINE)
_LOCKED = re.compile(r"channel 0x([0-9a-f]{64})")


class Node:
    """An anvil on one port, whose state survives it."""

    def __init__(self, folder: Path, *options: str) -> None:
        """`folder`: where the state is kept; that of a node before it is taken over. `options`: of anvil."""
        self._folder, self._port, self._options = folder, _free_port(), options
        self.endpoint = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes]
        self.start()
        self.give(PAYER.address, START)

    def give(self, account: bytes, balance: int) -> None:
        """Let an account have exactly this much ether."""
        self.chain.rpc.ask("anvil_setBalance", "0x" + account.hex(), hex(balance))

    def start(self) -> None:
        """Begin, or go on where it was stopped."""
        options: tuple[str, ...] = (
            "--port",
            str(self._port),
            "--state",
            str(self._folder / "node.json"),
            "--accounts",
            "1",
        )
        options += self._options
        self._process = subprocess.Popen(  # noqa: S603  # the project's own anvil
            [find_anvil(), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        wait_until(self._answers)

    def _answers(self) -> bool:
        try:
            return self.chain.block_number() >= 0
        except Unreachable:
            return False

    @property
    def chain(self) -> Chain:
        """The chain, over a connection of its own."""
        return connect(self.endpoint)

    def stop(self) -> None:
        """Let it write its state down and end: a request now finds nobody."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(_SECONDS)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(holds: Callable[[], bool]) -> None:
    """Poll a condition; it must come to hold."""
    deadline = time.monotonic() + _SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.01)


@dataclass
class Demo:
    """A command in a process of its own, in a folder, which has the key file."""

    folder: Path
    process: warm.Process
    out: Path
    err: Path

    @property
    def said(self) -> str:
        """Standard output so far."""
        return self.out.read_text("utf-8")

    @property
    def complained(self) -> str:
        """Standard error so far."""
        return self.err.read_text("utf-8")

    def reach(self, text: str, times: int = 1) -> None:
        """Wait until it has said this this many times."""
        wait_until(lambda: self.said.count(text) >= times or self.process.poll() is not None)
        assert self.said.count(text) >= times, self.said + self.complained

    def go_on(self) -> None:
        """See `held_at`."""
        (self.folder / _GO_ON).touch()

    def end(self, *, by: signal.Signals | None = None) -> int:
        """Its exit code, after a signal if there is to be one."""
        if by is not None:
            self.process.send_signal(by)
        code = self.process.wait(_SECONDS)
        assert "Traceback" not in self.complained
        assert "never retrieved" not in self.complained
        assert "never awaited" not in self.complained
        return code


def held_at(moment: str, times: int = 1) -> str:
    """Python for `before`: a demonstration that has said this this many times says and does nothing more until it is
    let go on, or a signal comes."""
    return _HELD.format(moment=moment, times=times, go_on=_GO_ON)


def start_demo(folder: Path, node: Node, *arguments: str, before: str = "") -> Demo:
    """`forcemove demo` with the payer's key on a node. `before`: Python that is run in its process first."""
    key_file = folder / "alice.json"
    if not key_file.exists():
        write_key_file(key_file, PAYER, PASSPHRASE, scrypt_work=2**4)
    return spawn(folder, "--chain", node.endpoint, "--key", "alice.json", *arguments, before=before)


def spawn(folder: Path, *arguments: str, before: str = "") -> Demo:
    """`forcemove demo` with these arguments."""
    return start(folder, "demo", *arguments, before=before)


def start(folder: Path, *arguments: str, before: str = "") -> Demo:
    """`forcemove` with these arguments in a process of its own. `before`: as of `warm.start`."""
    number = len(list(folder.glob("said-*")))
    out, err = folder / f"said-{number}.txt", folder / f"complained-{number}.txt"
    environment = os.environ | {"FORCEMOVE_PASSPHRASE": PASSPHRASE}
    with open(os.devnull) as nothing, out.open("wb") as said, err.open("wb") as complained:
        files = warm.Files(nothing.fileno(), said.fileno(), complained.fileno())
        process = warm.start(arguments, files, folder=folder, environment=environment, before=before)
    return Demo(folder, process, out, err)


def records(folder: Path) -> list[Path]:
    """The journals of the demonstration's players, by seat."""
    return [path for path in (folder / "alice.journal", folder / "alice.journal-1") if path.exists()]


def unfinished(folder: Path) -> dict[bytes, list[Channel]]:
    """What the journals have of channels that are not over, by id."""
    found: dict[bytes, list[Channel]] = {}
    for path in records(folder):
        assert path.stat().st_mode & 0o777 == 0o600
        with open_journal(str(path), owner=os.urandom(16)) as journal:
            for kept in journal.channels(Ownership.ACTIVE):
                found.setdefault(kept.channel_id, []).append(CHANNELS.decode(kept.snapshot))
    return found


def require_all_home(node: Node, *demos: Demo) -> None:
    """Nothing is in any channel that was ever named or kept, nor with the counterparty; the payer has the rest."""
    chain = node.chain
    folder = demos[0].folder
    assert unfinished(folder) == {}
    assert chain.balance(COUNTERPARTY.address) < DUST
    assert START - GAS_AT_MOST < chain.balance(PAYER.address) <= START
    adjudicator = Adjudicator(chain, _adjudicator(folder))
    assert chain.balance(adjudicator.address) == 0
    for demo in demos:
        for id_ in _CHANNEL.findall(demo.said) + _LOCKED.findall(demo.complained):
            assert adjudicator.holdings_of(bytes.fromhex(id_), ETHER, 0).amount == 0


def _adjudicator(folder: Path) -> bytes:
    from forcemove.chain.book_file import load_book

    return load_book(folder / "forcemove-31337.json").adjudicator
