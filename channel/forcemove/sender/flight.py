"""All that is on its way from an account, and how far it has come; in the journal before anything else knows of it."""

from __future__ import annotations

from forcemove.sender.opinions import Opinion, Shown
from forcemove.sender.transactions import FLYING, Failed, Flying, Landed, Transactions

__all__ = ["Flight"]


class Flight:
    """`flying`: by nonce. `announced`: as what each has come out; `told`: those whose owner has come back since;
    `settled`: nobody waits for them; `believed`: mined as deep as we believe, by the word of one endpoint at least."""

    def __init__(self, kept: Transactions) -> None:
        """`kept`: the account's journal. Raises `MalformedBytes`, `UnknownVersion`."""
        self._kept = kept
        self.flying = {nonce: FLYING.decode(body) for nonce, body in kept.all()}
        self.announced: dict[int, set[type[Landed | Failed]]] = {}
        self.told: set[int] = set()
        self.settled: set[int] = set()
        self.believed: set[int] = set()

    def keep(self, flying: Flying) -> None:
        """Before anything leaves."""
        if self.flying.get(flying.nonce) != flying:
            self._kept.put(flying.nonce, FLYING.encode(flying))
            self.flying[flying.nonce] = flying

    def forget(self, nonce: int) -> None:
        """It is over."""
        self._kept.forget(nonce)
        del self.flying[nonce]
        self.doubt(nonce)

    def doubt(self, nonce: int) -> None:
        """What was known of it is not so any more."""
        for each in (self.settled, self.told, self.believed):
            each.discard(nonce)
        self.announced.pop(nonce, None)

    def copies(self, purpose: bytes) -> list[Flying]:
        """All that are on their way to the same end."""
        return [each for each in self.flying.values() if each.wanted.purpose == purpose]

    def is_open(self, nonce: int) -> bool:
        """Whether an endpoint may still wait for it."""
        return nonce not in self.settled and nonce not in self.believed

    def has_landed(self, purpose: bytes) -> bool:
        """Whether anybody shows it mined, with success, with any nonce."""
        return any(Landed in self.announced.get(each.nonce, ()) for each in self.copies(purpose))

    def is_offered(self, purpose: bytes) -> bool:
        """Whether it is on its way and has failed nowhere."""
        return any(
            self.is_open(each.nonce) and Failed not in self.announced.get(each.nonce, ())
            for each in self.copies(purpose)
        )

    def waits(self, opinion: Opinion, purpose: bytes) -> bool:
        """Whether one with this end waits at an endpoint, and can be mined there."""
        return any(
            opinion.shows(each.nonce) is Shown.WAITS and opinion.is_reachable(each.nonce, self.flying)
            for each in self.copies(purpose)
        )

    def shows(self, opinion: Opinion, purpose: bytes) -> bool:
        """Whether an endpoint shows one with this end as mined, or as one that can be."""
        shown = {opinion.shows(each.nonce) for each in self.copies(purpose)}
        return bool(shown & {Shown.MINED, Shown.UNCLEAR}) or self.waits(opinion, purpose)

    def lacks(self, opinion: Opinion, purpose: bytes) -> bool:
        """Whether an endpoint lacks one with this end: none waits there, and none that is still on its way elsewhere
        has succeeded there."""
        is_done = any(
            self.is_open(each.nonce)
            and each.nonce in opinion.seen
            and isinstance(opinion.seen[each.nonce].outcome, Landed)
            for each in self.copies(purpose)
        )
        return not is_done and not self.waits(opinion, purpose)
