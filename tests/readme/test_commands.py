"""The README's shell commands do what they should, one after the other, as a newcomer types them.

Two things differ: `.venv` is the environment of the tests, and the node is an anvil of ours. `scripts/demo` is
`forcemove demo` with the set-up before it, and `scripts/test` is what runs this; set-up is tested with fresh clones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forcemove.channel.chain.addresses import parse_address
from forcemove.channel.chain.chain import Call
from forcemove.channel.chain.local import AnvilChain, local_keys
from forcemove.contracts import artifact_names
from tests.readme.text import ROOT, blocks

COMMANDS = [line for block in blocks("sh") for line in block.splitlines()]
FORCEMOVE = ".venv/bin/forcemove"
NODE = "http://127.0.0.1:8545"
EXPECTED = {"scripts/demo", "scripts/test", "scripts/compile"}


def run(command: str, folder: Path, node: str = NODE) -> str:
    """What a command says; it must succeed."""
    program, *arguments = command.replace(NODE, node).split()
    if program == FORCEMOVE:
        program = str(Path(sys.executable).with_name("forcemove"))
    environment = os.environ | {"FORCEMOVE_PASSPHRASE": "long enough for a test"}
    done = subprocess.run(  # noqa: S603  # what our own page tells people to run
        [program, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def test_every_command_is_one_that_these_tests_know() -> None:
    programs = {command.split()[0] for command in COMMANDS}

    assert programs == EXPECTED | {FORCEMOVE}
    assert all(os.access(ROOT / program, os.X_OK) for program in EXPECTED)


def test_what_needs_no_node_runs(tmp_path: Path) -> None:
    commands = [command for command in COMMANDS if command.startswith(FORCEMOVE) and "alice.json" not in command]
    demo, inspect = (command for command in commands if NODE not in command)

    assert "ended with the balances" in run(demo, tmp_path)
    assert "tic-tac-toe" in run(inspect, tmp_path).lower()


def test_what_needs_a_node_runs_in_its_order(tmp_path: Path, anvil: AnvilChain) -> None:
    key, show, deploy, verify, demo = (command for command in COMMANDS if "alice.json" in command or NODE in command)
    node = anvil.endpoint

    run(key, tmp_path)
    address = parse_address(run(show, tmp_path).split()[0])
    anvil.send(Call(address, b"", 10**18), local_keys()[0])
    deployed = run(deploy, tmp_path, node)
    assert all(name in deployed for name in artifact_names())
    assert "Everything stands as it should." in run(verify, tmp_path, node)
    assert "ended with the balances" in run(demo, tmp_path, node)


@pytest.mark.parametrize("command", ["demo", "deploy", "verify", "key", "inspect"])
def test_every_command_that_is_listed_explains_itself(command: str, tmp_path: Path) -> None:
    assert "Usage: forcemove" in run(f"{FORCEMOVE} {command} --help", tmp_path)
