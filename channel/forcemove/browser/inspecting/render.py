"""The pages that inspect, as HTML. What they show may be a stranger's file. Pure: equal values make equal pages."""

from __future__ import annotations

from dataclasses import dataclass, field

from forcemove.browser.templating import Nav, fill_in
from forcemove.text.harmless import harmless
from forcemove.text.reports import ReportEntry, ReportPart


@dataclass(frozen=True, slots=True)
class InspectView:
    """`chain_id`: of the chain that is looked at, None without one; `typed`: what the form begins with; `parts`: what
    was found; `problem`: why nothing was; `form_token`: what the form must bring with it."""

    chain_id: int | None
    typed: str
    parts: tuple[ReportPart, ...]
    problem: tuple[str, ...]
    form_token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class VerifyView:
    """`chain_id`; `lines`: how each contract compares, and what follows; `is_good`: whether the deployment is."""

    chain_id: int
    lines: tuple[str, ...]
    is_good: bool


def inspect_page(view: InspectView, nav: Nav) -> str:
    """The page that asks what to inspect, with what was found."""
    parts, problem = map(_harmless, view.parts), map(harmless, view.problem)
    typed = harmless(view.typed)
    return fill_in("inspect.html", nav=nav, title="Inspect", view=view, typed=typed, parts=[*parts], problem=[*problem])


def verify_page(view: VerifyView, nav: Nav) -> str:
    """The page of a deployment."""
    return fill_in("verify.html", nav=nav, title="Verify", view=view, lines=[*map(harmless, view.lines)])


def _harmless(part: ReportPart) -> ReportPart:
    """The part with nothing in it that a browser would not show as it is."""

    def entry(each: ReportEntry) -> ReportEntry:
        text = None if each.text is None else harmless(each.text, keep="\n")
        return ReportEntry(harmless(each.name), text, each.tone, each.depth)

    return ReportPart(harmless(part.title), tuple(map(entry, part.entries)))
