"""A watchtower: takes hand-overs, watches the chain for the channels that they are of, and answers in time.

It has an account of its own that pays for gas, and no key that could move a participant's money. What it has taken is
in the journal before it says so. Of several processes on one journal one drives, the others stand by. Of several towers
that guard one channel the first answer wins: what would come too late is only simulated, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.errors import TransactionReverted
from forcemove.chain.reverts import NO_ERRORS
from forcemove.errors import ForcemoveError, InvalidValue, PassingError, RuleError
from forcemove.node.clock import seconds
from forcemove.node.looking import Looks
from forcemove.node.policy import default_confirmations, own_clock
from forcemove.protocol.signing import Key
from forcemove.store.errors import LeaseNotHeld
from forcemove.store.journal import Journal
from forcemove.store.records import Account, HandedOver
from forcemove.tower.acceptance import Apps, Offer, read, require_newer, require_proved
from forcemove.tower.desk import Desk, Paid, Terms
from forcemove.tower.errors import BudgetExhausted, ChannelOver, NotWatched, StandingBy, TooManyChannels
from forcemove.tower.guarded import HELD, Due, Guarded, Held
from forcemove.tower.handover import HAND_OVERS
from forcemove.tower.post import Post
from forcemove.tower.receipts import Receipt, give_receipt
from forcemove.tower.settings import Settings

__all__ = ["Tower"]

_RENEW_AFTER = 0.3
"""The part of a lease after which it is renewed, or asked for again."""
_NO_APPS: Apps = MappingProxyType({})


_SETTINGS = Settings()


class Tower:
    """Of one account on one chain. `account`: that account, 20 bytes, which hand-overs are signed for. One thread at a
    time may call it."""

    def __init__(
        self,
        journal: Journal,
        key: Key,
        adjudicators: Sequence[Adjudicator],
        served: Mapping[bytes, int],
        *,
        apps: Apps = _NO_APPS,
        settings: Settings = _SETTINGS,
        report: Callable[[Paid], None] = lambda _: None,
        trouble: Callable[[Exception], None] = lambda _: None,
        clock: Callable[[], float] = seconds,
    ) -> None:
        """`key`: of the account, which pays for gas and signs receipts. `adjudicators`: all of one chain; several of
        one address are the same one through several endpoints. `served`: for whom it works, and what it spends for each
        in all, in wei. `apps`: whose rules it knows. `report`: is told what became of each answer. `trouble`: is told
        of what fails and will be tried again. `clock`: seconds.

        Raises `InvalidValue` on adjudicators of several chains, or none.
        """
        chains = {each.chain.chain_id for each in adjudicators}
        if len(chains) != 1:
            raise InvalidValue("adjudicators", len(chains), "at least one, and all of one chain")
        self.account = key.address
        self._journal, self._key, self._adjudicators = journal, key, tuple(adjudicators)
        self._served, self._apps, self._settings = dict(served), apps, settings
        self._report, self._trouble, self._clock = report, trouble, clock
        self._name = Account(chains.pop(), key.address)
        self._confirmations = settings.confirmations or default_confirmations(self._name.chain_id)
        self._desk: Desk | None = None
        self._posts: dict[bytes, Post] = {}
        self._looks = Looks(trouble)
        self._asked_at: float | None = None

    # ------------------------------------------------------------------------------------------------- what it is given

    def accept(self, data: bytes) -> Receipt:
        """Take a hand-over: the bytes that `handover.sign` makes. It is on disk when this returns the receipt for it.

        The same one again gives the same receipt. Raises, and has changed nothing then: `MalformedBytes`,
        `UnknownVersion`; `NotServed`, `NotAParticipant`, `NotWatched`, `NotProved`, `AppNotKnown`, and the rules' own
        errors; `NothingNewer`, `ChannelOver`, `TooManyChannels`, `BudgetExhausted`; `StandingBy`, `JournalError`.
        """
        desk = self._desk
        if desk is None:
            raise StandingBy(self._name.chain_id, self.account)
        offer = read(data, self.account, self._served)
        post, time = self._post_for(offer)
        guarded = post.channels.get(offer.given.agreement.channel_id)
        held = guarded.held.get(offer.client) if guarded is not None else None
        if held is None or held.signed.content != offer.signed.content:
            self._require_welcome(desk, offer, guarded, time)
            held = Held(offer.signed, time)
            self._keep(offer.client, offer.given.agreement.channel_id, held)
            post.hold(offer.client, held, offer.given)
        return give_receipt(offer.given, held.signed, offer.client, held.accepted_at, self._key)

    def _post_for(self, offer: Offer) -> tuple[Post, int]:
        """With the chain's time as it was read last: a tower that has seen nothing of a chain promises nothing."""
        domain = offer.given.agreement.domain
        post = self._posts.get(domain.adjudicator) if domain.chain_id == self._name.chain_id else None
        if post is None or post.looked_at is None:
            raise NotWatched(domain.chain_id, domain.adjudicator)
        return post, post.time

    def _require_welcome(self, desk: Desk, offer: Offer, guarded: Guarded | None, time: int) -> None:
        client, given = offer.client, offer.given
        if guarded is not None and guarded.is_over(time):
            raise ChannelOver(guarded.id)
        known = guarded.given.get(client) if guarded is not None else None
        if known is not None:
            require_newer(given, known)
        elif sum(client in each.held for each in self._guarded()) >= self._settings.most_channels:
            raise TooManyChannels(client, self._settings.most_channels)
        left = desk.left(client)
        if left <= 0:
            raise BudgetExhausted(client, given.agreement.channel_id, left, 1)
        require_proved(given, self._apps)

    def _keep(self, client: bytes, channel_id: bytes, held: Held) -> None:
        try:
            self._journal.towers.keep(self._name, HandedOver(channel_id, client, HELD.encode(held)))
        except LeaseNotHeld:
            self._stand_by()
            raise StandingBy(self._name.chain_id, self.account) from None

    # ---------------------------------------------------------------------------------------------------- what it knows

    @property
    def is_driving(self) -> bool:
        """Whether this process drives the tower, as it knew at the last poll; else another one does."""
        return self._desk is not None

    @property
    def channels(self) -> tuple[bytes, ...]:
        """The ids of the channels that it guards."""
        return tuple(each.id for each in self._guarded())

    @property
    def looked_at(self) -> float | None:
        """When it has last read the chain (seconds of its clock): of several adjudicators, the one that it has not
        read for longest. None where it has not read one yet, or does not drive."""
        read = [post.looked_at for post in self._posts.values()]
        known = [each for each in read if each is not None]
        return min(known) if known and len(known) == len(read) else None

    def left(self, client: bytes) -> int:
        """What may still be spent for a client, in wei; what is on its way is taken for spent. Raises `StandingBy`."""
        if self._desk is None:
            raise StandingBy(self._name.chain_id, self.account)
        return self._desk.left(client)

    def _guarded(self) -> list[Guarded]:
        return [guarded for post in self._posts.values() for guarded in post.channels.values()]

    # ----------------------------------------------------------------------------------------------------- what it does

    def poll(self) -> bool:
        """Look at the chain, ask for what is due, and see what became of what was sent. Returns whether anything has
        happened. What fails is told (`trouble`), and tried again by the next poll."""
        if not self._attempt(self._take_lease):
            return False
        self._look_at_all()
        happened = [bool(self._attempt(self._take_in_looks, post)) for post in self._posts.values()]
        for post in self._posts.values():
            for guarded in tuple(post.channels.values()):
                self._attempt(self._attend, post, guarded)
        happened += [bool(self._attempt(self._send)) for _ in range(2)]  # on a chain that mines at once it is mined now
        return any(happened)

    def _attempt(self, part: Callable[..., object], *arguments: object) -> object:
        """What goes wrong with one part is no other's concern."""
        try:
            return part(*arguments)
        except LeaseNotHeld as error:
            self._stand_by()
            self._trouble(error)
        except Exception as error:  # whatever an answer has led to ends no tower
            self._trouble(error)
        return None

    def _look_at_all(self) -> None:
        """Through all endpoints: one that hangs delays what the others show by a moment, and once."""
        self._looks.look([worker for post in self._posts.values() for worker in post.workers])

    def _take_in_looks(self, post: Post) -> bool:
        has_news, errors = post.take_in()
        for error in errors:
            self._trouble(error)
        return has_news

    def _attend(self, post: Post, guarded: Guarded) -> None:
        """Do for a channel what is to be done."""
        now, desk = post.time, self._desk
        if post.looked_at is None or desk is None:
            return
        if not guarded.is_over(now):
            self._plan(guarded, now)
        if self._is_buried(guarded, post.number, now):
            self._journal.towers.forget(self._name, guarded.id)
            post.let_go(guarded.id)
        elif post.looks >= guarded.retry_from and not desk.is_busy_with(guarded.id):
            for due in guarded.due(now, post.latest_time, self._settings.head_start):
                if self._ask(desk, post, guarded, due):
                    break

    def _plan(self, guarded: Guarded, now: int) -> None:
        """A finished channel is left to its participants for as long as a challenge would last; that survives us."""
        for client in guarded.unplanned():
            held = replace(guarded.held[client], conclude_at=now + guarded.agreement.fixed_part.challenge_duration)
            self._keep(client, guarded.id, held)
            guarded.hold(client, held)

    def _is_buried(self, guarded: Guarded, number: int, now: int) -> bool:
        if not guarded.is_over(now) or guarded.differ.clocks or guarded.differ.is_denied:
            guarded.over_at = None
        elif guarded.over_at is None:
            guarded.over_at = number
        return guarded.over_at is not None and number - guarded.over_at >= self._settings.buried

    def _ask(self, desk: Desk, post: Post, guarded: Guarded, due: Due) -> bool:
        """Whether it was asked for. What fails is tried again at the next block: what others have done before us is no
        trouble."""
        try:
            desk.want(due.client, guarded.id, due.submission, post.call_of(guarded, due), due.deadline)
        except BudgetExhausted as error:
            self._trouble(error)
        except PassingError:
            raise
        except ForcemoveError as error:
            self._tell(Paid(due.client, guarded.id, due.submission, error, None, 0))
        else:
            return True
        guarded.retry_from = post.looks + 1
        return False

    def _send(self) -> bool:
        if self._desk is None or self._desk.is_idle:
            return False
        try:
            paid = self._desk.look()
        finally:
            for error in self._desk.take_troubles():
                self._trouble(error)
        for each in paid:
            self._take_in(each)
        return bool(paid)

    def _take_in(self, paid: Paid) -> None:
        """What is mined is seen by the follower as many blocks later as we want confirmations."""
        self._tell(paid)
        for post in self._posts.values():
            guarded = post.channels.get(paid.channel_id)
            if guarded is not None:
                mined = self._confirmations * len(post.workers) if paid.block is not None else 0
                guarded.retry_from = post.looks + 1 + mined if mined or paid.error else 0

    def _tell(self, paid: Paid) -> None:
        """What the rules refuse was not needed any more. Anything else is trouble."""
        self._report(paid)
        if paid.error is not None and not isinstance(paid.error, RuleError | TransactionReverted):
            self._trouble(paid.error)

    # -------------------------------------------------------------------------------------------------------- the lease

    def _take_lease(self) -> bool:
        """Whether we drive the tower. Who has lost the lease begins anew from the journal when it is ours again."""
        now, again = self._clock(), self._settings.lease * _RENEW_AFTER
        if self._asked_at is not None and now - self._asked_at < again:
            return self._desk is not None
        if self._desk is not None and self._name not in self._journal.leases.renew(self._settings.lease):
            self._stand_by()
        if self._desk is None and self._journal.leases.take([self._name], self._settings.lease).granted:
            self._begin()
        self._asked_at = now
        return self._desk is not None

    def _begin(self) -> None:
        """With everything that the journal has."""
        self._posts = {
            address: self._post(address) for address in dict.fromkeys(each.address for each in self._adjudicators)
        }
        for row in self._journal.towers.handed_over(self._name):
            self._attempt(self._restore, row)
        errors = NO_ERRORS
        for each in self._adjudicators:
            errors |= each.errors
        endpoints = {id(each.chain): each.chain for each in self._adjudicators}
        settings = self._settings
        terms = Terms(
            self._served, settings.most, self._confirmations, settings.patience, own_clock(self._name.chain_id)
        )
        self._desk = Desk(self._journal, self._key, tuple(endpoints.values()), errors, terms)

    def _post(self, address: bytes) -> Post:
        endpoints = [each for each in self._adjudicators if each.address == address]
        return Post(
            endpoints, self._settings.first_block, self._confirmations, self._clock, own_clock(self._name.chain_id)
        )

    def _restore(self, row: HandedOver) -> None:
        held = HELD.decode(row.body)
        given = HAND_OVERS.decode(held.signed.content)
        post = self._posts.get(given.agreement.domain.adjudicator)
        if post is None:
            raise NotWatched(given.agreement.domain.chain_id, given.agreement.domain.adjudicator)
        post.hold(row.client, held, given)

    def _stand_by(self) -> None:
        self._desk, self._posts = None, {}

    def release(self) -> None:
        """Give the lease back, so that another process need not wait for its end. Poll no more after this."""
        self._stand_by()
        self._journal.leases.release([self._name])
