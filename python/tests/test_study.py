"""The loop's functions from Python: take, report, and what the readers answer."""

import json
import math
import multiprocessing
import operator
import pickle
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import warnings
from itertools import permutations
from pathlib import Path

import pytest

from somatize import Store
from somatize.errors import (
    DamageWarning,
    OwnershipError,
    SpaceMismatchError,
    StudyError,
    StudyNotFoundError,
    TrialNotFoundError,
)
from somatize.study import (
    DONE,
    FAILED,
    PRUNED,
    RUNNING,
    Curves,
    History,
    Point,
    Pruner,
    Sampler,
    Space,
    Trials,
    abandoned,
    asked,
    attempts,
    best,
    coordinates,
    curves,
    declared,
    discard,
    finished,
    frame,
    importance,
    in_flight,
    influence,
    report,
    seal,
    table,
    take,
    trials,
)

SPACE = Space().real("x", 0.0, 1.0).int("n", 1, 8)
SAMPLER = Sampler.sobol(seed=0)
STUDY = "bowls"


@pytest.fixture(params=["folder", "memory"])
def store(request, tmp_path):
    return Store(tmp_path / "store", durable=False) if request.param == "folder" else Store("memory://")


@pytest.fixture
def folder(tmp_path):
    return Store(tmp_path / "store", durable=False)


def run(store, trial, said, *, space=SPACE, sampler=SAMPLER, me="me", goal="min", **ending):
    """One whole trial; answers its point."""
    point = sampler.ask(space, trial)
    assert take(store, point, study=STUDY, trial=trial, me=me, goal=goal)
    report(store, point, said, study=STUDY, trial=trial, me=me, goal=goal, **({"state": DONE} | ending))
    return point


def test_the_states_are_the_words_of_the_record():
    assert (RUNNING, DONE, PRUNED, FAILED) == ("running", "done", "pruned", "failed")


def test_a_trial_from_the_claim_to_the_score(store):
    point = SAMPLER.ask(SPACE, 0)
    which = {"study": STUDY, "trial": 0, "me": "me", "goal": "min"}
    assert take(store, point, **which)
    assert not take(store, point, **which | {"me": "you"})
    assert len(finished(store, study=STUDY)) == 0
    (running,) = in_flight(store, study=STUDY)
    assert (running["trial"], running["point"], running["score"]) == (0, point, None)
    report(store, point, [3.0], **which)
    report(store, point, [3.0, 2.0], **which)
    (row,) = trials(store, study=STUDY)
    assert (row["state"], row["score"], row["took_secs"]) == (RUNNING, None, None)
    report(store, point, [3.0, 2.0, 1.0], state=DONE, **which)
    assert len(in_flight(store, study=STUDY)) == 0
    (seen,) = finished(store, study=STUDY)
    assert (seen["trial"], seen["point"], seen["score"]) == (0, point, 1.0)
    assert list(curves(store, study=STUDY)) == [[3.0, 2.0, 1.0]]


def test_the_rows_of_trials_read_like_dicts_and_like_objects(store):
    point = run(store, 0, [2.0, 1.0])
    run(store, 1, [5.0], state=PRUNED, because="worse than the median")
    done, pruned = trials(store, study=STUDY)
    keys = ["trial", "attempt", "state", "point", "score", "who", "goal", "because", "took_secs"]
    assert list(done) == list(done.keys()) == list(dict(done)) == keys
    assert dict(done) | {"took_secs": None} == {
        "trial": 0, "attempt": 0, "state": DONE, "point": point, "score": 1.0, "who": "me", "goal": "min",
        "because": None, "took_secs": None,
    }  # fmt: skip
    assert done["took_secs"] == done.took_secs >= 0
    assert (pruned.state, pruned.because, pruned["score"]) == (PRUNED, "worse than the median", 5.0)
    assert done.reports == 2
    assert "score" in done
    assert "nothing" not in done
    assert done.get("nothing", 3) == 3
    with pytest.raises(KeyError, match="nothing"):
        done["nothing"]
    assert repr(done).startswith("Trial(trial=0, attempt=0, state='done', point=x=")


