"""How two players find each other: offers, joins, what both agree on, and what the journal remembers of it."""
