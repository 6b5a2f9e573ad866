"""A channel that a journal has stored, for inspection. Reads no disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.asking import Steps, ask_now
from forcemove.chain.chain import Chain
from forcemove.errors import MalformedBytes, UnknownVersion
from forcemove.follower.errors import AnotherChain
from forcemove.follower.followed_channel import Origin
from forcemove.follower.origins import find_elsewhere
from forcemove.game import Game
from forcemove.history.history import ChannelHistory
from forcemove.history.summary import left_in, ours_in, summarise, unpack_summary
from forcemove.history.tokens import Tokens
from forcemove.inspect.errors import GameMissing
from forcemove.inspect.listed_channel import ListedChannel
from forcemove.node.assemble import Assembly, reassemble
from forcemove.node.metadata import METADATA, ChannelMetadata
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.codec.wire import SignedStateFile
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.results import is_over
from forcemove.protocol.types import SignedState
from forcemove.rounds import words_by_turn
from forcemove.store.errors import JournalDamaged
from forcemove.store.records import Ownership, StoredChannel, StoredSummary

if TYPE_CHECKING:
    from forcemove.store.journal import Journal


@dataclass(frozen=True, slots=True)
class JournalChannel:
    """A channel as it was saved last. `game`: the channel's, None where it is not installed."""

    ownership: Ownership
    channel: Channel
    metadata: ChannelMetadata
    game: Game | None

    @property
    def id(self) -> bytes:
        """The channel's id."""
        return self.channel.agreement.channel_id

    @property
    def is_open(self) -> bool:
        """Whether it is ours to play on. One that not everybody has paid into, and whose outcome is paid as far as that
        goes, is over, though it is never closed."""
        return self.ownership is Ownership.ACTIVE and not is_over(self.channel, 0)

    @property
    def chain_id(self) -> int:
        """The id of the channel's chain; 0 for a friendly game."""
        return self.channel.agreement.domain.chain_id

    @property
    def newest(self) -> SignedState | None:
        """The newest state that is stored."""
        return self.channel.newest.signed if self.channel.newest else None

    @property
    def newest_file(self) -> SignedStateFile | None:
        """The newest state with its channel, for an inspection."""
        agreement, newest = self.channel.agreement, self.newest
        return SignedStateFile(agreement.domain, agreement.fixed_part, newest) if newest else None

    @property
    def tokens(self) -> Tokens:
        """What the channel's tokens said of themselves when it began, as far as that is known."""
        return self.metadata.tokens

    @property
    def title(self) -> str:
        """The game's name for people; its contract's name where the game is not installed."""
        return self.game.title if self.game else self.metadata.app

    @property
    def address(self) -> bytes:
        """Our address in the channel, 20 bytes."""
        return self.channel.agreement.fixed_part.participants[self.channel.index]

    @property
    def counterparties(self) -> tuple[bytes, ...]:
        """The addresses of the counterparties, 20 bytes each."""
        participants = self.channel.agreement.fixed_part.participants
        return tuple(each for index, each in enumerate(participants) if index != self.channel.index)

    @property
    def ours(self) -> tuple[tuple[bytes, int], ...]:
        """What the newest state would pay us, by asset, in its smallest unit; our deposits before there is one."""
        return ours_in(self.channel)

    @property
    def held(self) -> tuple[tuple[bytes, int], ...]:
        """The channel's holdings at the last look at its chain, by asset."""
        return left_in(self.channel)

    def listed(self, now: int) -> ListedChannel:
        """The channel as a list shows it at `now`, Unix seconds."""
        metadata = self.metadata
        summary = summarise(self.channel, metadata.app, metadata.begun_at, 0, now, metadata.tokens, metadata.names)
        return ListedChannel(self.id, self.ownership, summary, self.game)

    @property
    def states(self) -> list[SignedState]:
        """All stored states, oldest first."""
        stored = (*self.channel.superseded_states, *self.channel.signed_states)
        return sorted(stored, key=lambda each: each.state.turn_num)

    def words(self, history: ChannelHistory) -> Callable[[SignedState], str]:
        """Tells what one of its states says, in a few words, by its game. `history`: the channel's, which has the
        states before."""
        states = (*(each.state for each in self.states), *history.states)
        return words_by_turn(self.game, states, self.channel.agreement.count)

    def require_game(self) -> Game:
        """The channel's game. Raises `GameMissing`."""
        if self.game is None:
            raise GameMissing(self.metadata.app)
        return self.game

    def is_of(self, chain_id: int, address: bytes) -> bool:
        """Whether the channel is on this chain, and this address (20 bytes) is ours in it."""
        return self.channel.agreement.domain.chain_id == chain_id and self.address == address

    def elsewhere(self, chain: Chain) -> AnotherChain | None:
        """Why this chain, which has the channel's chain id, is not the one on which the channel began; None where it
        is. Raises `ChainError`."""
        return ask_now(chain.rpc, self.elsewhere_steps(chain))

    def elsewhere_steps(self, chain: Chain) -> Steps[AnotherChain | None]:
        """What `elsewhere` asks."""
        agreement, metadata = self.channel.agreement, self.metadata
        adjudicator = Adjudicator(chain, agreement.domain.adjudicator)
        assets = [asset for asset, _ in agreement.deposits]
        origin = Origin(metadata.from_block, metadata.origin_hash)
        return find_elsewhere(adjudicator, self.id, assets, origin)

    def assembly(self, chain: Chain, others: Sequence[Chain] = ()) -> Assembly:
        """The channel, assembled again to be driven; `others`: the same chain through other endpoints. Asks no chain.
        Raises `GameMissing`."""
        metadata = self.metadata
        return reassemble(
            chain,
            self.channel.agreement,
            self.require_game(),
            factory=metadata.factory,
            from_block=metadata.from_block,
            origin_hash=metadata.origin_hash,
            others=others,
            tokens=metadata.tokens,
        )


