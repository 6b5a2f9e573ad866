"""The playground's chain: in this process, with a clock that goes with ours, blocks that can be undone, gas that can be
dear, and one endpoint that can be away.

Anyone who uses the chain does so in one thread, one after the other, and so does what moves its clock:
`Playground.poll` and `buttons.press` are never inside of each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forcemove.chain.chain import Call, Chain
from forcemove.chain.errors import EndpointFailed, Unreachable
from forcemove.chain.local import EmbeddedChain
from forcemove.chain.rpc import Rpc, as_number

__all__ = ["ArenaEndpoint", "ArenaChain"]

_GWEI = 10**9
_USUAL, _DEAR = _GWEI, 1_000 * _GWEI
"""The base fee of a unit of gas, in wei."""
_MOST_OFFERED = 10**13
"""What calls that only read offer for a unit of gas, in wei: more than any base fee here."""
_NO_PARENT = bytes(32)


class _AnyFee(EmbeddedChain):
    """Reads whatever gas costs."""

    def _request(self, call: Call, sender: bytes) -> dict[str, str]:
        return super()._request(call, sender) | {"maxFeePerGas": hex(_MOST_OFFERED), "maxPriorityFeePerGas": "0x0"}


class ArenaChain(_AnyFee):
    """The chain itself. `is_dear`: whether gas is dear."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds that go on steadily; the chain's clock goes with them."""
        super().__init__()
        self.is_dear = False
        self._clock = clock
        self._ahead = self.now() - clock()
        self._first = 0
        self._waiting: list[bytes] = []
        self._can_undo: tuple[object, bool] = (None, False)
        chain = type(self.tester.backend.chain)
        chain.vm_configuration = tuple((first, _with_any_fee(each)) for first, each in chain.vm_configuration)

    # ------------------------------------------------------------------------------------------------------------ time

    def follow_clock(self) -> None:
        """Let the next block be of the time that it is now."""
        least = self.now() + 1
        self._ahead = max(self._ahead, least - self._clock())  # blocks in one second are a second apart
        self._set_pending(max(int(self._clock() + self._ahead), least))

    def skip(self, seconds: int) -> None:
        """Move the chain's clock on by this many seconds, and let it go with ours from there."""
        self._ahead += seconds
        self.follow_clock()

    @property
    def time(self) -> int:
        """The time that the next block has, seconds."""
        return int(self._pending.timestamp)

    # ------------------------------------------------------------------------------------------------ blocks and gas

    def begin_game(self) -> None:
        """No block up to now is undone any more."""
        self._first = self.block_number()
        self._waiting.clear()

    @property
    def first_block(self) -> int:
        """The first block of the game."""
        return self._first + 1

    @property
    def head(self) -> bytes:
        """The hash of the newest block, 32 bytes."""
        return bytes(self._pending.parent_hash)

    @property
    def can_undo(self) -> bool:
        """Whether a block since the game began has a transaction."""
        key = self.head, self._first
        if self._can_undo[0] != key:
            self._can_undo = key, self._newest_used() is not None
        return self._can_undo[1]

    def undo(self) -> int:
        """Let another chain win, without the newest block that has a transaction and what follows it; returns how many
        blocks are gone. The other chain is as long, and its blocks are empty; what was in the others waits again."""
        number = self._newest_used()
        if number is None:
            return 0
        gone, chain = self.block_number() - number + 1, self.tester.backend.chain
        for each in range(number, number + gone):
            self._waiting += [bytes(one.encode()) for one in self._block(each).transactions]
        parent = chain.get_canonical_block_header_by_number(number - 1)
        chain.chaindb._set_as_canonical_chain_head(chain.chaindb.db, parent, _NO_PARENT)
        chain.header = chain.create_header_from_parent(parent)
        for _ in range(gone):
            self.mine()
        return gone

    def take_up(self) -> None:
        """Mine what waits again after `undo`, as miners do who have seen it, unless its sender has used its nonce or
        offers too little for now."""
        waiting, self._waiting = self._waiting, []
        for raw in waiting:
            try:
                self.rpc.request("eth_sendRawTransaction", "0x" + raw.hex())
            except EndpointFailed:
                if self.is_dear:
                    self._waiting.append(raw)

    def _block(self, number: int) -> Any:
        chain = self.tester.backend.chain
        return chain.get_block_by_header(chain.get_canonical_block_header_by_number(number))

    def _newest_used(self) -> int | None:
        numbers = range(self.block_number(), self._first, -1)
        return next((each for each in numbers if self.block(each)["transactions"]), None)

    def set_dear(self, is_dear: bool) -> None:
        """Let gas be dear from the next block on, or as it usually is."""
        self.is_dear = is_dear
        self.mine()
        self.follow_clock()

    def mine(self) -> None:
        """Make an empty block."""
        self.follow_clock()
        self.tester.backend.mine_blocks()
        self.follow_clock()

    def _set_pending(self, time: int) -> None:
        chain = self.tester.backend.chain
        chain.header = chain.header.copy(timestamp=time, base_fee_per_gas=_DEAR if self.is_dear else _USUAL)

    @property
    def _pending(self) -> Any:
        return self.tester.backend.chain.header

    # ------------------------------------------------------------------------------------------------------------ money

    def gas_paid(self, account: bytes) -> int:
        """What the account's (20 bytes) transactions since the game began have cost in gas, in wei."""
        total, sender = 0, "0x" + account.hex()
        for number in range(self._first + 1, self.block_number() + 1):
            for transaction in self.block(number)["transactions"]:
                receipt = self.rpc.request("eth_getTransactionReceipt", _hex(transaction))
                if _hex(receipt["from"]).lower() == sender:
                    total += as_number(receipt["gasUsed"]) * as_number(receipt["effectiveGasPrice"])
        return total


class ArenaEndpoint(_AnyFee):
    """The same chain through an endpoint that can be away. `is_away`: whether it is."""

    def __init__(self, chain: ArenaChain, name: str) -> None:
        """`name`: of the endpoint, as errors name it."""
        self.tester, self._lock, self.is_away = chain.tester, chain._lock, False
        rpc = _EndpointRpc(self, chain, name)
        Chain.__init__(self, chain.transport, name)
        self.rpc = rpc


class _EndpointRpc(Rpc):
    """Asks the chain, unless the endpoint is away."""

    def __init__(self, endpoint: ArenaEndpoint, chain: ArenaChain, name: str) -> None:
        super().__init__(chain.transport, name)
        self._of = endpoint

    def ask(self, method: str, *params: Any) -> Any:
        if self._of.is_away:
            raise Unreachable(self.endpoint, "it is away")
        return super().ask(method, *params)


def _with_any_fee(machine: type) -> type:
    """A virtual machine that does not compare a block's base fee with the block before it: it is set by hand here."""

    def validate_gas(*_: object) -> None:
        """Any base fee is right."""

    return type(machine.__name__, (machine,), {"validate_gas": staticmethod(validate_gas)})


def _hex(value: object) -> str:
    return "0x" + value.hex() if isinstance(value, bytes) else str(value)