def test_the_sequences_index_slice_iterate_join_and_print(store):
    for trial in range(5):
        run(store, trial, [float(trial)])
    rows = finished(store, study=STUDY)
    assert len(rows) == 5
    assert rows[-1].trial == rows[4].trial == 4
    assert [row.trial for row in rows[1:4]] == [1, 2, 3]
    assert [row.trial for row in rows[::-2]] == [4, 2, 0]
    assert type(rows[:2]) is type(rows)
    assert [row.trial for row in rows + rows[:1]] == [0, 1, 2, 3, 4, 0]
    assert rows == finished(store, study=STUDY)
    assert rows != rows[:2]
    with pytest.raises(IndexError):
        rows[5]
    with pytest.raises(IndexError):
        rows[-6]
    with pytest.raises(TypeError):
        operator.add(rows, [1])
    assert list(curves(store, study=STUDY)) == [[0.0], [1.0], [2.0], [3.0], [4.0]]
    assert curves(store, study=STUDY).trials == [0, 1, 2, 3, 4]
    text = repr(trials(store, study=STUDY))
    assert text.splitlines()[0] == "Trials, 5 rows: 5 done"
    assert len(text.splitlines()) == 7
    assert "<table>" in trials(store, study=STUDY)._repr_html_()


def test_a_sampler_is_told_of_every_trial_c07(store):
    points = [
        run(store, trial, [1.0], state=state) for trial, state in enumerate([FAILED, DONE, PRUNED, DONE])
    ]
    discard(store, study=STUDY, trial=3)
    under_way = SAMPLER.ask(SPACE, 4)
    assert take(store, under_way, study=STUDY, trial=4, me="me")
    rows = [(row.trial, row.point, row.score) for row in asked(store, SPACE, study=STUDY)]
    assert rows == [(1, points[1], 1.0), (0, points[0], None), (2, points[2], None), (4, under_way, None)]


def test_a_snapshot_does_not_change_under_its_reader(store):
    run(store, 0, [1.0])
    before = trials(store, study=STUDY)
    run(store, 1, [1.0])
    assert len(before) == 1
    assert len(trials(store, study=STUDY)) == 2


def test_a_data_frame_reads_the_sequences_as_arrow(store):
    polars = pytest.importorskip("polars")
    for trial in range(3):
        run(store, trial, [float(trial), 0.5])
    seen = polars.DataFrame(trials(store, study=STUDY))
    assert seen["trial"].to_list() == [0, 1, 2]
    assert seen["state"].to_list() == [DONE] * 3
    assert seen["score"].to_list() == [0.5] * 3
    assert polars.DataFrame(finished(store, study=STUDY))["trial"].to_list() == [0, 1, 2]
    assert polars.DataFrame(curves(store, study=STUDY)).height == 3
    assert polars.DataFrame(finished(store, study="nobody's")).height == 0


def test_a_frame_has_a_column_per_dimension(store):
    pytest.importorskip("polars")
    space = (
        Space().choice("opt", ["adam", "sgd"]).real("momentum", 0, 1, when=("opt", "sgd")).int("score", 1, 9)
    )
    points = [run(store, trial, [0.5], space=space) for trial in range(8)]
    seen = frame(store, study=STUDY)
    assert seen.columns == [
        "trial", "attempt", "state", "opt", "momentum", "point.score", "score", "who", "goal", "because",
        "took_secs", "reports", "space_version", "is_discarded",
    ]  # fmt: skip
    assert seen["opt"].to_list() == [point["opt"] for point in points]
    assert seen["momentum"].to_list() == [point.get("momentum") for point in points]
    assert seen["point.score"].to_list() == [point["score"] for point in points]
    with pytest.raises(StudyNotFoundError):
        frame(store, study="nobody's")


def test_a_study_nobody_has_begun_is_empty_for_the_loop_and_missing_for_looking_at(store):
    run(store, 0, [1.0])
    for read in (finished, in_flight, asked, curves):
        assert len(read(store, study="bowl")) == 0
    assert len(finished(store, SPACE, study="bowl")) == 0
    for look in (trials, best, importance):
        with pytest.raises(StudyNotFoundError, match="`bowl`") as caught:
            look(store, study="bowl")
        assert isinstance(caught.value, LookupError)
        assert "`bowls`" in caught.value.hint
    assert store.studies() == [STUDY]


