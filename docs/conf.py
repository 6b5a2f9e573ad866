"""How `scripts/docs` builds the pages: all Markdown of the project, as it is read in the repository, and docstrings.

The pages are plain files first. Nothing in them is of the generator alone, but for the directives of `docs/api`: what
the generator wants besides (which page is beneath which, what a link to a folder is) is made here.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.highlighting import lexers

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "channel"), str(ROOT / "games")]

project = "Forcemove"
author = "the Forcemove project"
release = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "docs/README"
include_patterns = [
    "*.md",
    "docs/**.md",
    "channel/README.md",
    "channel/forcemove/transport/jetstream/README.md",
    "contracts/README.md",
    "games/README.md",
    "tests/checking/README.md",
]
exclude_patterns = [".venv", "build", "**/node_modules", "**/__pycache__", "channel/forcemove/scaffold"]
html_theme = "furo"
html_title = f"Forcemove {release}"
html_copy_source = False
myst_heading_anchors = 4
default_role = "code"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
lexers.update({name: TextLexer() for name in ("conf", "mermaid", "solidity")})

_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_PICTURE = re.compile(r'<picture>.*?<img alt="(?P<text>[^"]*)" src="(?P<path>[^"]*)".*?</picture>', re.DOTALL)


def _adapt(_: Sphinx, page: str, source: list[str]) -> None:
    """Give an index its place above the pages that it lists, show a link to a folder or file that is not a page as its
    text, and a picture of two colour schemes as an image, which is copied."""
    trees = "".join(_trees(ROOT / f"{page}.md", source[0]))

    def shown(link: re.Match[str]) -> str:
        is_page = "://" in link["path"] or link["path"].endswith((".md", ".svg", ".webp"))
        return link[0] if is_page else link["text"]

    pictures = _PICTURE.sub(r"![\g<text>](\g<path>)", source[0])
    source[0] = _LINK.sub(shown, pictures) + trees


def _trees(page: Path, text: str) -> Iterator[str]:
    """For each section of an index what puts the pages that it lists beneath it."""
    for section in re.split(r"^## ", text, flags=re.MULTILINE):
        paths = dict.fromkeys(link["path"] for link in _LINK.finditer(section) if link["path"].endswith(".md"))
        beneath = [path.removesuffix(".md") for path in paths if _index_of((page.parent / path).resolve()) == page]
        caption = f":caption: {section.partition(chr(10))[0]}\n" if section[:1] != "#" else ""
        if beneath:
            yield "\n".join(["\n```{toctree}", f":hidden:\n{caption}", *beneath, "```\n"])


def _index_of(page: Path) -> Path | None:
    """The index above a page: the nearest one in `docs`. Pages beside the code are beneath that of `docs` itself."""
    top = ROOT / "docs" / "README.md"
    if page == top:
        return None
    first = page.parent.parent if page.name == "README.md" else page.parent
    found = (folder / "README.md" for folder in (first, *first.parents) if folder.is_relative_to(top.parent))
    return next((index for index in found if index.exists()), top)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", _adapt)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
