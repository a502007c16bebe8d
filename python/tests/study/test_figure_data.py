"""The numbers of every figure, without a drawing: rows by hand, outcomes exact."""

from __future__ import annotations

import json
import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from somatize.figure.words import width_px
from somatize.study.figures.axis import Axis, axis_of
from somatize.study.figures.coordinates import _coordinates_data
from somatize.study.figures.history import _history_data
from somatize.study.figures.influence import _influence_data
from somatize.study.figures.learning import _draw, _learning_data
from somatize.study.figures.record import Knob, Record, Row
from somatize.study.figures.scores import score_axis
from somatize.study.figures.shown import N_SHOWN, even, shown, told
from somatize.study.figures.slices import _slices_data, _tick_words
from somatize.study.figures.spline import spline
from somatize.study.figures.table import _table_data
from somatize.study.figures.timeline import _timeline_data

LR = Knob("lr", "real", 1e-4, 1e-1, log=True)
WIDTH = Knob("width", "int", 8, 64)
OPT = Knob("opt", "choice", options=("adam", "sgd"))


def row(trial, score=None, state="done", **point):
    more = {key: point.pop(key) for key in ("who", "because", "took_secs", "attempt") if key in point}
    return {"trial": trial, "state": state, "score": score, "point": point, **more}


def study(*rows, goal="min", knobs=(LR, WIDTH, OPT), **more):
    return Record.of(rows, knobs, study="widths", goal=goal, **more)


FOUR = (
    row(0, 0.4, lr=1e-3, width=8, opt="sgd", who="a", took_secs=2.0),
    row(1, 0.1, lr=1e-2, width=36, opt="adam", who="b", took_secs=3.0),
    row(
        2,
        0.05,
        "pruned",
        lr=1e-4,
        width=64,
        opt="adam",
        who="a",
        took_secs=0.5,
        because="worse than the median",
    ),
    row(3, 0.2, lr=1e-1, width=64, opt="sgd", who="b", took_secs=1.0),
)


# Axes


def test_a_log_knob_has_its_geometric_mean_in_the_middle():  # C22
    axis = axis_of(Knob("lr", "real", 1e-5, 1e-1, log=True), [])
    assert axis.kind == "log"
    assert axis.at(1e-3) == pytest.approx(0.5, abs=1e-12)
    assert (axis.at(1e-5), axis.at(1e-1)) == (0.0, 1.0)
    assert axis.ticks[0] == (0.0, "1e-5")
    assert axis.ticks[-1] == (1.0, "0.1")


@pytest.mark.parametrize(("high", "kind"), [(50, "linear"), (51, "log")])
def test_a_span_over_fifty_fold_is_drawn_in_log_though_nobody_said_so(high, kind):
    assert axis_of(Knob("width", "int", 1, high), []).kind == kind
    assert axis_of(Knob("width", "real"), [1.0, float(high)]).kind == kind


def test_a_span_that_touches_zero_stays_linear():
    axis = axis_of(Knob("dropout", "real", 0.0, 0.6), [0.001, 0.59])
    assert axis.kind == "linear"
    assert axis.at(0.3) == 0.5


def test_numeric_options_stand_by_value_with_their_labels():  # C22
    axis = axis_of(Knob("width", "choice", options=(256, 32, 64)), [64, 256])
    assert [label for _, label in axis.ticks] == ["32", "64", "256"]
    assert axis.at(32) < axis.at(64) < axis.at(256)


def test_other_options_keep_the_order_of_the_space():
    axis = axis_of(Knob("opt", "choice", options=("sgd", "adam", None, True)), [])
    assert [label for _, label in axis.ticks] == ["sgd", "adam", "None", "True"]


def test_options_of_one_text_stay_apart():  # C12
    axis = axis_of(Knob("k", "choice", options=(64, "64", True, 1, 1.0)), [])
    places = [axis.at(one) for one in (64, "64", True, 1, 1.0)]
    assert len(set(places)) == 5
    assert [label for _, label in axis.ticks][:2] == ["64", "'64'"]
    assert axis.at(2) is None


