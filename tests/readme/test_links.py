"""What the README names is there."""

from __future__ import annotations

from tests.readme.text import ROOT, code_spans, links


def test_every_link_leads_to_a_file_of_the_repository() -> None:
    assert links()
    assert [link for link in links() if not (ROOT / link).exists()] == []


def test_every_path_named_in_the_text_exists() -> None:
    folders = tuple(f"{entry.name}/" for entry in ROOT.iterdir() if entry.is_dir() and entry.name[0] != ".")
    paths = [span.split()[0] for span in code_spans() if span.startswith(folders)]

    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
