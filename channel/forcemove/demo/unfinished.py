"""The channels that an interrupted run has left: how they are reported, and how their money is brought home."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.chain.addresses import show_address
from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed
from forcemove.demo.budget import gas_for_scenarios
from forcemove.demo.environment import DemoEnvironment
from forcemove.demo.errors import StillWaiting
from forcemove.demo.journals import Journals, UnfinishedChannel
from forcemove.demo.table import DemoTable
from forcemove.inspect.documents import Address, Amount, Document, Hash
from forcemove.program import program
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.machine.inputs import ConcludeWanted
from forcemove.protocol.signing import Key
from forcemove.protocol.types import ETHER
from forcemove.text.amounts import format_amount

__all__ = ["LockedFunds", "bring_home", "locked_in", "settle_accounts"]

_WAIT_SECONDS = 120.0
_POLL_SECONDS = 0.25


class LockedJson(Document):
    """What a channel holds. `exact`: false where the chain could not be asked, and `amount` is the most that there can
    be."""

    channel_id: Hash
    adjudicator: Address
    asset: Address
    amount: Amount
    exact: bool


@dataclass(frozen=True, slots=True)
class LockedFunds:
    """What a channel holds. `amount`: of `asset`, in its smallest unit; where it is not `exact` the chain could not be
    asked, and the channel holds at most so much."""

    channel_id: bytes
    adjudicator: bytes
    asset: bytes
    amount: int
    exact: bool

    @property
    def shown_amount(self) -> str:
        """The amount for people."""
        amount = format_amount(self.amount) if self.asset == ETHER else f"{self.amount:,} of {show_address(self.asset)}"
        return amount if self.exact else f"at most {amount}"

    @property
    def document(self) -> LockedJson:
        """As `forcemove demo --json` prints it."""
        where = hex_text(self.channel_id), show_address(self.adjudicator), show_address(self.asset)
        return LockedJson(*where, str(self.amount), self.exact)


def locked_in(chain: Chain | None, journals: Journals) -> tuple[LockedFunds, ...]:
    """What the channels that are not over hold, by their chain. Without a chain to ask, the record says how much it can
    be. Raises what the chain raises."""
    found = (_locked(chain, left) for left in journals.channels)
    return tuple(locked for locked in found if locked.amount)


def _locked(chain: Chain | None, left: UnfinishedChannel) -> LockedFunds:
    agreement, (asset, amounts) = left.agreement, left.agreement.deposits[0]
    adjudicator = agreement.domain.adjudicator
    if chain is not None:
        stands = bool(chain.code(adjudicator))
        held = Adjudicator(chain, adjudicator).holdings_of(agreement.channel_id, asset).held if stands else 0
        return LockedFunds(agreement.channel_id, adjudicator, asset, held, True)
    most = sum(amounts) if _may_have_deposits(left) else 0
    return LockedFunds(agreement.channel_id, adjudicator, asset, most, False)


def _may_have_deposits(left: UnfinishedChannel) -> bool:
    """Whether all prefund states were known: before that nobody pays in."""
    return any(kept.channel.next_turn >= left.agreement.count for kept in left.seats.values())


# -------------------------------------------------------------------------------------------------------- going home


def settle_accounts(chain: Chain, keys: Sequence[Key]) -> None:
    """Wait until no transaction of the accounts is on its way any more. Raises `StillWaiting`."""
    deadline = time.monotonic() + _WAIT_SECONDS
    for key in keys:
        while chain.nonce_of(key.address, block="pending") > chain.nonce_of(key.address):
            if time.monotonic() > deadline:
                raise StillWaiting(key.address)
            time.sleep(_POLL_SECONDS)


async def bring_home(environment: DemoEnvironment, journals: Journals) -> None:
    """Settle every channel of an earlier run, and send the counterparties' balances to the payer.

    Raises what the chain and the clients raise; a channel that is unfinished then stays in the journals.
    """
    for left in journals.channels:
        environment.output.title(f"Left over from an earlier run: a channel of {left.first.require_game().name}")
        locked, id_ = _locked(environment.chain, left), left.agreement.channel_id
        if locked.amount:
            environment.output.say(f"{locked.shown_amount} in channel 0x{id_.hex()}: it is brought home.")
            _top_up(environment)
            await _conclude(environment, left)
            environment.output.say("The channel is closed, and all are paid.")
        elif not _is_of(environment.chain, left):
            environment.output.say("It is of another chain with the same id, and is set aside. If that chain lives on:")
            for journal, file in journals.set_aside(id_):
                environment.output.say(f"  {program()} channel import --store {journal} {file}")
            continue
        else:
            environment.output.say("Nothing is locked in it: it is given up.")
        environment.forget(id_)
    environment.return_rest()


def _is_of(chain: Chain, left: UnfinishedChannel) -> bool:
    """Whether the chain has the block at which the channel began. A restarted test chain does not have it, though its
    id and its contracts' addresses may be the same."""
    try:
        return chain.block_hash(left.metadata.from_block) == left.metadata.origin_hash
    except EndpointFailed:
        return False


def _top_up(environment: DemoEnvironment) -> None:
    """Give the counterparties more ether, if gas has become dearer. A payer with too little gives none: what they have
    may be enough."""
    payer, *others = environment.keys
    fee = environment.chain.fees().max_fee_per_gas
    for seat in range(1, 1 + len(others)):
        if environment.chain.balance(payer.address) > 2 * gas_for_scenarios(1) * fee:
            environment.bring_counterparty_to(seat, gas_for_scenarios(1) * fee)


async def _conclude(environment: DemoEnvironment, left: UnfinishedChannel) -> None:
    table = DemoTable(
        environment, left.first.require_game(), left.first.assembly(environment.chain, environment.others)
    )
    for player in table.players:
        player.managed.feed(ConcludeWanted())
    await table.play(lambda: table.is_paid)