def test_a_constant_lies_in_the_middle_of_its_axis():
    assert axis_of(Knob("x", "real", 2.0, 2.0), [2.0]).at(2.0) == 0.5
    assert axis_of(Knob("x", "real", 1e-3, 1e-3, log=True), [1e-3]).at(1e-3) == 0.5
    assert axis_of(Knob("x", "int", 3, 3), []).ticks == ((0.5, "3"),)


def test_an_axis_covers_what_was_tried_under_an_earlier_space():  # C24
    axis = axis_of(Knob("x", "real", 0.0, 1.0), [1.8])
    assert (axis.low, axis.high) == (0.0, 1.8)
    assert axis_of(Knob("c", "choice", options=(1, 2)), [4]).options == (1, 2, 4)


@given(
    st.floats(1e-9, 1e6) | st.integers(1, 10**6),
    st.floats(1.0, 1e9),
    st.booleans(),
    st.lists(st.floats(0, 1), max_size=20),
)
def test_every_value_of_a_knob_lies_on_its_axis_and_every_tick_too(low, factor, log, shares):
    high = low * factor
    axis = axis_of(Knob("x", "real", float(low), float(high), log=log), [])
    for share in shares:
        inside = min(max(low + share * (high - low), low), high)
        at = axis.at(float(inside))
        assert at is not None
        assert 0 <= at <= 1
    places = [at for at, _ in axis.ticks]
    assert places == sorted(places)
    assert all(0 <= at <= 1 for at in places)
    assert len(places) <= 7
    # Labels 11 px high on an axis of 190 px: the least distance at which none covers another.
    assert all(after - before > 0.08 for before, after in pairwise(places))


def test_one_outlier_does_not_stretch_the_axis_of_scores():  # C22
    scores = [i / 999 for i in range(999)] + [5000.0]
    axis = score_axis(scores, "min")
    assert axis.n_beyond == 1
    assert axis.high < 1.1
    assert axis.at(5000.0) > 1
    assert axis.within(5000.0) == 1


def test_the_good_end_of_the_scores_is_never_cut():
    scores = [10.0 + i / 100 for i in range(100)] + [0.1]
    assert score_axis(scores, "min").n_beyond == 0
    assert score_axis(scores, "max").n_beyond == 1


@pytest.mark.parametrize("low", [2**53, -(2**63), 2**63 - 2])
def test_two_neighbouring_integers_no_float_tells_apart_have_two_places(low):
    axis = axis_of(Knob("n", "int", low, low + 1), [low, low + 1])
    assert (axis.at(low), axis.at(low + 1)) == (0.0, 1.0)
    assert axis.ticks == ((0.0, str(low)), (1.0, str(low + 1)))


def test_ticks_have_the_digits_that_tell_them_apart():
    assert [text for _, text in score_axis([0.98711, 0.98742], "max").ticks] == [
        "0.9871",
        "0.9872",
        "0.9873",
        "0.9874",
    ]
    rows = [row(i, 0.9871 + i * 1e-5, lr=1e-3, width=8, opt="adam") for i in range(3)]
    assert [text for _, text in _coordinates_data(study(*rows)).scores] == ["0.98712", "0.98711", "0.9871"]


def test_options_that_a_line_would_not_show_are_quoted():
    options = ("", " ", "a b", "a  b", "a\nb", "\u202eabc", "é")
    assert [text for _, text in axis_of(Knob("c", "choice", options=options), []).ticks] == [
        "''",
        "' '",
        "a b",
        "'a  b'",
        "'a\\nb'",
        "'\\u202eabc'",
        "é",
    ]
    c = Knob("c", "choice", options=options)
    data = _table_data(study(row(0, 1.0, c=""), knobs=(c,)))
    assert data.rows[0][4].text == "''"


