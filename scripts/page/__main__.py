"""`python -m scripts.page FOLDER` builds into this folder, and says how large it is."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.page.build import build

if __name__ == "__main__":
    (folder,) = map(Path, sys.argv[1:])
    build(folder)
    sizes = [path.stat().st_size for path in folder.iterdir()]
    print(f"Built: {folder}/index.html, {sum(sizes) / 2**20:.1f} MiB in {len(sizes)} files")