def test_a_report_by_somebody_else_is_refused_and_changes_nothing(store):
    point = SAMPLER.ask(SPACE, 0)
    assert take(store, point, study=STUDY, trial=0, me="me", goal="min")
    with pytest.raises(OwnershipError, match="trial 0") as caught:
        report(store, point, [1.0], study=STUDY, trial=0, me="you", state=DONE)
    assert isinstance(caught.value, StudyError)
    with pytest.raises(OwnershipError, match="trial 7"):
        report(store, point, [1.0], study=STUDY, trial=7, me="me")
    assert [row.state for row in trials(store, study=STUDY)] == [RUNNING]


def test_a_finished_attempt_takes_no_report_and_a_retry_hides_nothing(store):
    point = run(store, 0, [1.0])
    with pytest.raises(OwnershipError, match="trial 0"):
        report(store, point, [1.0, 0.0], study=STUDY, trial=0, me="me", state=DONE)
    if take(store, point, study=STUDY, trial=0, me="me", attempt=1, goal="min"):
        report(store, point, [9.0], study=STUDY, trial=0, me="me", attempt=1, state=DONE)
    assert [row["score"] for row in finished(store, study=STUDY)] == [1.0]
    assert best(store, study=STUDY).score == 1.0


def test_the_goal_is_refused_where_it_was_typed(store):
    point = SAMPLER.ask(SPACE, 0)
    with pytest.raises(ValueError, match="`goal` was given `minimise`, expected `min` or `max`"):
        take(store, point, study=STUDY, trial=0, me="me", goal="minimise")
    with pytest.raises(ValueError, match="goal"):
        Pruner.median(goal="lower")
    assert take(store, point, study=STUDY, trial=0, me="me", goal="min")
    with pytest.raises(ValueError, match="state"):
        report(store, point, [1.0], study=STUDY, trial=0, me="me", state="finished")


def test_the_knobs_of_a_study_do_not_change_and_their_bounds_may_c24(store):
    for trial in range(20):
        run(store, trial, [1.0], space=Space().choice("a", [1, 2]).real("b", 0, 1))
    other = Space().choice("a", [1, 2]).real("c", 0, 1)
    with pytest.raises(SpaceMismatchError, match="`b` is missing") as caught:
        take(store, SAMPLER.ask(other, 20), study=STUDY, trial=20, me="me", goal="min")
    assert isinstance(caught.value, ValueError)
    assert len(trials(store, study=STUDY)) == 20
    wide = Space().choice("a", [1, 2, 4]).real("b", 0, 2)
    drawn = [run(store, trial, [1.0], space=wide) for trial in range(20, 70)]
    assert {point["a"] for point in drawn} == {1, 2, 4}
    assert max(point["b"] for point in drawn) > 1
    rows = trials(store, study=STUDY)
    assert len(rows) == 70
    assert {row.space_version for row in rows[:20]} == {1}
    assert {row.space_version for row in rows[20:]} == {2}
    assert len(importance(store, study=STUDY)) == 2
    assert len(finished(store, wide, study=STUDY)) == 70
    pytest.importorskip("polars")
    assert frame(store, study=STUDY)["b"].len() == 70
    pytest.importorskip("plotly")
    for draw in (table, influence, coordinates):
        assert draw(store, wide, study=STUDY).data


def test_two_studies_of_one_store_do_not_mix_c24(store):
    point, other = SAMPLER.ask(SPACE, 0), Sampler.sobol().ask(Space().choice("a", [1, 2]), 0)
    assert take(store, point, study="one", trial=0, me="me", goal="min")
    assert take(store, other, study="two", trial=0, me="me", goal="max")
    assert [row.point for row in trials(store, study="one")] == [point]
    assert [row.point for row in trials(store, study="two")] == [other]


def test_options_come_back_from_another_process_with_their_type_c11_c12(folder):
    space = Space().choice("width", [32, 64, 128]).choice("mix", [None, "x", True, 1.0, "1"])
    grid = Sampler.grid()
    for trial in range(grid.size(space)):
        point = grid.ask(space, trial)
        run(
            folder,
            trial,
            [abs(point["width"] - 64) + (type(point["mix"]) is not float)],
            space=space,
            sampler=grid,
        )
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        width, mix = pool.apply(_best_values, (folder.location,))
    assert (type(width), width) == (int, 64)
    assert (type(mix), mix) == (float, 1.0)