def test_labels_of_options_are_thinned_before_they_lie_on_each_other():
    axis = axis_of(Knob("seed", "choice", options=tuple(range(100))), [])
    labelled = axis.labelled(26)
    assert [text for _, text in labelled] == [str(i) for i in range(0, 100, 4)]
    assert all(axis.at(int(text)) == at for at, text in labelled)
    assert axis.labelled(100) == axis.ticks


# Splines

PLACES = st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=12)


@given(PLACES, st.integers(3, 40))
def test_a_curve_passes_through_its_value_at_each_axis(at, n_steps):
    points = spline(at, n_steps)
    assert len(points) == (len(at) - 1) * n_steps + 1
    assert points[::n_steps] == at


@given(PLACES, st.integers(3, 40))
def test_a_curve_never_leaves_the_range_of_its_two_axes(at, n_steps):
    points = spline(at, n_steps)
    for i, (left, right) in enumerate(pairwise(at)):
        between = points[i * n_steps : (i + 1) * n_steps + 1]
        if left is None or right is None:
            assert all(one in (left, right, None) for one in between)
            assert None in between
            continue
        assert all(min(left, right) <= one <= max(left, right) for one in between)
        steps = [after - before for before, after in pairwise(between)]
        assert all(step * (right - left) >= -1e-12 for step in steps)


def test_a_curve_goes_on_straight_through_an_axis_it_does_not_turn_at():
    points = spline([0.0, 0.5, 1.0], 100)
    before, after = points[100] - points[99], points[101] - points[100]
    assert before == pytest.approx(after, rel=0.02)
    assert before > 0.004


def test_a_crossing_between_two_gaps_is_still_drawn():
    points = spline([None, 0.3, None], 16)
    assert [i for i, one in enumerate(points) if one == 0.3] == [15, 16, 17]


# Coordinates


def test_coordinates_rank_and_colour_finished_trials_alone():
    data = _coordinates_data(study(*FOUR))
    assert [(curve.row.trial, curve.good) for curve in data.curves] == [(1, 1.0), (3, 0.5), (0, 0.0)]
    assert [(curve.row.trial, curve.good) for curve in data.pruned] == [(2, None)]
    assert data.scores == ((0.0, "0.4"), (0.5, "0.2"), (1.0, "0.1"))
    assert data.curves[0].at[0] == pytest.approx(2 / 3)
    assert data.curves[0].at[1] == 0.5


def test_the_goal_decides_which_end_is_good():
    up = _coordinates_data(study(*FOUR, goal="max"))
    assert [curve.row.trial for curve in up.curves] == [0, 3, 1]
    assert up.title.endswith("best 0.4 at trial 0")
    assert up.good.endswith("high is good")


def test_an_unknown_goal_refuses_to_colour_and_says_so():
    data = _coordinates_data(study(*FOUR, goal=None))
    assert {curve.good for curve in data.curves} == {None}
    assert data.scores == ()
    assert "not coloured" in data.subtitle
    assert "best" not in data.title


def test_one_outlier_washes_nothing_out():  # C22
    rows = [row(i, i / 999, lr=1e-3, width=8, opt="adam") for i in range(999)] + [
        row(999, 5000.0, lr=1e-3, width=8, opt="adam")
    ]
    good = [curve.good for curve in _coordinates_data(study(*rows)).curves]
    assert len({round(one * 63) for one in good}) == 64


def test_equal_scores_share_a_rank():
    rows = [row(i, score, lr=1e-3, width=8, opt="adam") for i, score in enumerate([1.0, 0.5, 1.0, 2.0])]
    assert study(*rows).ranks == {1: 1, 0: 2.5, 2: 2.5, 3: 4}


