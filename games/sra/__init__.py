"""Cards between two who do not trust each other: SRA's commutative encryption and the shuffle of two phases.

`arithmetic` reckons, `cipher` has keys and card numbers, `deck` shuffles and checks what comes, `pile` draws, discards
and turns up, `faults` says what a counterparty can do wrong. All of it is pure: values in, values or errors out; what a
game sends, and in which order, its flow says. After Shamir, Rivest and Adleman, "Mental Poker" (1979), as the Mental
Poker Toolkit's documents play it, made safe against the cheats that are known.

**What it cannot do.** Nothing proves a shuffle while it happens. Who swaps a card for another number, or puts in one
card twice under different keys (and can then tell where both copies lie), is found out when a card opens to none of
the deck, or when the second copy shows: at the latest by `deck.audit`, at the end of the hand. Whose fault it was,
only the two of them know, each of itself. Who stops sending, stops the game. The wrong dealing of secret cards can be
ruled out beforehand only with proofs of shuffle, which this package does not have.
"""
