"""The requests of one connection to the lobby."""

from __future__ import annotations

from forcemove.relay.admission.accounts import AddressAccount
from forcemove.relay.clients.services import Services
from forcemove.relay.offers.shown import NotOffered
from forcemove.relay.tables import TableClient
from forcemove.transport.errors import Reason
from forcemove.transport.wire import ALL_OFFERS, JoinOffer, ListOffers, MakeOffer, WatchOffer, WithdrawOffer

Request = MakeOffer | ListOffers | JoinOffer | WatchOffer | WithdrawOffer


class Visitor:
    """One connection in the lobby."""

    def __init__(self, client: TableClient, services: Services, account: AddressAccount) -> None:
        self._client, self._services, self._account = client, services, account
        self._watched: set[bytes] = set()
        self._listed: int | None = None

    def __len__(self) -> int:
        """How many offers the connection watches; the list counts as one."""
        return len(self._watched) + (self._client in self._services.lobby.list_watchers)

    def leave(self) -> None:
        """Watch nothing any more, since the connection ends."""
        self._services.lobby.forget(self._client, self._watched)

    async def handle(self, message: Request) -> None:
        """Answer a request."""
        lobby = self._services.lobby
        try:
            match message:
                case ListOffers():
                    self._client.say(lobby.listed(message))
                    if message.after is None:
                        self._listed = lobby.list_watchers.revision
                case MakeOffer():
                    async with self._services.writes.entered(self._account):
                        offer = await lobby.make(message, self._account)
                    self._watch(offer, message.id)
                case JoinOffer():
                    join = lobby.read(message)
                    self._require_room(join.join.offer)
                    lobby.join(join, self._account, self._client)
                    self._watch(join.join.offer, message.id)
                case WatchOffer(id_, offer) if offer == ALL_OFFERS:
                    lobby.list_watchers.wait(self._client, id_, self._listed)
                case WatchOffer():
                    self._watch(message.offer, message.id)
                case WithdrawOffer():
                    async with self._services.writes.entered(self._account):
                        self._client.say(await lobby.withdraw(message))
        except NotOffered as refused:
            self._client.refuse(refused.about, refused.reason, refused.detail, message.id)

    def _watch(self, offer: bytes, request: bytes) -> None:
        self._require_room(offer)
        self._services.lobby.watch(offer, self._client, request)
        self._watched.add(offer)

    def _require_room(self, offer: bytes) -> None:
        """Raise `NotOffered` where this connection may not watch one more offer. A seat is held by a connection that
        watches its offer, so that the connection's end is noticed."""
        if offer not in self._watched and len(self._watched) >= self._services.limits.watched:
            raise NotOffered(offer, Reason.TOO_MANY_OFFERS, "this connection watches as many offers as it may")
