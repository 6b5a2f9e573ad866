#!/usr/bin/env python3
"""Makes the pictures of the page that README.md, games/README.md and docs/browser.md show, light and dark.

    scripts/pictures.py             make all of them anew (needs Playwright and a Chromium)
    scripts/pictures.py --check     only say which are stale (exit status 1); needs neither

A picture is stale when the page's elements or words are others than when the picture was made. Both are kept beside the
pictures, in `docs/pictures/shown.json`, with a digest of each picture. Runs in the project's environment.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.page_moments import MOMENTS, Moment, shown_lines  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
SHOWN = "shown.json"
SCHEMES = ("light", "dark")
MOST_BYTES = 60_000
"""Bytes of a picture at most."""
_SCALE = 1.5
"""Pixels of a picture for each of the page's."""
_QUALITY = 55
_MARGIN = 8
"""Pixels of the page around what is shown."""


def picture_name(moment: str, scheme: str) -> str:
    """The file of a moment's picture in one colour scheme."""
    return f"{moment}-{scheme}.webp"


def stale(folder: Path = FOLDER, only: Iterable[str] = MOMENTS) -> list[str]:
    """Why which pictures are to be made anew; none where all are as the page is. `only`: the moments to look at."""
    path = folder / SHOWN
    kept: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return [f"{name}: {why}" for name in only for why in _reasons(folder, name, MOMENTS[name], kept)]


def _reasons(folder: Path, name: str, moment: Moment, kept: dict[str, Any]) -> Iterator[str]:
    known = kept.get(name, {"shown": [], "pictures": {}})
    now = shown_lines(moment.html())
    if known["shown"] != now:
        gone, new = (_first_missing(*each) for each in ((known["shown"], now), (now, known["shown"])))
        yield f"the page shows {new!r} now, and {gone!r} then"
    for scheme in SCHEMES:
        file = folder / picture_name(name, scheme)
        if not file.exists() or _digest(file.read_bytes()) != known["pictures"].get(scheme):
            yield f"{file.name} is not the picture that was made"


def _first_missing(lines: Sequence[str], others: Sequence[str]) -> str:
    """The first line that the others lack, or have at another place."""
    return next((each for index, each in enumerate(lines) if others[index : index + 1] != [each]), "nothing more")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# ---------------------------------------------------------------------------------------------------------- the camera


def make(folder: Path = FOLDER) -> None:
    """Make all pictures, and keep what was shown. Raises `ValueError` on a picture that is too large."""
    from tests.browser.served.chromium import chromium

    folder.mkdir(exist_ok=True)
    kept = dict[str, Any]()
    with chromium() as browser:
        for name, moment in MOMENTS.items():
            shown, pictures = take(browser, moment)
            for scheme, picture in pictures.items():
                if len(picture) > MOST_BYTES:
                    raise ValueError(f"{name}, {scheme}: {len(picture):,} bytes are too many")
                (folder / picture_name(name, scheme)).write_bytes(picture)
            digests = {scheme: _digest(each) for scheme, each in pictures.items()}
            kept[name] = {"pictures": digests, "shown": shown}
    (folder / SHOWN).write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")


def take(browser: Any, moment: Moment, kind: str = "webp") -> tuple[list[str], dict[str, bytes]]:
    """What the page shows at a moment, and its pictures by scheme, of the page as a server serves it. `kind`: of image,
    `webp` or `png`."""
    pictures = dict[str, bytes]()
    with moment.shown() as shown:
        viewport = {"width": moment.width, "height": 1000}
        context = browser.new_context(viewport=viewport, device_scale_factor=_SCALE)
        page = context.new_page()
        page.goto(shown.address)
        page.locator("#live", has_text="live").wait_for()
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            pictures[scheme] = _capture(page, moment.parts, kind)
        context.close()
    return shown_lines(shown.html), pictures


def _capture(page: Any, parts: Sequence[str], kind: str) -> bytes:
    """A picture of the page's parts, with a little of what is around them."""
    boxes = [page.locator(each).bounding_box() for each in parts]
    left, top = (min(each[name] for each in boxes) - _MARGIN for name in ("x", "y"))
    right = max(each["x"] + each["width"] for each in boxes) + _MARGIN
    bottom = max(each["y"] + each["height"] for each in boxes) + _MARGIN
    clip = {"x": left, "y": top, "width": right - left, "height": bottom - top, "scale": 1}
    options: dict[str, Any] = {"format": kind, "clip": clip, "captureBeyondViewport": True}
    if kind != "png":
        options["quality"] = _QUALITY
    answer = page.context.new_cdp_session(page).send("Page.captureScreenshot", options)
    return base64.b64decode(answer["data"])


# ------------------------------------------------------------------------------------------------------------ commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 where `--check` finds something stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say which pictures are stale")
    if not parser.parse_args(arguments).check:
        make()
        return 0
    found = stale()
    for each in found:
        print(each, file=sys.stderr)
    if found:
        print("Make them anew with scripts/pictures.py.", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
