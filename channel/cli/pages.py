"""Findings as text for people. Knows nothing but what stands in a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import click

from forcemove.channel.cli.amounts import format_amount
from forcemove.channel.cli.findings import Finding

__all__ = ["page"]

_WIDTH = 16
_ETHER = "0x" + 40 * "0"
_KNOWN_BY = {
    "code": "by its address on the chain, which follows from its code",
    "book": "by the address book",
    "bytes": "by the look of its bytes; nothing else was compared",
}
_TITLES = {
    "state": "A state without a channel",
    "record": "A record, as the adjudicator logs it",
    "position": "A game's position",
}


def page(finding: Finding) -> str:
    """The text of what `forcemove inspect` has found."""
    match finding["kind"]:
        case "signed-state":
            lines = _signed_state(finding)
        case "channel":
            lines = _channel(finding)
        case _:
            lines = _bare(finding)
    return "\n".join(lines)


def _title(text: str) -> str:
    return "\n" + click.style(text, bold=True)


def _field(name: str, value: object) -> str:
    first, *rest = str(value).splitlines() or [""]
    return "\n".join([f"  {name:<{_WIDTH}}{first}", *(" " * (_WIDTH + 2) + line for line in rest)])


# -------------------------------------------------------------------------------------------------------------- kinds


def _signed_state(finding: Finding) -> Iterator[str]:
    fixed_part = finding["fixedPart"]
    yield click.style("A signed state", bold=True)
    yield _field("channel", finding["channelId"])
    yield _field("chain id", finding["chainId"])
    yield _field("adjudicator", finding["adjudicator"])
    yield _field("app", f"{fixed_part['appDefinition']}\n{_app(finding['app'])}")
    yield _field("nonce", fixed_part["channelNonce"])
    yield _field("duration", f"{fixed_part['challengeDuration']:,} seconds to answer a challenge")
    for index, participant in enumerate(fixed_part["participants"]):
        yield _field(f"participant {index}", participant)
    yield from _state(finding["state"])
    yield from _position(finding)
    if finding["problem"]:
        yield _field("PROBLEM", click.style(finding["problem"], fg="red"))
    yield _title("Signatures")
    yield from map(_signature, finding["signatures"])
    yield _field("support", finding["support"] or "complete: this state alone proves that all agreed")
    if finding["channel"]:
        yield from _on_chain(finding["channel"])
    yield from _could(finding)


def _channel(finding: Finding) -> Iterator[str]:
    yield click.style("A channel", bold=True)
    yield _field("channel", finding["channelId"])
    yield _field("chain id", finding["chainId"])
    yield _field("adjudicator", finding["adjudicator"])
    yield from _on_chain(finding)
    if finding["record"]:
        yield from _state(finding["record"]["state"], "The recorded state")
        yield from _position(finding["record"])
        yield _field("signed by", "\n".join(finding["record"]["signedBy"]) or "(not to be seen from the logs)")


def _bare(finding: Finding) -> Iterator[str]:
    yield click.style(_TITLES[finding["kind"]], bold=True)
    if finding["state"]:
        yield from _state(finding["state"])
    yield from _position(finding)
    for index, signature in enumerate(finding["signatures"]):
        yield _field(f"signature {index}", signature)
    yield _title("Missing to check it")
    for each in finding["missing"]:
        yield f"  {each}"


# -------------------------------------------------------------------------------------------------------------- parts


def _app(app: Finding | None) -> str:
    return f"{app['title']}, {_KNOWN_BY[app['knownBy']]}" if app else "none of the games that are installed"


def _state(state: Finding, title: str = "State") -> Iterator[str]:
    mover = "" if state["mover"] is None else f", of participant {state['mover']}"
    stage = f" ({state['stage']})" if state["stage"] else ""
    app_data = state["appData"]
    yield _title(title)
    yield _field("turn", f"{state['turnNum']}{mover}{stage}")
    yield _field("final", "yes: only concluding may follow" if state["isFinal"] else "no")
    yield from _outcome("pays", state["outcome"])
    yield _field("app data", f"{len(app_data) // 2 - 1} bytes" + (f": {app_data}" if len(app_data) > 2 else ""))


def _outcome(name: str, outcome: Iterable[Finding]) -> Iterator[str]:
    yield _field(name, "\n".join(map(_allocation, outcome)) or "nothing")


def _allocation(entry: Finding) -> str:
    account = entry["account"] or f"channel {entry['destination']}"
    who = "" if entry["participant"] is None else f" (participant {entry['participant']})"
    return f"{_amount(entry['asset'], entry['amount'])} to {account}{who}"


def _amount(asset: str, amount: str) -> str:
    if asset == _ETHER:
        return f"{format_amount(int(amount))} ({int(amount):,} wei)"
    return f"{int(amount):,} of the smallest unit of {asset}"


def _position(finding: Finding) -> Iterator[str]:
    position = finding["position"]
    if position is None:
        return
    yield _title(f"Position: {_app(finding['app'])}")
    if position["problem"]:
        yield _field("PROBLEM", click.style(f"this is no position of the game: {position['problem']}", fg="red"))
        return
    yield _field("says", position["description"])
    yield _field("stake", _stake(position["stake"], finding["state"]))
    yield _field("board", position["board"])


def _stake(stake: str, state: Finding | None) -> str:
    """In the asset of the outcome, where there is one outcome with one asset."""
    assets = {entry["asset"] for entry in state["outcome"]} if state else set()
    return _amount(assets.pop(), stake) if len(assets) == 1 else f"{int(stake):,} of the asset's smallest unit"


def _signature(signature: Finding) -> str:
    name = f"participant {signature['participant']}"
    match signature["standing"]:
        case "signed":
            return _field(name, click.style("has signed", fg="green"))
        case "missing":
            return _field(name, "has not signed")
        case _:
            by = f"made by {signature['recovered']}" if signature["recovered"] else f"nobody's: {signature['problem']}"
            nobody = "" if signature["address"] else ", and there is no such participant"
            return _field(name, click.style(f"WRONG signature, {by}{nobody}", fg="red"))


def _on_chain(channel: Finding) -> Iterator[str]:
    yield _title(f"On the chain, at block {channel['block']:,}")
    yield _field("mode", "closed for ever: everything was paid" if channel["closed"] else channel["mode"])
    recorded = channel["turnNumRecord"]
    yield _field("record", "nothing" if recorded is None else f"turn {recorded}")
    if channel["secondsLeft"] is not None:
        yield _field("time left", f"{channel['secondsLeft']:,} seconds, until {_time(channel['finalizesAt'])}")
    elif channel["finalizesAt"]:
        yield _field("finalized", _time(channel["finalizesAt"]))
    if channel["mode"] == "Finalized" and channel["owed"] is not None:
        yield from _outcome("still owed", channel["owed"])
    yield _field("holdings", "\n".join(map(_holdings, channel["holdings"])))
    yield _field("credits", "\n".join(map(_credit, channel["credits"])) or "none")
    yield _field("history", "\n".join(map(_log, channel["history"])) or "none")


def _holdings(holdings: Finding) -> str:
    return _amount(holdings["asset"], holdings["held"]) + (", payout begun" if holdings["payoutBegun"] else "")


def _credit(credit: Finding) -> str:
    return f"{_amount(credit['asset'], credit['amount'])} for {credit['account']}"


def _log(log: Finding) -> str:
    turn = "" if log["turnNum"] is None else f", turn {log['turnNum']}"
    return f"block {log['block']:,}: {log['log']}{turn}"


def _time(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError):  # a block time may be any uint48
        return f"second {seconds:,}"


def _could(finding: Finding) -> Iterator[str]:
    yield _title("What each participant could do now")
    for each in finding["could"]:
        yield f"  participant {each['participant']}"
        for action in each["actions"]:
            yield f"    {action['action']:<{_WIDTH - 2}}{action['explanation']}"
    refused: list[Any] = finding["refused"] or []
    if refused:
        yield _title("What the adjudicator would refuse")
        for each in refused:
            yield _field(each["action"], each["reason"])
