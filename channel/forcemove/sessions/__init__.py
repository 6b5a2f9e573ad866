"""Tables: meeting, agreeing, playing, standing by and leaving, for any player and any number of tables at once. Knows
neither a terminal nor a page: those who sit at a table are behind a port (`sessions.ports`)."""
