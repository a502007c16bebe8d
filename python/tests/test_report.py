"""The figures and the report on a real store, from the public functions."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from somatize import Store
from somatize.errors import SomaError
from somatize.report import _page, findings, main, page
from somatize.study import (
    DONE,
    FAILED,
    PRUNED,
    Sampler,
    Space,
    coordinates,
    discard,
    history,
    importance,
    influence,
    learning,
    report,
    slices,
    table,
    take,
    timeline,
)
from somatize.study.figures.influence import _influence_data
from somatize.study.figures.read import read, silent
from somatize.study.figures.record import Knob, Record

pytest.importorskip("plotly")

FIGURES = (table, influence, coordinates, history, learning, slices, timeline)
SPACE = (
    Space()
    .real("lr", 1e-4, 1e-1, log=True)
    .choice("opt", ["adam", "sgd"])
    .real("momentum", 0, 1, when=("opt", "sgd"))
)
ODD = "w </script><b>&"


def fill(where, *, study="widths", goal="min", total=16):
    """Twelve finished trials, three pruned, one failed."""
    store = Store(where)
    sampler = Sampler.sobol(seed=0)
    for trial in range(total):
        point = sampler.ask(SPACE, trial, [])
        score = abs(math.log10(point["lr"]) + 2)
        ours = dict(study=study, trial=trial, me="here", goal=goal)
        assert take(store, point, **ours)
        if trial % 5 == 4:
            report(store, point, [score], state=PRUNED, because="worse than the median", **ours)
        elif trial == 7:
            report(store, point, [score], state=FAILED, because="ValueError: no", **ours)
        else:
            report(store, point, [score + 1, score], state=DONE, **ours)
    return store


@pytest.fixture(scope="module")
def where(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    fill(str(folder))
    fill(str(folder), study=ODD)
    fill(str(folder), study="no goal", goal=None)
    return str(folder)


@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_a_figure_is_drawn_from_the_store_with_and_without_the_script_s_space(where, draw):
    store = Store(where, read_only=True)
    ours, theirs = draw(store, SPACE, study="widths"), draw(store, study="widths")
    assert ours.to_dict()["data"]
    assert ours.to_json() == theirs.to_json()


def test_influence_draws_what_importance_answers_on_the_store(where):
    store = Store(where, read_only=True)
    assert _influence_data(read(store, study="widths")).bars == tuple(importance(store, study="widths"))


def test_a_goal_is_refused_where_it_was_typed(where):
    store = Store(where, read_only=True)
    with pytest.raises(ValueError, match="`goal` was given `minimize`, expected `min` or `max`"):
        coordinates(store, study="widths", goal="minimize")
    with pytest.raises(ValueError, match="`goal` was given `max`, the study `widths` was run with `min`"):
        coordinates(store, study="widths", goal="max")


def test_a_study_without_a_goal_is_drawn_grey_and_takes_one_that_is_typed(where):
    store = Store(where, read_only=True)
    grey = coordinates(store, study="no goal")
    assert "not coloured" in grey.layout.title.subtitle.text
    assert "best" not in grey.layout.meta["finding"]
    assert "best" in coordinates(store, study="no goal", goal="max").layout.meta["finding"]


@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_a_study_that_is_not_there_names_a_close_one(where, draw):
    with pytest.raises(SomaError, match="widths"):
        draw(Store(where, read_only=True), study="width")


def test_the_report_says_what_there_is(where):
    store = Store(where, read_only=True)
    said = findings(read(store, study="widths"), silent(store, study="widths"))
    assert said[0].startswith("12 of 16 finished, best ")
    assert any(
        one == "3 trials pruned: shown with their state, never ranked with finished ones." for one in said
    )
    assert any(one == "1 trial failed: 1 × ValueError." for one in said)


def test_the_findings_quote_an_option_that_is_empty_and_count_the_reasons_they_leave_out():
    rows = [{"trial": 0, "state": "done", "score": 1.0, "point": {"c": ""}}]
    rows += [{"trial": 1 + i, "state": "failed", "point": {}, "because": f"E{i}: no"} for i in range(6)]
    record = Record.of(rows, [Knob("c", "choice", options=("", "a"))], goal="min")
    said = findings(record, set())
    assert "The best point is c = ''." in said
    assert "6 trials failed: 1 × E0, 1 × E1, 1 × E2, 1 × E3 and 2 × another reason." in said


def test_nothing_a_person_wrote_turns_or_fills_the_page():
    name = "n" * 500
    rows = [{"trial": 0, "state": "failed", "point": {name: 1.0}, "because": "E\u202e: no"}]
    text = _page(Record.of(rows, [Knob(name, "real", 0.0, 1.0)], goal="min"), set(), where="w", theme="light")
    assert "\u202e" not in text
    assert "1 × E\\u202e" in text
    head = text.split(f'<th title="{name}">')[1].split("</th>")[0]
    assert "…" in head
    assert len(head) < 120


def test_discarded_trials_are_drawn_nowhere_and_counted():
    store = fill("memory://")
    for trial in (3, 4):
        discard(store, study="widths", trial=trial)
    record = read(store, study="widths")
    assert {3, 4}.isdisjoint(row.trial for row in record.rows)
    assert "2 trials discarded: not shown, not counted." in findings(record, set())
    assert "2 discarded, not shown" in table(store, study="widths").layout.title.subtitle.text


def test_the_page_is_whole_and_asks_nothing_of_a_network(where):
    text = page(Store(where, read_only=True), study=ODD)
    assert "default-src 'none'" in text
    assert text.count('class="plotly-graph-div"') == 6
    assert "<h1>w &lt;/script&gt;&lt;b&gt;&amp;</h1>" in text
    assert 'src="http' not in text
    assert text.count("<tr") >= 16 + 3
    assert "momentum" in text
    assert "only when opt = sgd" in text
    assert "declared(store, study=" in text


def test_the_command_writes_one_file_and_says_what_is_missing(where, tmp_path, capsys):
    out = tmp_path / "report.html"
    assert main([where, "widths", "-o", str(out)]) == 0
    assert out.stat().st_size > 1_000_000
    assert main([where, "\udcff", "-o", str(out)]) == 1
    assert "'\\udcff' was given, expected a study's name that reads as text" in capsys.readouterr().err
    assert main([where, "width", "-o", str(out)]) == 1
    assert "widths" in capsys.readouterr().err
    assert main([str(tmp_path / "nowhere"), "widths"]) == 1
    assert not (tmp_path / "nowhere").exists()


def test_python_m_runs_it():
    done = subprocess.run(
        [sys.executable, "-m", "somatize.report", "--help"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0
    assert "STORE STUDY" in done.stdout