def test_a_missing_knob_is_a_gap_and_moves_no_other_value():  # C21
    a, b = Knob("a", "real", 0.0, 3.0), Knob("b", "real", 0.0, 2.0)
    rows = (row(0, 0.0, a=1.0, b=2.0), row(1, 2.0, b=0.0), row(2, 1.0, a=2.5, b=1.0))
    data = _coordinates_data(study(*rows, knobs=(a, b)))
    at = {curve.row.trial: curve.at for curve in data.curves}
    assert at == {0: (1 / 3, 1.0), 1: (None, 0.0), 2: (2.5 / 3, 0.5)}
    assert data.notes == ("absent in 1 of 3", "")
    absent = next(curve for curve in data.curves if curve.row.trial == 1)
    assert ("a", "absent") in absent.told
    third = next(line for line in _table_data(study(*rows, knobs=(a, b))).rows if line[1].value == 2)
    assert [cell.value for cell in third] == [2, 2, "done", 1.0, 2.5, 1.0]


def test_a_conditional_knob_says_when_it_exists():
    momentum = Knob("momentum", "real", 0.0, 0.9, when=("opt", ("sgd", "nesterov")))
    rows = (row(0, 0.1, opt="adam"), row(1, 0.2, opt="sgd", momentum=0.5))
    data = _coordinates_data(study(*rows, knobs=(OPT, momentum)))
    assert data.notes[1] == "only when opt = sgd or nesterov, absent in 1 of 2"
    assert ("momentum", "absent, only when opt = sgd or nesterov") in data.curves[0].told


def test_trials_of_one_option_spread_over_its_band_in_the_order_of_their_rank():
    rows = [row(i, i / 10, lr=1e-3, width=8, opt="sgd") for i in range(10)]
    data = _coordinates_data(study(*rows))
    places = [curve.at[2] for curve in data.curves]
    assert places == sorted(places, reverse=True)
    assert len(set(places)) == 10
    assert max(places) - min(places) < 0.5
    assert sum(places) / 10 == pytest.approx(0.75)


def test_with_thousands_the_best_are_all_drawn_and_the_rest_keep_their_spread():
    rows = [row(i, (i * 7919) % 3000 / 3000, lr=1e-3, width=8, opt="adam") for i in range(3000)]
    record = study(*rows)
    data = _coordinates_data(record)
    assert len(data.curves) == N_SHOWN
    assert [curve.row.trial for curve in data.curves[:100]] == [one.trial for one in record.finished[:100]]
    assert data.curves[-1].row == record.finished[-1]
    assert "400 of 3,000 curves drawn, the best 100 among them" in data.subtitle
    assert len(shown(record.finished, 40)) == len(even(record.finished, 40)) == 40


def test_without_a_goal_there_are_no_best_to_draw_whole():
    rows = [row(i, float(i % 7), lr=1e-3, width=8, opt="adam") for i in range(1000)]
    data = _coordinates_data(study(*rows, goal=None))
    assert "400 of 1,000 curves drawn" in data.subtitle
    assert "best" not in data.subtitle
    trials = [curve.row.trial for curve in data.curves]
    assert max(after - before for before, after in pairwise(trials)) == 3


def test_what_is_not_drawn_is_counted():
    rows = [row(i, 0.5, "pruned", lr=1e-3, width=8, opt="sgd") for i in range(5000)]
    record = study(
        *rows, *FOUR[:2], row(5001, 0.2), row(5002, 0.3), curves={(i, 0): (1.0,) for i in range(5000)}
    )
    assert "4,998 pruned, not ranked, 120 of them drawn" in _coordinates_data(record).subtitle
    assert "400 of 4,998 pruned drawn" in _history_data(record).subtitle
    assert "416 of 4,998 pruned drawn" in _slices_data(record).subtitle
    assert "120 of 4,998 other curves drawn" in _learning_data(record).subtitle


