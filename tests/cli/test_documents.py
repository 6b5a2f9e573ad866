"""What `--json` prints is what the page of commands declares; every document of every test is compared, see
`command.require_shape`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forcemove.cli.main import forcemove as group
from forcemove.inspect.channel_json import PruneDocument
from scripts.documents import DOCUMENTS, declarations, structs
from tests.cli.command import fits, require_shape
from tests.cli.test_json_errors import with_json

PRUNED: dict[str, Any] = {"channels": ["0x" + "ab" * 32], "entries": 3, "bytes": 4, "deleted": True}


def test_each_command_that_prints_a_document_declares_it() -> None:
    assert {*DOCUMENTS} == {*with_json(group)} - {"deploy", "relay", "watch"}


def test_a_document_of_its_shape_passes() -> None:
    assert fits(PRUNED, PruneDocument)


@pytest.mark.parametrize(
    "change",
    [{"entries": "3"}, {"channels": ["0xAB"]}, {"channels": None}, {"more": 1}, {"deleted": None}],
    ids=str,
)
def test_a_document_of_another_shape_is_found_out(change: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="channel prune"):
        require_shape(("channel", "prune", "--json"), json.dumps(PRUNED | change))


@pytest.mark.parametrize("name", PRUNED)
def test_a_member_that_is_missing_is_found_out(name: str) -> None:
    with pytest.raises(AssertionError, match="channel prune"):
        require_shape(("channel", "prune"), json.dumps({each: PRUNED[each] for each in PRUNED if each != name}))


def test_every_type_that_a_document_names_is_declared_once() -> None:
    declared = [line.split()[1] for line in declarations().splitlines() if line.startswith("interface ")]
    named = {each.__name__.removesuffix("Json") for shape in DOCUMENTS.values() for each in structs(shape)}
    assert len(declared) == len(set(declared))
    assert named <= set(declared)
