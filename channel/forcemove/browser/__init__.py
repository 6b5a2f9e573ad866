"""The browser page: what it shows of channels, and how a browser's requests reach them.

`view` is what a page is given, and `render` makes HTML of it: both are pure. The room decides nothing about channels,
and only the command line imports it.
"""
