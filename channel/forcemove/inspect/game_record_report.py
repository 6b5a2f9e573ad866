"""What can be said of a game's record: by itself, and by its chain where one is at hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from forcemove.chain.book import AddressBook
from forcemove.chain.create2 import CUSTOMARY_FACTORY, derived_address
from forcemove.game import Game
from forcemove.inspect.apps import KnownApp, KnownBy, app_in_book
from forcemove.inspect.errors import GameMissing
from forcemove.inspect.game_record import (
    GameRecord,
    GameRecordFile,
    require_unchanged,
    result_in,
    shares_by,
    verify_states,
)
from forcemove.inspect.onchain import ChannelOnChain, ChannelReport
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.machine.results import Ending, Share


class ChainPayment(Enum):
    """Whether the chain has paid what a record tells."""

    PAID = "paid"
    OPEN = "open"
    OTHERWISE = "otherwise"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class GameRecordReport:
    """What can be said of a record in which every state was found good.

    `app`: its game, and how surely it is the players' own. `result`: everybody's shares by a final state that all have
    signed, None where the record has none. `channel`: the channel on its chain, None where no chain was asked.
    """

    record: GameRecord
    agreement: Agreement
    app: KnownApp
    result: tuple[Share, ...] | None
    channel: ChannelReport | None = None

    @property
    def payment(self) -> ChainPayment | None:
        """Whether the chain has paid `result`, or a state of the record that nobody has answered; None where no chain
        was asked."""
        if self.channel is None:
            return None
        on_chain = self.channel.channel
        if not on_chain.closed:
            return ChainPayment.OPEN
        if on_chain.ending is None:
            return ChainPayment.UNKNOWN
        return ChainPayment.PAID if self._paid(on_chain) is not None else ChainPayment.OTHERWISE

    @property
    def shares(self) -> tuple[Share, ...] | None:
        """Everybody's shares: those that the chain has paid where it has, else `result`."""
        return (
            self._paid(self.channel.channel) if self.payment is ChainPayment.PAID and self.channel else None
        ) or self.result

    def _paid(self, on_chain: ChannelOnChain) -> tuple[Share, ...] | None:
        """What was paid, None where it was not by a state of the record."""
        if on_chain.ending is Ending.CONCLUDED:
            return self.result  # all have signed it: a client signs no second end that pays otherwise
        recorded = on_chain.record.recorded
        states = (each.state for each in self.record.states)
        if recorded is None or recorded.state not in states:
            return None
        return shares_by(self.agreement, recorded.state.outcome)


def report_record(file: GameRecordFile, games: Sequence[Game], book: AddressBook | None = None) -> GameRecordReport:
    """Check a record: every state, by the rules of the game that it names, and whatever else is in the file.

    - `file`: the record's.
    - `games`: those that are installed.
    - `book`: the address book of the record's chain, if there is one.

    Raises `GameMissing`, and what `verify_states` and `require_unchanged` raise.
    """
    record = file.record
    app = _app_of(record, games, book)
    agreement = verify_states(record, app.game)
    require_unchanged(file, agreement)
    return GameRecordReport(record, agreement, app, result_in(agreement, record.states))


def _app_of(record: GameRecord, games: Iterable[Game], book: AddressBook | None) -> KnownApp:
    game = next((each for each in games if each.artifact.name == record.contract), None)
    if game is None:
        raise GameMissing(record.contract)
    address = record.fixed_part.app_definition
    if address == derived_address(game.artifact, book.factory if book else CUSTOMARY_FACTORY):
        return KnownApp(game, KnownBy.CODE)
    return app_in_book(address, book, (game,)) or KnownApp(game, KnownBy.BYTES)
