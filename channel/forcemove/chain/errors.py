"""What can go wrong with a chain or on the way to it. What a contract itself refuses arrives as its own `RuleError`."""

from __future__ import annotations

from forcemove.errors import ChainError, ForcemoveError, PassingError

# ---------------------------------------------------------------------------------------------- the way to the chain


class Unreachable(PassingError):
    """No answer comes from the endpoint (shown without the path, which may hold a secret)."""

    endpoint: str
    reason: str


class TlsFailed(Unreachable):
    """No connection over TLS to the endpoint comes about, or it ends with an error of TLS."""


class NotAnEthereumEndpoint(PassingError):
    """The endpoint does not answer as an Ethereum node does."""

    endpoint: str
    reason: str


class WrongChain(PassingError):
    """The endpoint is of another chain, for now: its address may lead to the right one again."""

    endpoint: str
    expected: int
    found: int


class EndpointFailed(PassingError):
    """The node refused a request; `reason` is the node's own text."""

    method: str
    reason: str


class EndpointHangs(PassingError):
    """A question has not ended after `seconds`, though each has a time limit. What waits for it is given up, and asked
    again by another thread."""

    endpoint: str
    seconds: float


class NodeBusy(PassingError):
    """The endpoint asks us to wait for `seconds`. It is not asked meanwhile."""

    endpoint: str
    seconds: float


class AnvilMissing(ChainError):
    """No anvil on the PATH nor in `contracts/node_modules`."""

    looked_in: tuple[str, ...]


class AnvilFailed(ChainError):
    """anvil was started and ended, or did not begin to listen."""

    reason: str


class CannotTravel(ChainError):
    """Time of this chain is real, or `to` (a block time) is not after `now`."""

    now: int
    to: int


# -------------------------------------------------------------------------------------------------------- transactions


class InsufficientFunds(ChainError):
    """The account cannot pay for the transaction: its value and the most that its gas may cost."""

    account: bytes
    reason: str


class TransactionRefused(ChainError):
    """The node did not take the transaction; `reason` is the node's own text."""

    transaction_hash: bytes
    reason: str


class NotMined(ChainError):
    """The transaction was taken, but was in no block after `seconds`. It may still be mined; a resend may help."""

    transaction_hash: bytes
    seconds: float


class TransactionReverted(ChainError):
    """The transaction was mined and failed, though its simulation had succeeded: something came before it.

    `reason` is why the same call fails after that block, None where it does not.
    """

    transaction_hash: bytes
    block_number: int
    gas_used: int
    reason: ForcemoveError | None


# ------------------------------------------------------------------------------------- refusals without a typed error


class CallRefused(ChainError):
    """The call failed without revert data: the ABI decoder refused the calldata as malformed, or a contract that was
    called had no gas left or no code at its address."""

    to: bytes


class Panicked(ChainError):
    """Solidity's Panic: `code` 0x01 is a failed assertion, 0x11 an arithmetic overflow, 0x32 an index out of bounds."""

    code: int


class RevertedWithText(ChainError):
    """Solidity's Error(string), as old tokens revert."""

    reason: str


class UnknownRevert(ChainError):
    """Revert data that no error table at hand explains: a contract that is not ours."""

    data: bytes


# ---------------------------------------------------------------------------------------------------------- deployments


class NoContract(ChainError):
    """There is no code at the address."""

    contract: str
    address: bytes


class NoTransientStorage(ChainError):
    """The chain has no transient storage (EIP-1153), which came with Cancun and without which none of our contracts can
    pay: what is paid in would stay locked."""

    endpoint: str


class NotGenuine(ChainError):
    """The address is not the one that follows from the contract's creation code, which is `expected`; 20 bytes each."""

    contract: str
    address: bytes
    expected: bytes


class NotConfirmed(PassingError):
    """The contract is at the address, but less than `confirmations` blocks deep."""

    contract: str
    address: bytes
    confirmations: int
