"""How deep in the chain something is, as people read it. Pure."""

from __future__ import annotations

from forcemove.history.overview import ChainDepth

__all__ = ["deposit_text", "depth_text"]


def depth_text(block: int, depth: ChainDepth) -> str:
    """How deep a block is, of how deep it must be, such as `1 of 3 blocks`. `block`: its number."""
    found = min(max(depth.head - block + 1, 0), depth.needed)
    return f"{found:,} of {depth.needed:,} {'block' if depth.needed == 1 else 'blocks'}"


def deposit_text(block: int | None, depth: ChainDepth | None) -> str:
    """A sentence about our deposit, which is mined, and not yet as deep as it is believed. Empty where there is none.
    `block`: the number of its block."""
    return "" if block is None or depth is None else f"Your deposit is {depth_text(block, depth)} deep."
