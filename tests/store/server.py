"""A PostgreSQL of the tests' own: its programs come from PyPI, its data are in a temporary folder.

PostgreSQL does not run as root. Where the tests do, it runs as `nobody`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote

import psycopg

_INIT = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
# No test cuts the power: the server need not wait for its disk. It listens on a socket in its own folder only.
_OPTIONS = "-F -h '' -k {folder} -c shared_buffers=8MB -c max_connections=40"


class Server:
    """A running server; `schema()` is the URL of a journal that nobody else has."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder, self._programs = folder, programs
        self._names = (f"test_{number}" for number in count(1))

    def url(self, options: str = "") -> str:
        """Of its one database, on its socket."""
        return f"postgresql://postgres@/postgres?host={quote(str(self._folder))}{options}"

    def schema(self) -> str:
        """Make a new schema; its URL."""
        name = next(self._names)
        self.run(f"CREATE SCHEMA {name}")
        return self.url(f"&options={quote(f'-csearch_path={name}')}")

    def run(self, statement: str, url: str = "") -> list[tuple[object, ...]]:
        """Run a statement as the database's owner; the rows that it returns."""
        with psycopg.connect(url or self.url(), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def control(self, *arguments: str) -> None:
        """Run pg_ctl."""
        log, options = self._folder / "log", _OPTIONS.format(folder=self._folder)
        _as_its_user(
            [self._programs / "pg_ctl", "-D", self._folder / "data", "-w", "-l", log, "-o", options, *arguments]
        )

    def start(self) -> None:
        self.control("start")

    def stop(self) -> None:
        """As a crash does: nobody is waited for."""
        self.control("-m", "immediate", "stop")


@contextmanager
def running_server() -> Iterator[Server]:
    """A server with an empty database, for as long as it is needed."""
    folder = Path(mkdtemp(prefix="forcemove-pg-"))
    try:
        if _is_root():
            os.chown(folder, _nobody().pw_uid, _nobody().pw_gid)
        programs = _programs(folder)
        _as_its_user([programs / "initdb", "-D", folder / "data", *_INIT])
        server = Server(folder, programs)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


def _programs(folder: Path) -> Path:
    """Where initdb and pg_ctl are: of the package, of which Python 3.13 has none, or of the system."""
    package = find_spec("pgserver")
    if package is None or package.origin is None:
        found = shutil.which("initdb") or shutil.which("initdb", path=_system_folders())
        assert found, "The tests need PostgreSQL: Python 3.11 and 3.12 install one, for others install your system's."
        return Path(found).parent
    installed = Path(package.origin).parent / "pginstall"
    if _is_root() and not all(parent.stat().st_mode & 0o001 for parent in installed.parents):
        installed = _copied(installed, folder)
    return installed / "bin"


def _copied(installed: Path, folder: Path) -> Path:
    """The programs, and beside them the libraries where they look for them."""
    site, libraries = installed.parents[1], "pgserver.libs"
    if (site / libraries).is_dir():
        shutil.copytree(site / libraries, folder / libraries)
    return Path(shutil.copytree(installed, folder / installed.relative_to(site)))


def _system_folders() -> str:
    return os.pathsep.join(map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)))


def _as_its_user(command: Sequence[str | Path]) -> None:
    user = {"user": _nobody().pw_uid, "group": _nobody().pw_gid, "extra_groups": []} if _is_root() else {}
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, **user)  # type: ignore[call-overload]  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr


def _is_root() -> bool:
    return os.geteuid() == 0


def _nobody() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")
