"""Reads what a person has typed into the form of an offer. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove.browser.lobby.view import OfferDraft
from forcemove.chain.addresses import parse_address
from forcemove.errors import MalformedBytes
from forcemove.history.tokens import TokenFacts
from forcemove.protocol.agreement import DEPOSIT_IN_STAKES
from forcemove.protocol.encoding import NO_CHAIN
from forcemove.protocol.types import ETHER, MAX_CHALLENGE_DURATION, MIN_CHALLENGE_DURATION, UINT256_MAX
from forcemove.sessions.running.open_tables import WantedGame
from forcemove.sessions.running.playable import PlayableGame, find_playable, token_of
from forcemove.text.amounts import parse_amount, parse_tokens
from forcemove.text.explanations import headline

_MAX_STAKE = UINT256_MAX // DEPOSIT_IN_STAKES


def read_draft(draft: OfferDraft, playable: Sequence[PlayableGame]) -> WantedGame | str:
    """The game that a form asks for, or what is wrong with the form. `playable`: the games that can be played here."""
    stake, token = _stake(draft.stake, token_of(playable))
    if stake is None or stake > _MAX_STAKE:
        return f"{draft.stake!r:.60} is not a stake: write for example 0.2 ether, 5 gwei, or 0 for a friendly game."
    game = _find(playable, draft.game, token, is_friendly=not stake)
    if isinstance(game, str):
        return game
    seats, duration = _number(draft.seats), _number(draft.duration)
    if seats is None or seats not in game.game.seats:
        return f"{game.game.title} takes {' or '.join(map(str, game.game.seats))} players."
    if duration is None or not MIN_CHALLENGE_DURATION <= duration <= MAX_CHALLENGE_DURATION:
        return "The time to answer a challenge is a number of seconds."
    move_time = _number(draft.move_time or "0")
    if move_time is None or move_time > MAX_CHALLENGE_DURATION:
        return "The time for a move is a number of seconds; 0 means any time."
    try:
        guest = parse_address(draft.guest) if draft.guest else b""
    except MalformedBytes as error:
        return headline(error)
    return WantedGame(game, stake, duration, seats, move_time, guest, draft.relay)


def _stake(text: str, token: TokenFacts | None) -> tuple[int | None, TokenFacts | None]:
    """The stake that a text means, None for none, and what it is of: the token, or None for ether."""
    in_ether = parse_amount(text)
    if in_ether is not None or token is None:
        return in_ether, None
    return parse_tokens(text, token.decimals), token


def _find(
    playable: Sequence[PlayableGame], name: str, token: TokenFacts | None, *, is_friendly: bool
) -> PlayableGame | str:
    if is_friendly:
        return find_playable(playable, name, NO_CHAIN) or f"There is no game {name!r:.60} here."
    chain_id = max((each.chain_id for each in playable), default=NO_CHAIN)
    if chain_id == NO_CHAIN:
        return "A stake needs a chain: start this command with --chain, or offer the game for 0."
    found = find_playable(playable, name, chain_id, ETHER if token is None else token.address)
    return found or f"The address book of chain {chain_id} has no contract of {name!r:.60}: offer it for 0."


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else None
