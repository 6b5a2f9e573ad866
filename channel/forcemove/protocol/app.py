"""The port that a game plugs into: its rules as a value. The core never imports a game."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from msgspec import Struct

from forcemove.protocol.types import VariablePart

Deposits = tuple[tuple[bytes, tuple[int, ...]], ...]
"""For each asset, in rising order, what each participant pays in, in the asset's smallest unit."""


class Terms(Struct, frozen=True):
    """What an app's first position may depend on.

    `channel_id`: 32 bytes. `participants`: their addresses. `stake`: in the asset's smallest unit. `deposits`: the
    assets with the amounts, which are the allocations of the opening.
    """

    channel_id: bytes
    participants: tuple[bytes, ...]
    stake: int
    deposits: Deposits


class Rules(Protocol):
    """The twin of `IForceMoveApp`."""

    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        """Whether `to` may follow `from_` in the channel; raises the app's `AppError` when the move is illegal.

        The caller has checked all that `IForceMoveApp.validTransition` lists. (A rule about states; the steps of a flow
        that await an action are also called transitions.)
        """
        ...


@runtime_checkable
class App(Rules, Protocol):
    """A game as channels need it: its rules, its beginning and its moves."""

    @property
    def name(self) -> str:
        """The game's name, as the command line knows it: lower-case words with hyphens."""
        ...

    def initial_app_data(self, terms: Terms) -> bytes:
        """The position in which a channel on these terms starts."""
        ...

    def stake_of(self, app_data: bytes) -> int:
        """The stake of a position. Raises an `AppError` on bytes that are not a position."""
        ...
