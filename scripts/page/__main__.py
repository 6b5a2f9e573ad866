"""`python -m scripts.page FOLDER [plain]` builds into this folder, and says how large it is. `plain`: without what is
packed beside the files."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.page.build import build

if __name__ == "__main__":
    name, *more = sys.argv[1:]
    folder = Path(name)
    is_packed = more != ["plain"]
    build(folder, is_packed=is_packed)
    files = {path.name: path.stat().st_size for path in folder.iterdir()}
    plain = {name: size for name, size in files.items() if not name.endswith((".br", ".gz"))}
    packed = sum(files.get(f"{name}.br", size) for name, size in plain.items())
    hint = f", {packed / 2**20:.1f} MiB where the host sends what is packed" if is_packed else ""
    print(f"Built: {folder}/index.html, {sum(plain.values()) / 2**20:.1f} MiB in {len(plain)} files{hint}")