def test_a_pointer_is_shown_what_fits_a_figure_and_told_what_is_left():
    knobs = [Knob(f"k{i}", "real", 0.0, 1.0) for i in range(100)]
    point = {knob.name: 0.5 for knob in knobs}
    facts = told(
        study({"trial": 0, "state": "failed", "point": point, "because": "why"}, knobs=knobs), row_of(point)
    )
    assert facts[1] == ("because", "why")
    assert facts[-2:] == [("k23", "0.5"), ("and", "76 more knobs, as the table has them")]


def row_of(point):
    return Row(trial=0, state="failed", point=point, because="why")


# What is said


def test_the_title_states_the_finding():
    rows = [row(i, i / 30, lr=1e-4 * 1000 ** (i / 30), width=8 + i % 7, opt="adam") for i in range(14)]
    rows += [row(i, 0.5, "pruned", lr=1e-3, width=8, opt="sgd") for i in range(14, 30)]
    record = study(*rows, importance=[("lr", 0.9), ("opt", 0.24), ("width", 0.08)])
    title = _coordinates_data(record).title
    assert title == "lr decides; 14 of 30 finished, best 0 at trial 0"
    assert _influence_data(record).title == title
    assert _coordinates_data(record).subtitle.startswith("the best 3 have lr 0.0001 to 0.000158")


def test_chance_is_not_called_a_decision():
    rows = [row(i, random.Random(i).random(), lr=1e-3, width=8, opt="adam") for i in range(10)]
    record = study(*rows, importance=[("lr", 0.5), ("opt", 0.2), ("width", 0.1)])
    assert record.decision == "no knob stands out yet"
    assert study(*rows[:3], importance=[("lr", 1.0)]).decision == "too early to say which knob decides"


def test_unrelated_knobs_stay_within_the_noise_nineteen_times_of_twenty():
    stats = pytest.importorskip("scipy.stats")
    rng, n, n_knobs, beyond = random.Random(0), 20, 3, 0
    for _ in range(300):
        scores = [rng.random() for _ in range(n)]
        rhos = [abs(stats.spearmanr([rng.random() for _ in range(n)], scores)[0]) for _ in range(n_knobs)]
        rows = [row(i, score, lr=1e-3, width=8, opt="adam") for i, score in enumerate(scores)]
        beyond += max(rhos) > study(*rows).noise
    assert 4 <= beyond <= 28


def test_influence_draws_exactly_what_importance_answers():
    answer = [("lr", 0.8989010989010989), ("opt", 0.2403700850309326), ("width", 0.08131868131868132)]
    assert _influence_data(study(*FOUR, importance=answer)).bars == tuple(answer)


# Nothing to show


def every_data(record):
    return [
        _table_data(record),
        _influence_data(record),
        _coordinates_data(record),
        _history_data(record),
        _learning_data(record),
        _slices_data(record),
        _timeline_data(record),
    ]


def test_nothing_to_show_is_said():
    zeros = [("lr", 0.0), ("width", 0.0), ("opt", 0.0)]
    for data in every_data(study(importance=zeros)):
        assert data.nothing
        assert "widths" in data.title
    pruned = study(FOUR[2], importance=zeros)
    assert _coordinates_data(pruned).nothing == (
        "1 trial in `widths`: 1 pruned. A curve is drawn for each one that finishes."
    )
    assert not _table_data(pruned).nothing


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_few_or_equal_or_constant_trials_are_no_error(n):  # C19
    rows = [row(i, 1.0, lr=1e-3, width=8, opt="adam") for i in range(n)]
    record = study(*rows, importance=[("lr", 0.0), ("width", 0.0), ("opt", 0.0)])
    for data in every_data(record):
        assert "nan" not in json.dumps(repr(data)).lower().replace("finance", "")
    assert [name for name, _ in _influence_data(record).bars] == ["lr", "width", "opt"]
    assert _influence_data(record).nothing


