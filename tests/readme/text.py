"""The README as its tests take it apart."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"


def blocks(language: str) -> list[str]:
    """The contents of the fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def links() -> list[str]:
    """Where the links lead."""
    return re.findall(r"\]\(([^)\s]+)\)", README.read_text("utf-8"))


def code_spans() -> list[str]:
    """What stands between single backticks outside of blocks."""
    prose = re.sub(r"^```.*?^```$", "", README.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"`([^`\n]+)`", prose)
