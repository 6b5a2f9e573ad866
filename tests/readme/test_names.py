"""What the pages name as the code names it is in the code: modules, functions, errors, commands and their options."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from forcemove.cli.main import forcemove
from forcemove.transport.links import LINK_HEAD
from scripts.reference import PUBLIC, offered
from tests.installed import GAMES
from tests.readme.text import DOCS, PAGES, ROOT, Section, code_spans, name_of, sections, sections_with

WORD = re.compile(r"[A-Za-z_]\w*")
OF_OTHERS = {"eth_signTypedData_v4", "typehash", LINK_HEAD}
"""Names that are of EIP-712 and of wallets, and what links begin with."""


@cache
def words_of_the_code() -> frozenset[str]:
    """Every word of the code and of its compiled contracts' ABIs, and the names of the files."""
    folders = ("channel", "games", "contracts", "scripts")
    files = [file for folder in folders for end in ("py", "sol") for file in (ROOT / folder).rglob(f"*.{end}")]
    files += [
        ROOT / "pyproject.toml",
        *(ROOT / "contracts").glob("artifacts/*.json"),
        *(ROOT / "contracts").glob("*.json"),
    ]
    ours = [file for file in files if "node_modules" not in file.parts]
    return frozenset(word for file in ours for word in (file.stem, *WORD.findall(file.read_text("utf-8"))))


def resolves(name: str) -> bool:
    """Whether a dotted name is our module or something in one."""
    module, _, rest = name.rpartition(".")
    if find_spec(module) is None:
        return False
    return hasattr(import_module(module), rest) or find_spec(name) is not None


def is_known(words: list[str]) -> bool:
    """Whether the words after `forcemove` are one of its commands and that command's options."""
    found: click.Command | None = forcemove
    context = click.Context(forcemove)
    while isinstance(found, click.Group) and words and words[0].islower() and words[0][0] != "-":
        found = found.get_command(context, words.pop(0))
    if found is None:
        return False
    options = {option for parameter in found.get_params(context) for option in parameter.opts}
    return {word for word in words if word.startswith("--")} <= options


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_name_is_in_the_code(page: Path) -> None:
    names = {span for span in code_spans(page) if WORD.fullmatch(span)}
    names |= {span.split("(")[0] for span in code_spans(page) if re.fullmatch(r"\w+\(.*\)", span)}

    assert sorted(names - words_of_the_code() - OF_OTHERS) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_dotted_name_leads_to_something(page: Path) -> None:
    names = [span for span in code_spans(page) if re.fullmatch(r"forcemove(\.\w+)+", span)]

    assert [name for name in names if not resolves(name)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_in_the_text_is_one_of_ours(page: Path) -> None:
    spans = [span.removeprefix(".venv/bin/") for span in code_spans(page)]
    spans += [
        line.removeprefix(".venv/bin/")
        for each in sections(page)
        for block in each.blocks("sh") + each.blocks("text")
        for line in block.replace("\\\n", " ").splitlines()
    ]
    commands = [span for span in spans if span.startswith("forcemove ")]

    assert [command for command in commands if not is_known(command.split()[1:])] == []


def test_the_page_of_commands_has_every_command() -> None:
    commands = {f"forcemove {name}" for name in forcemove.list_commands(click.Context(forcemove))}

    assert commands <= set(code_spans(DOCS / "commands.md"))


def test_the_first_page_is_read_in_two_minutes() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120


@pytest.mark.parametrize("page", ["README.md", "games/README.md"])
def test_the_pages_that_say_which_games_there_are_name_every_game(page: str) -> None:
    text = (ROOT / page).read_text("utf-8").lower()

    assert [game.title for game in GAMES if game.title.lower() not in text] == []


@pytest.mark.parametrize(
    "name", ["forcemove_games.missing", "forcemove_games.views.missing", "forcemove.missing.views"]
)
def test_a_dotted_name_that_leads_nowhere_is_seen(name: str) -> None:
    assert not resolves(name)


@pytest.mark.parametrize("command", ["missing", "key missing", "demo --missing", "inspect ID --chains URL"])
def test_a_command_that_is_none_of_ours_is_seen(command: str) -> None:
    assert not is_known(command.split())


@pytest.mark.parametrize("section", sections_with("python"), ids=str)
def test_examples_import_what_programs_can_rely_on(section: Section) -> None:
    """The modules of the API reference; the games beside them are examples."""
    stable = {each for page in PUBLIC for each in offered(PUBLIC[page])}
    text = "\n".join(section.blocks("python"))
    imported = re.findall(r"^(?:>>>|\.\.\.) +(?:from|import) (forcemove(?:\.[\w.]+)?)(?: |$)", text, re.MULTILINE)
    assert set(imported) <= stable
