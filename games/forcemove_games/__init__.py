"""Games for channels: each a folder with its positions, its rules (the twin of a contract) and a player.

A game is a value, `GAME`, of the type `forcemove.game.Game`. Programs find games by the entry-point group
`forcemove.games` and never import one by name. Games over a log without money, such as
`forcemove_games.discard_sra`, are values of the group `forcemove.table_games`: each has a `name`, a `title`, and
`demonstrate` and `play` as `discard_sra` has them."""
