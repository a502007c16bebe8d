"""Runs the notebooks beside it and keeps what they show: `python examples/notebooks/build.py`.

Figures become pictures, drawn by a headless Chromium: a code-hosting page shows them without a script.
Needs what the tests need (`make setup`); writes each notebook only when everything in it ran.
"""

import base64
import os
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
FIGURE = "application/vnd.plotly.v1+json"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def run(path):
    """Execute a notebook in a folder of its own, figures left as plotly's JSON."""
    os.environ["PLOTLY_RENDERER"] = "plotly_mimetype"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook, timeout=300, record_timing=False, resources={"metadata": {"path": folder}}
        ).execute()
    return notebook


def figures(notebook):
    """The outputs that are figures, each as its data: mime type to content."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output["data"] for output in outputs if FIGURE in output.get("data", {})]


def pictured(notebook, browser):
    """Put a picture in the place of each figure's JSON."""
    import plotly.io

    for data in figures(notebook):
        figure = data.pop(FIGURE)
        figure.pop("config", None)
        data.pop("text/html", None)
        page = browser.new_page(device_scale_factor=1.25)
        page.set_content(plotly.io.to_html(figure, include_plotlyjs=True, config={"displayModeBar": False}))
        shown = page.locator(".js-plotly-plot")
        shown.locator(".main-svg").first.wait_for()
        data["text/plain"] = figure["layout"]["meta"]["finding"]
        data["image/png"] = base64.b64encode(shown.screenshot()).decode()
        page.close()
    return notebook


def main(names):
    """Run and rewrite the notebooks named, all by default."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        sys.exit("no Chromium: its figures could not be drawn (apt-get install chromium)")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for path in sorted(HERE.glob("*.ipynb")):
            if not names or path.stem in names:
                nbformat.write(pictured(run(path), browser), path)
                print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
