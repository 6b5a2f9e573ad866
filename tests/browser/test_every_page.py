"""Each page is among those whose looks are tested, and each section among those that strangers ask in vain."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

BROWSER = Path("channel/forcemove/browser")
TESTS = Path("tests/browser")


def defined() -> Iterator[ast.stmt]:
    for path in BROWSER.rglob("*.py"):
        yield from ast.parse(path.read_text("utf-8")).body


def words(folder: str) -> set[str]:
    """All names that tests in a folder use."""
    sources = (path.read_text("utf-8") for path in (TESTS / folder).glob("*.py"))
    nodes = [each for source in sources for each in ast.walk(ast.parse(source))]
    names = {each.id for each in nodes if isinstance(each, ast.Name)}
    return names | {each.attr for each in nodes if isinstance(each, ast.Attribute)}


def is_page(each: ast.FunctionDef) -> bool:
    return each.name.endswith("_page") and isinstance(each.returns, ast.Name) and each.returns.id == "str"


def test_axe_and_a_narrow_window_are_tried_on_every_page() -> None:
    pages = {each.name for each in defined() if isinstance(each, ast.FunctionDef) and is_page(each)}

    assert len(pages) > 5
    assert pages <= words("page"), "show it in tests/browser/page/sections.py or test_axe.py"


def test_every_section_is_asked_by_strangers() -> None:
    classes = {each.name for each in defined() if isinstance(each, ast.ClassDef)}
    ports = {"PageSection", "PathSite", "ChannelSite"}
    sections = {name for name in classes if name.endswith(("Section", "Site"))} - ports

    assert len(sections) > 4
    assert sections <= words("served"), "ask for its paths in tests/browser/served/test_sections.py"
