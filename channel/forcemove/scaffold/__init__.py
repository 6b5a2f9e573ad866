"""`forcemove new`: writes the repository of a new game, with rules in both languages, a bot, tests and a page. Knows no
game but its template, and prints nothing."""
