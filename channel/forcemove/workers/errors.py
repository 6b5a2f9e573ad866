"""The errors of what polls and sends."""

from __future__ import annotations

from forcemove.errors import LocalError, PassingError


class AccountInUse(LocalError):
    """Another process sends the account's transactions, and has not taken our requests out of the outbox. They wait
    for that process, or until it has stopped."""

    chain_id: int
    account: bytes


class LookFailed(PassingError):
    """A look at something outside has raised an unexpected error, `reason` in Python's words: a library could not read
    an answer, or the fault is ours. The look is tried again."""

    reason: str
