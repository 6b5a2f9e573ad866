"""Tables: meeting, agreeing, playing, standing by and leaving, for any player and any number of tables at once. Knows
neither a terminal nor a page: anyone who sits at a table is behind a port (`tables.ports`)."""
