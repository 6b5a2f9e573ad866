"""Asks the page's server as a browser does, or as somebody else might."""

from __future__ import annotations

from dataclasses import dataclass
from http.client import HTTPConnection
from urllib.parse import urlencode

from tests.browser.served.serving import Served

__all__ = ["Answer", "Asker"]

_SECONDS = 90.0
_BOUNDARY = "between-the-parts"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: str


class Asker:
    """A client of one server, that has entered. `cookie`: its session's."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.cookie = ""
        entered = self.get("/enter?token=" + served.server.session.enter_token)
        self.cookie = entered.headers["set-cookie"].partition(";")[0]
        self.entered = entered

    @property
    def form_token(self) -> str:
        return self.served.server.session.form_token

    @property
    def page(self) -> str:
        return self.entered.headers["location"]

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, fields: dict[str, str], **headers: str | None) -> Answer:
        """A form as one of our pages sends it. `headers`: others than its own; None leaves one out."""
        ours: dict[str, str | None] = {
            "Origin": self.served.origin,
            "Sec_Fetch_Site": "same-origin",
            "Content_Type": "application/x-www-form-urlencoded",
        }
        return self.ask("POST", path, urlencode({"token": self.form_token} | fields), ours | headers)

    def upload(
        self, path: str, fields: dict[str, str | bytes], token: str | None = None, **headers: str | None
    ) -> Answer:
        """A form with a file as one of our pages sends it. `token`: of the form, the session's unless given."""
        named = {"token": self.form_token if token is None else token} | fields
        parts = [_part(name, each if isinstance(each, bytes) else each.encode()) for name, each in named.items()]
        ours: dict[str, str | None] = {
            "Origin": self.served.origin,
            "Sec_Fetch_Site": "same-origin",
            "Content_Type": f"multipart/form-data; boundary={_BOUNDARY}",
        }
        return self.ask("POST", path, b"".join(parts) + f"--{_BOUNDARY}--\r\n".encode(), ours | headers)

    def press(self, button: str, **headers: str | None) -> Answer:
        return self.post("/playground/press", {"button": button, "path": self.page}, **headers)

    def ask(
        self, method: str, path: str, body: str | bytes = "", headers: dict[str, str | None] | None = None
    ) -> Answer:
        """One request on a connection of its own. `headers`: with _ for -."""
        sent: dict[str, str | None] = {"Host": f"127.0.0.1:{self.served.port}", "Cookie": self.cookie}
        sent |= {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        connection = HTTPConnection("127.0.0.1", self.served.port, timeout=_SECONDS)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if body:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body if isinstance(body, bytes) else body.encode())
            answer = connection.getresponse()
            return Answer(
                answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
            )
        finally:
            connection.close()


def _part(name: str, content: bytes) -> bytes:
    file = '; filename="f"' if name == "file" else ""
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
    return head.encode() + content + b"\r\n"
