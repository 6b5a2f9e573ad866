"""How `scripts/docs` builds the pages: all Markdown of the project, as it is read in the repository, and the docstrings.

The pages are plain files first. So nothing in them is of the generator alone, but for the directives of `docs/api`: what
the generator wants besides (which page is beneath which, what a link to a folder is) is made here.
"""

from __future__ import annotations

import re
import sys
import tomllib
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
    "channel/forcemove/line/jetstream/README.md",
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
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
lexers.update({name: TextLexer() for name in ("conf", "mermaid", "solidity")})

_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def _adapt(_: Sphinx, page: str, source: list[str]) -> None:
    """Give a page of `docs` that lists others its place above them, and show a link to a folder or file that is no page
    as its text."""
    here = (ROOT / page).parent
    beneath = [
        each["path"].removesuffix(".md") for each in _LINK.finditer(source[0]) if _is_beneath(here, each["path"])
    ]

    def shown(link: re.Match[str]) -> str:
        is_page = "://" in link["path"] or link["path"].endswith((".md", ".svg"))
        return link[0] if is_page else link["text"]

    source[0] = _LINK.sub(shown, source[0])
    if page.startswith("docs/") and page.endswith("README") and beneath:
        source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(dict.fromkeys(beneath)) + "\n```\n"


def _is_beneath(here: Path, path: str) -> bool:
    """Whether a link of an index leads to a page that has no other index."""
    if not path.endswith(".md"):
        return False
    target = (here / path).resolve()
    folder = target.parent if target.name != "README.md" else target.parent.parent
    is_ours = target.is_relative_to(ROOT / "docs")
    return target != ROOT / "docs" / "README.md" and (folder == here or (not is_ours and here == ROOT / "docs"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", _adapt)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
