"""Measures how quick and how dear things are, case by case, and says which bounds are missed.

    scripts/measure                        every case that has bounds (some minutes)
    scripts/measure commit relay           these
    scripts/measure idle --channels 100    with another size than usual
    scripts/measure --list                 the cases, what can be chosen of each, and its bounds

Times on shared machines differ from run to run, so costs are ratios where that is possible: medians over rounds in one
process, in which both are taken in turn.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from scripts.measuring import __path__ as here
from scripts.measuring.cases import CASES, Row

for _each in iter_modules(here):
    if _each.name != "__main__":
        import_module(f"scripts.measuring.{_each.name}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. Returns 1 where `--check` is given and a bound missed."""
    parser = _parser()
    options = vars(parser.parse_args(arguments))
    names, is_json, check, write = (options.pop(each) for each in ("cases", "json", "check", "write"))
    if options.pop("list"):
        print("\n".join(line for name in CASES for line in _listed(name)))
        return 0
    names = names or [name for name, each in CASES.items() if each.rows]
    if problem := _problem(names, options, write):
        parser.error(problem)
    found: dict[str, tuple[Row, float]] = {}
    for name in names:
        rows = _measured(name, options, write)
        found |= rows
        if not is_json:
            print("\n".join(_line(row, *of) for row, of in rows.items()), flush=True)
    if is_json:
        print(as_json(found))
    missed = [name for name, (row, value) in found.items() if not row.holds(value)]
    if missed:
        print(f"{len(missed)} of {len(found)} rows miss their bounds: {', '.join(missed)}", file=sys.stderr)
    return int(check and bool(missed))


def _parser() -> argparse.ArgumentParser:
    """Options beside the common ones are the parameters of the cases."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("scripts/measure", description=__doc__, formatter_class=raw)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="what to measure; see --list")
    parser.add_argument("--list", action="store_true", help="only say which cases there are")
    parser.add_argument("--json", action="store_true", help='print {"rows": {name: {"value": ..., "unit": ...}}}')
    parser.add_argument("--check", action="store_true", help="fail where a bound is missed")
    parser.add_argument("--write", action="store_true", help="write what was measured into the page that shows it")
    parameters = {name: default for each in CASES.values() for name, default in each.parameters.items()}
    for name, default in sorted(parameters.items()):
        taken = ", ".join(each for each in CASES if name in CASES[each].parameters)
        kind, metavar = type(default), "N" if isinstance(default, int | float) else "WHERE"
        parser.add_argument(f"--{name}", type=kind, metavar=metavar, default=argparse.SUPPRESS, help=f"of {taken}")
    return parser


def _problem(names: Sequence[str], options: Mapping[str, Any], write: bool) -> str:
    """Why it cannot be measured like this."""
    for name in names:
        if name not in CASES:
            return f"there is no case {name}: see --list"
        if write and CASES[name].write is None:
            return f"no page shows {name}"
    for name, value in options.items():
        if not any(name in CASES[each].parameters for each in names):
            return f"none of these cases has --{name}"
        if isinstance(value, int | float) and value <= 0:
            return f"--{name} must be more than 0"
    return ""


def _measured(name: str, options: Mapping[str, Any], write: bool) -> dict[str, tuple[Row, float]]:
    """The rows of a case, and their values."""
    each = CASES[name]
    print(f"{name}: {each.sentence}", file=sys.stderr, flush=True)
    values = each.measure(**{key: value for key, value in options.items() if key in each.parameters})
    if write and each.write is not None:
        each.write(values)
    return {row: (each.row(row), value) for row, value in values.items()}


def _line(name: str, row: Row, value: float | None) -> str:
    bound = "" if row.bound is None else f"{'>=' if row.at_least else '<='} {row.bound:,g}"
    shown, verdict = ("", "") if value is None else (f"{value:,.2f}", "" if row.holds(value) else "MISSED")
    return f"{name:40} {shown:>14} {row.unit:8} {bound:10} {verdict:6} {row.meaning}".rstrip()


def as_json(found: Mapping[str, tuple[Row, float]]) -> str:
    """Every row with its value and unit; where it has a bound with that, and whether it holds."""

    def shown(row: Row, value: float) -> dict[str, object]:
        bound = {"atLeast" if row.at_least else "atMost": row.bound, "holds": row.holds(value)}
        return {"value": value, "unit": row.unit} | ({} if row.bound is None else bound)

    return json.dumps({"rows": {name: shown(*each) for name, each in found.items()}}, indent=1)


def _listed(name: str) -> Iterator[str]:
    """A case, what can be chosen of it, and its rows with bounds."""
    options = (f"[--{key} {value}]" for key, value in CASES[name].parameters.items())
    yield " ".join((f"{name}:", CASES[name].sentence, *options))
    yield from ("    " + _line(row.name, row, None) for row in CASES[name].rows.values())


if __name__ == "__main__":
    raise SystemExit(main())
