"""`python -m scripts.page`: see `scripts/link_page`."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

from forcemove.errors import ForcemoveError
from forcemove.text.explanations import explain
from scripts.page.build import build
from scripts.page.files import MissingImport

if __name__ == "__main__":
    parser = argparse.ArgumentParser("scripts/link_page", description="Builds the page on which one plays a link.")
    parser.add_argument("folder", nargs="?", default="build/play", type=Path, help="made from scratch")
    parser.add_argument("packing", nargs="?", choices=["plain"], help="nothing stands packed beside the files")
    parser.add_argument("--game", action="append", default=[], help="one more that is installed; may be given again")
    given = parser.parse_args()
    folder: Path = given.folder
    try:
        build(folder, is_packed=given.packing is None, games=given.game)
    except MissingImport as error:
        raise SystemExit(f"Not built, since no page can have this: {error}") from None
    except ForcemoveError as error:
        raise SystemExit(explain(error)) from None
    files = {path.name: path.stat().st_size for path in folder.iterdir()}
    plain = {name: size for name, size in files.items() if not name.endswith((".br", ".gz"))}
    packed = sum(files.get(f"{name}.br", size) for name, size in plain.items())
    hint = "" if given.packing else f", {packed / 2**20:.1f} MiB where the host sends what is packed"
    print(f"Built: {folder}/index.html, {sum(plain.values()) / 2**20:.1f} MiB in {len(plain)} files{hint}")
    print(f"Build: {hashlib.sha256((folder / 'files.json').read_bytes()).hexdigest()}, the SHA-256 of its files.json")
