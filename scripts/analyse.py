#!/usr/bin/env python3
"""Static analysis of the contracts by slither, held against `tests/static/findings.toml`.

    scripts/analyse.py      say which findings are new and which are gone (exit status 1 where there are any)

Slither reads the compiler's standard JSON and compiles through `contracts/solc.mjs`. A finding is known by its detector
and by what slither says of it, without line numbers: whatever changes what is found must be looked at again. Each
finding that stays has one line in `tests/static/findings.toml` that says why. Runs in the project's environment;
slither has one of its own inside of it (`scripts/setup test`).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.compile_contracts import product_sources, standard_json  # noqa: E402

FINDINGS = ROOT / "tests" / "static" / "findings.toml"
_SLITHER = Path(sys.prefix) / "analysis" / "bin" / "slither"
_MODULES = "contracts/node_modules/"
_PLACE = re.compile(r" \([^()\s]+#\d+(?:-\d+)?\)")


class AnalysisFailed(Exception):
    """Slither is missing, or could not read the contracts; the text says why."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One finding: how bad slither thinks that it is (`High` to `Informational`), the detector, and what it says."""

    impact: str
    check: str
    says: str


def analyse() -> frozenset[Finding]:
    """What slither finds in the sources of what is deployed. Raises `AnalysisFailed`."""
    if not _SLITHER.exists():
        raise AnalysisFailed(f"There is no {_SLITHER}: run scripts/setup test.")
    with TemporaryDirectory() as folder:
        given, answer = Path(folder, "input.json"), Path(folder, "output.json")
        given.write_text(json.dumps(_slither_input()), "utf-8")
        done = subprocess.run(_command(given, answer), cwd=ROOT, capture_output=True, text=True, check=False)
        report: dict[str, Any] = json.loads(answer.read_text("utf-8")) if answer.exists() else {}
    if not report.get("success"):
        raise AnalysisFailed(f"slither could not look at the contracts: {report.get('error')}\n{done.stderr[-3000:]}")
    return frozenset(map(_finding, report["results"].get("detectors", ())))


def _command(given: Path, answer: Path) -> list[str]:
    compiler = ("--compile-force-framework", "solc-json", "--solc", "contracts/solc.mjs", "--solc-disable-warnings")
    return [str(_SLITHER), str(given), *compiler, "--filter-paths", "node_modules", "--json", str(answer)]


def _slither_input() -> dict[str, Any]:
    """Standard JSON whose sources have the names of their files, which slither opens. Slither reads only the syntax
    trees of the compiler's output; to make code as well would take five times as long."""
    given = standard_json(product_sources())
    sources = {
        name if name.startswith("contracts/") else _MODULES + name: text for name, text in given["sources"].items()
    }
    settings = given["settings"] | {
        "outputSelection": {"*": {"": ["ast"]}},
        "remappings": [f"@openzeppelin/={_MODULES}@openzeppelin/"],
    }
    return given | {"sources": sources, "settings": settings}


def _finding(detected: Mapping[str, Any]) -> Finding:
    lines = (line.strip() for line in _PLACE.sub("", detected["description"]).splitlines())
    return Finding(detected["impact"], detected["check"], " ".join(filter(None, lines)))


def load_reasons(path: Path = FINDINGS) -> dict[Finding, str]:
    """The findings that stay, and why. Raises `AnalysisFailed` where two entries are the same or one has no reason."""
    reasons: dict[Finding, str] = {}
    for entry in tomllib.loads(path.read_text("utf-8"))["finding"]:
        finding = Finding(entry["impact"], entry["check"], entry["says"])
        if finding in reasons or not entry["reason"].strip() or "\n" in entry["reason"]:
            raise AnalysisFailed(f"{path.name}: an entry is there twice, or has no reason of one line: {finding}")
        reasons[finding] = entry["reason"]
    return reasons


def differences(found: frozenset[Finding], reasons: Mapping[Finding, str]) -> list[str]:
    """Findings without a reason, and reasons without a finding, as texts."""
    new = [f"new: {_shown(finding)}" for finding in sorted(found - reasons.keys())]
    return new + [f"gone: {_shown(finding)}" for finding in sorted(reasons.keys() - found)]


def _shown(finding: Finding) -> str:
    """The finding as an entry of the file, without the reason."""
    values = {"impact": finding.impact, "check": finding.check, "says": finding.says}
    return "\n".join(["[[finding]]", *(f"{name} = {json.dumps(value)}" for name, value in values.items())])


def main() -> int:
    """The command; returns its exit status."""
    try:
        found, reasons = analyse(), load_reasons()
    except AnalysisFailed as failure:
        print(failure)
        return 1
    different = differences(found, reasons)
    print("\n\n".join([*different, f"{len(found)} findings, {len(different)} differences from {FINDINGS.name}."]))
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())
