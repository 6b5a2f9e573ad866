"""A channel between a JavaScript client and Python's: the task of the one, the client of the other, and their money."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from forcemove import Adjudicator, AppError, Assembly, Chain, ChooseMove, Key, Phase, Terms, keccak256, local_keys
from forcemove.contracts import artifact
from forcemove.game import PlayableApp
from forcemove.node.events import CounterpartyFault, Event, Mined
from forcemove.node.setup import ChannelSetup
from forcemove.protocol import types
from forcemove.protocol.agreement import Agreement, agree
from forcemove.protocol.codec.wire import SignedStateFile, encode_file
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from tests.process import Process
from tests.protocol.builders import CountingRules, MalformedCount, WrongCount, count_data
from tests.viem.line import NodeLine

THROW_AWAY = Key(keccak256(b"the throw-away key of a JavaScript client"))
"""Signs states, and has no ether."""
WALLET, PYTHON, OTHER = local_keys()[4:7]
"""The wallet of the JavaScript client pays in, sends and is paid."""
DEPOSIT = 5 * 10**17
STAKE = 10**17
_nonces = count(2**63)
"""Above 2**53, so that no JSON number would do."""


COUNTING_ERRORS = {error.__name__: error for error in (MalformedCount, WrongCount)}


class Counting(CountingRules):
    """The counting app for three, as channels need it."""

    name, artifact = "counting", artifact("CountingApp")
    errors: Mapping[str, type[AppError]] = COUNTING_ERRORS

    def initial_app_data(self, terms: Terms) -> bytes:
        return count_data(0, len(terms.participants))

    def stake_of(self, app_data: bytes) -> int:
        return 0


COUNTING = Counting()


def fixed_part(app: bytes, *others: Key, seat: int = 0, total: int = 0) -> types.FixedPart:
    """A new channel of the throw-away key, in this seat, with the others. `total`: in wei; 0: any."""
    addresses = [key.address for key in others]
    addresses.insert(seat, THROW_AWAY.address)
    return types.FixedPart(tuple(addresses), next(_nonces), app, 3_600, types.ETHER, total)


def agree_with_wallet(adjudicator: Adjudicator, fixed: types.FixedPart, app: PlayableApp) -> Agreement:
    """Who has the throw-away key is paid to its wallet."""
    payees = [WALLET.address if each == THROW_AWAY.address else each for each in fixed.participants]
    deposits = ((types.ETHER, (DEPOSIT,) * len(payees)),)
    return agree(adjudicator.domain, fixed, app, STAKE, deposits, tuple(map(types.address_destination, payees)))


def task(
    scenario: str, chain: Chain, agreement: Agreement, contract: str, first_block: int, factory: bytes | None = None
) -> dict[str, Any]:
    """What the JavaScript client is told, in the words of a signed-state file. `factory`: what the address book names;
    None where a test has deployed otherwise."""
    shown = json.loads(encode_file(SignedStateFile(agreement.domain, agreement.fixed_part, _unsigned(agreement))))
    return {
        "scenario": scenario,
        "rpc": chain.endpoint,
        "chainId": shown["chainId"],
        "factory": None if factory is None else "0x" + factory.hex(),
        "adjudicator": shown["adjudicator"],
        "fixedPart": shown["fixedPart"],
        "opening": {name: shown["state"][name] for name in ("outcome", "appData", "evidence")},
        "app": contract,
        "appAbi": list(artifact(contract).abi),
        "index": agreement.fixed_part.participants.index(THROW_AWAY.address),
        "signingKey": "0x" + THROW_AWAY.secret.hex(),
        "walletKey": "0x" + WALLET.secret.hex(),
        "fromBlock": first_block,
    }


def _unsigned(agreement: Agreement) -> types.SignedState:
    return types.SignedState(agreement.setup_state(0))


@dataclass
class Table:
    """Python's client, and the line to the other."""

    node: NodeLine
    agreement: Agreement
    app: PlayableApp
    adjudicator: Adjudicator
    choose: Callable[[ChooseMove], MoveChosen | ConcludeWanted | None]
    first_block: int
    key: Key = PYTHON
    events: list[Event] = field(default_factory=list)
    client: Process = field(init=False)

    def __post_init__(self) -> None:
        assembly = Assembly(self.app, self.adjudicator, self.agreement, from_block=self.first_block)
        setup = ChannelSetup(assembly, self.key, self.node, self.choose, on_event=self._report, block_time=0)
        self.client = Process(setup)

    def _report(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, Mined):
            self.node.tell(note="mined")

    def play(self) -> dict[str, Any]:
        """Poll and listen until the other says how it has ended; challenge when it says that it is silent."""
        said: dict[str, Any] = {}
        while "done" not in said and "refused" not in said:
            if not self.client.poll():
                said = self.node.wait()
                if said.get("note") == "silent":
                    self.client.feed(ChallengeWanted())
        while self.client.poll():
            pass
        return said

    @property
    def is_closed(self) -> bool:
        return self.client.phase is Phase.CLOSED

    @property
    def mined(self) -> list[str]:
        """Python's transactions."""
        return [type(event.submission).__name__ for event in self.events if isinstance(event, Mined)]

    @property
    def faults(self) -> list[Exception]:
        """What Python has refused, and why."""
        return [event.error for event in self.events if isinstance(event, CounterpartyFault)]
