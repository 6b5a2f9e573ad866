"""A person at a game: what is shown, and what can be typed. It decides nothing, and knows no channel."""
