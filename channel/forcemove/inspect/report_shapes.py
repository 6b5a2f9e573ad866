"""The shapes of documents that tell what an inspection has found; `report_json` makes them."""

from __future__ import annotations

from typing import Any

from forcemove.inspect.documents import Address, Amount, Decimal, Document, Hash, Hex, Seconds

# --------------------------------------------------------------------------------------------------------------- parts


class FixedPartJson(Document):
    """What never changes in a channel. `challengeDuration`: in seconds. `total`: what it is funded with in its home
    `asset`, 0 for anything."""

    participants: list[Address]
    channel_nonce: Decimal
    app_definition: Address
    challenge_duration: Seconds
    asset: Address
    total: Amount


class AllocationJson(Document):
    """What a state would pay to a destination. `account`: null where the destination is another channel; `participant`:
    an index, null where the account is not a participant's."""

    asset: Address
    destination: Hash
    account: Address | None
    participant: int | None
    amount: Amount


class ShareJson(Document):
    """What a participant has deposited, is allocated by the outcome, and is paid."""

    asset: Address
    participant: int
    deposited: Amount
    allocated: Amount
    payable: Amount


class StateJson(Document):
    """A state. `stage`: `prefund`, `postfund`, `app` or `final`; `mover`: a participant's index; both are null
    where the participants are unknown. `evidenceHash`: in place of evidence of which no more is known, else empty."""

    turn_num: int
    is_final: bool
    stage: str | None
    mover: int | None
    outcome: list[AllocationJson]
    app_data: Hex
    evidence: Hex
    evidence_hash: Hex


class AppJson(Document):
    """The game of a channel. `knownBy`: `code`, `book` or `bytes`."""

    game: str
    title: str
    contract: str
    known_by: str


class PositionJson(Document):
    """A position. `data`: what the game's own `position` says. Bytes that are not a position have a `problem` and
    nothing else."""

    description: str | None = None
    board: str | None = None
    stake: Amount | None = None
    data: Any = None
    problem: str | None = None


class SignatureJson(Document):
    """A signature. `verdict`: `signed`, `missing` or `wrong`; `recovered`: whose it is; `problem`: an error's name."""

    participant: int
    address: Address | None
    verdict: str
    recovered: Address | None
    problem: str | None


class ActionJson(Document):
    """What a participant could do. `action`: `challenge`, `respond`, `checkpoint`, `conclude` and
    the like."""

    action: str
    explanation: str


class PossibilitiesJson(Document):
    """What one participant could do with a state."""

    participant: int
    address: Address
    actions: list[ActionJson]


class RefusedActionJson(Document):
    """What the adjudicator would not accept."""

    action: str
    reason: str


class RecordedStateJson(Document):
    """The state that a challenge has recorded."""

    state: StateJson
    app: AppJson | None
    position: PositionJson | None
    signed_by: list[Address]


class HoldingsJson(Document):
    """What the adjudicator holds of an asset."""

    asset: Address
    held: Amount
    payout_begun: bool
    closed: bool


class CreditJson(Document):
    """A payment that failed, and may be collected."""

    account: Address
    asset: Address
    amount: Amount


class LogJson(Document):
    """A log of the adjudicator's."""

    block: int
    transaction: Hash
    log: str
    turn_num: int | None


# ----------------------------------------------------------------------------------------------------------- documents


class ChannelDocument(Document, tag_field="kind", tag="channel"):
    """A channel on a chain. `turnNumRecord` is null where nothing is recorded, `finalizesAt` and `secondsLeft` where no
    clock runs. `ending`: `concluded`, `unanswered`, or null before it is over, or where the logs do not say. `owed`:
    allocations that are still to be paid."""

    chain_id: Decimal
    adjudicator: Address
    channel_id: Hash
    block: int
    time: Seconds
    mode: str
    closed: bool
    turn_num_record: int | None
    finalizes_at: Seconds | None
    seconds_left: Seconds | None
    ending: str | None
    record: RecordedStateJson | None
    owed: list[AllocationJson] | None
    holdings: list[HoldingsJson]
    credits: list[CreditJson]
    history: list[LogJson]


class SignedStateDocument(Document, tag_field="kind", tag="signed-state"):
    """A signed state. `problem`: what makes it invalid. `support`: what else it takes to prove that every participant
    can be held to it, null where this state alone proves it. `refused` and `channel` are null without a chain."""

    chain_id: Decimal
    adjudicator: Address
    channel_id: Hash
    fixed_part: FixedPartJson
    state: StateJson
    app: AppJson | None
    position: PositionJson | None
    signatures: list[SignatureJson]
    problem: str | None
    support: str | None
    could: list[PossibilitiesJson]
    refused: list[RefusedActionJson] | None
    channel: ChannelDocument | None


class GameRecordReportDocument(Document, tag_field="kind", tag="game-record"):
    """A game's record in which everything was found good: a bad one is an error. `result`: everybody's shares, null
    where the record shows no end; `payment`: whether the chain has paid them: `paid`, `open`, `otherwise` (by a state
    that is not in the record) or `unknown` (its logs do not say); `payment` and `channel` are null without a chain."""

    chain_id: Decimal
    adjudicator: Address
    channel_id: Hash
    fixed_part: FixedPartJson
    app: AppJson | None
    names: list[str]
    states: int
    result: list[ShareJson] | None
    payment: str | None
    channel: ChannelDocument | None


class BareDocument(Document):
    """Bytes without a channel. `kind`: `state`, `record` or `position`; `state`: null of a bare position; `missing`:
    what it takes to check it."""

    kind: str
    state: StateJson | None
    app: AppJson | None
    position: PositionJson | None
    signatures: list[Hex]
    missing: list[str]


class StateInCallJson(Document):
    """A state that a call gives."""

    state: StateJson
    app: AppJson | None
    position: PositionJson | None


class CallItemJson(Document):
    """An operation of a batch: what it asks, or the `problem` for which the adjudicator would not read it. `gas`: that
    it may use."""

    gas: int
    call: CallDocument | None
    problem: str | None


class CallDocument(Document, tag_field="kind", tag="call"):
    """Calldata of the adjudicator. `fromRecord`: whether the first state is the recorded one. The states of a response
    count from 0, since the record has their turns. `turnNum`: of a conclusion's final state. `push`: the gas that each
    payment may use, in units of 16,384. What an operation does not have is null, or empty."""

    operation: str
    fixed_part: FixedPartJson | None
    channel_id: Hash | None
    state_hash: Hash | None
    from_record: bool
    turn_num: int | None
    states: list[StateInCallJson]
    pays: list[AllocationJson]
    signatures: list[Hex]
    challenger_signature: Hex | None
    indices: list[int]
    push: int | None
    items: list[CallItemJson]


class GameOfContractJson(Document):
    """The game that a contract is of, and the Python distribution that has it."""

    name: str
    distribution: str | None


class ContractJson(Document):
    """A deployed contract. `derivedAddress`: where the factory would put it; `status`: the verdict in a word."""

    contract: str
    address: Address
    derived_address: Address
    has_code: bool
    status: str
    game: GameOfContractJson | None


class DeploymentDocument(Document):
    """A deployment. `genuine`: whether all that is deployed is what it says; `notDeployed` and `unknown`: names of
    contracts that are not deployed, and of those that no installed game has; `fork`: whose prices the chain has."""

    chain_id: Decimal
    factory: Address
    genuine: bool
    contracts: list[ContractJson]
    not_deployed: list[str]
    unknown: list[str]
    fork: str
