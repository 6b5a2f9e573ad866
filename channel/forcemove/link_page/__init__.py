"""The playground as files: a page in whose worker all of it runs, for any host that serves files."""
