"""The failure of a command as JSON, which `--json` prints on standard output beside the words on standard error.

`{"error": {"type", "message", "details"}}`. `type`: the error's class, of a rule the name that it has in Solidity.
`message`: the words. `details`: the error's fields in camelCase, bytes as hex with 0x, an address with its checksum, a
number of more than 53 bits as decimal text, an error inside as an object of the same three. An endpoint is shown
without what may be secret in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import click

from forcemove.errors import ForcemoveError
from forcemove.text.explanations import headline, show_value
from forcemove.text.harmless import harmless

__all__ = ["detail_json", "error_json", "wants_json"]

_EXACT = 1 << 53
"""Up to here every program can hold a whole number."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")


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


def error_json(error: BaseException, message: str) -> dict[str, Any]:
    """The object; see the module. `message`: the error in words. Of an error that only explains another one, type and
    details are the other's."""
    cause = error.__cause__
    named = cause if isinstance(error, click.ClickException) and isinstance(cause, ForcemoveError) else error
    facts: Mapping[str, object] = named.values() if isinstance(named, ForcemoveError) else getattr(named, "facts", {})
    details = {_camel(name): detail_json(value) for name, value in facts.items()}
    return {"error": {"type": type(named).__name__, "message": harmless(message, "\n"), "details": details}}


def detail_json(value: object) -> Any:
    """A field of an error as JSON; a value without a form of its own is named by its kind alone."""
    match value:
        case Enum():
            return detail_json(value.value)
        case None | bool():
            return value
        case int():
            return value if abs(value) <= _EXACT else str(value)
        case float():
            return value if math.isfinite(value) else None
        case bytes():
            return show_value(value)
        case str() | Path():
            return _URL.sub(_without_secrets, str(value))
        case ForcemoveError():
            return error_json(value, headline(value))["error"]
        case tuple() | list() | set() | frozenset():
            return [detail_json(each) for each in value]
        case dict():
            return {str(name): detail_json(each) for name, each in value.items()}
        case _:
            return show_value(value)


def _without_secrets(url: re.Match[str]) -> str:
    from forcemove.chain.rpc import shown_endpoint

    return shown_endpoint(url[0])


def _camel(name: str) -> str:
    first, *others = name.strip("_").split("_")
    return first + "".join(each.capitalize() for each in others)
