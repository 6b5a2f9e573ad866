"""The files, built once, and a host that serves nothing but files."""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from scripts.page.build import build
from tests.browser.served.chromium import chromium


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the build, which takes twelve seconds of a core: all workers of a run have one."""
    ours = tmp_path_factory.getbasetemp()
    folder = (ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours) / "link_page"
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "files.json").exists():
            build(folder)
    return folder


@pytest.fixture
def node_build(files: Path, tmp_path: Path) -> Path:
    """A copy of the build for Node, which wants another ending of modules than browsers."""
    folder = tmp_path / "build"
    shutil.copytree(files, folder)
    for name in ("crypto", "unpack"):
        (folder / f"{name}.js").rename(folder / f"{name}.mjs")
    return folder


class FileRequests(SimpleHTTPRequestHandler):
    """A host that has nothing but files."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        """Nothing is written to the screen."""


@contextmanager
def served_files(folder: Path) -> Iterator[str]:
    """The address of a host of files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(FileRequests, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def address(files: Path) -> Iterator[str]:
    """The page's, on a host of files."""
    with served_files(files) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """No longer than for a file: a coroutine cannot be run where Playwright's loop is."""
    with chromium() as found:
        yield found
