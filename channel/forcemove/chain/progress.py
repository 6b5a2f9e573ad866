"""What a deployment reports while it goes on, and why it may not go on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from forcemove.errors import LocalError


class DeploymentStage(Enum):
    """The last thing that has happened to a contract of a deployment."""

    KEPT = "already there"
    FOUND = "already there, deployed by somebody"
    SENT = "sent"
    RESUMED = "was sent before"
    DEPLOYED = "deployed"


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a deployment.

    - `contract`: the name of the contract, of the factory, or of the funds for the factory.
    - `stage`: what has happened to it.
    - `address`: 20 bytes.
    - `transaction_hash`: 32 bytes, of the transaction that was sent or is waited for; None for none.
    - `gas_used`: where the contract was deployed in this run.
    - `block_number`: the block of the deployment, if that was found out in this run.
    - `is_certain`: whether it is that very block, or may be an earlier one because the node keeps no old states.
    """

    contract: str
    stage: DeploymentStage
    address: bytes
    transaction_hash: bytes | None = None
    gas_used: int | None = None
    block_number: int | None = None
    is_certain: bool = True


class BookOfOtherContracts(LocalError):
    """The book at `path` is of another version, whose `contract` is at `address`. The book is kept as it is, because
    channels may live there."""

    path: str
    contract: str
    address: bytes


class NotAFactory(LocalError):
    """The book at `path` names a factory at whose address there is other code."""

    path: str
    factory: bytes


class ContractNamedTwice(LocalError):
    """Two different contracts of one name were to be deployed: an address book could not tell them apart."""

    contract: str
