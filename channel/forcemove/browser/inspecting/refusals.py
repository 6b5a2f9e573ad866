"""Why something cannot be inspected, for people at a page. Pure."""

from __future__ import annotations

from forcemove.browser.inspecting.inspecting import NoChainNamed, NothingSigned
from forcemove.chain.addresses import show_address
from forcemove.errors import ForcemoveError
from forcemove.inspect.errors import AdjudicatorNotNamed, ChannelUnknown, NotThisKindOfId
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
        case NotThisKindOfId(data):
            return (f"{hex_text(data)} is no channel's id: its 12 high bytes are zero, as in an address.",)
        case ChannelUnknown(adjudicator, channel_id):
            return (
                f"The adjudicator {show_address(adjudicator)} knows nothing of channel {hex_text(channel_id)}.",
                "Nothing was ever paid in or recorded: the id, the chain or the adjudicator may be another.",
            )
        case _:
            return tuple(explain(error).splitlines())
