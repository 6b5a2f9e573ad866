"""Imports all that a build has, in Pyodide. `found`: how many of our modules there are, and what is missing, each with
the modules that import it."""

from __future__ import annotations

import json
from collections import defaultdict
from importlib import import_module
from pathlib import Path

WANTED: dict[str, list[str]] = {}
"""By module what it imports of the standard library."""


def is_there(name: str) -> bool:
    """Whether this is a module, or a name in one."""
    try:
        import_module(name)
    except ModuleNotFoundError:
        package, _, inner = name.rpartition(".")
        return bool(package) and is_there(package) and hasattr(import_module(package), inner)
    except ImportError:  # it needs what a page has, and Node has not
        pass
    return True


missing = defaultdict[str, list[str]](list)
paths = [path.relative_to("/app").with_suffix("") for path in Path("/app").glob("forcemove*/**/*.pyc")]
modules = [".".join(path.parts).removesuffix(".__init__") for path in paths]
for module in modules:
    for each in (module, *WANTED.get(module, ())):
        if not is_there(each):
            missing[each].append(module)
found = json.dumps({"imported": len(modules), "missing": missing})
