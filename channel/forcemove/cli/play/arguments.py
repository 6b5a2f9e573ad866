"""What was typed to a command that plays at tables, as one value, and what it opens."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forcemove.cli.deploy import open_book, require_not_mainnet
from forcemove.cli.endpoints import open_nodes
from forcemove.cli.games import usable_games
from forcemove.cli.key import open_key_file
from forcemove.cli.terminal import waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forcemove.chain.book import AddressBook
    from forcemove.chain.chain import Chain
    from forcemove.cli.terminal import Terminal
    from forcemove.history.tokens import TokenFacts
    from forcemove.sessions.options import Wallet
    from forcemove.sessions.service import TableService
    from forcemove.store.journal import Journal


@dataclass(frozen=True, kw_only=True)
class TableArguments:
    """What was typed, as the options that the commands share name it."""

    relay: str | None
    endpoints: tuple[str, ...]
    key_file: Path
    account_file: Path | None
    wallet_address: bytes | None
    payout: bytes | None
    asset: bytes | None
    own_name: str
    store: str
    book_file: Path | None
    towers: tuple[tuple[str, bytes], ...]
    patience: float
    lease: float
    allow_mainnet: bool
    port: int
    opens: bool

    def require_accounts(self) -> None:
        """Raise `click.UsageError` where two accounts are to pay, or one, or a token, where nothing is paid."""
        named = (self.account_file, self.wallet_address, self.payout)
        if not self.endpoints and any(each is not None for each in named):
            raise click.UsageError(
                "A friendly game pays nothing: leave --account, --wallet and --payout out, or name a --chain."
            )
        if not self.endpoints and self.asset is not None:
            raise click.UsageError("--asset is of a game for a stake: name a node with --chain, too.")
        if self.wallet_address is not None and self.account_file is not None:
            raise click.UsageError("--account and --wallet exclude each other: one of them pays.")

    def open_chains(self) -> tuple[tuple[Chain, ...], AddressBook | None]:
        """The chain through each endpoint, and its address book; none of both for friendly games alone. Raises
        `WrongChain` where the book is of another chain than the nodes."""
        if not self.endpoints:
            return (), None
        from forcemove.chain.book_file import chain_ids_of_books

        chains = open_nodes(self.endpoints, expected=chain_ids_of_books(self.book_file))
        require_not_mainnet(chains[0], self.allow_mainnet)
        return chains, open_book(self.book_file, chains[0])

    def open_token(self, chains: Sequence[Chain]) -> TokenFacts | None:
        """What the token that is played for says of itself; None for ether. Raises as `read_token`."""
        from forcemove.sessions.meetings.tokens import read_token

        if self.asset is None or not any(self.asset):
            return None
        with waiting("Asking what the token says of itself"):
            return read_token(chains, self.asset)

    def open_wallet(self) -> Wallet:
        """The player's keys. The key signs states; the account, or the wallet, pays, else the same key; the one that
        pays is paid, unless the payout is another address."""
        from forcemove.sessions.options import Wallet

        key = open_key_file(self.key_file)
        if self.wallet_address is not None:
            return Wallet(key, self.wallet_address, self.payout or self.wallet_address)
        payer = key if self.account_file is None else open_key_file(self.account_file)
        return Wallet(key, payer, self.payout or payer.address)

    def service(self, journal: Journal, wallet: Wallet, chains: tuple[Chain, ...], terminal: Terminal) -> TableService:
        """The service of this run's tables. Made in the event loop that runs it.

        - `journal`: where channels and meetings are stored.
        - `wallet`: our keys.
        - `chains`: the chain through each endpoint; none for friendly games.
        - `terminal`: where lines are printed.
        """
        from forcemove.cli.terminal import TerminalOutput
        from forcemove.sessions.service import TableService
        from forcemove.watchtower.client import TowerClient

        return TableService(
            journal,
            wallet,
            TerminalOutput(terminal),
            chains=chains,
            games=usable_games(),
            towers=[TowerClient(*each) for each in self.towers],
            lease=self.lease,
        )