def _best_values(where):
    winner = best(Store(where, read_only=True), study=STUDY)
    return winner.point["width"], winner.point["mix"]


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("goal", "scores", "wins"),
    [("min", [NAN, 0.5, INF, 0.2], 0.2), ("max", [NAN, 0.5, -INF, 0.2], 0.5)],
)
def test_a_score_that_is_not_finite_fails_and_decides_nothing_c13(goal, scores, wins):
    for order in permutations(scores):
        store = Store("memory://")
        for trial, score in enumerate(order):
            run(store, trial, [score], goal=goal)
        assert best(store, study=STUDY).score == wins
        rows = trials(store, study=STUDY)
        assert [row.state for row in rows] == [DONE if math.isfinite(score) else FAILED for score in order]
        assert all(row.because for row in rows if row.state == FAILED)
        assert len(finished(store, study=STUDY)) == 2
        assert all(0 <= share <= 1 for _, share in importance(store, study=STUDY))


def test_a_pruned_score_is_never_ranked_with_a_finished_one_c16(store):
    run(store, 0, [1.0])
    run(store, 1, [0.0], state=PRUNED, because="cut")
    assert best(store, study=STUDY).trial == 0
    assert [row.trial for row in finished(store, study=STUDY)] == [0]
    assert list(curves(store, study=STUDY)) == [[1.0]]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([1.0, None], "report 2 of a curve was given as None, expected a number"),
        (["1"], "report 1 of a curve was given as '1', expected a number"),
        ([[1.0]], "report 1 of a curve was given as [1.0], expected a number"),
        ("12", "a curve was given as '12', expected a list of numbers, one per report"),
        (3, "a curve was given as 3, expected a list of numbers"),
        ({1: 2}, "a curve was given as {1: 2}, expected a list of numbers"),
        (iter([1.0]), "a curve was given as <list_iterator"),
    ],
)
def test_what_is_no_curve_is_refused_by_the_report_that_is_no_number(said, words):
    store, point = Store("memory://"), SAMPLER.ask(SPACE, 0)
    assert take(store, point, study=STUDY, trial=0, me="me")
    with pytest.raises(TypeError, match=re.escape(words)):
        report(store, point, said, study=STUDY, trial=0, me="me")
    with pytest.raises(TypeError, match=re.escape(words)):
        Pruner.median().verdict(said)
    with pytest.raises(TypeError):
        Pruner.median().verdict([1.0], [said])
    assert trials(store, study=STUDY)[0].reports == 0


def test_a_curve_may_be_any_sequence_of_numbers_of_any_library(folder):
    numpy, torch = pytest.importorskip("numpy"), pytest.importorskip("torch")
    point, which = SAMPLER.ask(SPACE, 0), {"study": STUDY, "trial": 0, "me": "me"}
    assert take(folder, point, **which)
    report(folder, point, [], **which)
    report(folder, point, [1, numpy.float32(0.5)], **which)
    report(folder, point, (1, 0.5, torch.tensor(3)), **which)
    report(folder, point, numpy.array([1, 0.5, 3, 2]), **which)
    report(folder, point, torch.tensor([1, 0.5, 3, 2, 4]), state=DONE, **which)
    assert list(curves(folder, study=STUDY)) == [[1, 0.5, 3, 2, 4]]


@pytest.mark.parametrize(("trial", "error"), [(-1, ValueError), (2**64, ValueError), ("0", TypeError)])
def test_a_trial_that_cannot_be_is_refused_by_name(store, trial, error):
    point = SAMPLER.ask(SPACE, 0)
    for call in (
        lambda: SAMPLER.ask(SPACE, trial),
        lambda: take(store, point, study=STUDY, trial=trial, me="me"),
        lambda: report(store, point, [], study=STUDY, trial=trial, me="me"),
    ):
        with pytest.raises(error) as caught:
            call()
        if error is ValueError:
            assert str(caught.value) == f"`trial` was given {trial}, expected a whole number from 0 to 2^64-1"
    for last in (2**64 - 1, 2**63):
        assert take(store, point, study=STUDY, trial=last, me="me")
    assert [row.trial for row in trials(store, study=STUDY)] == [2**63, 2**64 - 1]


