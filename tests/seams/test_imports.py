"""What draws a page, and what plays a friendly game, imports nothing that a browser's tab lacks: no server, no library
of a chain, no database, no terminal. What draws has no thread and no socket, either."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection

import pytest

from tests.seams.lacking import CHAINS, SERVERS, SYSTEM, TERMINALS
from tests.structure.imports import ROOT, read_imports, source_files
from tests.structure.order import DATABASES, is_in

LISTENING = frozenset({"actions", "events", "routes", "server", "site_section", "uploads"})
"""The last names of the browser's modules that may know aiohttp."""
DRAWING = frozenset({"history_reader", "pages", "render", "security", "templating", "view"})
"""The last names of the browser's modules that draw, or say what is drawn."""
JOURNALS = ("forcemove.browser.inspecting", "forcemove.browser.playground")
"""Rooms of the browser that open journals: exports that are inspected, and those of a playground's players."""
LIBRARIES = SERVERS | CHAINS | TERMINALS
_PROGRAM = """
import sys
from importlib import import_module
from tests.seams.lacking import take_away

lacking, system, modules = (each.split() for each in sys.argv[1:])
refused = take_away(lacking, system)
for module in modules:
    try:
        import_module(module)
    except ImportError as error:
        if str(error) not in refused:
            raise
print(*sorted(set(refused)), sep=chr(10))
"""


def refused(modules: Collection[str], lacking: Collection[str], system: Collection[str] = ()) -> list[str]:
    """Which imports are refused where these modules are imported, see `lacking.take_away`."""
    sets = (" ".join(sorted(each)) for each in (lacking, system, modules))
    program = [sys.executable, "-c", _PROGRAM, *sets]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603  # our modules
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


def modules_of(*rooms: str) -> set[str]:
    """Our modules in some rooms, and beneath them."""
    return {module for module in source_files() if any(is_in(module, room) for room in rooms)}


def ending(modules: set[str], last: Collection[str]) -> set[str]:
    """Those of some modules that have one of these last names."""
    return {module for module in modules if module.rpartition(".")[2] in last}


BROWSER = modules_of("forcemove.browser")


def test_what_draws_imports_no_library_and_no_thread() -> None:
    drawing = modules_of("forcemove.text", "forcemove.browser.drawing", "forcemove_games") | ending(BROWSER, DRAWING)
    assert refused(drawing, LIBRARIES | DATABASES, SYSTEM) == []


def test_what_plays_a_friendly_game_imports_no_library() -> None:
    pages = BROWSER - ending(BROWSER, LISTENING) - modules_of(*JOURNALS)
    assert refused(modules_of("forcemove.node", "forcemove.sessions") | pages, LIBRARIES | DATABASES) == []


def test_a_playground_imports_no_library_but_its_journals() -> None:
    playing = modules_of("forcemove.arena", "forcemove.playground", *JOURNALS)
    assert refused(playing - ending(playing, LISTENING), LIBRARIES) == []


def test_only_what_listens_knows_aiohttp() -> None:
    imports = read_imports(source_files())
    assert {each for each in BROWSER if "aiohttp" in imports[each]} <= ending(BROWSER, LISTENING)


@pytest.mark.parametrize(
    ("module", "found"),
    [
        ("forcemove.browser.server", "forcemove.browser.server imports aiohttp"),
        ("forcemove.store.journal", "forcemove.store.channels imports sqlalchemy"),
        ("forcemove.chain.chain", "forcemove.chain.limits imports threading"),
    ],
)
def test_an_import_of_what_is_lacking_is_told(module: str, found: str) -> None:
    assert found in refused([module], {"aiohttp", "sqlalchemy"}, {"threading"})
