"""The nodes of a command, as it opens them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forcemove import local_keys, write_key_file
from forcemove.cli.endpoints import endpoint_name, open_nodes
from tests.chain.server import serving
from tests.cli.command import Command
from tests.cli.nodes import PASSPHRASE, Node


def test_a_node_that_is_away_at_the_start_is_told_once_and_waited_for(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.stop()
    told = list[str]()

    def notify(text: str) -> None:
        told.append(text)
        node.start()

    try:
        (chain,) = open_nodes([node.endpoint], notify=notify)
        with chain:
            assert chain.chain_id == 31_337
    finally:
        node.stop()
    (line,) = told
    assert "is out of reach. It is tried again." in line


@pytest.mark.parametrize(
    ("endpoint", "name"),
    [
        ("https://user:word@node.example:8545/v3/secret?key=secret", "node.example:8545"),
        ("https://node.example?key=secret", "node.example"),
        ("https://node.example/p@secret", "node.example"),
        ("https://[::1/secret", "https"),
        ("/tmp/node.ipc", "/tmp/node.ipc"),  # noqa: S108  # a name, not a file
    ],
)
def test_a_node_is_named_without_its_secrets(endpoint: str, name: str) -> None:
    assert endpoint_name(endpoint) == name


@pytest.mark.parametrize(
    "arguments",
    [
        ("deploy", "--key", "key.json"),
        ("demo", "--key", "key.json"),
        ("key", "fund", "key.json"),
        ("inspect", "0x" + "11" * 32),
        ("verify", "--json"),
        ("watch", "--key", "key.json", "--for", "0x" + "11" * 20),
    ],
)
def test_no_command_tells_the_key_that_a_node_repeats(
    forcemove: Command, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """It did in six commands of six."""
    asked = list[bytes]()

    def answer(body: bytes) -> tuple[int, bytes]:
        asked.append(body)
        error = {"code": -32001, "message": "the project secret-key of /secret-key has no access (SECRET%2DKEY)"}
        return 403, json.dumps({"jsonrpc": "2.0", "id": 0, "error": error}).encode()

    write_key_file(Path("key.json"), local_keys()[1], PASSPHRASE, scrypt_work=2**4)
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", PASSPHRASE)
    with serving(answer) as url:
        said = forcemove(*arguments, "--chain", url)
    assert asked, said
    assert said.code != 0
    assert "has no access" in said.out + said.err
    assert "secret-key" not in (said.out + said.err).lower().replace("%2d", "-")
