"""The lobby of a relay: `lobby` takes offers and joins, `listing` has what is shown of the open ones."""
