"""How much strangers may do at a relay, and when: nobody waits for who asks too much, but that one.

`accounts` of addresses, `listening` for connections, `meter`: what one connection may do, `turns`: who is next. Knows
no store, and nothing of what is in the messages but how much they cost.
"""
