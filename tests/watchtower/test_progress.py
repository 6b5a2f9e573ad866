"""The property of a tower's poll: however many appointments it has, however many of their channels are challenged in
one block, and however slow the endpoint is, each poll leaves less undone than the one before, and the most urgent
answer is sent within two. What leads to it is measured, too: a poll has time for this many questions, and no more; a
channel is answered once, however many clients have handed it over; a fast endpoint is asked for more at a time. Time is
virtual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from eth_abi.abi import encode

from forcemove import Adjudicator, Agreement, SignedState, Tower, TowerSettings, VariablePart, keccak256, open_journal
from forcemove.chain.errors import Unreachable
from forcemove.protocol.codec.packed_writer import checkpoint_call
from forcemove.protocol.encoding import Domain, fingerprint, hash_state
from forcemove.protocol.types import ETHER, FixedPart, Signature, SupportProof
from forcemove.protocol.words import Status
from forcemove.sender import sender
from forcemove.sender.transactions import ClientTx, TxRequest
from forcemove.store.records import Account, AppointmentRecord
from forcemove.watchtower.acceptance import AcceptedAppointment, ReceivedAppointment
from forcemove.watchtower.appointment import APPOINTMENTS, Appointment, SignedAppointment
from forcemove.watchtower.budgeted_sender import AnswerResult
from tests.follower.paper import ADJUDICATOR, BLOCK_SECONDS, GENESIS, wanted_by
from tests.follower.test_progress import CountingNode, Progress
from tests.progress import cells
from tests.scenarios.story import ALICE, BOB
from tests.simulation.chain import MemoryChain
from tests.simulation.state import CHAIN_ID, from_hex
from tests.watchtower.keeper import TOWER

POLLS, ENOUGH, URGENT, FAR = 8, 30, 600, 10_000_000
MOST_URGENT, LATER = 20_000, 20_001
"""The numbers of the channels of which the answer is watched: they have less time than all others."""
GWEI, TURN = 10**9, 4
SIGNATURE = Signature(b"\x01" * 64)
SETTINGS = TowerSettings(confirmations=1, lease=86_400)


@cache
def agreement(number: int) -> Agreement:
    """One of many channels."""
    accounts = (ALICE.address, BOB.address)
    duration = URGENT if number >= MOST_URGENT else FAR
    fixed_part = FixedPart(accounts, number, bytes(19) + b"\x55", duration)
    destinations = tuple(bytes(12) + each for each in accounts)
    return Agreement(Domain(CHAIN_ID, ADJUDICATOR), fixed_part, destinations, ((ETHER, (1, 1)),), b"")


def state(number: int, turn: int) -> VariablePart:
    return VariablePart(agreement(number).setup_state(0).outcome, b"", turn, is_final=False)


class TowerNode(CountingNode):
    """A chain on paper that takes a tower's answers: each answers the channels that `channels_of` says by its nonce.
    `sent`: the raw transactions by nonce; `mined`: how many are in blocks."""

    def __init__(self, height: int) -> None:
        super().__init__(height)
        self.sent, self.places = dict[int, bytes](), dict[bytes, int]()
        self.channels_of: Callable[[int], list[int]] = lambda _: []
        self.mined, self.end, self.requests, self.most = 0, float("inf"), 0, 10**9

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[None]:
        end, self.end = self.end, min(self.end, self.time + seconds)
        try:
            yield
        finally:
            self.end = end

    def ask(self, method: str, *params: Any) -> Any:
        if self.time >= self.end:
            raise Unreachable(self.endpoint, "too late")
        self.requests += 1
        is_read = method == "eth_call" and bool(wanted_by(from_hex(params[0]["data"])))
        if is_read or method in ("eth_chainId", "eth_getBlockByNumber", "eth_getCode", "eth_getLogs"):
            return super().ask(method, *params)
        self.time += self.seconds
        match method:
            case "eth_call":
                return b""
            case "eth_getTransactionCount":
                return self.mined if params[1] == "latest" else self._next
            case "eth_getBalance":
                return 10**24
            case "eth_maxPriorityFeePerGas":
                return GWEI
            case "eth_sendRawTransaction":
                return self._send(from_hex(params[0]))
            case "eth_getTransactionByHash":
                return next((raw for raw in self.sent.values() if keccak256(raw) == from_hex(params[0])), None)
            case _:
                assert method == "eth_getTransactionReceipt"
                return self._receipt(from_hex(params[0]))

    @property
    def _next(self) -> int:
        nonce = self.mined
        while nonce in self.sent:
            nonce += 1
        return nonce

    def _send(self, raw: bytes) -> bytes:
        self.sent[nonce_of(raw)] = raw
        return keccak256(raw)

    def _receipt(self, hash_: bytes) -> dict[str, Any] | None:
        if hash_ not in self.places:
            return None
        block = self._block(hex(self.places[hash_]), False)
        assert block is not None
        place = {"blockNumber": block["number"], "blockHash": block["hash"], "logs": [], "status": 1}
        return {"transactionHash": hash_, **place, "gasUsed": 21_000, "effectiveGasPrice": GWEI}

    def _block(self, asked: str, full: bool) -> dict[str, Any] | None:
        found = super()._block(asked, full)
        return found and found | {"baseFeePerGas": GWEI}

    def challenge_all(self, numbers: Iterable[int]) -> None:
        """Somebody challenges these channels with their openings, in one block."""
        self.mine()
        self.answered.clear()
        for number in numbers:
            finalizes_at = self.now + agreement(number).fixed_part.challenge_duration
            self._record(number, 0, finalizes_at, "ChallengeRegistered", ["uint48"], [finalizes_at])

    def _record(self, number: int, turn: int, finalizes_at: int, log: str, types: list[str], values: list[int]) -> None:
        fixed_part, id_, recorded = agreement(number).fixed_part, agreement(number).channel_id, state(number, turn)
        hashes = hash_state(id_, recorded)
        self.statuses[id_] = Status(turn, finalizes_at, fingerprint(hashes.state, hashes.outcome)).pack()
        arguments = checkpoint_call(fixed_part, SupportProof((recorded,), (), 0))[4:]
        self.log(self.height, log, id_, encode([*types, "bytes"], [*values, arguments]))

    def take(self, seconds: float) -> None:
        """So long no more is asked: blocks with all that can be mined."""
        self.time += seconds
        self.height = max(self.height + 1, 20_000 + int(self.time / BLOCK_SECONDS))
        self.answered.clear()
        while (raw := self.sent.get(self.mined)) is not None:
            self.places[keccak256(raw)] = self.height
            for number in self.channels_of(self.mined):
                self._record(number, TURN, 0, "Checkpointed", [], [])
            self.mined += 1


def nonce_of(raw: bytes) -> int:
    from eth_account.typed_transactions.typed_transaction import TypedTransaction
    from hexbytes import HexBytes

    return int(TypedTransaction.from_bytes(HexBytes(raw)).as_dict()["nonce"])


def channels_in(request: TxRequest) -> list[bytes]:
    """The channels of which a transaction answers a challenge."""
    return [each.request_id.channel_id for each in request.asked if isinstance(each.request_id, ClientTx)]


class Watched:
    """A tower that begins with this many channels, each handed over by both players, and the two that are watched."""

    def __init__(self, node: TowerNode, folder: Path, count: int) -> None:
        self.node, self.count = node, count
        self.numbers: dict[bytes, int] = {
            agreement(each).channel_id: each for each in (*range(count), MOST_URGENT, LATER)
        }
        self.told, self.troubles = list[AnswerResult](), list[Exception]()
        self.journal = open_journal(str(folder / "tower"), owner=b"\x01" * 16, clock=lambda: node.time)
        account = Account(CHAIN_ID, TOWER.address)
        self.journal.leases.take([account], SETTINGS.lease)
        self.journal.towers.keep(account, *map(self._row, self.numbers.values(), (ALICE,) * (count + 2)))
        self.journal.towers.keep(account, *map(self._row, self.numbers.values(), (BOB,) * (count + 2)))
        self.tower = Tower(
            self.journal,
            TOWER,
            [Adjudicator(MemoryChain(node), ADJUDICATOR)],
            {ALICE.address: 10**24, BOB.address: 10**24},
            settings=SETTINGS,
            on_answer=self.told.append,
            on_error=self.troubles.append,
            clock=lambda: node.time,
        )
        node.channels_of = self._channels_of

    def _row(self, number: int, client: Any) -> AppointmentRecord:
        ours, from_block = agreement(number), self.node.height - 500 + number % 300
        newest = SignedState(state(number, TURN), {0: SIGNATURE, 1: SIGNATURE})
        appointment = Appointment(ours, from_block, (newest,))
        signed = SignedAppointment(APPOINTMENTS.encode(appointment), SIGNATURE)
        accepted = AcceptedAppointment.of(ReceivedAppointment(client.address, appointment, signed), GENESIS)
        return AppointmentRecord(ours.channel_id, client.address, accepted.encode())

    @property
    def _sender(self) -> sender.Sender:
        assert self.tower._guard is not None
        return self.tower._guard.sender._sender

    def _channels_of(self, nonce: int) -> list[int]:
        return [self.numbers[each] for each in channels_in(self._sender._pending.by_nonce[nonce].request)]

    def has_sent(self, number: int) -> bool:
        """Whether the endpoint was given an answer for this channel."""
        answered = {each.channel_id for each in self.told}
        return agreement(number).channel_id in answered or any(
            number in self._channels_of(nonce) for nonce in self.node.sent if nonce in self._sender._pending.by_nonce
        )

    @property
    def unread(self) -> int:
        """As of `Progress.undone`."""
        if self.tower._guard is None:
            return 10**9
        ((viewer,),) = (each.workers for each in self.tower._guard.watches.values())
        progress = Progress(self.node, SimpleNamespace(follower=viewer._follower))  # type: ignore[arg-type]
        return progress.undone

    @property
    def unanswered(self) -> int:
        """For each channel of the crowd that is challenged how many of these are still before it: to be submitted, to
        be signed, to be offered, to be mined and told."""
        told = {each.channel_id for each in self.told}
        crowd = [id_ for id_, number in self.numbers.items() if number < MOST_URGENT and id_ not in told]
        if self.tower._guard is None:
            return 4 * len(crowd)
        ours, steps = self._sender, Counter[bytes]()
        for each in ours._requests.all:
            for id_ in channels_in(each):
                steps[id_] = max(steps[id_], 1)
        for nonce, pending in ours._pending.by_nonce.items():
            for id_ in channels_in(pending.request):
                steps[id_] = max(steps[id_], 3 if nonce in self.node.sent else 2)
        return sum(4 - steps[each] for each in crowd)


def many_appointments(node: TowerNode, watched: Watched) -> Callable[[], int]:
    """The tower's process has just begun, and nobody challenges any of them."""
    node.most_blocks = 500
    return lambda: watched.unread


