"""How a channel is to be driven, as one value. Knows neither journal nor chain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from forcemove.node.assemble import Assembly
from forcemove.node.effect_executor import MoveChooser
from forcemove.node.events import Event
from forcemove.node.friendly import FriendlyAssembly
from forcemove.node.ports import Messenger
from forcemove.protocol.machine.effects import ChooseMove
from forcemove.protocol.signing import Key
from forcemove.store.records import Account
from forcemove.workers.chain_defaults import default_confirmations


def undecided(_: ChooseMove) -> None:
    """The player of a participant whose moves a flow makes, or nobody."""


def _ignore(_: Event) -> None:
    """The `on_event` of an owner who needs no events."""


@dataclass(frozen=True, slots=True)
class ChannelSetup:
    """How a node drives one channel.

    - `assembly`: the channel, with its chain or without one.
    - `key`: of our participant.
    - `messenger`: carries the channel's messages.
    - `choose`: the player.
    - `on_event`: called with each event.
    - `confirmations`: how many blocks a log, or a contract, must be deep to be believed, 1 is the newest block; by the
      chain unless given, see `default_confirmations`.
    - `silence`: seconds to wait for a counterparty's message before we ask whether one was lost.
    - `max_cost`: what the gas of a transaction may cost, in wei, see `tx_request_for`.
    - `signs`: whether anything is signed; a channel that was imported from a backup signs nothing in any case.
    - `payer`: the account that sends the transactions, pays in and pays the gas; that of `key` unless given. It is a
      key, or the address (20 bytes) of a wallet that signs elsewhere, see `Node.wallet_requests`.
    - `block_time`: seconds from block to block, by the chain unless given. For one and a half of them a transaction is
      held back that another participant is about to send; 0 holds nothing back.
    - `names`: what the players are called, by seat, for those who look back at the game; none unless given.
    """

    assembly: Assembly | FriendlyAssembly
    key: Key
    messenger: Messenger
    choose: MoveChooser
    _: KW_ONLY
    on_event: Callable[[Event], None] = _ignore
    confirmations: int | None = None
    silence: float = 5.0
    max_cost: int | None = None
    signs: bool = True
    payer: Key | bytes | None = None
    block_time: float | None = None
    names: tuple[str, ...] = ()

    @property
    def id(self) -> bytes:
        """The channel's id."""
        return self.assembly.agreement.channel_id

    @property
    def sender(self) -> Key | bytes:
        """The key of the account that sends the transactions, or the address of the wallet that does."""
        return self.key if self.payer is None else self.payer

    @property
    def account(self) -> Account | None:
        """The account for which transactions are sent here; None where a wallet sends them, and for a friendly channel,
        which has none."""
        if isinstance(self.assembly, FriendlyAssembly) or isinstance(self.sender, bytes):
            return None
        return Account(self.assembly.agreement.domain.chain_id, self.sender.address)

    @property
    def depth(self) -> int:
        """How many blocks a log must be deep to be believed; 0 for a friendly channel."""
        if isinstance(self.assembly, FriendlyAssembly):
            return 0
        chain_id = self.assembly.agreement.domain.chain_id
        return default_confirmations(chain_id) if self.confirmations is None else self.confirmations
