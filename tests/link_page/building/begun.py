"""Begins the page in Pyodide, and draws with each of its templates. `found`: which texts were compiled before, by the
build, and which are after that."""

from __future__ import annotations

import json
from importlib import import_module

compiled = import_module("prepared").take_prepared()
before = sorted(compiled)
import_module("forcemove.link_page.begin_playground")
import_module("forcemove.registry").installed_games()
environment = import_module("forcemove.browser.templating").environment()
for name in environment.list_templates():
    environment.get_template(name)
found = json.dumps([before, sorted(compiled)])