def many_challenged(node: TowerNode, watched: Watched) -> Callable[[], int]:
    """Somebody challenges all of them in one block."""
    node.challenge_all(range(watched.count))
    return lambda: watched.unanswered


KINDS = (many_appointments, many_challenged)


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> TowerNode:
    """By whose time the tower's sender works."""
    made = TowerNode(20_000)
    clock = SimpleNamespace(time=lambda: GENESIS + made.time, monotonic=lambda: made.time)
    monkeypatch.setattr(sender, "time", clock)
    return made


@pytest.mark.parametrize(("kind", "seconds", "count"), cells(KINDS, lambda _, count: count > 1_000))
def test_each_poll_leaves_less_undone_and_sends_an_answer_within_two(
    kind: Callable[[TowerNode, Watched], Callable[[], int]], seconds: float, count: int, node: TowerNode, tmp_path: Path
) -> None:
    watched, challenged = Watched(node, tmp_path, count), dict[int, int]()
    undone, node.seconds = kind(node, watched), seconds
    for poll in range(POLLS):
        if poll == 0 or (poll == 3 and kind is many_appointments):
            challenged[LATER if poll else MOST_URGENT] = poll
            node.challenge_all(list(challenged)[-1:])
        before, began, asked, refused = undone(), node.time, node.requests, node.refused
        watched.tower.poll()
        done = before - undone()
        assert done > 0 or not before or node.refused > refused
        assert done >= 60 or kind is many_appointments or seconds > 0.1 or before < 500
        assert node.time - began <= 30 + 25 * seconds
        assert node.requests - asked <= 170 + count // 500
        assert all(watched.has_sent(each) for each, at in challenged.items() if poll > at)
        node.take(BLOCK_SECONDS)
    if count <= 100:
        node.seconds, answers = 0, len(challenged) + (count if kind is many_challenged else 0)
        for _ in range(ENOUGH):
            node.take(BLOCK_SECONDS)
            watched.tower.poll()
        assert len(watched.told) == answers
        assert len(node.sent) <= len(challenged) + answers // 16
        assert {each.error for each in watched.told} == {None}
        assert undone() == 0
    watched.journal.close()
