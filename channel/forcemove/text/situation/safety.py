"""How safe our money is, a word for each thing that makes it so, and what is behind the word. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forcemove.errors import AppError
from forcemove.history.overview import ChainDepth, PendingTransaction
from forcemove.protocol.machine.channel import OVER, Phase
from forcemove.text.amounts import amount_text
from forcemove.text.harmless import harmless
from forcemove.text.situation.moment import Moment, clock_text, depth_text, failure_text

_GWEI = 10**9


@dataclass(frozen=True, slots=True)
class SafetyWord:
    """`name`: of what is looked at; `word`: how it is; `tone`: `good`, `bad`, `muted` or empty; `behind`: a sentence
    that says what the word means."""

    name: str
    word: str
    tone: str
    behind: str


def safety_of(moment: Moment) -> tuple[SafetyWord, ...]:
    """The words, in a fixed order; transactions on their way come last."""
    if moment.channel.agreement.is_friendly:
        return (_connection(moment), SafetyWord("Stake", "nothing", "muted", "This game is not on a chain."))
    words = (_contracts(moment), _deposits(moment), _provable(moment), _watchtower(moment), _endpoints(moment))
    return (*words, _connection(moment), _stake(moment), *(_pending(each) for each in _on_their_way(moment)))


def _contracts(moment: Moment) -> SafetyWord:
    behind = "The adjudicator and the game on the chain are the ones that this program knows, byte for byte."
    if moment.seen.safety.is_genuine:
        return SafetyWord("Contracts", "genuine", "good", behind)
    return SafetyWord("Contracts", "not checked yet", "bad", "Nothing is signed before they are found genuine.")


def _deposits(moment: Moment) -> SafetyWord:
    if moment.seen.phase is Phase.CLOSED:
        return SafetyWord("Deposits", "paid out", "good", "The channel is empty.")
    if moment.seen.safety.is_funded:
        behind = "Everybody has paid in, and the deposits are deep enough in the chain for this program."
        return SafetyWord("Deposits", "all there", "good", behind)
    if moment.seen.phase in OVER:
        return SafetyWord("Deposits", "not all there", "", "Not everybody has paid in.")
    behind = "You pay in only after the players before you, and play starts once everything is there."
    block = moment.seen.safety.deposit_block
    word = "not yet all there" if block is None or moment.depth is None else f"yours: {depth_text(block, moment.depth)}"
    return SafetyWord("Deposits", word, "", behind)


def _provable(moment: Moment) -> SafetyWord:
    turn = moment.seen.safety.provable_turn
    if moment.seen.phase is Phase.CLOSED:
        return SafetyWord("Saved", "nothing left to prove", "good", "All is paid.")
    if turn is None:
        return SafetyWord("Saved", "nothing yet", "muted", "No state has all the signatures it needs yet.")
    return SafetyWord("Saved", f"up to turn {turn:,}", "good", "You can prove it to the chain without anybody's help.")


def _watchtower(moment: Moment) -> SafetyWord:
    turn = moment.seen.safety.watched_turn
    if turn is None:
        return SafetyWord("Watchtower", "none", "muted", "Nobody answers for you while this program is not running.")
    return SafetyWord("Watchtower", f"has turn {turn:,}", "good", "It answers old challenges for you.")


def _endpoints(moment: Moment) -> SafetyWord:
    depth = moment.depth
    if depth is not None and not depth.answering:
        behind = f"What you do is kept, and sent as soon as one answers. {failure_text(depth)}".rstrip()
        return SafetyWord("Endpoints", silence_text(moment, depth), "bad", behind)
    if moment.seen.safety.is_denied:
        return SafetyWord("Endpoints", "one denies what another shows", "bad", "Challenges are answered all the same.")
    if depth is None:
        return SafetyWord("Endpoints", "not known here", "muted", "This page does not know which nodes answer.")
    if depth.answering == 1:
        return SafetyWord("Endpoints", "one endpoint answers", "", "There is no second node to compare it with.")
    return SafetyWord("Endpoints", "agree", "good", f"{depth.answering} nodes of the chain answer, and show the same.")


def _connection(moment: Moment) -> SafetyWord:
    if moment.seen.safety.is_connected:
        return SafetyWord("Messages", "come and go", "good", "The connection to the others is there.")
    return SafetyWord("Messages", "connection lost", "bad", "This program is reconnecting, and watches the chain.")


def _stake(moment: Moment) -> SafetyWord:
    newest, assets = moment.channel.newest, moment.channel.agreement.deposits
    app_data = moment.channel.agreement.app_data if newest is None or newest.state.is_final else newest.state.app_data
    try:
        stake = moment.game.stake_of(app_data)
    except AppError:
        return SafetyWord("Stake", "unknown", "bad", "The position cannot be read.")
    return SafetyWord(
        "Stake", amount_text(assets[0][0], stake, moment.tokens), "", "What a round, or a move, is played for."
    )


def _on_their_way(moment: Moment) -> Iterator[PendingTransaction]:
    """Our transactions that are not mined yet. What a wallet has sent is known by its effect alone: then it is not
    wanted any more."""
    for each in moment.seen.safety.pending:
        if moment.to_sign is None or each.nonce is not None or each.operation in moment.to_sign:
            yield each


def _pending(tx: PendingTransaction) -> SafetyWord:
    """Our transaction that is not mined yet."""
    name = f"Transaction: {harmless(tx.operation)}"
    if tx.refused:
        return SafetyWord(name, "refused", "bad", harmless(f"The chain says {tx.refused}."))
    if tx.nonce is None or tx.max_fee is None:
        return SafetyWord(name, "not signed yet", "", "It is written down. With a wallet, sign it on the page Wallet.")
    version = "" if tx.versions == 1 else f" Version {tx.versions} replaces the ones before."
    fee = f"{tx.max_fee / _GWEI:,.3f}".rstrip("0").rstrip(".")
    return SafetyWord(name, "on its way", "", f"Nonce {tx.nonce:,}, at most {fee} gwei for a unit of gas.{version}")


def silence_text(moment: Moment, depth: ChainDepth) -> str:
    """How long no endpoint has answered, and how long a clock still runs."""
    until = moment.channel.status.finalizes_at
    clock = f"; the running clock leaves {clock_text(until - moment.now - depth.silent)}" if until else ""
    return f"nobody has answered for {clock_text(depth.silent)}{clock}"