def test_a_row_of_a_printed_table_is_one_line_of_a_length_a_person_reads(store):
    space = Space()
    for k in range(300):
        space = space.real(f"x{k}", 0, 1)
    run(store, 0, [1.0], space=space, state=FAILED, because="Traceback:\n\x1b[31mline 1\r\nline 2" * 100)
    head, columns, row = repr(trials(store, study=STUDY)).splitlines()
    assert head == "Trials, 1 row: 1 failed"
    assert columns.split() == ["trial", "attempt", "state", "score", "point", "because"]
    assert len(row) < 500
    assert "..." in row
    assert row.isprintable()


def test_the_sequences_begin_empty():
    for kind in (History, Curves, Trials):
        assert len(kind()) == 0
        assert kind() + kind() == kind()


def test_the_best_of_nothing_finished_is_none(store):
    run(store, 0, [1.0], state=FAILED, because="broke")
    assert best(store, study=STUDY) is None


def test_importance_lists_every_dimension_whatever_there_is_c19():
    for scores in ([], [1.0], [1.0, 2.0], [1.0] * 8):
        store = Store("memory://")
        space = Space().real("x", 0, 1).real("constant", 2, 2)
        assert take(store, SAMPLER.ask(space, 99), study=STUDY, trial=99, me="me", goal="min")
        for trial, score in enumerate(scores):
            run(store, trial, [score], space=space)
        shares = importance(store, space, study=STUDY)
        assert {name for name, _ in shares} == {"x", "constant"}
        assert dict(shares)["constant"] == 0
        assert all(0 <= share <= 1 for _, share in shares)


def test_importance_ranks_what_mattered_alike_everywhere_c20(folder):
    space = Space().real("a", 0, 1).real("b", 0, 1).real("c", 0, 1)
    sampler = Sampler.random(seed=0)
    for trial in range(200):
        point = sampler.ask(space, trial)
        run(folder, trial, [3 * point["a"] + point["b"]], space=space, sampler=sampler)
    (first, _), (second, _), (third, least) = shares = importance(folder, study=STUDY)
    assert [first, second, third] == ["a", "b", "c"]
    assert least < 0.1 * sum(share for _, share in shares)
    assert all(importance(folder, space, study=STUDY) == shares for _ in range(4))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_importance, (folder.location,)) == shares
    shuffled = Store("memory://")
    for trial in sorted(range(200), key=lambda trial: trial * 37 % 200):
        point = sampler.ask(space, trial)
        run(shuffled, trial, [3 * point["a"] + point["b"]], space=space, sampler=sampler)
    assert importance(shuffled, study=STUDY) == shares


