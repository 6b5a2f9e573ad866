"""The little of ERC-20 that paying into a channel needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forcemove.chain.asking import Steps, asking
from forcemove.chain.chain import Call, Chain
from forcemove.chain.codec import Function
from forcemove.chain.rpc import Rpc
from forcemove.protocol.hashing import keccak256


def _function(name: str, inputs: tuple[str, ...], output: str) -> Function:
    return Function(name, keccak256(f"{name}({','.join(inputs)})".encode())[:4], inputs, (output,))


_BALANCE_OF = _function("balanceOf", ("address",), "uint256")
_ALLOWANCE = _function("allowance", ("address", "address"), "uint256")
_APPROVE = _function("approve", ("address", "uint256"), "bool")
_DECIMALS = _function("decimals", (), "uint8")
_SYMBOL = _function("symbol", (), "string")


@dataclass(frozen=True, slots=True)
class Token:
    """The ERC-20 at `address` (20 bytes)."""

    chain: Chain
    address: bytes

    @property
    def rpc(self) -> Rpc:
        """What asks the chain."""
        return self.chain.rpc

    @asking
    def balance_of(self, account: bytes) -> Steps[int]:
        """What an account has, in the token's smallest unit."""
        return self._number(_BALANCE_OF, account)

    @asking
    def allowance(self, owner: bytes, spender: bytes) -> Steps[int]:
        """How much of `owner`'s tokens `spender` may still take."""
        return self._number(_ALLOWANCE, owner, spender)

    @asking
    def decimals(self) -> Steps[int]:
        """How many digits of an amount stand after the point, as the token says: 0 to 255."""
        return self._number(_DECIMALS)

    @asking
    def symbol(self) -> Steps[str]:
        """The token's name for itself, as it says: any text that its contract's author has chosen."""
        return str((yield from self._answer(_SYMBOL)))

    def approve(self, spender: bytes, amount: int) -> Call:
        """The call by which its sender lets `spender` take up to `amount`; for `Chain.send`."""
        return Call(self.address, _APPROVE.encode(spender, amount))

    def _number(self, function: Function, *accounts: bytes) -> Steps[int]:
        return int((yield from self._answer(function, *accounts)))

    def _answer(self, function: Function, *accounts: bytes) -> Steps[Any]:
        """The one value that a function returns."""
        data = yield from self.chain.call.steps(Call(self.address, function.encode(*accounts)))
        (value,) = function.decode(data)
        return value