def test_a_score_that_is_no_number_is_never_ranked():  # C13
    for goal in ("min", "max"):
        rows = [
            row(i, score, lr=1e-3, width=8, opt="adam")
            for i, score in enumerate([math.nan, 0.5, math.inf, 0.2, -math.inf])
        ]
        record = study(*rows, goal=goal)
        assert sorted(one.trial for one in record.finished) == [1, 3]
        assert [one.trial for one in record.of_state("failed")] == [0, 2, 4]
        assert _table_data(record).states.count("failed") == 3


def test_the_best_options_are_counted_by_type():
    c = Knob("c", "choice", options=(1, True, 1.0))
    rows = [row(i, float(i), c=(True if i < 10 else 1)) for i in range(20)]
    record = study(*rows, knobs=(c,), importance=[("c", 0.99)])
    assert record.where == "the best 5 have c True (5 of 5)"


# The others


def test_the_table_ranks_finished_trials_and_sets_the_others_apart():  # C16
    data = _table_data(study(*FOUR))
    assert data.columns == ("rank", "trial", "state", "score", "lr", "width", "opt", "took", "who", "because")
    assert [[cell.value for cell in line[:4]] for line in data.rows] == [
        [1, 1, "done", 0.1],
        [2, 3, "done", 0.2],
        [3, 0, "done", 0.4],
        [None, 2, "pruned", 0.05],
    ]
    assert data.title == "3 of 4 finished, best 0.1 at trial 1"


def test_the_table_shows_options_not_their_positions():  # C11
    width = Knob("width", "choice", options=(32, 64, 128))
    data = _table_data(study(row(0, 0.0, width=64), knobs=(width,)))
    assert data.rows[0][4].value == 64
    assert data.rows[0][4].text == "64"


def test_the_first_finished_attempt_stands_for_its_trial():
    rows = (
        row(0, None, "failed", attempt=0, lr=1e-3, width=8, opt="sgd"),
        row(0, 0.3, attempt=1, lr=1e-3, width=8, opt="sgd"),
        row(0, 0.1, attempt=2, lr=1e-3, width=8, opt="sgd"),
        row(1, None, "failed", attempt=0, lr=1e-3, width=8, opt="sgd"),
        row(1, None, "running", attempt=1, lr=1e-3, width=8, opt="sgd"),
    )
    record = study(*reversed(rows))
    assert [(one.trial, one.attempt, one.state) for one in record.rows] == [(0, 1, "done"), (1, 1, "running")]
    assert "attempt" in _table_data(record).columns


def test_the_best_scores_of_the_table_read_apart():
    rows = [row(i, 0.9871 + i * 1e-6) for i in range(3)]
    assert [line[3].text for line in _table_data(study(*rows, knobs=())).rows] == [
        "0.987100",
        "0.987101",
        "0.987102",
    ]
    assert [line[3].text for line in _table_data(study(row(0, 0.5), row(1, 0.5), knobs=())).rows] == [
        "0.5000"
    ] * 2


def test_a_knob_may_be_called_as_a_column_of_the_table():
    knobs = (Knob("score", "real", 0.0, 9.0), Knob("state", "choice", options=("on", "off")))
    data = _table_data(study(row(0, 1.0) | {"point": {"score": 7.0, "state": "on"}}, knobs=knobs))
    assert data.columns == ("rank", "trial", "state", "score", "score", "state")
    assert [cell.value for cell in data.rows[0]] == [1, 0, "done", 1.0, 7.0, "on"]


def test_history_keeps_the_best_so_far_and_sets_pruned_trials_apart():
    data = _history_data(study(*FOUR))
    assert [(mark.trial, mark.score) for mark in data.finished] == [(0, 0.4), (1, 0.1), (3, 0.2)]
    assert data.best == ((0, 0.4), (1, 0.1))
    assert [(state, [mark.trial for mark in marks]) for state, marks in data.lanes] == [("pruned", [2])]
    assert data.lanes[0][1][0].score is None
    assert _history_data(study(*FOUR, goal="max")).best == ((0, 0.4),)
    assert _history_data(study(*FOUR, goal=None)).best == ()


