"""The playground's chain: in this process, with a clock that goes with ours, blocks that can be undone, gas that can be
dear, and endpoints that can be away. What computes its states is for the subclass.

Anyone who uses the chain does so in one thread, one after the other, and so does what moves its clock:
`Playground.poll` and `buttons.press` are never inside of each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed, Unreachable
from forcemove.chain.rpc import RpcTransport, as_number
from forcemove.game import PlayableApp

_GWEI = 10**9
_USUAL, _DEAR = _GWEI, 1_000 * _GWEI
"""The base fee of a unit of gas, in wei."""


class ArenaChain(Chain, ABC):
    """The chain itself. `is_dear`: whether gas is dear."""

    is_dear = False
    _first = 0
    _can_undo: tuple[object, bool] = (None, False)

    def follow(self, clock: Callable[[], float]) -> None:
        """Begin to go with a clock: seconds that go on steadily."""
        self._clock, self._ahead = clock, self.now() - clock()
        self._waiting: list[bytes] = []

    @abstractmethod
    def deploy(self, games: Iterable[PlayableApp]) -> AddressBook:
        """Bring the adjudicator and the games' contracts to the chain."""

    @abstractmethod
    def endpoint_named(self, name: str) -> ArenaEndpoint:
        """Another way to the chain. `name`: as errors name it."""

    # ------------------------------------------------------------------------------------------------------------ time

    def follow_clock(self) -> None:
        """Let the next block be of the time that it is now."""
        least = self.now() + 1
        self._ahead = max(self._ahead, least - self._clock())  # blocks in one second are a second apart
        self._set_pending(max(int(self._clock() + self._ahead), least), _DEAR if self.is_dear else _USUAL)

    @abstractmethod
    def _set_pending(self, time: int, base_fee: int) -> None:
        """Let the next block be of this time (seconds), and have this base fee (wei)."""

    def skip(self, seconds: int) -> None:
        """Move the chain's clock on by this many seconds, and let it go with ours from there."""
        self._ahead += seconds
        self.follow_clock()

    @property
    @abstractmethod
    def time(self) -> int:
        """The time that the next block has, seconds."""

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
    @abstractmethod
    def head(self) -> bytes:
        """The hash of the newest block, 32 bytes."""

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
        gone = self.block_number() - number + 1
        self._waiting += self._drop_from(number)
        for _ in range(gone):
            self.mine()
        return gone

    @abstractmethod
    def _drop_from(self, number: int) -> Sequence[bytes]:
        """Forget the block of this number and all later ones; the bytes of the transactions that were in them."""

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
        self._make_block()
        self.follow_clock()

    @abstractmethod
    def _make_block(self) -> None:
        """Make an empty block, of the time that was set."""

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


class ArenaEndpoint(Chain):
    """The same chain through an endpoint that can be away. `is_away`: whether it is."""

    def __init__(self, chain: Chain, name: str) -> None:
        """`name`: of the endpoint, as errors name it."""
        self.is_away = False
        super().__init__(_EndpointTransport(self, chain.transport, name), name)


class _EndpointTransport:
    """Asks the chain, unless the endpoint is away."""

    is_here = True

    def __init__(self, endpoint: ArenaEndpoint, transport: RpcTransport, name: str) -> None:
        self._endpoint, self._transport, self._name = endpoint, transport, name

    def exchange(self, method: str, params: Sequence[Any]) -> Any:
        """See `RpcTransport`."""
        if self._endpoint.is_away:
            raise Unreachable(self._name, "it is away")
        return self._transport.exchange(method, params)

    def close(self) -> None:
        """See `RpcTransport`: there is nothing to close."""


def _hex(value: object) -> str:
    return "0x" + value.hex() if isinstance(value, bytes) else str(value)
