"""The transports of this library keep what every transport promises."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from forcemove.errors import InvalidValue
from forcemove.flow.transport import MemoryTransport, Transport
from tests.flow.table import NAMES, signed
from tests.flow.transport_contract import TransportContract


class TestMemoryTransport(TransportContract):
    async def table(self, clients: int) -> Sequence[Transport]:
        return [MemoryTransport()] * clients

    def test_there_is_no_message_before_the_first(self) -> None:
        with pytest.raises(InvalidValue):
            MemoryTransport().reader(-1)


class TestSignedTransport(TransportContract):
    async def table(self, clients: int) -> Sequence[Transport]:
        log = MemoryTransport()
        return [signed(log, name) for name in NAMES[:clients]]
