"""Cards between two who do not trust each other: SRA's commutative encryption and the shuffle of two phases.

`arithmetic` reckons, `cipher` has keys and card numbers, `deck` shuffles, checks what comes and audits, `pile` is what
all see, `player` deals, draws, discards and turns up, `faults` says what a counterparty can do wrong. All of that is
pure: values in, values or errors out. `table` has the messages and one side's context, `flow` tells in steps what is
sent, and in which order. After Shamir, Rivest and Adleman, "Mental Poker" (1979), as the Mental Poker Toolkit's
documents play it, made safe against the cheats that are known.

**What it cannot do.** Nothing proves a shuffle while it happens. Who swaps a card for another number (a dummy, with
which seat 0 can find chosen cards again and put them where it will draw them), or puts in one card twice under
different keys (and can then tell where both copies lie), is found out when a card opens to none of the deck, or when
the second copy shows: at the latest by `deck.audit`, at the end of the hand. So no result counts before the audit.
There both give all their keys, and `deck.false_step` says from the log alone who has cheated; before the audit only the
two of them know, each of itself. Who stops sending, stops the game, and who has lost can refuse the audit. The wrong
dealing of secret cards can be ruled out beforehand only with proofs of shuffle, which this package does not have.
"""
