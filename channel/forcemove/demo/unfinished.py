"""What a demonstration that was cut off has left: its players' journals, one for each as if each were at home, and how
the next run brings the money home."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from os.path import relpath
from pathlib import Path

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.chain import Chain
from forcemove.demo.budget import gas_for_scenarios
from forcemove.demo.environment import DemoEnvironment
from forcemove.demo.errors import AlreadyPlaying, StillWaiting
from forcemove.demo.table import DemoTable
from forcemove.game import Game
from forcemove.inspect.documents import Address, Amount, Document, Hash
from forcemove.inspect.journal_channel import JournalChannel, read_journal_channel
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.machine.inputs import ConcludeWanted
from forcemove.protocol.signing import Key
from forcemove.protocol.types import MAX_PARTICIPANTS
from forcemove.sessions.playing.played_channel import is_unpaid
from forcemove.store.journal import Journal
from forcemove.store.opening import open_journal
from forcemove.store.records import OWNER_LENGTH, Account, Ownership

__all__ = ["LockedJson", "bring_home", "journal_path", "locked_in", "opened_journals", "settle_accounts", "unfinished"]

_LEASE = 60.0
_ENDINGS = ("", "-wal", "-shm")
_WAIT_SECONDS = 120.0
_POLL_SECONDS = 0.25


class LockedJson(Document):
    """What a channel holds at most, as far as its players' journals know."""

    channel_id: Hash
    adjudicator: Address
    asset: Address
    amount: Amount


def journal_path(book: Path, payer: bytes, seat: int) -> Path:
    """The path of a player's journal: in the address book's folder, other ones for each payer."""
    return book.with_name(f"{book.stem}.demo-{payer[:4].hex()}-{seat}.journal")


@contextmanager
def opened_journals(book: Path, account: Account, seats: int) -> Iterator[tuple[Journal, ...]]:
    """The players' journals, by seat: files, which are deleted in the end where no channel in them is open.

    - `book`: the address book, in whose folder they are.
    - `account`: the payer's, which no other demonstration may use meanwhile.
    - `seats`: how many there are at least; there are more where an earlier run has left more.

    Raises `AlreadyPlaying` and `JournalError`.
    """
    paths = [journal_path(book, account.address, seat) for seat in range(MAX_PARTICIPANTS)]
    used = [path for seat, path in enumerate(paths) if seat < seats or path.exists()]
    with ExitStack() as stack:
        owners = [secrets.token_bytes(OWNER_LENGTH) for _ in used]
        journals = tuple(
            stack.enter_context(open_journal(str(path), owner=owner)) for path, owner in zip(used, owners, strict=True)
        )
        if journals[0].leases.take([account], _LEASE).refused:
            raise AlreadyPlaying(str(used[0]))
        try:
            yield journals
        finally:
            is_over = not any(journal.channels(Ownership.ACTIVE) for journal in journals)
            for journal in journals:
                journal.leases.release(journal.leases.renew(_LEASE))
            stack.close()
            for path in used if is_over else ():
                for end in _ENDINGS:
                    path.with_name(path.name + end).unlink(missing_ok=True)


def unfinished(journals: Sequence[Journal], games: Sequence[Game]) -> list[list[JournalChannel]]:
    """The channels that are not over, oldest first, each as its players' journals have it. `games`: those that are
    installed. Raises `JournalError`, and the errors of channels that cannot be read."""
    found: dict[bytes, list[JournalChannel]] = {}
    for journal in journals:
        for stored in journal.channels(Ownership.ACTIVE):
            found.setdefault(stored.channel_id, []).append(read_journal_channel(stored, games))
    return sorted(found.values(), key=lambda left: left[0].metadata.from_block)


def locked_in(left: Sequence[Sequence[JournalChannel]]) -> list[LockedJson]:
    """What each of these channels holds at most; those into which nobody has paid are left out."""
    return [_locked(each[0]) for each in left if not all(is_unpaid(kept.channel) for kept in each)]


def _locked(kept: JournalChannel) -> LockedJson:
    agreement = kept.channel.agreement
    ((asset, amounts),) = agreement.deposits
    return LockedJson.of(agreement, agreement.domain, asset=asset, amount=sum(amounts))


# -------------------------------------------------------------------------------------------------------- going home


def settle_accounts(chain: Chain, keys: Sequence[Key]) -> None:
    """Wait until no transaction of the accounts is on its way any more. Raises `StillWaiting`."""
    deadline = time.monotonic() + _WAIT_SECONDS
    for key in keys:
        while chain.nonce_of(key.address, block="pending") > chain.nonce_of(key.address):
            if time.monotonic() > deadline:
                raise StillWaiting(key.address)
            time.sleep(_POLL_SECONDS)


async def bring_home(environment: DemoEnvironment, left: Sequence[Sequence[JournalChannel]]) -> None:
    """Settle the channels of an earlier run, and send the counterparties' balances to the payer. Raises what the chain
    and the clients raise; a channel that is unfinished then stays in the journals."""
    for kept, *_ in left:
        environment.output.title(f"Left over from an earlier run: a channel of {kept.require_game().name}")
        if kept.elsewhere(environment.chain):
            where = relpath(environment.journals[0].where)
            environment.output.say(f"It is of another chain with the same id, and waits for that chain in {where}.")
            continue
        adjudicator = Adjudicator(environment.chain, kept.channel.agreement.domain.adjudicator)
        if _is_anything_held(adjudicator, kept.channel.agreement):
            environment.output.say(f"The money in channel {hex_text(kept.id)} is brought home.")
            _top_up(environment, kept.channel.agreement.count)
            await _conclude(environment, kept)
            environment.output.say("The channel is closed, and all are paid.")
        else:
            environment.output.say("Nothing is locked in it: it is given up.")
        environment.forget(kept.id)
    environment.return_rest()


def _top_up(environment: DemoEnvironment, seats: int) -> None:
    """Give the counterparties more ether, if gas has become dearer. A payer with too little gives none: what they have
    may be enough."""
    gas = gas_for_scenarios(seats) * environment.chain.fees().max_fee_per_gas
    if environment.chain.balance(environment.keys[0].address) > gas:
        environment.fund_counterparties((seats,), in_ether=False)


async def _conclude(environment: DemoEnvironment, kept: JournalChannel) -> None:
    table = DemoTable(environment, kept.require_game(), kept.assembly(environment.chain, environment.others))
    for player in table.players:
        player.managed.feed(ConcludeWanted())
    await table.play(lambda: table.is_paid)


def _is_anything_held(adjudicator: Adjudicator, agreement: Agreement) -> bool:
    keys = [(agreement.channel_id, asset, agreement.fixed_part.total_of(asset)) for asset, _ in agreement.deposits]
    return any(each.amount for each in adjudicator.holdings_of_list(keys))
