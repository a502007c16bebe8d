"""The page about the graph is one program, and runs."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_every_block_of_the_page_runs_in_order():
    text = (DOCS / "graph.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) > 5
    scope: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, "docs/graph.md", "exec"), scope)


def test_what_the_page_points_at_is_there():
    links = re.findall(r"\]\(([^)#:]+)\)", (DOCS / "graph.md").read_text())
    assert links
    assert [link for link in links if not (DOCS / link).exists()] == []
