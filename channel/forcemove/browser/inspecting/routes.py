"""The routes of the pages that inspect: a form comes, which may bring a file, and a page goes, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import HttpProcessingError

from forcemove.browser.actions import html_page
from forcemove.browser.inspecting.inspecting import Inspecting, NoChainNamed, NothingSigned
from forcemove.browser.inspecting.render import InspectView, VerifyView, inspect_page, verify_page
from forcemove.browser.inspecting.subjects import MAX_SUBJECT, read_subject
from forcemove.browser.security import BrowserSession, PageRequestRefused, require_form
from forcemove.browser.server import BrowserServer
from forcemove.browser.templating import Links
from forcemove.chain.threads import aside
from forcemove.errors import ForcemoveError
from forcemove.inspect.errors import AdjudicatorNotNamed
from forcemove.protocol.codec.json_text import hex_text
from forcemove.text.deployments import deployment_lines
from forcemove.text.explanations import explain
from forcemove.text.reports import ReportPart

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


def refusal_lines(error: ForcemoveError) -> tuple[str, ...]:
    """What happened, and what to do."""
    match error:
        case NoChainNamed():
            return (
                "32 bytes are a channel's id or a hash; by themselves they say nothing.",
                "Start this command with --chain to look at a chain, and with its address book.",
            )
        case NothingSigned(channel_id):
            return (f"Nothing is signed yet in channel {hex_text(channel_id)}.",)
        case AdjudicatorNotNamed():
            return ("Which adjudicator? This command was given no address book.",)
        case _:
            return tuple(explain(error).splitlines())


_MULTIPART = "multipart/form-data"
_AROUND = 4 * 1024
"""Bytes of the other fields, and of what stands between the fields."""
_FIELDS = frozenset({"token", "what", "file"})


async def read_upload(request: web.Request, session: BrowserSession) -> dict[str, bytes]:
    """The fields of a request's form. Raises `PageRequestRefused` where the form is none of this session's pages, or
    too large."""
    if request.content_type != _MULTIPART:
        raise PageRequestRefused(415, "This is not a form with a file.")
    if request.content_length is None or request.content_length > MAX_SUBJECT + _AROUND:
        raise PageRequestRefused(413, f"A file may have {MAX_SUBJECT:,} bytes.")
    try:
        fields = await _fields(request)
    except (ValueError, LookupError, HttpProcessingError):
        raise PageRequestRefused(400, "This form cannot be read.") from None
    require_form(session, fields.get("token", b"").decode(errors="replace"))
    return fields


async def _fields(request: web.Request) -> dict[str, bytes]:
    fields = dict[str, bytes]()
    reader = await request.clone(client_max_size=MAX_SUBJECT + _AROUND).multipart()
    while (part := await reader.next()) is not None:
        if not isinstance(part, BodyPartReader) or part.name not in _FIELDS or part.name in fields:
            raise ValueError(part)
        fields[part.name] = bytes(await part.read())
    return fields
