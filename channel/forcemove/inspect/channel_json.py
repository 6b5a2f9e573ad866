"""The channels of a journal as documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import asdict

from forcemove.chain.adjudicator import PlacedLog
from forcemove.history.history import ChannelHistory
from forcemove.inspect.documents import Address, Amount, AssetAmount, Decimal, Document, Hash, Seconds, amounts
from forcemove.inspect.history_json import AnyEntryJson, StateSummaryJson, history_entries, summaries_of
from forcemove.inspect.journal_channel import JournalChannel
from forcemove.inspect.listed_channel import ListedChannel
from forcemove.inspect.report_json import log_json
from forcemove.inspect.report_shapes import LogJson, ShareJson, SignedStateDocument
from forcemove.inspect.soundness import Finding
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.machine.results import ChannelResult, Ending
from forcemove.store.records import StoredEvidence

# --------------------------------------------------------------------------------------------------------------- parts


class DepositsJson(Document):
    """What the participants pay in, by seat."""

    asset: Address
    amounts: list[Amount]


class ResultJson(Document):
    """How a channel has ended. `ending`: `concluded`, `unanswered`, `unfunded`, `expired` (a clock has run out, and no
    payment was seen) or `unknown` (what was paid is not known: no shares)."""

    ending: str
    shares: list[ShareJson]


class ChannelJson(Document):
    """A channel of a journal. `ours`: what our share is worth, empty when it is over; `held`: what the adjudicator
    holds; `result`: null before it is over; `begunAt`: null where nobody has noted it."""

    channel_id: Hash
    game: str | None
    contract: str | None
    ownership: str
    phase: str
    chain_id: Decimal
    adjudicator: Address
    participant: int
    participants: list[Address]
    turn_num: int | None
    is_our_turn: bool
    finalizes_at: Seconds | None
    deposits: list[DepositsJson]
    ours: list[AssetAmount]
    held: list[AssetAmount]
    result: ResultJson | None
    begun_at: Seconds | None


class ListedChannelJson(ChannelJson):
    """`isElsewhere`: whether the channel is of another chain with the id of the one that was asked, null where no chain
    was asked; `onChain`: the same as the chain has it, null where that was not read."""

    is_elsewhere: bool | None
    on_chain: ChannelJson | None


class DamagedChannelJson(Document):
    """A channel that cannot be read."""

    channel_id: Hash
    problem: str


class EvidenceJson(Document):
    """What a counterparty did wrong."""

    kind: str
    facts: str


class FindingJson(Document):
    """What was checked, and what is wrong with it. `known`: whether it could be checked."""

    what: str
    problem: str | None
    known: bool


# ----------------------------------------------------------------------------------------------------------- documents


class ChannelListDocument(Document):
    """The channels of a journal, and those that cannot be read."""

    channels: list[ListedChannelJson]
    damaged: list[DamagedChannelJson]


class JournalChannelDocument(ListedChannelJson):
    """A channel with its newest state, null where nothing was signed."""

    newest: SignedStateDocument | None


class ChannelHistoryDocument(Document):
    """What has happened in a channel, oldest first. `unreadable`: how many entries cannot be read; `states`: those that
    the journal keeps; `logs`: null where no chain was asked."""

    channel_id: Hash
    history: list[AnyEntryJson]
    unreadable: int
    states: list[StateSummaryJson]
    logs: list[LogJson] | None
    evidence: list[EvidenceJson]


class SoundnessDocument(Document):
    """Whether what is kept of a channel is sound."""

    channel_id: Hash
    sound: bool
    findings: list[FindingJson]


class PruneDocument(Document):
    """What was deleted of channels that are over, or would be: entries of histories and evidence, and their bytes."""

    channels: list[Hash]
    entries: int
    bytes: int
    deleted: bool


def _channel(listed: ListedChannel) -> ChannelJson:
    summary = listed.summary
    return ChannelJson.of(
        summary,
        channel_id=listed.id,
        game=listed.game.name if listed.game else None,
        contract=summary.app,
        ownership=listed.ownership.name.lower(),
        phase=summary.phase.name.lower(),
        participant=summary.index,
        finalizes_at=summary.finalizes_at or None,
        deposits=[DepositsJson.of(asset=asset, amounts=paid) for asset, paid in summary.deposits],
        ours=amounts(summary.ours),
        held=amounts(summary.held),
        result=None if summary.result is None else result_json(summary.result),
        begun_at=summary.begun_at or None,
    )


def listed_json(listed: ListedChannel, on_chain: Mapping[bytes, ListedChannel | None] | None) -> ListedChannelJson:
    """A channel of a list. `on_chain`: by id, the channels as the chain has them, None of those that are of another
    chain; None where no chain was asked."""
    found = None if on_chain is None else on_chain.get(listed.id)
    is_elsewhere = None if on_chain is None else listed.id in on_chain and found is None
    return ListedChannelJson(
        **asdict(_channel(listed)), is_elsewhere=is_elsewhere, on_chain=None if found is None else _channel(found)
    )


def channel_document(listed: ListedChannelJson, newest: SignedStateDocument | None) -> JournalChannelDocument:
    """The document of one channel."""
    return JournalChannelDocument(**asdict(listed), newest=newest)


def result_json(result: ChannelResult) -> ResultJson | None:
    """How a channel has ended; None of one that is not over."""
    if result.ending is Ending.OPEN:
        return None
    return ResultJson.of(result, ending=result.ending.name.lower())


def history_document(
    stored: JournalChannel,
    history: ChannelHistory,
    evidence: Sequence[StoredEvidence],
    logs: Sequence[PlacedLog] | None,
) -> ChannelHistoryDocument:
    """The document of a channel's history. `logs`: None where no chain was asked."""
    summarise = summaries_of(stored, history)
    return ChannelHistoryDocument(
        hex_text(stored.id),
        history_entries(history, summarise),
        history.unreadable,
        list(map(summarise, stored.states)),
        None if logs is None else [log_json(each) for each in logs],
        [EvidenceJson(each.evidence.kind, each.evidence.body.decode(errors="replace")) for each in evidence],
    )


def soundness_document(channel_id: bytes, findings: Sequence[Finding]) -> SoundnessDocument:
    """The document of what was found of a channel."""
    found = [FindingJson.of(each, known=each.is_known) for each in findings]
    return SoundnessDocument(hex_text(channel_id), not any(each.is_wrong for each in findings), found)
