"""The channels of a journal as values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forcemove.chain.addresses import show_address
from forcemove.chain.adjudicator import PlacedLog
from forcemove.history.history import ChannelHistory
from forcemove.inspect.history_json import timeline_json
from forcemove.inspect.journal_channel import JournalChannel, ListedChannel
from forcemove.inspect.onchain import turn_of
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.machine.results import ChannelResult, Ending
from forcemove.store.records import StoredEvidence

__all__ = ["channel_json", "history_json", "listed_json", "result_json"]


def channel_json(listed: ListedChannel) -> dict[str, Any]:
    """`{"channelId", "game", "contract", "standing", "phase", "chainId", "adjudicator", "participant", "participants",
    "turnNum", "isOurTurn", "finalizesAt", "deposits", "ours", "held", "result", "begunAt"}`: amounts are decimal digits
    in quotes; `result`, as of `result_json`, is null before it is over, and `ours` is empty afterwards; `begunAt` is in
    Unix seconds, null where nobody has noted it."""
    summary = listed.summary
    return {
        "channelId": hex_text(listed.id),
        "game": listed.game.name if listed.game else None,
        "contract": summary.app,
        "standing": listed.ownership.name.lower(),
        "phase": summary.phase.name.lower(),
        "chainId": str(summary.chain_id),
        "adjudicator": show_address(summary.adjudicator),
        "participant": summary.index,
        "participants": [show_address(each) for each in summary.participants],
        "turnNum": summary.turn_num,
        "isOurTurn": summary.is_our_turn,
        "finalizesAt": summary.finalizes_at or None,
        "deposits": [
            {"asset": show_address(asset), "amounts": [str(each) for each in amounts]}
            for asset, amounts in summary.deposits
        ],
        "ours": _amounts_json(summary.ours),
        "held": _amounts_json(summary.held),
        "result": None if summary.result is None else result_json(summary.result),
        "begunAt": summary.begun_at or None,
    }


def listed_json(listed: ListedChannel, on_chain: Mapping[bytes, ListedChannel | None] | None) -> dict[str, Any]:
    """The same, and `"isElsewhere"`: whether the channel is of another chain with the id of the one that was asked,
    null where no chain was asked; `"onChain"`: the same as the chain has it, null where that was not read."""
    found = None if on_chain is None else on_chain.get(listed.id)
    is_elsewhere = None if on_chain is None else listed.id in on_chain and found is None
    return channel_json(listed) | {
        "isElsewhere": is_elsewhere,
        "onChain": None if found is None else channel_json(found),
    }


def result_json(result: ChannelResult) -> dict[str, Any] | None:
    """`{"ending", "shares"}`, or null of a channel that is not over. `ending`: `concluded`, `unanswered`, `unfunded`,
    `expired` (a clock has run out, and no payment was seen) or `unknown` (what was paid is not known: no shares);
    of each share `{"asset", "participant", "deposited", "allocated", "payable"}`, the amounts as decimal digits in
    quotes."""
    if result.ending is Ending.OPEN:
        return None
    return {
        "ending": result.ending.name.lower(),
        "shares": [
            {
                "asset": show_address(share.asset),
                "participant": share.participant,
                "deposited": str(share.deposited),
                "allocated": str(share.allocated),
                "payable": str(share.payable),
            }
            for share in result.shares
        ],
    }


def _amounts_json(amounts: Iterable[tuple[bytes, int]]) -> list[dict[str, str]]:
    return [{"asset": show_address(asset), "amount": str(amount)} for asset, amount in amounts]


def history_json(
    stored: JournalChannel,
    history: ChannelHistory,
    evidence: Sequence[StoredEvidence],
    logs: Sequence[PlacedLog] | None,
) -> dict[str, Any]:
    """`{"channelId", "history", "unreadable", "states", "logs", "evidence"}`: `history` is `timeline_json`'s,
    `unreadable` how many pieces of it cannot be read; `logs` is null where no chain was asked."""
    return {
        "channelId": hex_text(stored.id),
        "history": timeline_json(stored, history),
        "unreadable": history.unreadable,
        "states": [
            {
                "turnNum": each.state.turn_num,
                "isFinal": each.state.is_final,
                "signedBy": sorted(each.signatures),
                "description": stored.describe(each),
            }
            for each in stored.states
        ],
        "logs": None
        if logs is None
        else [
            {"block": each.place.block_number, "kind": type(each.log).__name__, "turnNum": turn_of(each.log)}
            for each in logs
        ],
        "evidence": [
            {"kind": each.evidence.kind, "facts": each.evidence.body.decode(errors="replace")} for each in evidence
        ],
    }
