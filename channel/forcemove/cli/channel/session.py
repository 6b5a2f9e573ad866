"""A node on a journal for as long as a command takes: it drives the channels that the command names, and prints what
happens.

No counterparty is connected: no message is sent from here, and everything is done on the chain.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forcemove.chain.chain import Chain, poll
from forcemove.chain.errors import Unreachable, WrongChain
from forcemove.cli.channel.stores import open_store, read_all
from forcemove.cli.endpoints import open_nodes
from forcemove.cli.errors import Explained
from forcemove.cli.games import usable_games
from forcemove.cli.key import open_key_file
from forcemove.cli.terminal import Terminal, waiting
from forcemove.errors import ForcemoveError, JournalUnavailable, PassingError
from forcemove.follower.errors import AnotherChain
from forcemove.inspect.journal_channel import JournalChannel
from forcemove.node.errors import ChannelInUse
from forcemove.node.events import Event, Mined, SubmissionRefused
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.node import Node
from forcemove.node.setup import ChannelSetup
from forcemove.protocol.machine.effects import Submission, operation_name
from forcemove.protocol.signing import Key
from forcemove.sender.errors import GasTooDear
from forcemove.sessions.defence import Defence, Nobody
from forcemove.sessions.playing.ends import EndObserver, race_text
from forcemove.store.journal import Journal
from forcemove.text.explanations import headline

_POLL_SECONDS = 0.25


@dataclass(frozen=True)
class SessionOptions:
    """The options of a command on a journal: files and URLs, as they were typed. `max_cost`: see `Node.add`."""

    store: str
    endpoints: tuple[str, ...]
    key_file: Path
    account_file: str | None
    max_cost: int | None


class JournalSession:
    """A node on a journal. `journal`: the one that was named. `chain`: the one that was named, by its first endpoint.
    `seen`: what this session has paid, and has shown of the end of the command's channel. `became`: by request, None
    where it is mined, the error where it failed. `say` and `note`: as of its terminal. All other channels that the
    journal has on the chain are defended meanwhile."""

    def __init__(
        self,
        journal: Journal,
        chains: Sequence[Chain],
        key: Key,
        payer: Key | None,
        max_cost: int | None,
        terminal: Terminal,
    ) -> None:
        """Start the defence of the journal.

        - `journal`: the journal that the command names.
        - `chains`: the chain through each endpoint, at least one.
        - `key`: signs for the channels that the command drives.
        - `payer`: sends the transactions and pays for them; None for `key`.
        - `max_cost`: see `Node.add`.
        - `terminal`: where lines are printed.
        """
        self._payer, self._chains = payer, tuple(chains)
        self.journal, self.chain, self._key = journal, chains[0], key
        self._max_cost, self._terminal = max_cost, terminal
        self.say, self.note = terminal.say, terminal.note
        self._node = Node(journal, on_error=self._on_node_error)
        self._defence = Defence(journal, self._node, chains, usable_games(), payer or key, terminal.note)
        self.seen = EndObserver()
        self.became: dict[Submission, ForcemoveError | None] = {}
        self._fatal_error: ForcemoveError | None = None

    @property
    def account(self) -> bytes:
        """The participant's address, 20 bytes."""
        return self._key.address

    def require_ours(self, stored: JournalChannel) -> None:
        """Refuse a channel of another chain or another key. Raises `WrongChain`, `AnotherChain`, `Explained`,
        `GameMissing`."""
        agreement = stored.channel.agreement
        if agreement.domain.chain_id != self.chain.chain_id:
            raise WrongChain(self.chain.endpoint, agreement.domain.chain_id, self.chain.chain_id)
        if stored.address != self._key.address:
            raise Explained("That is not the key that plays this channel.", "Name its key file with --key.")
        stored.require_game()
        if (elsewhere := self.elsewhere(stored)) is not None:
            raise elsewhere

    def elsewhere(self, stored: JournalChannel) -> AnotherChain | None:
        """Why none of the endpoints is of the chain on which the channel began, though it has its chain id; None where
        one is. All are asked at once. Raises the first one's error where none answers."""
        found, failed = poll(self._chains, stored.elsewhere_steps, lambda each: each is None)
        if not found:
            raise next(iter(failed.values()), Unreachable(self.chain.endpoint, "it did not answer in time"))
        return None if None in found.values() else next(iter(found.values()))

    def drive(self, stored: JournalChannel, *, signs: bool = True) -> ManagedChannel:
        """Drive a channel. The lease of another process, which may have died, is waited for once.

        Raises as `require_ours`, and what `Node.add` raises.
        """
        self.require_ours(stored)
        assembly = stored.assembly(self.chain, self._chains[1:])

        def add() -> ManagedChannel:
            return self._node.add(
                ChannelSetup(
                    assembly,
                    self._key,
                    Nobody(),
                    lambda _: None,
                    on_event=self._report,
                    confirmations=stored.metadata.confirmations,
                    max_cost=self._max_cost,
                    signs=signs,
                    payer=self._payer,
                )
            )

        try:
            return add()
        except ChannelInUse as error:
            self._wait_for(error)
            return add()

    def _wait_for(self, refused: ChannelInUse) -> None:
        """Wait until the lease would end if its holder were dead; a living holder renews it, and keeps it."""
        self._terminal.note("Another process has the channel, or had it when it died. It is free in a minute then.")
        while (left := refused.until - time.time()) > 0:
            self._terminal.status(f"Waiting whether it is given back: {left:.0f} more seconds")
            time.sleep(min(left, 1.0))

    def run(self, is_done: Callable[[], bool], status: Callable[[], str]) -> None:
        """Poll until `is_done` holds, which is asked whenever no transaction is on its way. Raises errors that do not
        pass."""
        while True:
            self._defence.step()
            try:
                is_busy = self._node.poll()
                is_quiet = not is_busy and not self._node.is_sending and self._defence.has_looked
            except JournalUnavailable as error:
                self._on_node_error(error)
                is_busy = is_quiet = False
            if self._fatal_error is not None:
                raise self._fatal_error
            if is_quiet and is_done():
                return
            self._terminal.status(status())
            if not is_busy:
                time.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """Give the leases back."""
        self._node.release()

    def _on_node_error(self, error: Exception) -> None:
        if not isinstance(error, ForcemoveError):
            raise error
        if isinstance(error, PassingError | JournalUnavailable | AnotherChain):
            self._terminal.status(f"{headline(error)} Trying again")
        else:
            self._fatal_error = error

    def _report(self, event: Event) -> None:
        match event:
            case Mined(submission, receipt):
                self.seen.add(event)
                self.became[submission] = None
                what = operation_name(submission)
                self._terminal.note(f"{what}: in block {receipt.block_number:,}, {receipt.gas_used:,} gas")
            case SubmissionRefused(submission, error):
                self.seen.add(event)
                self.became[submission] = error
                if isinstance(error, GasTooDear):
                    self._fatal_error = error
                else:
                    self._terminal.note(race_text(event) or headline(error))


@contextmanager
def opened(asked: SessionOptions) -> Iterator[JournalSession]:
    """A session; afterwards others may drive what it has driven."""
    with open_store(asked.store) as journal:
        found, _ = read_all(journal)
        chains = open_nodes(asked.endpoints, expected={each.chain_id for each in found})
        key = open_key_file(asked.key_file)
        payer = None if asked.account_file is None else open_key_file(Path(asked.account_file))
        with waiting("Reading the chain") as terminal:
            session = JournalSession(journal, chains, key, payer, asked.max_cost, terminal)
            try:
                yield session
            finally:
                session.close()
