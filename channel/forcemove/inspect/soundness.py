"""Whether a channel that a journal stores is sound: by itself, and compared with its chain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.asking import ask_now
from forcemove.chain.genuine import genuine_steps
from forcemove.errors import ForcemoveError, PassingError
from forcemove.inspect.journal_channel import JournalChannel
from forcemove.inspect.onchain import ChannelOnChain
from forcemove.inspect.states import SignatureVerdict, check_signatures
from forcemove.protocol.encoding import digest
from forcemove.protocol.machine.channel import Accepted
from forcemove.protocol.machine.peer_messages import require_next
from forcemove.protocol.rules import build_support_proof


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `what`: the statement that was checked. `problem`: why it does not hold, or None.
    `is_known`: False where it could not be checked, for the reason that `problem` gives."""

    what: str
    problem: str | None = None
    is_known: bool = True

    @property
    def is_wrong(self) -> bool:
        """Whether the statement was checked, and does not hold."""
        return self.is_known and self.problem is not None


def examine(stored: JournalChannel) -> tuple[Finding, ...]:
    """The checks that need the journal alone."""
    runs = [run for run in (stored.channel.accepted, stored.channel.superseded) if run]
    states = (finding for run in runs for finding in (*_signed(stored, run), *_obeying(stored, run)))
    return (*states, *_provable(stored), *_remembered(stored))


def _signed(stored: JournalChannel, run: tuple[Accepted, ...]) -> Iterator[Finding]:
    agreement = stored.channel.agreement
    for accepted in run:
        signed, signatures = digest(agreement.domain, accepted.hashes.state), accepted.signed.signatures
        checks = check_signatures(agreement.fixed_part.participants, signed, signatures)
        wrong = [f"participant {each.participant}" for each in checks if each.verdict is SignatureVerdict.WRONG]
        what = f"the signatures of turn {accepted.state.turn_num} are those of its participants"
        yield Finding(what, f"not that of {', '.join(wrong)}" if wrong else None)


def _obeying(stored: JournalChannel, run: tuple[Accepted, ...]) -> Iterator[Finding]:
    for place, accepted in enumerate(run):
        what = f"turn {accepted.state.turn_num} obeys the rules"
        if stored.game is None:
            yield Finding(what, f"no game with the contract {stored.metadata.app} is installed", is_known=False)
            continue
        before, state, game = replace(stored.channel, accepted=run[:place]), accepted.state, stored.game
        yield _tried(what, lambda: require_next(before, state, game))  # noqa: B023  # it is called at once


def _provable(stored: JournalChannel) -> Iterator[Finding]:
    if stored.channel.accepted:
        proof = build_support_proof(stored.channel.agreement.fixed_part, stored.channel.signed_states)
        problem = "a signature is still missing" if proof is None else None
        yield Finding("the newest state can be proved to the chain", problem, is_known=proof is not None)


def _remembered(stored: JournalChannel) -> Iterator[Finding]:
    """Check that the last turn that we remember to have signed is not older than our signatures on the accepted
    states."""
    channel = stored.channel
    ours = [each.state.turn_num for each in channel.accepted if channel.index in each.signed.signatures]
    if ours:
        last = channel.last_signed
        is_so = last is not None and last[0] >= max(ours)
        yield Finding("the last turn that we have signed is remembered", None if is_so else "a later one is kept")


# ----------------------------------------------------------------------------------------------------- beside its chain


def examine_on_chain(stored: JournalChannel, adjudicator: Adjudicator, found: ChannelOnChain) -> tuple[Finding, ...]:
    """The checks against the channel on its chain, as it was `found`. Raises passing errors of the chain."""
    return (*_genuine(stored, adjudicator), *_recorded(stored, found), *_funded(stored, found))


def _genuine(stored: JournalChannel, adjudicator: Adjudicator) -> Iterator[Finding]:
    what, app = "the contracts are genuine", stored.channel.agreement.fixed_part.app_definition
    if stored.game is None:
        yield Finding(what, f"no game with the contract {stored.metadata.app} is installed", is_known=False)
        return
    artifact, factory = stored.game.artifact, stored.metadata.factory
    steps = genuine_steps(adjudicator.chain, adjudicator.address, app, artifact, factory)
    yield _tried(what, lambda: ask_now(adjudicator.rpc, steps))


def _recorded(stored: JournalChannel, found: ChannelOnChain) -> Iterator[Finding]:
    """Check that we could answer with a newer state than the recorded one."""
    if found.status.is_empty or stored.newest is None or found.closed:
        return
    recorded, newest = found.status.turn_num_record, stored.newest.state.turn_num
    problem = f"the chain has turn {recorded}, which is newer than ours, {newest}" if recorded > newest else None
    yield Finding("nothing newer is recorded than what is kept", problem)


def _funded(stored: JournalChannel, found: ChannelOnChain) -> Iterator[Finding]:
    if found.closed:
        return
    for asset, amounts in stored.channel.agreement.deposits:
        held, agreed = found.held(asset), sum(amounts)
        problem = f"{held} of {agreed} are there" if held < agreed else None
        yield Finding("all deposits are on the chain", problem)


def _tried(what: str, check: Callable[[], object]) -> Finding:
    try:
        check()
    except PassingError:
        raise
    except ForcemoveError as error:
        return Finding(what, f"{error}")
    return Finding(what)
