"""The page about searching says what is so: its loop runs, its table from Optuna names what is there."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import time
from pathlib import Path

import somatize.study
from somatize import Store
from somatize.study import DONE, Pruner, Sampler, Space, search, take, trials

PAGE = (Path(__file__).parents[2] / "docs" / "search.md").read_text()
LOOP = re.findall(r"```python\n(.*?)```", PAGE, re.S)
TABLE = PAGE.split("## From Optuna")[1].split("##")[0]

DIES = """
import os
from somatize import Store
from somatize.study import Sampler, Space, take
space = Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64)
store = Store("out/widths", lease=0.2)
assert take(store, Sampler.sobol(seed=0).ask(space, 3), study="widths", trial=3, me="dead", goal="min")
os._exit(1)
"""


def test_the_loop_runs_every_trial_and_takes_over_what_a_dead_worker_left(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert subprocess.run([sys.executable, "-c", DIES], check=False, timeout=120).returncode == 1
    time.sleep(0.5)
    (loop,) = LOOP
    # A page's reader waits two minutes for the dead; a test does not.
    short = loop.replace('Store("out/widths")', 'Store("out/widths", lease=0.2)')
    assert short != loop
    exec(compile(short, "docs/search.md", "exec"), {"__name__": "page"})
    rows = trials(Store("out/widths", read_only=True, lease=0.2), study="widths")
    assert {row.trial for row in rows} == set(range(30))
    (last,) = [row for row in rows if (row.trial, row.attempt) == (3, 1)]
    assert last.state in ("done", "pruned")
    assert any(row.state == DONE for row in rows)
    assert "lr=" in capsys.readouterr().out


def test_a_lease_is_two_minutes_and_is_not_kept_in_the_store(tmp_path):
    assert "A lease is 120 s" in PAGE
    Store(tmp_path, lease=600)
    assert Store(tmp_path).lease == 120
    for takes_one in (search, somatize.study.abandoned, Store):
        assert "lease" in inspect.signature(takes_one).parameters


def test_what_the_table_names_is_there():
    ours = " ".join(line.split("|")[2] for line in TABLE.splitlines() if line.count("|") == 3)
    called = set(re.findall(r"(?<![.\w])([a-z_]+)\(", ours))
    assert called >= {"search", "report", "best", "frame", "importance", "curves"}
    for name in called:
        assert callable(getattr(somatize.study, name)), name
    for kind in (Space, Sampler, Pruner):
        for name in re.findall(rf"{kind.__name__}(?:\(\))?\.([a-z]+)\(", ours):
            assert callable(getattr(kind, name)), name
    named = set(re.findall(r"\b([a-z_]+)=", ours))
    known = {
        name
        for call in (search, take, Space.real, Sampler.tpe, Pruner.median, somatize.study.trials)
        for name in inspect.signature(call).parameters
    }
    assert named <= known
