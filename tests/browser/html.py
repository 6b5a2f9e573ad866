"""Pages read back: their text, their elements, and what must never be in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

__all__ = ["Element", "elements", "find", "text_of"]

_VOID = frozenset({"meta", "link", "input", "br"})


@dataclass
class Element:
    name: str
    attributes: dict[str, str | None]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(each if isinstance(each, str) else f" {each.text} " for each in self.children).split())

    def all(self) -> list[Element]:
        return [self, *(inner for each in self.children if isinstance(each, Element) for inner in each.all())]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, dict(attrs))
        self._open[-1].children.append(made)
        if tag not in _VOID:
            self._open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].name == tag, f"</{tag}> closes <{self._open[-1].name}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def close(self) -> None:
        super().close()
        assert self._open == [self.root], f"<{self._open[-1].name}> is not closed"


def elements(html: str) -> list[Element]:
    """All elements in their order; the page must be well formed."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    return parser.root.all()[1:]


def find(html: str, id_: str) -> Element:
    (found,) = [each for each in elements(html) if each.attributes.get("id") == id_]
    return found


def text_of(html: str) -> str:
    return " ".join(each.text for each in elements(html)[:1])
