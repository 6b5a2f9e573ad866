"""`forcemove watch` as an operator meets it: what keeps it from starting, and what it says."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from forcemove.artifact import ADJUDICATOR
from forcemove.chain import addresses, book_file, local
from forcemove.keys.key_files import UNLOCK_VARIABLE, write_key_file
from tests.cli.command import Command
from tests.scenarios.story import ALICE, Playground
from tests.watchtower.keeper import TOWER
from tests.watchtower.service.process import TowerProcess, running_tower

_FOR = addresses.show_address(ALICE.address)


@pytest.fixture(scope="module")
def playground(anvil: local.AnvilChain) -> Playground:
    return Playground.on(anvil)


@pytest.fixture
def arguments(
    forcemove: Command, playground: Playground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Sequence[str]:
    """What a tower needs, in the current directory."""
    monkeypatch.setenv(UNLOCK_VARIABLE, "of no secret")
    write_key_file(tmp_path / "key.json", TOWER, "of no secret", scrypt_work=2**4)
    book_file.save_book(playground.book, tmp_path / f"forcemove-{playground.chain.chain_id}.json")
    return ("watch", "--chain", playground.chain.endpoint, "--key", "key.json", "--listen", "127.0.0.1:0")


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ("--for", "0x12"),
        ("--for", f"{_FOR}=much"),
        ("--for", _FOR, "--for", f"{_FOR}=1"),
        ("--for", _FOR, "--listen", "here"),
        ("--for", _FOR, "--connections", "0"),
    ],
)
def test_wrong_usage_is_told(forcemove: Command, arguments: Sequence[str], wrong: Sequence[str]) -> None:
    said = forcemove(*arguments, *wrong)
    assert (said.code, said.out) == (2, "")
    assert said.err


def test_it_needs_a_book_of_its_chain(forcemove: Command, arguments: Sequence[str], playground: Playground) -> None:
    said = forcemove(*arguments, "--for", _FOR, "--book", "elsewhere.json")
    assert (said.code, "elsewhere.json" in said.err) == (1, True)
    book_file.save_book(replace(playground.book, chain_id=5), Path("other.json"))
    said = forcemove(*arguments, "--for", _FOR, "--book", "other.json")
    assert (said.code, "not of chain 5" in said.err) == (1, True)


def test_it_watches_no_adjudicator_of_somebody_else(
    forcemove: Command, arguments: Sequence[str], playground: Playground
) -> None:
    book = playground.book
    poisoned = replace(book.contracts[ADJUDICATOR], address=ALICE.address)
    book_file.save_book(replace(book, contracts={**book.contracts, ADJUDICATOR: poisoned}), Path("poisoned.json"))
    with socket.create_server(("127.0.0.1", 0)) as taken:  # one that had begun would not end
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        said = forcemove(*arguments, "--for", _FOR, "--book", "poisoned.json", "--listen", listen)
    assert (said.code, _FOR in said.err) == (1, True)


def test_it_needs_a_game(forcemove: Command, arguments: Sequence[str], playground: Playground) -> None:
    alone = {ADJUDICATOR: playground.book.contracts[ADJUDICATOR]}
    book_file.save_book(replace(playground.book, contracts=alone), Path("alone.json"))
    said = forcemove(*arguments, "--for", _FOR, "--book", "alone.json")
    assert (said.code, "no contract of an installed game" in said.err) == (1, True)


def test_a_port_that_is_taken_is_told(forcemove: Command, arguments: Sequence[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = forcemove(*arguments, "--for", _FOR, "--listen", f"127.0.0.1:{port}")
    assert (said.code, f"Nothing can listen at 127.0.0.1, port {port}" in said.err) == (1, True)


def test_a_node_that_is_down_at_the_start_is_asked_again_even_the_first_one(
    playground: Playground, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        place = free.getsockname()
    with running_tower(tmp_path, playground, "--chain", f"http://127.0.0.1:{place[1]}") as tower:
        assert tower.ready["account"] == addresses.show_address(TOWER.address)
        with socket.create_server(place) as awake:
            awake.settimeout(30)
            awake.accept()[0].close()
        assert tower.stop() == 0
        events = [json.loads(line)["event"] for line in tower.log().splitlines()]
    said = [event for event in events if not event.startswith("trouble")]  # that the same node is away, later or never
    assert said == ["a node does not answer, or is left out", "listening", "stopping"]


def test_people_get_words(playground: Playground, tmp_path: Path) -> None:
    with running_tower(tmp_path, playground) as tower:
        tower.stop()
        command = [each for each in tower.command if each != "--json"]
        with subprocess.Popen(  # noqa: S603  # our own command
            [sys.executable, "-m", "forcemove", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": ":".join(sys.path), UNLOCK_VARIABLE: TowerProcess.passphrase},
        ) as process:
            assert process.stdout is not None
            account = addresses.show_address(TOWER.address)
            assert process.stdout.readline().startswith(f"The watchtower {account} listens at http://127.0.0.1:")
            process.terminate()
            _, said = process.communicate(timeout=30)
    assert process.returncode == 0
    assert [line.split(" ", 2)[2].split(",")[0] for line in said.splitlines()] == ["listening", "stopping"]


def test_an_account_without_ether_is_told(playground: Playground, tmp_path: Path) -> None:
    from forcemove.protocol.signing import Key

    write_key_file(tmp_path / "key.json", Key(b"\x07" * 32), TowerProcess.passphrase, scrypt_work=2**4)
    with running_tower(tmp_path, playground) as tower:
        assert "the tower's account has no ether" in tower.log()
