"""The pages (README.md here and in three folders): their examples, commands, links, and what is generated in them."""
