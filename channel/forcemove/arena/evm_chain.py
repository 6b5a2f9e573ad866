"""The playground's chain by the contracts' own code, which a virtual machine in this process runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from forcemove.arena.chain import ArenaChain, ArenaEndpoint
from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Call
from forcemove.chain.local import EmbeddedChain, deploy_locally
from forcemove.game import PlayableApp

_MOST_OFFERED = 10**13
"""What calls that only read offer for a unit of gas, in wei: more than any base fee here."""
_NO_PARENT = bytes(32)


class _AnyFee(EmbeddedChain):
    """Reads whatever gas costs."""

    def _request(self, call: Call, sender: bytes) -> dict[str, str]:
        return super()._request(call, sender) | {"maxFeePerGas": hex(_MOST_OFFERED), "maxPriorityFeePerGas": "0x0"}


class EvmChain(_AnyFee, ArenaChain):
    """An `ArenaChain` with eth-tester inside."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds that go on steadily; the chain's clock goes with them."""
        super().__init__()
        self.follow(clock)
        chain = type(self._inside)
        chain.vm_configuration = tuple((first, _with_any_fee(each)) for first, each in chain.vm_configuration)

    def deploy(self, games: Iterable[PlayableApp]) -> AddressBook:
        """See `ArenaChain`."""
        return deploy_locally(self, games)

    def endpoint_named(self, name: str) -> ArenaEndpoint:
        """See `ArenaChain`."""
        return _EvmEndpoint(self, name)

    @property
    def _inside(self) -> Any:
        """The chain within the tester."""
        return self.tester.backend.chain

    @property
    def time(self) -> int:
        """See `ArenaChain`."""
        return int(self._inside.header.timestamp)

    @property
    def head(self) -> bytes:
        """See `ArenaChain`."""
        return bytes(self._inside.header.parent_hash)

    def _set_pending(self, time: int, base_fee: int) -> None:
        self._inside.header = self._inside.header.copy(timestamp=time, base_fee_per_gas=base_fee)

    def _drop_from(self, number: int) -> Sequence[bytes]:
        chain = self._inside
        headers = (chain.get_canonical_block_header_by_number(each) for each in range(number, self.block_number() + 1))
        gone = [bytes(one.encode()) for each in headers for one in chain.get_block_by_header(each).transactions]
        parent = chain.get_canonical_block_header_by_number(number - 1)
        chain.chaindb._set_as_canonical_chain_head(chain.chaindb.db, parent, _NO_PARENT)
        chain.header = chain.create_header_from_parent(parent)
        return gone

    def _make_block(self) -> None:
        self.tester.backend.mine_blocks()


class _EvmEndpoint(_AnyFee, ArenaEndpoint):
    """An endpoint of an `EvmChain`."""

    def __init__(self, chain: EvmChain, name: str) -> None:
        """`name`: of the endpoint, as errors name it."""
        self.tester, self._lock = chain.tester, chain._lock
        ArenaEndpoint.__init__(self, chain, name)


def _with_any_fee(machine: type) -> type:
    """A virtual machine that does not compare a block's base fee with the block before it: it is set by hand here."""

    def validate_gas(*_: object) -> None:
        """Any base fee is right."""

    return type(machine.__name__, (machine,), {"validate_gas": staticmethod(validate_gas)})
