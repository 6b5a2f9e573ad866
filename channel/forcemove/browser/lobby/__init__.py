"""The lobby's pages: open games, terms and costs before a person joins, and offers of one's own. They decide nothing:
`forcemove.sessions.running` opens and ends tables."""
