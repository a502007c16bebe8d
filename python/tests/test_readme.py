"""What the README and the study examples say is true."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def load(name: str, monkeypatch: pytest.MonkeyPatch):
    """An example as a module, imported from its own folder as a script would be."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="example")


def test_the_readme_shows_the_quickstart_as_it_is():
    shown = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert shown is not None
    assert shown[1] == (EXAMPLES / "quickstart.py").read_text()


def test_every_file_the_readme_points_at_is_there():
    targets = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text())
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []


def test_the_quickstart_runs_and_prints_the_best_trial(tmp_path):
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / "quickstart.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert "lr=" in ran.stdout


def test_the_loop_and_the_sugar_visit_the_same_points(tmp_path, monkeypatch):
    from somatize import Store
    from somatize.study import trials

    load("widths", monkeypatch)["main"](str(tmp_path / "loop"))
    load("search", monkeypatch)["main"](str(tmp_path / "sugar"))
    loop, sugar = (
        sorted(
            (row["trial"], str(row["point"])) for row in trials(Store(str(tmp_path / name)), study="widths")
        )
        for name in ("loop", "sugar")
    )
    assert len(loop) == 30
    assert loop == sugar


def test_the_budget_is_met_exactly_though_a_worker_is_killed(tmp_path):
    code = "import sys, budget; print(sorted(budget.main(sys.argv[1])))"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "s")],
        cwd=EXAMPLES,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == str(list(range(24)))


def test_resuming_goes_on_where_it_was(tmp_path, monkeypatch):
    assert load("resume", monkeypatch)["main"](str(tmp_path / "s")) == [5, 12]


def test_what_the_readme_names_is_there(tmp_path):
    from somatize import study

    text = (ROOT / "README.md").read_text()
    listed = re.search(r"functions of `somatize.study`: (.*?);", text, re.S)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == set(study._FIGURES)
    assert callable(study.Sampler.ask)
    assert "--total" in (EXAMPLES / "digits.py").read_text()
    (line,) = re.findall(r"python -m somatize.report (.*?)  ", text)
    ran = subprocess.run(
        [sys.executable, "-m", "somatize.report", *line.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 1, ran.stderr  # 2 is a call that the parser does not know
    assert "there is no store at" in ran.stderr
