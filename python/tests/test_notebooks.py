"""The two seed documents as notebooks: they run, and what is committed is what they say."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("build", FOLDER / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def said(notebook):
    """What each cell printed or answered, figures apart."""
    return [
        [
            output.get("text") or output.get("data", {}).get("text/plain")
            for output in cell.get("outputs", [])
            if output.output_type != "display_data"
        ]
        for cell in notebook.cells
    ]


def pictures(notebook):
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output.data for output in outputs if "image/png" in output.get("data", {})]


def test_both_documents_are_there():
    assert [path.stem for path in NOTEBOOKS] == ["study", "training"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_says_what_is_committed(build, path):
    kept = nbformat.read(path, as_version=4)
    ran = build.run(path)
    assert said(ran) == said(kept)
    titles = [
        data[build.FIGURE]["layout"]["meta"]["finding"] for data in (figure for figure in build.figures(ran))
    ]
    assert titles == [data["text/plain"] for data in pictures(kept)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_committed_is_light_and_names_no_machine(path):
    text = path.read_text()
    assert len(text) < 1_000_000
    without_pictures = re.sub(r'"image/png": "[^"]*"', "", text)
    assert not re.search(r"/(tmp|home|root|work|var|Users)/|0x[0-9a-f]{6,}", without_pictures)
