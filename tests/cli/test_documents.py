"""What `--json` prints is what the page of commands declares; every document of every test is compared, see
`command.require_shape`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import to_builtins

from forcemove.cli.main import forcemove as group
from forcemove.inspect.channel_json import PruneDocument
from forcemove.inspect.documents import Address, Amount, Document, Hash
from forcemove.inspect.report_shapes import ShareJson
from forcemove.inspect.states import SignatureVerdict
from forcemove.protocol.machine.results import Share
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


class PaidJson(Document):
    payer: Address
    to: Address | None
    hashes: list[Hash]
    amount: Amount
    verdict: str
    participant: int
    parts: list[ShareJson] | None


def test_values_are_written_as_the_types_of_members_say() -> None:
    share = Share(bytes(20), 1, 5, 6, 7)
    given = {"payer": bytes(20), "to": None, "hashes": (bytes(32),), "amount": 10**18, "parts": [share]}
    part = {"asset": "0x" + "00" * 20, "participant": 1, "deposited": "5", "allocated": "6", "payable": "7"}
    assert to_builtins(PaidJson.of(share, **given, verdict=SignatureVerdict.WRONG)) == {
        "payer": "0x" + "00" * 20,
        "to": None,
        "hashes": ["0x" + "00" * 32],
        "amount": str(10**18),
        "verdict": "wrong",
        "participant": 1,
        "parts": [part],
    }
    with pytest.raises(AttributeError, match="verdict"):
        PaidJson.of(share, **given)
