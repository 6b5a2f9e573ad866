"""The files of the page: what is in them, and that it does what it stands in for."""
