"""How much unknown clients may do at a relay, and when: a client that asks too much delays itself, and no other.

`accounts`: what each address uses, `listening`: accepts connections, `frames`: reads the commonest frames, `meter`:
what one connection may do, `turns`: which address is next. Knows no store, and of messages only what they cost.
"""
