"""Cards between two players that do not trust each other: SRA's commutative encryption, and the shuffle of two phases.

`arithmetic` reckons, `cipher` has keys and card numbers, `deck` shuffles, checks what comes and audits, `pile` is what
all see, `player` deals, draws, discards and turns up, `faults` says what a counterparty can do wrong. All of that is
pure: values in, values or errors out. `table` has the messages and one side's context, `flow` says in steps what is
sent, and in which order. After Shamir, Rivest and Adleman, "Mental Poker" (1979), as the Mental Poker Toolkit's
documents play it, made safe against the cheats that are known.

**What it cannot do.** Nothing proves a shuffle while it happens. A player can swap a card for another number (a dummy,
with which seat 0 can find chosen cards again and put them where it will draw them), or put in one card twice under
different keys (and can then tell where both copies lie). It is found out when a card opens to no card of the deck, or
when the second copy shows: at the latest by `deck.audit`, at the end of the hand. So no result counts before the audit.
There both give all their keys, and `deck.false_step` says from the log alone which player has cheated; before the audit
each knows it of itself only. A player that stops sending stops the game, and a player that has lost can refuse the
audit. The wrong dealing of secret cards can be ruled out beforehand only with proofs of shuffle, which this package
does not have.
"""
