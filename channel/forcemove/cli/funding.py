"""Gives an account ether on a development chain, and on no other.

The ether comes from an account that the node holds unlocked, from the first account of anvil's and hardhat's well-known
phrase, or from the node's own method to set a balance.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from forcemove.chain.addresses import show_address
from forcemove.chain.chain import Call, Chain
from forcemove.chain.errors import EndpointFailed
from forcemove.cli.errors import Explained
from forcemove.protocol.signing import Key
from forcemove.text.amounts import format_amount

DEVELOPMENT_IDS = frozenset({1337, 31337})
"""The chain ids of anvil, hardhat, ganache and `geth --dev`. No chain on which ether is worth anything has one of
them."""
_NODES = ("anvil/", "hardhatnetwork/", "ganache/", "ethereumjs testrpc/")
"""How the versions of such nodes begin, in lower case."""
_GETH, _GETH_ID = "geth/", 1337
"""A geth serves any chain: it is one for development with the id that `geth --dev` gives it."""
_WELL_KNOWN = bytes.fromhex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
_SETTERS = ("anvil_setBalance", "hardhat_setBalance", "evm_setAccountBalance")
_GAS_RESERVE = 10**16
"""Wei that stay with an account that sends, for its gas."""


class NotADevelopmentChain(Explained):
    """The chain, or what serves it, is not made for development: `reason`."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"This is not a development chain: {reason}. Nothing was sent.",
            "Chains of anvil, hardhat, ganache and geth --dev have ether to give away. Elsewhere send some yourself.",
            reason=reason,
        )


@dataclass(frozen=True, slots=True)
class Funded:
    """An account had `before`, and has `after`, in wei. `giver`: where the ether came from, for people."""

    before: int
    after: int
    giver: str


def require_development_chain(chain: Chain) -> str:
    """The node's name and version. Both this and the chain's id must be those of a development chain. Raises
    `NotADevelopmentChain`, and `ChainError`."""
    id_ = chain.chain_id
    if id_ not in DEVELOPMENT_IDS:
        allowed = " and ".join(map(str, sorted(DEVELOPMENT_IDS)))
        raise NotADevelopmentChain(f"its id is {id_}, and those for development are {allowed}")
    version = str(chain.rpc.request("web3_clientVersion"))[:80]
    name = version.lower()
    if not name.startswith(_NODES) and not (name.startswith(_GETH) and id_ == _GETH_ID):
        raise NotADevelopmentChain(f"its id is {id_}, but what serves it says that it is {version!r}")
    return version


def fund(chain: Chain, account: bytes, amount: int) -> Funded:
    """Give `account` (20 bytes) `amount` (wei). Raises `NotADevelopmentChain`, `Explained` where no account there has
    so much, and `ChainError`."""
    require_development_chain(chain)
    before = chain.balance(account)
    for give in (_from_an_unlocked_account, _from_the_well_known_account, _by_setting_it):
        giver = give(chain, account, amount)
        if giver:
            return Funded(before, chain.balance(account), giver)
    raise Explained(
        f"No account of this chain has {format_amount(amount, is_needed=True)} to give, and its node sets no balances.",
        "Ask for less with --amount, or start the chain anew.",
    )


def _from_an_unlocked_account(chain: Chain, account: bytes, amount: int) -> str:
    """Send from an unlocked account; who gave, or empty where there is none."""
    unlocked: object = None
    with suppress(EndpointFailed):  # the node does not know the request
        unlocked = chain.rpc.request("eth_accounts")
    for each in unlocked if isinstance(unlocked, list) else ():
        try:
            giver = bytes.fromhex(str(each).removeprefix("0x"))
        except ValueError:
            continue
        if giver == account or len(giver) != len(account) or chain.balance(giver) < amount + _GAS_RESERVE:
            continue
        transfer = {"from": f"0x{giver.hex()}", "to": f"0x{account.hex()}", "value": hex(amount)}
        chain.wait_for(chain.rpc.data("eth_sendTransaction", transfer))
        return f"{show_address(giver)}, which the node holds unlocked"
    return ""


def _from_the_well_known_account(chain: Chain, account: bytes, amount: int) -> str:
    key = Key(_WELL_KNOWN)
    if key.address == account or chain.balance(key.address) < amount + _GAS_RESERVE:
        return ""
    chain.send(Call(account, b"", amount), key)
    return f"{show_address(key.address)}, whose key everybody knows"


def _by_setting_it(chain: Chain, account: bytes, amount: int) -> str:
    wanted = chain.balance(account) + amount
    for method in _SETTERS:
        with suppress(EndpointFailed):  # the node does not know the request
            chain.rpc.request(method, f"0x{account.hex()}", hex(wanted))
        if chain.balance(account) == wanted:
            return f"the node itself ({method})"
    return ""
