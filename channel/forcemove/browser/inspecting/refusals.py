"""Why something cannot be inspected, for people at a page. Pure."""

from __future__ import annotations

from forcemove.browser.inspecting.inspecting import NoChainNamed, NothingSigned
from forcemove.errors import ForcemoveError
from forcemove.inspect.errors import AdjudicatorNotNamed
from forcemove.protocol.codec.json_text import hex_text
from forcemove.text.explanations import explain

__all__ = ["refusal_lines"]


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
