"""The content of a person's screen, as lines of a terminal of so many columns. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forcemove.cli.wrapping import wrapped
from forcemove.tables.playing.content import TableContent

__all__ = ["Styled", "option_lines", "content_lines"]

Styled = tuple[str, str]
"""A style of the screen, and a line."""
Options = Sequence[tuple[str, str]]
"""What can be typed, with an explanation each."""
_WORD = 10
_FEW = 5
"""Options that each have a line of their own; more options stand two on a line, so that all fit on a screen."""


def content_lines(content: TableContent, width: int) -> Iterator[Styled]:
    """The lines from the headline to the warning."""
    for style, text in (
        ("bold", content.headline),
        *(("", f"    {line}") for line in content.board),
        ("", content.money and f"balances    {content.money}"),
        ("", content.outlook),
        ("bold red", content.warning),
    ):
        if text:
            yield from ((style, line) for line in wrapped(text, width))


def option_lines(options: Options, width: int) -> list[str]:
    """A line for each option; of many, two on a line where they fit."""
    texts = [f"  {word:<{_WORD}}{what}" for word, what in options]
    short = [len(text) for text in texts if len(texts) > _FEW and len(text) < width // 2]
    half = max(short, default=0) + 2
    lines, waiting = list[str](), ""
    for text in texts:
        is_short = len(text) in short
        if is_short and waiting:
            lines.append(f"{waiting:<{half}}{text}")
            waiting = ""
        elif is_short:
            waiting = text
        else:
            lines += [waiting] if waiting else []
            lines += wrapped(text, width, _WORD + 2)
            waiting = ""
    return [*lines, waiting] if waiting else lines
