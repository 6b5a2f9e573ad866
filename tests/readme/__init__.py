"""The pages (READMEs and docs): their examples, commands, links, and what is generated in them."""
