"""One run of `forcemove play`: goes on with a channel of the journal, or offers or joins a new one; and plays it."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

import click

from forcemove.channel.cli.amounts import format_amount
from forcemove.channel.cli.channel.stores import read_all
from forcemove.channel.cli.errors import Explained
from forcemove.channel.cli.play.errors import OfferDiffers
from forcemove.channel.cli.play.match import Match, is_unpaid
from forcemove.channel.cli.play.meeting import take, wait_for_guest
from forcemove.channel.cli.play.rounds import choose_rounds
from forcemove.channel.cli.play.terms import (
    Ground,
    agreement_of,
    costs_lines,
    new_offer,
    require_ours,
    terms_lines,
)
from forcemove.channel.cli.terminal import Terminal
from forcemove.channel.inspect.kept import KeptChannel
from forcemove.channel.line.connection import RelayConnection
from forcemove.channel.line.links import Link
from forcemove.channel.line.offers import Join, Offer
from forcemove.channel.node.assemble import Assembly
from forcemove.channel.protocol.channel import Channel
from forcemove.channel.protocol.json_text import hex_text
from forcemove.channel.protocol.signing import Key
from forcemove.channel.store.journal import Journal
from forcemove.channel.store.records import Standing

__all__ = ["Playing", "Wishes"]


@dataclass(frozen=True)
class Wishes:
    """What is wanted. `stake`: in wei, of the offer to make, or the only one to join. `link`: of the offer to join.
    `rounds`: after which the bot leaves. `duration`: of a challenge, in seconds, to offer. `patience`: see `Match`.
    `agrees`: nobody has to be asked whether to join. `anew`: leave channels alone into which nobody has paid."""

    relay: str
    stake: int | None
    link: Link | None
    rounds: int
    duration: int
    patience: float
    agrees: bool
    anew: bool


class Playing:
    """Everything that one run needs."""

    def __init__(self, wishes: Wishes, ground: Ground, key: Key, journal: Journal, terminal: Terminal) -> None:
        self._wishes, self._ground, self._key = wishes, ground, key
        self._journal, self._terminal = journal, terminal

    async def run(self) -> None:
        """Until the channel is paid out. Raises what keeps it from being begun or ended."""
        kept = self._open_channel()
        async with RelayConnection(self._wishes.relay) as relay:
            if kept is None:
                assembly, confirmations = await self._begin(relay), self._ground.confirmations
            else:
                self._terminal.say(f"Going on with the open channel of {self._journal.where}.")
                assembly, confirmations = kept.assembly(self._ground.chain), kept.about.confirmations
            match = self._match(assembly)
            channel = await match.run(relay, assembly, self._key, confirmations, is_new=kept is None)
        self._say_result(channel)

    def _match(self, assembly: Assembly) -> Match:
        participants = assembly.agreement.fixed_part.participants
        seat, game = participants.index(self._key.address), self._ground.game
        choose = choose_rounds(game, seat, self._wishes.rounds, len(participants))
        return Match(self._journal, game, choose, self._wishes.patience, self._terminal)

    # ------------------------------------------------------------------------------------------------ from the journal

    def _open_channel(self) -> KeptChannel | None:
        """The first of ours that is not over."""
        found, _ = read_all(self._journal)
        return next((each for each in found if self._is_ours(each)), None)

    def _is_ours(self, kept: KeptChannel) -> bool:
        """Whether it is one of this game, chain and key that is to be gone on with."""
        if kept.standing is not Standing.ACTIVE or (self._wishes.anew and is_unpaid(kept.channel)):
            return False
        is_same = kept.game is not None and kept.game.name == self._ground.game.name
        return is_same and kept.is_of(self._ground.chain.chain_id, self._key.address)

    # --------------------------------------------------------------------------------------------------- from the lobby

    async def _begin(self, relay: RelayConnection) -> Assembly:
        """A new channel with somebody from the lobby."""
        wishes = self._wishes
        if wishes.link is not None:
            offer, join = await self._join(relay, wishes.link)
        elif wishes.stake is not None:
            offer, join = await self._create(relay, wishes.stake)
        else:
            raise Explained(
                f"{self._journal.where} has no open channel of this game, chain and key to go on with.",
                "Offer a game with --create --stake AMOUNT, or join one with --join LINK.",
            )
        return self._ground.assemble(agreement_of(offer, join, self._ground.game))

    async def _create(self, relay: RelayConnection, stake: int) -> tuple[Offer, Join]:
        offer = new_offer(self._ground, self._key.address, stake, self._wishes.duration)
        self._say_terms(offer)
        await relay.lobby.make(offer, self._key)
        self._terminal.say("Hand this link to whom you want to play with; it is good for a day:")
        self._terminal.say(str(Link(relay.url, offer.hash)))
        self._terminal.status("Waiting for somebody to join")
        return offer, await wait_for_guest(relay, offer, self._key)

    async def _join(self, relay: RelayConnection, link: Link) -> tuple[Offer, Join]:
        offer = (await relay.lobby.look(link.offer)).signed.offer
        require_ours(offer, self._ground)
        if self._wishes.stake not in (None, offer.stake):
            raise OfferDiffers("stake", format_amount(offer.stake), format_amount(self._wishes.stake))
        self._say_terms(offer)
        await self._require_consent()
        self._terminal.status("Waiting for the host at the table")
        return offer, await take(relay, offer, self._key)

    def _say_terms(self, offer: Offer) -> None:
        """The terms and what they may cost us. Raises as `costs_lines`."""
        lines = (*terms_lines(offer, self._ground.game), *costs_lines(self._ground, offer, self._key.address))
        for line in lines:
            self._terminal.say(line)

    async def _require_consent(self) -> None:
        """Raises `Explained` where nobody can be asked, and `click.Abort` where somebody does not want to."""
        if self._wishes.agrees:
            return
        if not sys.stdin.isatty():
            raise Explained(
                "Nobody has agreed to these terms, and there is nobody to ask.", "To join on them, say --yes."
            )
        self._terminal.close()
        await asyncio.to_thread(click.confirm, "Join on these terms?", abort=True, err=True)

    # ---------------------------------------------------------------------------------------------------------- the end

    def _say_result(self, channel: Channel) -> None:
        """What we were paid, and what that is more or less than we had paid in."""
        id_, paid = hex_text(channel.agreement.channel_id), _agreed_pay(channel)
        if paid is None:
            self._terminal.say("result      The chain has decided, not a final state that both have signed.")
            self._terminal.say(f"            `forcemove inspect {id_} --chain URL` shows what was paid.")
        else:
            won = paid - channel.agreement.deposits[0][1][channel.index]
            result = "are even" if not won else f"{'win' if won > 0 else 'lose'} {format_amount(abs(won))}"
            self._terminal.say(f"result      You {result}; {format_amount(paid)} was paid to you.")
        self._terminal.say(f"channel     {id_}")


def _agreed_pay(channel: Channel) -> int | None:
    """What the final state pays us, in wei; None where not all have signed one."""
    newest = channel.newest
    if newest is None or not newest.state.is_final or len(newest.signed.signatures) < channel.agreement.count:
        return None
    return newest.state.outcome[channel.index].amount
