"""The pages' shell commands do what they should, section by section, as a newcomer types them in an empty folder.

Three things differ: `.venv` is the environment of the tests, the node is our anvil, and `scripts/demo` is
`forcemove demo` without the set-up before it; set-up is tested with fresh clones.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from forcemove.chain.local import AnvilChain
from tests.cli import warm
from tests.installed import CONTRACTS
from tests.readme.text import ROOT, Section, sections_with

FORCEMOVE = ".venv/bin/forcemove"
NODE = "http://127.0.0.1:8545"
IN_PLACE_OF = {FORCEMOVE: (), "scripts/demo": ("demo",)}
"""Programs that are `forcemove` here, with its first arguments."""
TESTED_BY = {"scripts/test": "tests/scripts/test_setup.py", "scripts/compile": "tests/contracts/test_artifacts.py"}
"""Programs that do not run again here: the first runs this, the second compiles everything for a minute."""
SAYS = (
    ("demo --game discard-sra", ["every turn was legal"]),
    ("demo", ["ended with the balances that were expected."]),
    ("deploy", list(CONTRACTS)),
    ("verify", list(CONTRACTS)),
    ("inspect", ["Tic-tac-toe"]),
    ("key new", ["alice.json"]),
    ("new", ["Wrote take-five."]),
    ("key show", ["0x"]),
    ("key fund", ["before      0 ether", "now         10 ether"]),
)
"""What is in the answer to a command, by the first of these that is in the command."""


def run(command: str, folder: Path, node: str = NODE) -> str:
    """What a command says; it must succeed."""
    program, *arguments = shlex.split(command.replace(NODE, node))
    environment = os.environ | {"FORCEMOVE_PASSPHRASE": "long enough for a test"}
    done = warm.run([*IN_PLACE_OF[program], *arguments], folder=folder, environment=environment)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def commands(section: Section) -> list[str]:
    """The lines of its shell blocks, but for comments."""
    lines = [line for block in section.blocks("sh") for line in block.splitlines()]
    return [line for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("section", sections_with("sh"), ids=str)
def test_every_command_runs_here_or_in_another_test(section: Section) -> None:
    programs = {command.split()[0] for command in commands(section)}

    assert programs <= IN_PLACE_OF.keys() | TESTED_BY.keys()
    assert all(os.access(ROOT / program, os.X_OK) for program in programs - {FORCEMOVE})
    assert all((ROOT / TESTED_BY[program]).exists() for program in programs & TESTED_BY.keys())


@pytest.mark.parametrize("section", sections_with("sh"), ids=str)
def test_a_sections_commands_run_one_after_the_other(
    section: Section, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    chain: AnvilChain | None = request.getfixturevalue("anvil") if NODE in section.text else None
    for command in commands(section):
        if command.split()[0] in TESTED_BY:
            continue
        said = run(command, tmp_path, chain.endpoint if chain else NODE)
        if chain and "key show" in command and "key fund" not in section.text:  # people are told to send it some ether
            chain.rpc.ask("anvil_setBalance", re.findall(r"0x[0-9a-fA-F]{40}", said)[0], hex(10**18))
        wanted = next(answer for part, answer in SAYS if part in command)
        assert [each for each in wanted if each not in said] == [], said


@pytest.mark.parametrize("command", ["demo", "deploy", "verify", "key", "new", "compile", "inspect"])
def test_every_command_that_is_listed_explains_itself(command: str) -> None:
    installed: list[str | Path] = [Path(sys.executable).with_name("forcemove"), command, "--help"]
    assert "Usage: forcemove" in subprocess.run(installed, capture_output=True, text=True, check=True).stdout  # noqa: S603  # our own program
