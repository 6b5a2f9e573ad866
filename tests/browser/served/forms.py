"""A browser without scripts, as small as it can be: it follows what the pages of another process offer, and no more."""

from __future__ import annotations

from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

from tests.browser.html import Element, elements
from tests.browser.served.asking import Answer
from tests.browser.served.serving import until

__all__ = ["FormBrowser"]

_SECONDS = 90.0


class FormBrowser:
    """`path`, `html`: of the page that is shown."""

    def __init__(self, address: str) -> None:
        """`address`: works once."""
        where = urlsplit(address)
        self._host, self.cookie = where.netloc, ""
        entered = self.ask("GET", f"{where.path}?{where.query}")
        self.cookie = entered.headers["set-cookie"].partition(";")[0]
        self.open(entered.headers["location"])

    def open(self, path: str) -> None:
        """Load a page, and where it leads to."""
        answer = self.ask("GET", path)
        while answer.status == 303:
            path = answer.headers["location"]
            answer = self.ask("GET", path)
        assert answer.status == 200, answer.body
        self.path, self.html = path, answer.body

    def reload_until(self, text: str) -> None:
        """Load the page again until it says this."""

        def is_there() -> bool:
            self.open(self.path)
            return text in self.html

        until(is_there, 60)

    def link(self, start: str) -> str:
        """The first link to a path that begins so."""
        return next(path for path in self.links() if path.startswith(start))

    def offers(self) -> list[str]:
        """The pages of the open games that the lobby lists."""
        listed = (each for each in elements(self.html) if (each.attributes.get("id") or "").startswith("o-0x"))
        return [each.attributes["href"] or "" for each in listed]

    def links(self) -> list[str]:
        return [each.attributes.get("href") or "" for each in elements(self.html) if each.name == "a"]

    def submit(self, action: str, **typed: str) -> None:
        """Send the page's form with an action that ends so, with all of its hidden fields."""
        form, fields = self._form(action)
        body = urlencode(fields | typed)
        answer = self.ask("POST", form, body, Origin=f"http://{self._host}", Sec_Fetch_Site="same-origin")
        assert answer.status == 303, answer.body
        self.open(answer.headers["location"])

    def _form(self, action: str) -> tuple[str, dict[str, str]]:
        """The form's action, and its fields."""
        found, fields = "", dict[str, str]()
        for each in elements(self.html):
            if each.name == "form":
                if found:
                    break
                path = each.attributes.get("action") or ""
                found = path if path.endswith(action) else ""
            elif found and each.name == "input":
                fields[each.attributes["name"] or ""] = each.attributes.get("value") or ""
        assert found, f"there is no form {action} on {self.path}"
        return found, fields

    def buttons(self) -> list[Element]:
        return [each for each in elements(self.html) if each.name == "button"]

    def words(self) -> list[str]:
        """The moves that can be made on this page."""
        named = (each for each in self.buttons() if each.attributes.get("name") == "word")
        return [each.attributes.get("value") or "" for each in named]

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> Answer:
        connection = HTTPConnection(self._host, timeout=_SECONDS)
        sent = {name.replace("_", "-"): value for name, value in headers.items()} | {"Cookie": self.cookie}
        if body:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, path, body.encode() or None, sent)
            answer = connection.getresponse()
            received = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, received, answer.read().decode())
        finally:
            connection.close()
