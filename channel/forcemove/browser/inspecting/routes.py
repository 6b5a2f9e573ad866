"""The routes of the pages that inspect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from aiohttp import web

from forcemove.browser.actions import html_page
from forcemove.browser.inspecting.inspecting import Inspecting
from forcemove.browser.inspecting.refusals import refusal_lines
from forcemove.browser.inspecting.render import InspectView, VerifyView, inspect_page, verify_page
from forcemove.browser.inspecting.subjects import read_subject
from forcemove.browser.inspecting.uploads import read_upload
from forcemove.browser.server import BrowserServer
from forcemove.browser.templating import Links
from forcemove.chain.threads import aside
from forcemove.errors import ForcemoveError
from forcemove.text.deployments import deployment_lines
from forcemove.text.reports import ReportPart

__all__ = ["InspectSection"]

ValueT = TypeVar("ValueT")
_MOST_TYPED = 200
"""Characters of what was typed that the answer's field begins with."""


class InspectSection:
    """The `PageSection` of what can be inspected."""

    def __init__(self, inspecting: Inspecting, *, has_threads: bool = True) -> None:
        """`inspecting`: answers; `has_threads`: whether it may be asked in a thread of its own, as is right where an
        endpoint may hang, and wrong for a chain in this process whose clock is moved by hand."""
        self._inspecting, self._has_threads = inspecting, has_threads
        self._site: BrowserServer

    @property
    def links(self) -> Links:
        """See `PageSection`: a deployment can be verified where there is a chain."""
        verify = () if self._inspecting.chain_id is None else (("/verify", "Verify"),)
        return (("/inspect", "Inspect"), *verify)

    def routes(self, site: BrowserServer) -> Sequence[web.RouteDef]:
        """See `PageSection`."""
        self._site = site
        verify = () if self._inspecting.chain_id is None else (web.get("/verify", self._verify),)
        return [web.get("/inspect", self._ask), web.post("/inspect", self._inspect), *verify]

    async def _ask(self, _: web.Request) -> web.StreamResponse:
        return self._page("", (), ())

    async def _inspect(self, request: web.Request) -> web.StreamResponse:
        fields = await read_upload(request, self._site.session)
        typed, file = fields.get("what", b"").strip(), fields.get("file", b"")
        if not (typed or file):
            return self._page("", (), ("Type a channel's id or other hex, or choose a file.",))
        try:
            parts = await self._ask_chain(lambda: self._inspecting.inspect(read_subject(typed or file)))
        except ForcemoveError as error:
            return self._page(_shown(typed), (), refusal_lines(error))
        return self._page(_shown(typed), parts, ())

    async def _ask_chain(self, question: Callable[[], ValueT]) -> ValueT:
        return await aside(question) if self._has_threads else question()

    def _page(self, typed: str, parts: Sequence[ReportPart], problem: Sequence[str]) -> web.Response:
        token = self._site.session.form_token
        view = InspectView(self._inspecting.chain_id, typed, tuple(parts), tuple(problem), token)
        return html_page(inspect_page(view, self._site.nav))

    async def _verify(self, _: web.Request) -> web.StreamResponse:
        is_good, lines = False, list[str]()
        try:
            report = await self._ask_chain(self._inspecting.verify)
            is_good, lines = report.is_good, deployment_lines(report)
        except ForcemoveError as error:
            lines = list(refusal_lines(error))
        view = VerifyView(self._inspecting.chain_id or 0, tuple(lines), is_good)
        return html_page(verify_page(view, self._site.nav))


def _shown(typed: bytes) -> str:
    return typed[:_MOST_TYPED].decode(errors="replace")
