"""What one table of a service has, no other table of it takes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator

import pytest

from forcemove.chain.local import local_keys
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.records import OWNER_LENGTH
from forcemove.tables.options import Wallet
from forcemove.tables.service import TableService
from tests.tables.ports import BotPort

KEY = local_keys()[0]
ID, OTHER = b"\x01" * 32, b"\x02" * 32


@pytest.fixture
def service() -> Iterator[TableService]:
    async def port() -> BotPort:
        return BotPort(0, 1)

    with open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
        yield TableService(journal, Wallet(KEY, KEY, KEY.address), asyncio.run(port()))


def test_what_a_table_has_no_other_takes(service: TableService) -> None:
    one, another = object(), object()
    assert service.claim(ID, one)
    assert service.claim(ID, one)
    assert not service.claim(ID, another)
    assert not service.is_free(ID, another)
    assert service.is_free(ID, one)
    assert service.claim(OTHER, another)


def test_what_a_table_gives_back_another_takes(service: TableService) -> None:
    one, another = object(), object()
    assert service.claim(ID, one)
    assert service.claim(OTHER, another)
    service.give_back(one)
    assert service.claim(ID, another)
    assert not service.claim(OTHER, one)
