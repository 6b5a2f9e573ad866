"""A channel to play with: a chain in this process, a person's node, and a counterparty, a network and a chain that
misbehave when a button is pressed. Knows no screen and no page."""
