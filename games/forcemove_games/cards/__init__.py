"""Cards without a dealer, for any number of players: a deck that all have shuffled and nobody can read alone.

The cryptography alone: this package knows no game and no channel. Card i of a deck is the point (i + 1)G of secp256k1.
A masked card is the pair (C1, C2) = (rG, card + rY), ElGamal under the joint key Y, the sum of the players' keys. A
player who shuffles permutes the deck, adds new masks, and proves that no card was changed. A card is read once every
player has given a share of it, D = sk C1, with a proof: C2 less all shares is the card.

| module | what it has |
|---|---|
| `curve` | points and scalars of secp256k1, and their bytes |
| `hashing` | the challenges of all proofs, each under a tag of its own |
| `key_proof` | that somebody knows the secret of a key |
| `share_proof` | that shares of cards were made with the secret of a key; one proof for several cards |
| `deck` | the first deck, new masks, the deck's bytes, its root, and reading a card |
| `shuffle_proof` | that a deck is another one in a hidden order under new masks |
| `errors` | why a proof or its bytes are refused |
"""