def read_journal_channel(stored: StoredChannel, games: Iterable[Game]) -> JournalChannel:
    """The channel that a journal has stored; `games`: those that are installed. Raises `MalformedBytes`,
    `UnknownVersion`."""
    metadata = METADATA.decode(stored.metadata)
    channel = CHANNELS.decode(stored.snapshot)
    return JournalChannel(stored.ownership, channel, metadata, _game_of(metadata.app, games))


def read_listed_channel(stored: StoredSummary, games: Iterable[Game]) -> ListedChannel | None:
    """The channel that a journal lists, without decoding the channel itself; None where that cannot be done: an older
    program has saved it, or a clock runs in it. `games`: those that are installed."""
    if stored.profile is None or stored.summary is None:
        return None
    summary = unpack_summary(stored.profile, stored.summary)
    if summary is None or summary.is_timed:
        return None
    return ListedChannel(stored.channel_id, stored.ownership, summary, _game_of(summary.app, games))


def _game_of(app: str, games: Iterable[Game]) -> Game | None:
    return next((each for each in games if each.artifact.name == app), None)


def read_channels(
    journal: Journal, games: Sequence[Game], *ownerships: Ownership
) -> tuple[list[JournalChannel], list[tuple[bytes, str]]]:
    """The channels of a journal that can be read, and the ids of the others with their errors. Raises `JournalError`.

    - `journal`: where they are stored.
    - `games`: those that are installed.
    - `ownerships`: those that are wanted; all where none is given. A thousand channels take a second.
    """
    good: list[JournalChannel] = []
    damaged: list[tuple[bytes, str]] = []
    for id_ in journal.ids(*ownerships):
        try:
            stored = journal.load(id_)
            if stored is not None:  # it was there a moment ago
                good.append(read_journal_channel(stored, games))
        except (JournalDamaged, MalformedBytes, UnknownVersion) as error:
            damaged.append((id_, str(error)))
    return good, damaged