def test_learning_ends_a_pruned_curve_where_it_was_cut_and_says_why():
    curves = {(0, 0): (0.9, 0.6, 0.4), (1, 0): (0.5, 0.2, 0.1), (2, 0): (1.0, 0.05), (3, 0): (0.4, 0.3, 0.2)}
    data = _learning_data(study(*FOUR, curves=curves))
    assert [(one.trial, one.good) for one in data.curves] == [(1, 1.0), (3, 0.5), (0, 0.0)]
    assert [(one.trial, one.values, one.good) for one in data.others] == [(2, (1.0, 0.05), None)]
    assert ("because", "worse than the median") in data.others[0].told
    assert "1 pruned at report 2" in data.subtitle
    assert data.longest == 3


def test_reports_that_are_no_numbers_are_counted_and_one_between_two_of_them_is_drawn():
    pytest.importorskip("plotly")
    nan = math.nan
    curves = {(0, 0): (nan, 0.5, nan), (1, 0): (nan, nan), (3, 0): (0.4, 0.3, math.inf)}
    data = _learning_data(study(*FOUR, curves=curves))
    assert "5 reports not a finite number, left out as a gap" in data.subtitle
    traces = {trace.name: trace for trace in _draw(data, "light").data}
    assert traces["trial 0"].mode == "lines+markers"
    assert list(traces["trial 0"].marker.size) == [0, 5, 0]
    assert traces["trial 3"].mode == "lines"


def test_slices_have_one_panel_a_knob_and_no_score_for_pruned_trials():
    data = _slices_data(study(*FOUR, importance=[("lr", 0.5), ("width", 0.2), ("opt", 0.1)]))
    assert [panel.axis.name for panel in data.panels] == ["lr", "width", "opt"]
    assert [one.trial for one, _ in data.panels[0].marks] == [1, 3, 0]
    assert [one.trial for one, _ in data.panels[0].pruned] == [2]
    assert data.best == 1


def test_timeline_lays_a_workers_trials_one_after_another_and_names_the_silent():
    rows = (*FOUR, row(4, None, "running", lr=1e-3, width=8, opt="sgd", who="a"))
    data = _timeline_data(study(*rows), silent=[4])
    assert [
        (lane.who, [(bar.trial, bar.start_secs, bar.state) for bar in lane.bars]) for lane in data.lanes
    ] == [
        ("a", [(0, 0.0, "done"), (2, 2.0, "pruned"), (4, 2.5, "silent")]),
        ("b", [(1, 0.0, "done"), (3, 3.0, "done")]),
    ]
    assert data.title == "2 workers, 5 trials, 6.5 s of work; a fell silent in trial 4"


def test_ticks_of_long_whole_numbers_keep_within_their_panel():
    knob = Knob("n", "int", 2**53, 2**53 + 9)
    words = _tick_words(axis_of(knob, []), 200)
    assert [text.replace("<br>", "") for _, text in words][::2] == [str(2**53), str(2**53 + 9)]
    assert all(width_px(part, 11) <= 56 for _, text in words for part in text.split("<br>"))


def test_panels_label_the_options_they_have_room_for():
    words = _tick_words(axis_of(Knob("seed", "choice", options=tuple(range(100))), []), 200)
    assert 5 <= len(words) <= 20


def test_timeline_counts_the_silent_it_does_not_name():
    rows = [row(i, None, "running", who="a") for i in range(10)]
    assert _timeline_data(study(*rows), silent=range(10)).title.endswith(
        "a fell silent in trial 0, 1, 2, 3, 4, 5 and 4 more"
    )


def test_an_axis_is_what_it_says():
    assert Axis("x", "linear", 0.0, 10.0).at(11.0) is None
    assert Axis("x", "linear", 0.0, 10.0).at(True) is None
    assert Axis("x", "log", 1.0, 10.0).at(0.0) is None
