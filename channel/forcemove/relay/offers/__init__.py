"""The lobby of a relay: `lobby` takes offers, `seating` has their guests, `listing` what is shown of the open ones."""
