"""How many files a process may have open: each connection is one."""

from __future__ import annotations

import resource


def raise_open_files() -> int:
    """Raise this process' limit of open files as far as the system allows; returns the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
