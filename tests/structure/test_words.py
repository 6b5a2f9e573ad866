"""Names are made of the field's words: those that stood in their place are not used again."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure.imports import ROOT, source_files

DENIED = {
    "anew": "again, from_scratch",
    "attendant": "worker",
    "attention": "ready_set",
    "beside": "what it is",
    "courier": "publisher",
    "crew": "workers",
    "desk": "sender",
    "door": "limit",
    "duties": "automatic_actions",
    "duty": "automatic_action",
    "flying": "pending",
    "greetings": "resync",
    "ground": "venue",
    "guarded": "watched",
    "harried": "griefed",
    "hear": "receive, on_message",
    "heard": "received",
    "hearing": "peer_messages",
    "hears": "receives",
    "keeper": "leases",
    "landed": "confirmed",
    "mistake": "error",
    "mistakes": "errors",
    "news": "update",
    "performance": "scenario",
    "performer": "executor",
    "purse": "wallet",
    "scene": "screen",
    "see": "on_chain_update",
    "stir": "mark_ready",
    "stories": "scenarios",
    "story": "scenario",
    "tell": "notify, feed",
    "tells": "notifies",
    "told": "notified",
    "trouble": "on_error",
    "troubles": "errors, faults",
    "undone": "reorged",
    "voice": "output",
    "weather": "faults",
    "wish": "tx_request",
    "wished": "requested",
    "wishes": "outbox",
    "witness": "endpoint",
    "witnesses": "endpoint_quorum, cross_check",
}
"""Words that are not part of a name, and what is said instead."""
DENIED_WHOLE = {
    "class": {
        "addition": "PendingPost",
        "ear": "Listener",
        "match": "PlayedChannel",
        "person": "HumanPlayer",
        "room": "DiskQuota",
        "rounds": "CountedBot",
        "venue": "GamePlace",
        "driven": "ManagedChannel",
        "held": "StoredAppointment",
        "kept": "StoredChannel",
        "known": "Checkpoint",
        "looking": "Polling",
        "post": "ChainWatch",
        "said": "OnChainView",
        "saving": "ChannelUpdate",
        "show": "DemoEnvironment",
        "stage": "DemoEnvironment",
        "standing": "Ownership",
        "wanted": "TxRequest",
    },
    "function": {"report": "on_event, on_error"},
}
"""Words with a plain meaning as parts of names, which say too little as the whole name of a class or a function."""
DENIED_IN = {
    "forcemove.cli.channel": {"most": "max_cost"},
    "forcemove.cli.demo": {"reach": "the field's plain word", "let": "the field's plain word"},
    "forcemove.demo": {"reach": "the field's plain word", "let": "the field's plain word"},
    "forcemove.cli.watch": {"most": "max_cost, max_channels"},
    "forcemove.inspect": {"about": "metadata", "standing": "ownership"},
    "forcemove.node": {"about": "metadata", "most": "max_cost", "patience": "bump_after", "purpose": "request_id"},
    "forcemove.protocol.machine": {"watch": "responses"},
    "forcemove.sender": {"most": "max_cost", "patience": "bump_after", "purpose": "request_id"},
    "forcemove.store": {"about": "metadata", "began": "origin", "kept": "stored", "reached": "cursor"},
    "forcemove.watchtower": {"most": "max_cost", "patience": "bump_after"},
}
"""Whole names that stood for something else in these rooms, and have a plain meaning in others."""
EXCEPTIONS = {
    "forcemove.watchtower.errors: most": "a tower's answers and `--json` show the error's fields by name",
    "tests.flow.table: Said": "an action of a test's own game, which has nothing else to do",
}
"""Names that stay, by module, with the reason."""
TESTS = (
    "chain",
    "contracts",
    "flow",
    "games",
    "gas",
    "invariants",
    "parity",
    "scripts",
    "static",
    "store",
    "structure",
)
"""Rooms of the tests that are. Tests themselves, whose names are sentences, are not looked at."""

_BETWEEN = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


def denied(module: str, source: str) -> list[str]:
    """Each name that a module defines and that has a word in it which was replaced."""
    rooms = [words for room, words in DENIED_IN.items() if f"{module}.".startswith(f"{room}.")]
    found = {
        f"{module}: {name}, use {better}"
        for name, kind in (*((part, "module") for part in module.split(".")), *_names(ast.parse(source)))
        if f"{module}: {name}" not in EXCEPTIONS
        for better in _instead(name, kind, rooms)
    }
    return sorted(found)


def _instead(name: str, kind: str, rooms: list[dict[str, str]]) -> Iterator[str]:
    bare = name.strip("_").lower()
    yield from (DENIED[part.lower()] for part in _BETWEEN.split(name) if part.lower() in DENIED)
    yield from (words[bare] for words in rooms if bare in words)
    if name.lower() in DENIED_WHOLE.get(kind, {}):
        yield DENIED_WHOLE[kind][name.lower()]


def _names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names of classes, functions, parameters, attributes and variables that a module binds."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name):
                yield name, "class"
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not name.startswith("test_"):
                yield name, "function"
            case ast.arg(arg=name):
                yield name, "parameter"
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, "variable"


def _held() -> dict[str, Path]:
    """The modules that are held to this, by name."""
    of_tests = (path for room in TESTS for path in (ROOT / "tests" / room).rglob("*.py"))
    return source_files() | {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in of_tests}


def test_no_name_has_a_word_that_was_replaced() -> None:
    assert [each for name, path in _held().items() for each in denied(name, path.read_text("utf-8"))] == []


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_an_exception_is_still_needed(name: str) -> None:
    module, _, identifier = name.partition(": ")
    assert identifier in {found for found, _ in _names(ast.parse(_held()[module].read_text("utf-8")))}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("forcemove.cli.story", ""),
        ("forcemove.flow.seat", "class BadNews: ..."),
        ("forcemove.flow.seat", "async def _hear(): ..."),
        ("forcemove.flow.seat", "def f(*, on_trouble): ..."),
        ("forcemove.flow.seat", "class A:\n    weather: int"),
        ("forcemove.flow.seat", "def f(self):\n    self._desk = 1"),
        ("forcemove.flow.seat", "MOST_WISHES, B = 1, 2"),
        ("forcemove.flow.seat", "class Kept: ..."),
        ("forcemove.flow.seat", "def report(): ..."),
        ("forcemove.store.journal", "def f(about): ..."),
    ],
)
def test_a_replaced_word_is_seen(module: str, source: str) -> None:
    assert len(denied(module, source)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("forcemove.flow.seat", "class KeptLog: ..."),
        ("forcemove.flow.seat", "def report_end(about, storyboard): ..."),
        ("forcemove.store.journal", "kept_bytes = news.about"),
    ],
)
def test_words_in_their_plain_meaning_are_passed(module: str, source: str) -> None:
    assert denied(module, source) == []
