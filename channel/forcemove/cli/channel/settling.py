"""Ends channels on the chain, when others are gone: what `challenge`, `conclude` and `collect` do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from forcemove.chain.addresses import show_address
from forcemove.cli.channel.pages import ADVICE, elsewhere_line, short_id
from forcemove.cli.channel.session import JournalSession, SessionOptions, opened
from forcemove.cli.channel.stores import find_channel, find_channels, read_all
from forcemove.cli.errors import Explained
from forcemove.cli.pages import result_lines, show_field
from forcemove.errors import ForcemoveError
from forcemove.flow.channel import is_stuck
from forcemove.history.summary import left_in
from forcemove.inspect.journal_channel import JournalChannel
from forcemove.node.managed_channel import ManagedChannel
from forcemove.program import program
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.machine.channel import Phase
from forcemove.protocol.machine.effects import Submission, SubmitChallenge, SubmitConclude, SubmitPayCredit
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted
from forcemove.protocol.machine.results import Ending
from forcemove.protocol.words import Status
from forcemove.sessions.playing.ends import EndObserver
from forcemove.store.records import Ownership
from forcemove.text.amounts import amount_text, format_amount, show_asset
from forcemove.text.durations import show_time
from forcemove.text.explanations import headline

_RUNNING = (Phase.CHALLENGED, Phase.FINALIZED)


def challenge(asked: SessionOptions, id_: str, *, waits: bool) -> None:
    """Start the clock; with `waits`, stay until it has run out and all is paid, or the challenge was answered."""
    with opened(asked) as session:
        stored = find_channel(session.journal, id_)
        session.require_ours(stored)
        _require_begun(stored)
        driven = session.drive(stored)
        status = _status_of([driven], session.seen)
        session.run(lambda: driven.client.has_read_chain, status)
        before = driven.channel.status
        if driven.phase is not Phase.CHALLENGED:
            driven.feed(ChallengeWanted())
        session.run(lambda: _has_come_about(driven, before) or not _is_on_its_way(driven), status)
        if not _has_come_about(driven, before):
            raise Explained("The challenge did not come about, and is not tried again.", "Give the same command again.")
        if driven.phase is Phase.CHALLENGED:
            session.say(f"The clock runs until {show_time(driven.channel.status.finalizes_at)}.")
        if waits:
            session.run(lambda: driven.phase not in _RUNNING, status)
            _report_end(session, driven)
        else:
            session.say(f"After that, `{program()} channel collect` brings home what is paid.")


def _has_come_about(driven: ManagedChannel, before: Status) -> bool:
    """Whether a clock runs, or has run since and was stopped, or nothing is left to decide."""
    status = driven.channel.status
    return status.finalizes_at != 0 or status != before or driven.phase is Phase.CLOSED


def _is_on_its_way(driven: ManagedChannel) -> bool:
    """Whether the transaction that lets the chain decide is asked for, and has not failed."""
    return _is_asked(driven) and not driven.client.has_failures


def _is_asked(driven: ManagedChannel) -> bool:
    return any(isinstance(each, SubmitChallenge | SubmitConclude) for each in driven.channel.requested)


def _require_begun(stored: JournalChannel) -> None:
    channel = stored.channel
    if channel.next_turn < 2 * channel.agreement.count:
        raise Explained(
            "Play has not begun in this channel: there is no move to wait for.",
            "`forcemove channel conclude` takes back what was paid in.",
        )


def conclude(asked: SessionOptions, id_: str) -> None:
    """Leave a channel, and stay until nothing of it is left on the chain."""
    with opened(asked) as session:
        stored = find_channel(session.journal, id_)
        session.require_ours(stored)
        if stored.channel.record.closed:
            session.say("All is paid out already.")
            return
        driven = session.drive(stored)
        driven.feed(ConcludeWanted())  # before anything else is done, such as paying in
        session.run(lambda: _is_left(driven), _status_of([driven], session.seen))
        _report_end(session, driven)


def _is_left(driven: ManagedChannel) -> bool:
    """Whether the channel has nothing left to pay. Where others keep us waiting, a challenge lets the chain decide."""
    if not driven.chain.time:  # the chain was not read yet, and the stored state may be old
        return False
    if not left_in(driven.channel):
        return True
    if is_stuck(driven.channel, driven.phase) and not _is_asked(driven):
        driven.feed(ChallengeWanted())
    return False


def collect(asked: SessionOptions, ids: tuple[str, ...], *, waits: bool) -> int:
    """Collect what needs no signature; 1 if something is left. With `waits`, stay while a clock runs."""
    with opened(asked) as session:
        chosen = _here(session, _chosen(session, ids))
        if not chosen:
            session.say("No open channel of this key is of this chain.")
            return 0
        driven = [session.drive(stored, signs=False) for stored in chosen]
        session.run(lambda: not (waits and any(map(_is_waiting, driven))), _status_of(driven))
        for stored, each in zip(chosen, driven, strict=True):
            session.say(_what_is_left(stored, each))
        owed = [line for each in driven for line in _owed(each, session.became)]
        for line in owed:
            session.note(line)
    return 1 if owed or any(left_in(each.channel) for each in driven) else 0


def _is_waiting(driven: ManagedChannel) -> bool:
    return driven.phase in _RUNNING or (driven.phase is Phase.CONCLUDING and driven.channel.conclude_at is not None)


def _chosen(session: JournalSession, ids: tuple[str, ...]) -> list[JournalChannel]:
    """The channels that are named; else all of this key and chain that are not finished, without damaged ones."""
    if ids:
        return find_channels(session.journal, ids)
    found, damaged = read_all(session.journal)
    for id_, problem in damaged:
        session.note(f"{hex_text(id_)} cannot be read: {problem}")
    open_ = (each for each in found if each.ownership in (Ownership.ACTIVE, Ownership.BACKUP))
    return [each for each in open_ if each.is_of(session.chain.chain_id, session.account)]


def _here(session: JournalSession, chosen: list[JournalChannel]) -> list[JournalChannel]:
    """The channels of this very chain; a line is printed for each of the others."""
    here = [each for each in chosen if session.elsewhere(each) is None]
    for each in chosen:
        if each not in here:
            session.note(elsewhere_line(each.id))
    return here


# ------------------------------------------------------------------------------------------------------------- telling


def _status_of(driven: list[ManagedChannel], seen: EndObserver | None = None) -> Callable[[], str]:
    """The text of the status line. `seen`: of the only channel, where there is one."""

    def status() -> str:
        if seen is not None:
            seen.observe(driven[0].chain.time)
        ends = [left for each in driven if (left := each.channel.status.finalizes_at - each.chain.time) > 0]
        clock = f"; {max(ends):,} seconds until the clock runs out" if ends else ""
        return f"Waiting for the chain{clock}"

    return status


def _report_end(session: JournalSession, driven: ManagedChannel) -> None:
    if driven.phase is Phase.CLOSED:
        session.say("All is paid out.")
    elif left_in(driven.channel):
        session.say("The challenge was answered: play can go on.")
    else:
        session.say("Nothing is left on the chain.")
    seen = session.seen
    result = seen.of(driven.channel, driven.chain.time)
    if result.ending is not Ending.OPEN and (not result.shares or any(share.deposited for share in result.shares)):
        session.say("\n".join(result_lines(result, driven.tokens)))
        session.say(show_field("gas", f"{format_amount(seen.cost)}, since this command began"))


def _what_is_left(stored: JournalChannel, driven: ManagedChannel) -> str:
    channel, phase = driven.channel, driven.phase
    held = ", ".join(show_asset(asset, amount, stored.tokens) for asset, amount in left_in(channel))
    start = f"{short_id(stored.id)} {stored.title}: {phase.value}"
    if not held:
        return f"{start}; nothing is left on the chain"
    until = channel.status.finalizes_at or channel.conclude_at
    then = f"`collect` again after {show_time(until)}" if until else ADVICE[phase]
    return f"{start}; {held} are there. {then}"


def _owed(driven: ManagedChannel, became: Mapping[Submission, ForcemoveError | None]) -> Iterator[str]:
    """A line for each of our credits, which the adjudicator could not pay. `became`: as of `JournalSession`."""
    payee = driven.channel.payee
    if payee is None:
        return
    for asset, amount in driven.channel.credits:
        asked = SubmitPayCredit(payee, asset, amount)
        if amount and (asked not in became or became[asked] is not None):
            error = became.get(asked)
            reason = headline(error) if error else "It was not tried again."
            what = f"{amount_text(asset, amount, driven.tokens)} are still owed to {show_address(asked.account)}"
            yield f"{short_id(driven.id)} {what}: a payment failed. {reason}"