def test_the_command_line_finds_the_same_importance_c20(folder):
    soma = Path(sys.executable).with_name("soma")
    if not soma.exists():
        pytest.skip("needs the `soma` binary beside the interpreter")
    for trial in range(50):
        run(folder, trial, [SAMPLER.ask(SPACE, trial)["x"]])
    command = [soma, "importance", folder.location, STUDY, "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    ranked = [(one["name"], one["importance"]) for one in said["importance"]]
    assert ranked == importance(folder, study=STUDY)


def _importance(where):
    return importance(Store(where, read_only=True), study=STUDY)


COSTS = """
    import resource, time
    from somatize import Store
    from somatize.study import DONE, Sampler, Space, asked, importance, report, take

    space, draws = Space(), Sampler.random(seed=0)
    for k in range(10):
        space = space.real(f"x{k}", 0, 1)

    def filled(n):
        store = Store("memory://")
        for trial in range(n):
            point = draws.ask(space, trial)
            which = {"study": "s", "trial": trial, "me": "me", "goal": "min"}
            take(store, point, **which)
            report(store, point, [point["x0"]], state=DONE, **which)
        return store

    def cost(call, n=1):
        began = time.process_time()  # what else the machine does is no cost of ours
        for _ in range(n):
            call()
        return (time.process_time() - began) / n

    def ask(store):
        known = asked(store, study="s")
        Sampler.tpe(seed=0).ask(space, len(known), known)

    stores = {n: filled(n) for n in (500, 1_000, 5_000, 10_000)}
    for method in ("spearman", "ped_anova"):
        for n, most in ((1_000, 2), (10_000, 20)):
            assert cost(lambda: importance(stores[n], study="s", method=method)) < most, (method, n)
    few, many = (min(cost(lambda: ask(stores[n]), 20) for _ in range(9)) for n in (500, 5_000))
    assert many < 1 and many < 15 * few, (few, many)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1_000_000  # KiB
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux says it")
def test_importance_and_the_next_point_cost_little_at_size_c23():
    subprocess.run([sys.executable, "-c", textwrap.dedent(COSTS)], timeout=120, check=True)


def test_the_methods_of_importance_agree_on_what_did_nothing_c19_c20(store):
    space = Space().real("a", 0, 1).real("d", 0, 1)
    sampler = Sampler.random(seed=0)
    for trial in range(300):
        point = sampler.ask(space, trial)
        run(store, trial, [point["a"]], space=space, sampler=sampler)
    for method in ("spearman", "ped_anova"):
        shares = importance(store, study=STUDY, method=method)
        assert [name for name, _ in shares] == ["a", "d"]
        assert shares == importance(store, space, study=STUDY, method=method)
    with pytest.raises(ValueError, match="spearmen"):
        importance(store, study=STUDY, method="spearmen")


def test_a_discarded_trial_is_left_out_of_everything_but_the_record_c18(store):
    for trial in range(10):
        run(store, trial, [0.0 if trial == 3 else 1.0 + trial])
    discard(store, study=STUDY, trial=3, because="a bug in the metric")
    assert best(store, study=STUDY).trial == 0
    assert 3 not in [row.trial for row in finished(store, study=STUDY)]
    assert len(curves(store, study=STUDY)) == 9
    assert 3 not in [row.trial for row in asked(store, study=STUDY)]
    assert importance(store, study=STUDY) == importance(_without_the_discarded(store), study=STUDY)
    assert [row.trial for row in trials(store, study=STUDY) if row.is_discarded] == [3]
    assert not take(store, SAMPLER.ask(SPACE, 3), study=STUDY, trial=3, attempt=1, me="me", goal="min")
    with pytest.raises(TrialNotFoundError, match="trial 99"):
        discard(store, study=STUDY, trial=99)


def test_a_seal_gathers_what_many_short_processes_wrote(folder):
    for trial in range(3):
        run(
            Store(folder.location, durable=False, lease=60 + trial), trial, [1.0]
        )  # a ledger each, as for a process each
    before = list(finished(folder, study=STUDY))
    assert seal(folder, study=STUDY) == 3
    assert seal(folder, study=STUDY) == 0  # nothing new
    assert list(finished(Store(folder.location, read_only=True), study=STUDY)) == before
    with pytest.raises(StudyNotFoundError):
        seal(folder, study="nobody")


def _without_the_discarded(store):
    other = Store("memory://")
    for row in finished(store, study=STUDY):
        run(other, row.trial, [row.score])
    return other


def test_a_deleted_study_stays_deleted_c18(folder):
    run(folder, 0, [1.0])
    shutil.rmtree(Path(folder.location) / "studies")
    assert len(finished(folder, study=STUDY)) == 0
    run(folder, 0, [2.0])
    assert [row.score for row in trials(folder, study=STUDY)] == [2.0]


def test_one_bad_byte_costs_one_record_and_is_warned_of_once(folder):
    for trial in range(5):
        run(folder, trial, [float(trial)])
    (ledger,) = Path(folder.location).rglob("*.jsonl")
    lines = ledger.read_bytes().splitlines(keepends=True)
    (hit,) = [k for k, line in enumerate(lines) if b'"end"' in line and b'"trial":2' in line]
    lines[hit] = lines[hit].replace(b'"done"', b'"dome"')
    copy = Path(folder.location).with_name("copy")
    shutil.copytree(folder.location, copy)
    (copy / ledger.relative_to(folder.location)).write_bytes(b"".join(lines))
    damaged = Store(copy, read_only=True)
    with pytest.warns(DamageWarning, match="byte") as warned:
        assert [row.trial for row in finished(damaged, study=STUDY)] == [0, 1, 3, 4]
    assert len(warned) == 1
    assert ledger.name in str(warned[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finished(damaged, study=STUDY)
    (said,) = damaged.verify()
    assert ledger.name in said
    assert folder.verify() == []


def test_the_curves_of_every_attempt_and_the_declaration_are_there_for_looking(store):
    run(store, 0, [3.0, 1.0])
    run(store, 1, [5.0, 4.0], state=PRUNED, because="cut")
    assert attempts(store, study=STUDY, trial=1) == [(0, [5.0, 4.0])]
    assert declared(store, study=STUDY) == (SPACE, "min")
    with pytest.raises(TrialNotFoundError):
        attempts(store, study=STUDY, trial=7)
    with pytest.raises(StudyNotFoundError):
        declared(store, study="nobody's")


CTRL_C = """
    import os, signal, threading, time
    from somatize import Store
    from somatize.study import DONE, Sampler, Space, importance, report, take

    store, sampler = Store("memory://"), Sampler.sobol()
    space = Space().real("x", 0, 1).int("n", 1, 8)
    for trial in range(20_000):
        point = sampler.ask(space, trial)
        take(store, point, study="s", trial=trial, me="me", goal="min")
        report(store, point, [point["x"]], study="s", trial=trial, me="me", state=DONE)
    ticks, sent = [], []

    def tick():
        while True:
            ticks.append(time.monotonic())
            time.sleep(0.005)

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=tick, daemon=True).start()
    threading.Timer(0.3, interrupt).start()
    began = time.monotonic()
    try:
        while True:
            importance(store, study="s")
    except KeyboardInterrupt:
        took = time.monotonic() - sent[0]
        print(took < 1, sum(began < one < sent[0] for one in ticks) > 5)
