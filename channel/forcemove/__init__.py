"""Forcemove: turn-based games in state channels.

Programs can rely on the names in `__all__`; the modules beneath may move. A name is imported when it is first used:
`import forcemove` loads nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forcemove.artifact import Artifact as Artifact
    from forcemove.artifact import load_artifact as load_artifact
    from forcemove.chain.adjudicator import Adjudicator as Adjudicator
    from forcemove.chain.book import AddressBook as AddressBook
    from forcemove.chain.book import load_book as load_book
    from forcemove.chain.book import save_book as save_book
    from forcemove.chain.chain import Chain as Chain
    from forcemove.chain.deployment import deploy as deploy
    from forcemove.chain.local import connect as connect
    from forcemove.chain.verification import verify as verify
    from forcemove.errors import AppError as AppError
    from forcemove.errors import ChainError as ChainError
    from forcemove.errors import CounterpartyError as CounterpartyError
    from forcemove.errors import ForcemoveError as ForcemoveError
    from forcemove.errors import InvalidValue as InvalidValue
    from forcemove.errors import LocalError as LocalError
    from forcemove.errors import MalformedBytes as MalformedBytes
    from forcemove.errors import PassingError as PassingError
    from forcemove.errors import RuleError as RuleError
    from forcemove.errors import UnknownVersion as UnknownVersion
    from forcemove.flow.actions import Action as Action
    from forcemove.flow.actions import ActionCodec as ActionCodec
    from forcemove.flow.channel import Seat as Seat
    from forcemove.flow.channel import collecting as collecting
    from forcemove.flow.channel import concluding as concluding
    from forcemove.flow.channel import funding as funding
    from forcemove.flow.channel import moves_of as moves_of
    from forcemove.flow.channel import opening as opening
    from forcemove.flow.channel import playing as playing
    from forcemove.flow.channel import prefunding as prefunding
    from forcemove.flow.channel import rounds as rounds
    from forcemove.flow.channel import turn as turn
    from forcemove.flow.keys import exchange_keys as exchange_keys
    from forcemove.flow.queue import ActionQueue as ActionQueue
    from forcemove.flow.queue import said_before as said_before
    from forcemove.flow.signed import SignedTransport as SignedTransport
    from forcemove.flow.steps import Step as Step
    from forcemove.flow.steps import choice as choice
    from forcemove.flow.steps import local as local
    from forcemove.flow.steps import repeat as repeat
    from forcemove.flow.steps import run as run
    from forcemove.flow.steps import sequence as sequence
    from forcemove.flow.steps import transition as transition
    from forcemove.flow.transport import MemoryTransport as MemoryTransport
    from forcemove.game import Bot as Bot
    from forcemove.game import Choice as Choice
    from forcemove.game import FalseMove as FalseMove
    from forcemove.game import Game as Game
    from forcemove.game import JsonValue as JsonValue
    from forcemove.game import LabelledEnum as LabelledEnum
    from forcemove.game import Move as Move
    from forcemove.game import Names as Names
    from forcemove.game import NotOurTurn as NotOurTurn
    from forcemove.game import Pictured as Pictured
    from forcemove.game import PlayerChecked as PlayerChecked
    from forcemove.game import Randomness as Randomness
    from forcemove.game import TransitionRow as TransitionRow
    from forcemove.game import seat_names as seat_names
    from forcemove.node.assemble import Assembly as Assembly
    from forcemove.node.assemble import assemble as assemble
    from forcemove.node.friendly import FriendlyAssembly as FriendlyAssembly
    from forcemove.node.keys import new_key as new_key
    from forcemove.node.keys import read_key_file as read_key_file
    from forcemove.node.keys import write_key_file as write_key_file
    from forcemove.node.local import LocalTable as LocalTable
    from forcemove.node.local import local_table as local_table
    from forcemove.node.local import undecided as undecided
    from forcemove.node.managed_channel import ManagedChannel as ManagedChannel
    from forcemove.node.memory import MemoryMessenger as MemoryMessenger
    from forcemove.node.node import Node as Node
    from forcemove.node.setup import ChannelSetup as ChannelSetup
    from forcemove.picture import Shape as Shape
    from forcemove.picture import Spot as Spot
    from forcemove.picture import Svg as Svg
    from forcemove.protocol.agreement import Agreement as Agreement
    from forcemove.protocol.agreement import agree as agree
    from forcemove.protocol.app import App as App
    from forcemove.protocol.app import Terms as Terms
    from forcemove.protocol.codec.limits import MAX_ACTION as MAX_ACTION
    from forcemove.protocol.codec.limits import MAX_RELAYED as MAX_RELAYED
    from forcemove.protocol.encoding import Domain as Domain
    from forcemove.protocol.encoding import channel_id as channel_id
    from forcemove.protocol.encoding import word as word
    from forcemove.protocol.hashing import keccak256 as keccak256
    from forcemove.protocol.machine.channel import Channel as Channel
    from forcemove.protocol.machine.channel import Phase as Phase
    from forcemove.protocol.machine.effects import ChooseMove as ChooseMove
    from forcemove.protocol.machine.inputs import ChallengeWanted as ChallengeWanted
    from forcemove.protocol.machine.inputs import ConcludeWanted as ConcludeWanted
    from forcemove.protocol.machine.inputs import MoveChosen as MoveChosen
    from forcemove.protocol.outcome import Allocation as Allocation
    from forcemove.protocol.outcome import Outcome as Outcome
    from forcemove.protocol.outcome import address_destination as address_destination
    from forcemove.protocol.signing import Key as Key
    from forcemove.protocol.state import SignedState as SignedState
    from forcemove.protocol.state import VariablePart as VariablePart
    from forcemove.protocol.types import ETHER as ETHER
    from forcemove.protocol.types import UINT48_MAX as UINT48_MAX
    from forcemove.protocol.types import UINT64_MAX as UINT64_MAX
    from forcemove.protocol.types import UINT256_MAX as UINT256_MAX
    from forcemove.protocol.types import FixedPart as FixedPart
    from forcemove.protocol.types import require_bytes as require_bytes
    from forcemove.protocol.types import require_uint as require_uint
    from forcemove.registry import find_game as find_game
    from forcemove.registry import installed_games as installed_games
    from forcemove.store.opening import open_journal as open_journal

_MODULES = {
    "forcemove.artifact": (
        "Artifact",
        "load_artifact",
    ),
    "forcemove.chain.adjudicator": ("Adjudicator",),
    "forcemove.chain.book": (
        "AddressBook",
        "load_book",
        "save_book",
    ),
    "forcemove.chain.chain": ("Chain",),
    "forcemove.chain.deployment": ("deploy",),
    "forcemove.chain.local": ("connect",),
    "forcemove.chain.verification": ("verify",),
    "forcemove.errors": (
        "AppError",
        "ChainError",
        "CounterpartyError",
        "ForcemoveError",
        "InvalidValue",
        "LocalError",
        "MalformedBytes",
        "PassingError",
        "RuleError",
        "UnknownVersion",
    ),
    "forcemove.flow.actions": (
        "Action",
        "ActionCodec",
    ),
    "forcemove.flow.channel": (
        "Seat",
        "collecting",
        "concluding",
        "funding",
        "moves_of",
        "opening",
        "playing",
        "prefunding",
        "rounds",
        "turn",
    ),
    "forcemove.flow.keys": ("exchange_keys",),
    "forcemove.flow.queue": (
        "ActionQueue",
        "said_before",
    ),
    "forcemove.flow.signed": ("SignedTransport",),
    "forcemove.flow.steps": (
        "Step",
        "choice",
        "local",
        "repeat",
        "run",
        "sequence",
        "transition",
    ),
    "forcemove.flow.transport": ("MemoryTransport",),
    "forcemove.game": (
        "Bot",
        "Choice",
        "FalseMove",
        "Game",
        "JsonValue",
        "LabelledEnum",
        "Move",
        "Names",
        "NotOurTurn",
        "Pictured",
        "PlayerChecked",
        "Randomness",
        "TransitionRow",
        "seat_names",
    ),
    "forcemove.node.assemble": (
        "Assembly",
        "assemble",
    ),
    "forcemove.node.friendly": ("FriendlyAssembly",),
    "forcemove.node.managed_channel": ("ManagedChannel",),
    "forcemove.node.memory": ("MemoryMessenger",),
    "forcemove.node.node": ("Node",),
    "forcemove.node.setup": ("ChannelSetup",),
    "forcemove.registry": (
        "find_game",
        "installed_games",
    ),
    "forcemove.node.keys": (
        "new_key",
        "read_key_file",
        "write_key_file",
    ),
    "forcemove.node.local": (
        "LocalTable",
        "local_table",
        "undecided",
    ),
    "forcemove.picture": (
        "Shape",
        "Spot",
        "Svg",
    ),
    "forcemove.protocol.agreement": (
        "Agreement",
        "agree",
    ),
    "forcemove.protocol.app": (
        "App",
        "Terms",
    ),
    "forcemove.protocol.machine.channel": (
        "Channel",
        "Phase",
    ),
    "forcemove.protocol.machine.effects": ("ChooseMove",),
    "forcemove.protocol.encoding": (
        "Domain",
        "channel_id",
        "word",
    ),
    "forcemove.protocol.machine.inputs": (
        "ChallengeWanted",
        "ConcludeWanted",
        "MoveChosen",
    ),
    "forcemove.protocol.hashing": ("keccak256",),
    "forcemove.protocol.codec.limits": (
        "MAX_ACTION",
        "MAX_RELAYED",
    ),
    "forcemove.protocol.outcome": (
        "Allocation",
        "Outcome",
        "address_destination",
    ),
    "forcemove.protocol.signing": ("Key",),
    "forcemove.protocol.state": (
        "SignedState",
        "VariablePart",
    ),
    "forcemove.protocol.types": (
        "ETHER",
        "FixedPart",
        "UINT256_MAX",
        "UINT48_MAX",
        "UINT64_MAX",
        "require_bytes",
        "require_uint",
    ),
    "forcemove.store.opening": ("open_journal",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOMES)  # noqa: PLE0605  # type checkers read the imports above instead


def __getattr__(name: str) -> object:
    """Import a name of the public API when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
