"""Forcemove: turn-based games in state channels.

What this package itself offers, in `__all__`, is what programs can rely on; the modules beneath may move. A name is
imported when it is first used: `import forcemove` loads nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forcemove.channel.artifact import Artifact as Artifact
    from forcemove.channel.artifact import load_artifact as load_artifact
    from forcemove.channel.chain.adjudicator import Adjudicator as Adjudicator
    from forcemove.channel.chain.book import AddressBook as AddressBook
    from forcemove.channel.chain.book import load_book as load_book
    from forcemove.channel.chain.book import save_book as save_book
    from forcemove.channel.chain.chain import Chain as Chain
    from forcemove.channel.chain.deployment import deploy as deploy
    from forcemove.channel.chain.local import connect as connect
    from forcemove.channel.chain.verification import verify as verify
    from forcemove.channel.errors import AppError as AppError
    from forcemove.channel.errors import ChainError as ChainError
    from forcemove.channel.errors import CounterpartyError as CounterpartyError
    from forcemove.channel.errors import ForcemoveError as ForcemoveError
    from forcemove.channel.errors import InvalidValue as InvalidValue
    from forcemove.channel.errors import LocalError as LocalError
    from forcemove.channel.errors import MalformedBytes as MalformedBytes
    from forcemove.channel.errors import PassingError as PassingError
    from forcemove.channel.errors import RuleError as RuleError
    from forcemove.channel.errors import UnknownVersion as UnknownVersion
    from forcemove.channel.flow.actions import Action as Action
    from forcemove.channel.flow.actions import ActionCodec as ActionCodec
    from forcemove.channel.flow.channel import Seat as Seat
    from forcemove.channel.flow.channel import collecting as collecting
    from forcemove.channel.flow.channel import concluding as concluding
    from forcemove.channel.flow.channel import funding as funding
    from forcemove.channel.flow.channel import moves_of as moves_of
    from forcemove.channel.flow.channel import opening as opening
    from forcemove.channel.flow.channel import playing as playing
    from forcemove.channel.flow.channel import prefunding as prefunding
    from forcemove.channel.flow.channel import rounds as rounds
    from forcemove.channel.flow.channel import turn as turn
    from forcemove.channel.flow.keys import exchange_keys as exchange_keys
    from forcemove.channel.flow.queue import ActionQueue as ActionQueue
    from forcemove.channel.flow.queue import said_before as said_before
    from forcemove.channel.flow.signed import SignedTransport as SignedTransport
    from forcemove.channel.flow.steps import Step as Step
    from forcemove.channel.flow.steps import choice as choice
    from forcemove.channel.flow.steps import local as local
    from forcemove.channel.flow.steps import repeat as repeat
    from forcemove.channel.flow.steps import run as run
    from forcemove.channel.flow.steps import sequence as sequence
    from forcemove.channel.flow.steps import transition as transition
    from forcemove.channel.flow.transport import MemoryTransport as MemoryTransport
    from forcemove.channel.game import Bot as Bot
    from forcemove.channel.game import Choice as Choice
    from forcemove.channel.game import Game as Game
    from forcemove.channel.game import LabelledEnum as LabelledEnum
    from forcemove.channel.game import Move as Move
    from forcemove.channel.game import Names as Names
    from forcemove.channel.game import NotOurTurn as NotOurTurn
    from forcemove.channel.game import Randomness as Randomness
    from forcemove.channel.game import TransitionRow as TransitionRow
    from forcemove.channel.game import seat_names as seat_names
    from forcemove.channel.installed import find_game as find_game
    from forcemove.channel.installed import installed_games as installed_games
    from forcemove.channel.node.assemble import Assembly as Assembly
    from forcemove.channel.node.assemble import assemble as assemble
    from forcemove.channel.node.keys import new_key as new_key
    from forcemove.channel.node.keys import read_key_file as read_key_file
    from forcemove.channel.node.keys import write_key_file as write_key_file
    from forcemove.channel.node.local import LocalTable as LocalTable
    from forcemove.channel.node.local import local_table as local_table
    from forcemove.channel.node.local import undecided as undecided
    from forcemove.channel.node.memory import MemoryStore as MemoryStore
    from forcemove.channel.node.node import Node as Node
    from forcemove.channel.node.polled import PolledClient as PolledClient
    from forcemove.channel.protocol.agreement import Agreement as Agreement
    from forcemove.channel.protocol.agreement import agree as agree
    from forcemove.channel.protocol.app import App as App
    from forcemove.channel.protocol.app import Terms as Terms
    from forcemove.channel.protocol.channel import Channel as Channel
    from forcemove.channel.protocol.channel import Phase as Phase
    from forcemove.channel.protocol.effects import ChooseMove as ChooseMove
    from forcemove.channel.protocol.encoding import Domain as Domain
    from forcemove.channel.protocol.encoding import channel_id as channel_id
    from forcemove.channel.protocol.encoding import word as word
    from forcemove.channel.protocol.inputs import ChallengeWanted as ChallengeWanted
    from forcemove.channel.protocol.inputs import ConcludeWanted as ConcludeWanted
    from forcemove.channel.protocol.inputs import MoveChosen as MoveChosen
    from forcemove.channel.protocol.outcome import Allocation as Allocation
    from forcemove.channel.protocol.outcome import Outcome as Outcome
    from forcemove.channel.protocol.outcome import address_destination as address_destination
    from forcemove.channel.protocol.signing import Key as Key
    from forcemove.channel.protocol.state import SignedState as SignedState
    from forcemove.channel.protocol.state import VariablePart as VariablePart
    from forcemove.channel.protocol.types import ETHER as ETHER
    from forcemove.channel.protocol.types import FixedPart as FixedPart
    from forcemove.channel.store.opening import open_journal as open_journal
    from forcemove.games.commitment import Opening as Opening
    from forcemove.games.randomness import choose as choose
    from forcemove.games.randomness import seeded as seeded
    from forcemove.games.randomness import system_randomness as system_randomness
    from forcemove.games.views import apply_update as apply_update
    from forcemove.games.views import filter_state as filter_state
    from forcemove.games.views import play_action as play_action
    from forcemove.games.views import replay_action as replay_action

_MODULES = {
    "forcemove.channel.artifact": (
        "Artifact",
        "load_artifact",
    ),
    "forcemove.channel.chain.adjudicator": ("Adjudicator",),
    "forcemove.channel.chain.book": (
        "AddressBook",
        "load_book",
        "save_book",
    ),
    "forcemove.channel.chain.chain": ("Chain",),
    "forcemove.channel.chain.deployment": ("deploy",),
    "forcemove.channel.chain.local": ("connect",),
    "forcemove.channel.chain.verification": ("verify",),
    "forcemove.channel.errors": (
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
    "forcemove.channel.flow.actions": (
        "Action",
        "ActionCodec",
    ),
    "forcemove.channel.flow.channel": (
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
    "forcemove.channel.flow.keys": ("exchange_keys",),
    "forcemove.channel.flow.queue": (
        "ActionQueue",
        "said_before",
    ),
    "forcemove.channel.flow.signed": ("SignedTransport",),
    "forcemove.channel.flow.steps": (
        "Step",
        "choice",
        "local",
        "repeat",
        "run",
        "sequence",
        "transition",
    ),
    "forcemove.channel.flow.transport": ("MemoryTransport",),
    "forcemove.channel.game": (
        "Bot",
        "Choice",
        "Game",
        "LabelledEnum",
        "Move",
        "Names",
        "NotOurTurn",
        "Randomness",
        "TransitionRow",
        "seat_names",
    ),
    "forcemove.channel.node.assemble": (
        "Assembly",
        "assemble",
    ),
    "forcemove.channel.node.node": ("Node",),
    "forcemove.channel.node.polled": ("PolledClient",),
    "forcemove.channel.installed": (
        "find_game",
        "installed_games",
    ),
    "forcemove.channel.node.keys": (
        "new_key",
        "read_key_file",
        "write_key_file",
    ),
    "forcemove.channel.node.local": (
        "LocalTable",
        "local_table",
        "undecided",
    ),
    "forcemove.channel.node.memory": ("MemoryStore",),
    "forcemove.channel.protocol.agreement": (
        "Agreement",
        "agree",
    ),
    "forcemove.channel.protocol.app": (
        "App",
        "Terms",
    ),
    "forcemove.channel.protocol.channel": (
        "Channel",
        "Phase",
    ),
    "forcemove.channel.protocol.effects": ("ChooseMove",),
    "forcemove.channel.protocol.encoding": (
        "Domain",
        "channel_id",
        "word",
    ),
    "forcemove.channel.protocol.inputs": (
        "ChallengeWanted",
        "ConcludeWanted",
        "MoveChosen",
    ),
    "forcemove.channel.protocol.outcome": (
        "Allocation",
        "Outcome",
        "address_destination",
    ),
    "forcemove.channel.protocol.signing": ("Key",),
    "forcemove.channel.protocol.state": (
        "SignedState",
        "VariablePart",
    ),
    "forcemove.channel.protocol.types": (
        "ETHER",
        "FixedPart",
    ),
    "forcemove.channel.store.opening": ("open_journal",),
    "forcemove.games.commitment": ("Opening",),
    "forcemove.games.randomness": (
        "choose",
        "seeded",
        "system_randomness",
    ),
    "forcemove.games.views": (
        "apply_update",
        "filter_state",
        "play_action",
        "replay_action",
    ),
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