"""


def test_ctrl_c_is_heard_while_native_code_runs_and_other_threads_go_on_c46():
    code = textwrap.dedent(CTRL_C)
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert said.stdout == "True True\n"


def test_a_silent_trial_is_abandoned_after_the_lease_and_taken_again_c17(folder):
    where = folder.location
    process = multiprocessing.get_context("spawn").Process(target=_take_and_die, args=(where,))
    process.start()
    process.join()
    store = Store(where, durable=False, lease=0.2)
    point = SAMPLER.ask(SPACE, 0)
    assert not take(store, point, study=STUDY, trial=0, me="me", goal="min")
    threading.Event().wait(0.5)
    (left,) = abandoned(store, study=STUDY)
    assert (left.trial, left.attempt, left.point, left.who) == (0, 0, point, "them")
    assert len(in_flight(store, study=STUDY)) == 0
    assert [row.state for row in trials(store, study=STUDY)] == [FAILED]
    assert take(store, point, study=STUDY, trial=0, attempt=1, me="me", goal="min")
    report(store, point, [1.0], study=STUDY, trial=0, attempt=1, me="me", state=DONE)
    assert len(abandoned(store, study=STUDY)) == 0
    assert [row.state for row in trials(store, study=STUDY)] == [FAILED, DONE]


def _take_and_die(where):
    store = Store(where, durable=False, lease=0.2)
    assert take(store, SAMPLER.ask(SPACE, 0), study=STUDY, trial=0, me="them", goal="min")


def test_threads_share_the_trials_out(store):
    mine = [[] for _ in range(8)]

    def work(k):
        for trial in range(64):
            point = SAMPLER.ask(SPACE, trial)
            if take(store, point, study=STUDY, trial=trial, me=f"thread {k}", goal="min"):
                mine[k].append(trial)
                report(store, point, [1.0], study=STUDY, trial=trial, me=f"thread {k}", state=DONE)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(trial for some in mine for trial in some) == list(range(64))
    assert len(finished(store, study=STUDY)) == 64


def _fork_and_run(store, trial):
    run(store, trial, [float(trial)], me=f"child {trial}")
    return len(finished(store, study=STUDY))


def test_a_forked_child_writes_its_own_ledger(folder):
    run(folder, 0, [0.0])
    with multiprocessing.get_context("fork").Pool(3) as pool:
        pool.starmap(_fork_and_run, [(folder, trial) for trial in range(1, 13)])
    run(folder, 13, [13.0])
    assert [row.score for row in finished(folder, study=STUDY)] == [float(trial) for trial in range(14)]


def test_the_point_of_a_row_belongs_to_the_space_it_was_written_with(store):
    point = run(store, 0, [1.0])
    row = trials(store, study=STUDY)[0]
    assert row.point == point
    assert row.point.space == SPACE
    assert pickle.loads(pickle.dumps(row.point)) == point
    assert Point(SPACE, str(row.point)) == point
    with pytest.raises(SpaceMismatchError, match="`x` is missing"):
        finished(store, Space().real("other", 0, 1), study=STUDY)
