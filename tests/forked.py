"""Where tests start processes of their own: each is forked from one that has imported all of them, so that none pays a
second for that. There is one such process for each worker of the tests, and one list of what it imports."""

from __future__ import annotations

from multiprocessing import get_context

__all__ = ["CONTEXT"]

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["web3", *(f"tests.{room}.actors" for room in ("node", "store", "tower"))])
