"""The pages of a table that others play at. They show what its log proves, and nothing is decided there."""
