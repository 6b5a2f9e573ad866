"""What `--json` prints on standard output: a document, or how a command has failed.

A failure is `{"error": {"type", "message", "details"}}`. `type`: the error's class, of a rule the name that it has in
Solidity. `message`: the words, which are on standard error, too. `details`: the error's fields in camelCase, bytes as
hex with 0x, an address with its checksum, a whole number as decimal digits in quotes, an error inside as an object of
the same three. An endpoint is shown without what may be secret in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, to_builtins

from forcemove.errors import ForcemoveError
from forcemove.text.explanations import headline, show_value
from forcemove.text.harmless import harmless

if TYPE_CHECKING:
    from forcemove.inspect.documents import CommandErrorJson, Document

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")


def print_document(document: Document, indent: int | None = 2) -> None:
    """Print a document. `indent`: None for a single line."""
    from forcemove.inspect.documents import document_json

    click.echo(document_json(document, indent))


def print_failure(error: BaseException, message: str) -> None:
    """Print how a command has failed. `message`: the error in words."""
    from forcemove.inspect.documents import FailureDocument

    print_document(FailureDocument(error_json(error, message)), None)


def wants_json(group: click.Group, arguments: Sequence[str]) -> bool:
    """Whether the arguments name a command of the group that has `--json`, and give it. A command with `reports_errors`
    prints errors itself."""
    command: click.Command = group
    for word in arguments:
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), word) or command
        elif word == "--":
            break
        elif word == "--json":
            has_option = any(word in each.opts for each in command.params)
            return has_option and not getattr(command, "reports_errors", False)
    return False


def error_json(error: BaseException, message: str) -> CommandErrorJson:
    """How a command has failed; see the module. `message`: the error in words. Of an error that only explains another
    one, type and details are the other's."""
    from forcemove.inspect.documents import CommandErrorJson

    cause = error.__cause__
    named = cause if isinstance(error, click.ClickException) and isinstance(cause, ForcemoveError) else error
    facts: Mapping[str, object] = named.values() if isinstance(named, ForcemoveError) else getattr(named, "facts", {})
    details = {_camel(name): detail_json(value) for name, value in facts.items()}
    return CommandErrorJson(type(named).__name__, harmless(message, "\n"), details)


def detail_json(value: object) -> Any:
    """A field of an error as JSON; a value without a form of its own is named by its kind alone."""
    match value:
        case Enum():
            return detail_json(value.value)
        case None | bool():
            return value
        case int():
            return str(value)
        case float():
            return value if math.isfinite(value) else None
        case str() | Path():
            return _URL.sub(_without_secrets, str(value))
        case ForcemoveError():
            return to_builtins(error_json(value, headline(value)))
        case Struct():
            return to_builtins(value)
        case tuple() | list() | set() | frozenset():
            return [detail_json(each) for each in value]
        case dict():
            return {str(name): detail_json(each) for name, each in value.items()}
        case _:
            return show_value(value)


def _without_secrets(url: re.Match[str]) -> str:
    from forcemove.chain.endpoint_name import shown_endpoint

    return shown_endpoint(url[0])


def _camel(name: str) -> str:
    first, *others = name.strip("_").split("_")
    return first + "".join(each.capitalize() for each in others)
