"""Journals of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forcemove.store.journal import Journal
from tests.store.places import BOB, ImagePlace, Place, file_in
from tests.store.server import Server


@pytest.fixture(params=["file", "memory", "image", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where a journal can be, whatever it is on."""
    match request.param:
        case "memory":
            return Place(":memory:")
        case "image":
            return ImagePlace()
    return _shared(request, tmp_path)


@pytest.fixture(params=["file", "postgresql"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where several processes can have one journal."""
    return _shared(request, tmp_path)


def _shared(request: pytest.FixtureRequest, folder: Path) -> Place:
    if request.param == "file":
        return file_in(folder)
    server: Server = request.getfixturevalue("server")
    return Place(server.schema(), server)


@pytest.fixture
def journal(place: Place) -> Iterator[Journal]:
    """Alice's, the only one at its place."""
    with place.open() as journal:
        yield journal


@pytest.fixture
def alices(shared: Place) -> Iterator[Journal]:
    """Alice's journal, which Bob has open, too."""
    with shared.open() as journal:
        yield journal


@pytest.fixture
def bobs(shared: Place) -> Iterator[Journal]:
    with shared.open(BOB) as journal:
        yield journal
