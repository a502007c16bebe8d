"""`search`: the seed's loop, its ends, its failures, and fleets of it."""

import math
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import pytest

from somatize import Graph, Node, Store
from somatize.errors import GoalError, SpaceMismatchError, UsedUpError
from somatize.study import (
    DONE,
    FAILED,
    PRUNED,
    RUNNING,
    Pruner,
    Sampler,
    Space,
    asked,
    curves,
    discard,
    finished,
    in_flight,
    report,
    search,
    take,
    trials,
)
from somatize.study.open_trials import open_trials

SPACE = Space().real("x", 0.0, 1.0).int("n", 1, 8)
SAMPLER = Sampler.sobol(seed=0)
STUDY = "bowls"
QUICK = {"study": STUDY, "goal": "min", "progress": False}


def bowl(point):
    for step in range(4):
        yield (point["x"] - 0.3) ** 2 + 1 / (step + 1)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", durable=False)


def states(store):
    return states_of(trials(store, study=STUDY))


def states_of(rows):
    return [row.state for row in rows]


def test_search_runs_the_total_and_answers_the_trials(store):
    seen = search(bowl, store, SPACE, SAMPLER, total=6, **QUICK)
    assert [row.point for row in seen] == [SAMPLER.ask(SPACE, trial) for trial in range(6)]
    assert [row.state for row in seen] == [DONE] * 6
    assert all(row.goal == "min" for row in seen)
    assert list(curves(store, study=STUDY)) == [list(bowl(row.point)) for row in seen]
    assert len({row.who for row in seen}) == 1


def test_the_total_is_the_studys_and_not_the_calls(store):
    search(bowl, store, SPACE, SAMPLER, total=4, **QUICK)
    search(bowl, store, SPACE, SAMPLER, total=4, **QUICK)
    assert len(trials(store, study=STUDY)) == 4
    search(bowl, store, SPACE, SAMPLER, total=6, **QUICK)
    assert [row.trial for row in trials(store, study=STUDY)] == list(range(6))


def test_search_makes_the_decisions_of_the_loop_it_stands_for(store):
    pruner = Pruner.median(goal="min", warmup=1, startup=2)
    search(bowl, store, SPACE, SAMPLER, total=12, pruner=pruner, **QUICK)
    by_hand = Store("memory://")
    for trial in range(12):
        point = SAMPLER.ask(SPACE, trial, finished(by_hand, SPACE, study=STUDY))
        assert take(by_hand, point, study=STUDY, trial=trial, me="me", goal="min")
        said, why = [], None
        for value in bowl(point):
            said.append(value)
            if why := pruner.verdict(said, curves(by_hand, study=STUDY)):
                break
        report(
            by_hand,
            point,
            said,
            study=STUDY,
            trial=trial,
            me="me",
            state=PRUNED if why else DONE,
            because=why,
        )
    rows = [
        [row[key] for key in ("trial", "state", "score", "because")] for row in trials(store, study=STUDY)
    ]
    hand = [
        [row[key] for key in ("trial", "state", "score", "because")] for row in trials(by_hand, study=STUDY)
    ]
    assert rows == hand
    assert PRUNED in states(store)


def test_a_pruner_without_a_goal_takes_the_studys(store):
    def climbing(point):
        yield point["x"]

    pruner = Pruner.median(startup=2)
    quick = QUICK | {"goal": "max"}
    seen = search(climbing, store, SPACE, SAMPLER, total=16, pruner=pruner, **quick)
    done = [row.point["x"] for row in seen if row.state == DONE]
    cut = [row.point["x"] for row in seen if row.state == PRUNED]
    assert cut
    assert max(done) > max(cut)


def test_a_pruned_generator_is_closed_and_never_asked_again(store):
    closed, asked = [], []

    def watched(point):
        try:
            for step in range(4):
                asked.append(step)
                yield 1.0
        finally:
            closed.append(len(asked))

    search(watched, store, SPACE, SAMPLER, total=1, pruner=Pruner.threshold(upper=0.5), **QUICK)
    assert (asked, closed) == ([0], [1])
    assert states(store) == [PRUNED]


def test_an_objective_may_be_a_plain_function_or_return_its_score(store):
    def returned(point):
        yield 3.0
        return 0.5

    assert [row.score for row in search(lambda point: 7, store, SPACE, SAMPLER, total=2, **QUICK)] == [
        7.0
    ] * 2
    quick = QUICK | {"study": "returned"}
    (row,) = search(returned, store, SPACE, SAMPLER, total=1, **quick)
    assert (row.score, list(curves(store, study="returned"))) == (0.5, [[3.0]])


def test_numbers_of_torch_and_numpy_are_reports(store):
    numpy = pytest.importorskip("numpy")

    def reported(point):
        yield numpy.float32(0.5)
        yield numpy.array(0.25)

    (row,) = search(reported, store, SPACE, SAMPLER, total=1, **QUICK)
    assert row.score == 0.25


@pytest.mark.parametrize(
    ("objective", "because"),
    [
        (lambda point: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda point: None, "TypeError: the objective gave None, expected a number, or a generator"),
        (lambda point: {"loss": 1.0}, "TypeError: the objective gave {'loss': 1.0}, expected a number, or a"),
        (lambda point: iter([None]), "TypeError: the objective gave None, expected a number"),
        (lambda point: iter(["0.5"]), "TypeError: the objective gave '0.5', expected a number"),
        (lambda point: iter([10**400]), "OverflowError"),
        (lambda point: iter([]), "ValueError: the objective reported nothing"),
        (lambda point: math.nan, "nan"),
    ],
)
@pytest.mark.filterwarnings("ignore:trial 0 failed")
def test_what_goes_wrong_is_a_failed_trial_with_its_reason(store, objective, because):
    seen = search(objective, store, SPACE, SAMPLER, total=3, **QUICK)
    assert [row.state for row in seen] == [FAILED] * 3
    assert all(because.lower() in row.because.lower() for row in seen)


def test_a_bug_in_the_objective_is_warned_of_once_for_each_kind(store):
    def broken(point):
        raise (KeyError if point["n"] % 2 else ValueError)("lr")

    with pytest.warns(UserWarning, match="failed: ") as told:
        search(broken, store, SPACE, SAMPLER, total=8, **QUICK)
    texts = sorted(str(one.message) for one in told)
    assert len(texts) == 2, texts
    assert "KeyError: 'lr'; the next one starts, `raises=True` stops instead" in texts[0] + texts[1]
    assert all(one.filename == __file__ for one in told)


@pytest.mark.filterwarnings("ignore:trial 0 failed")
def test_the_reason_holds_what_an_exception_came_from(store):
    class Head(Node):
        def forward(self, x, ctx):
            raise ArithmeticError("shapes cannot be multiplied")

    g = Graph.somatize(Head().named("head"))
    (row,) = search(lambda point: g.forward(1), store, SPACE, SAMPLER, total=1, **QUICK)
    assert row.because == "NodeError: node `head` failed; from ArithmeticError: shapes cannot be multiplied"


@pytest.mark.filterwarnings("ignore:trial")
def test_failed_trials_run_again_once_when_asked_for(store):
    def picky(point):
        if point["n"] > 2:
            raise ValueError("too wide")
        yield float(point["n"])

    failed = states_of(search(picky, store, SPACE, SAMPLER, total=8, **QUICK)).count(FAILED)
    assert 2 < failed < 8
    assert len(search(picky, store, SPACE, SAMPLER, total=8, **QUICK)) == 8, "not by itself"
    still = search(picky, store, SPACE, SAMPLER, total=8, retry_failed=True, **QUICK)
    assert states_of(still).count(FAILED) == 2 * failed
    mended = search(bowl, store, SPACE, SAMPLER, total=8, retry_failed=True, **QUICK)
    assert states_of(mended).count(DONE) == 8
    assert {row.trial: row.point for row in mended} == {n: SAMPLER.ask(SPACE, n) for n in range(8)}
    assert len(finished(store, study=STUDY)) == 8


def test_a_discarded_trial_is_not_waited_for(store):
    point = SAMPLER.ask(SPACE, 0)
    how = {"study": STUDY, "trial": 0, "me": "me", "goal": "min"}
    assert take(store, point, **how)
    report(store, point, [1.0], state=FAILED, because="interrupted", **how)
    discard(store, study=STUDY, trial=0)
    seen = search(bowl, store, SPACE, SAMPLER, total=3, retry_failed=True, **QUICK)
    assert states_of(seen) == [FAILED, DONE, DONE]


def test_what_is_silent_is_taken_over_after_the_lease_that_was_said(tmp_path):
    store = Store(tmp_path / "store", durable=False, lease=0.2)
    silent = """
        import os, sys
        from somatize import Store
        from somatize.study import Sampler, Space, take

        space = Space().real("x", 0.0, 1.0).int("n", 1, 8)
        how = {"study": "bowls", "trial": 0, "me": "silent", "goal": "min"}
        store = Store(sys.argv[1], durable=False, lease=0.2)
        take(store, Sampler.sobol(seed=0).ask(space, 0), **how)
        os._exit(0)  # without a word
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(silent), str(tmp_path / "store")], check=True)
    while states(store) != [FAILED]:  # by the store's lease
        time.sleep(0.05)
    for retry_failed in (False, True):
        left = open_trials(store, SPACE, SAMPLER, STUDY, 1, 3600.0, retry_failed=retry_failed)
        assert next(left) is None, "it waits"
    assert next(open_trials(store, SPACE, SAMPLER, STUDY, 1, None))[:2] == (0, 1)


def test_a_pruner_of_the_other_goal_and_other_ranges_are_warned_of(store):
    other = Pruner.threshold(upper=9.0) | Pruner.median(goal="max", startup=3)
    with pytest.warns(UserWarning, match="the pruner was given the goal `max` and the study has `min`"):
        search(bowl, store, SPACE, SAMPLER, total=2, pruner=other, **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search(bowl, store, SPACE, SAMPLER, total=3, pruner=Pruner.median(), **QUICK)
    wider = Space().real("x", 0.0, 2.0).int("n", 1, 8)
    with pytest.warns(UserWarning, match="is now over `Space\\(x=real\\(0,2\\)"):
        search(bowl, store, wider, SAMPLER, total=4, **QUICK)


def test_the_other_goal_is_refused_when_nothing_is_left_too(store):
    search(bowl, store, SPACE, SAMPLER, total=2, **QUICK)
    with pytest.raises(GoalError, match="begun with the goal `min`, and was given `max`"):
        search(bowl, store, SPACE, SAMPLER, total=2, **QUICK | {"goal": "max"})


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"store": "/runs"}, "`store` was given '/runs', expected a Store, such as `Store"),
        ({"space": {"x": (0, 1)}}, "`space` was given {'x': (0, 1)}, expected a Space"),
        ({"sampler": Sampler.sobol}, "expected a Sampler, such as `Sampler.sobol"),
        ({"sampler": "sobol"}, "`sampler` was given 'sobol', expected a Sampler"),
        ({"pruner": "median"}, "`pruner` was given 'median', expected a Pruner"),
    ],
)
def test_what_is_of_another_kind_is_refused_with_how_it_is_made(store, given, text):
    arguments = {"objective": bowl, "store": store, "space": SPACE, "sampler": SAMPLER, "total": 1} | QUICK
    with pytest.raises(TypeError, match=re.escape(text)):
        search(**arguments | given)


@pytest.mark.filterwarnings("ignore:trial 0 failed")
def test_a_call_with_nothing_to_do_says_so(store, capsys):
    bar = QUICK | {"progress": True}
    search(lambda point: 1 / 0, store, SPACE, SAMPLER, total=2, **bar)
    assert "2 failed" in capsys.readouterr().err
    search(bowl, store, SPACE, SAMPLER, total=2, **bar)
    said = capsys.readouterr().err
    assert "study `bowls` has all of its 2 trials: a larger `total` runs more" in said
    assert "`retry_failed=True` runs the failed ones again" in said


def test_raises_stops_at_the_first_exception_once_it_is_reported(store):
    def broken(point):
        yield 1.0
        raise KeyError("lr")

    with pytest.raises(KeyError, match="lr"):
        search(broken, store, SPACE, SAMPLER, total=3, raises=True, **QUICK)
    assert states(store) == [FAILED]
    assert trials(store, study=STUDY)[0].because == "KeyError: 'lr'"


def test_what_a_pruned_objective_raises_while_it_is_closed_changes_no_verdict(store):
    def untidy(point):
        try:
            yield 1.0
            yield 0.5
        finally:
            raise RuntimeError("the logger is gone")

    pruner = Pruner.threshold(upper=0.75)
    with pytest.warns(UserWarning, match="trial 0 pruned: RuntimeError: the logger is gone"):
        search(untidy, store, SPACE, SAMPLER, total=2, pruner=pruner, **QUICK)
    assert states(store) == [PRUNED] * 2
    with pytest.raises(RuntimeError, match="logger"):
        search(untidy, store, SPACE, SAMPLER, total=4, pruner=pruner, raises=True, **QUICK)
    assert states(store) == [PRUNED] * 3


class Cancelled(BaseException):
    """As some frameworks end what runs."""


@pytest.mark.parametrize("error", [Cancelled, GeneratorExit, SystemExit])
def test_whatever_ends_the_loop_leaves_its_trial_to_others(store, error):
    def ended(point):
        yield 1.0
        raise error

    with pytest.raises(error):
        search(ended, store, SPACE, SAMPLER, total=1, **QUICK)
    (row,) = trials(store, study=STUDY)
    assert (row.state, row.because) == (FAILED, "interrupted")
    # In the same process: a trial left running would be waited for without end.
    search(bowl, store, SPACE, SAMPLER, total=1, **QUICK)
    assert states(store) == [FAILED, DONE]


def test_an_error_of_the_loop_leaves_its_trial_to_others(store, monkeypatch):
    def broken(*_, **__):
        raise OSError("the folder is gone")

    monkeypatch.setattr("somatize.study.worker.curves", broken)
    with pytest.raises(OSError, match="gone"):
        search(bowl, store, SPACE, SAMPLER, total=1, pruner=Pruner.median(), **QUICK)
    assert states(store) == [FAILED]
    search(bowl, store, SPACE, SAMPLER, total=1, **QUICK)
    assert states(store) == [FAILED, DONE]


def test_a_study_of_no_trials_is_empty(store):
    assert len(search(bowl, store, SPACE, SAMPLER, total=0, **QUICK)) == 0
    assert store.studies() == []
    search(bowl, store, SPACE, SAMPLER, total=2, **QUICK)
    assert len(search(bowl, store, SPACE, SAMPLER, total=0, **QUICK)) == 2


def test_a_search_inside_a_trial_is_of_another_study(store):
    def inside(study):
        def nested(point):
            inner = search(bowl, store, SPACE, SAMPLER, total=2, **QUICK | {"study": study})
            yield inner[0].score

        return nested

    (row,) = search(inside("inner"), store, SPACE, SAMPLER, total=1, **QUICK)
    assert row.score == trials(store, study="inner")[0].score
    with pytest.raises(RuntimeError, match="`bowls` was called by an objective of that study"):
        search(inside(STUDY), store, SPACE, SAMPLER, total=2, raises=True, **QUICK)
    assert states(store) == [DONE, FAILED]
    search(bowl, store, SPACE, SAMPLER, total=3, **QUICK)


def test_an_objective_that_cannot_run_is_refused_before_any_trial(store):
    async def later(point):
        return 1.0

    with pytest.raises(TypeError, match="`objective` was given 3, expected a function"):
        search(3, store, SPACE, SAMPLER, total=1, **QUICK)
    with pytest.raises(TypeError, match="`objective` was given an async function"):
        search(later, store, SPACE, SAMPLER, total=1, **QUICK)
    assert store.studies() == []


def test_a_failure_of_the_loop_itself_is_not_the_objectives(store):
    search(bowl, store, SPACE, SAMPLER, total=1, **QUICK)
    with pytest.raises(SpaceMismatchError):
        search(bowl, store, Space().real("y", 0, 1), SAMPLER, total=2, **QUICK)
    assert states(store) == [DONE]


def test_a_goal_or_a_total_that_cannot_be_is_refused_before_any_trial(store):
    with pytest.raises(ValueError, match="`goal` was given `up`"):
        search(bowl, store, SPACE, SAMPLER, total=1, **QUICK | {"goal": "up"})
    with pytest.raises(ValueError, match="`total` was given `-1`"):
        search(bowl, store, SPACE, SAMPLER, total=-1, **QUICK)
    with pytest.raises(TypeError, match="`total` was given `'3'`, expected a whole number"):
        search(bowl, store, SPACE, SAMPLER, total="3", **QUICK)
    with pytest.raises(ValueError, match="`attempts` was given `0`"):
        search(bowl, store, SPACE, SAMPLER, total=1, attempts=0, **QUICK)
    assert store.studies() == []


def test_a_finite_space_that_is_used_up_ends_the_loop_with_a_word_c07_c08(store):
    space = Space().choice("a", [1, 2, 3]).choice("b", [1, 2])
    for k, sampler in enumerate((Sampler.grid(), Sampler.random(seed=3))):
        quick = QUICK | {"study": f"finite {k}"}
        with pytest.warns(UserWarning, match="ends after 6 trials") as warned:
            seen = search(lambda point: point["a"], store, space, sampler, total=50, **quick)
        assert len({row.point for row in seen}) == len(seen) == 6
        assert warned[0].filename == __file__


def test_a_pruner_that_cuts_everything_still_comes_to_an_end_c06(store):
    seen = search(bowl, store, SPACE, SAMPLER, total=20, pruner=Pruner.threshold(upper=-1), **QUICK)
    assert [row.state for row in seen] == [PRUNED] * 20


def test_an_interruption_is_reported_at_once_and_the_point_runs_again_c17_c25(store):
    grid, space = Sampler.grid(), Space().int("n", 1, 4)
    ran = []

    def interrupted(point):
        ran.append(point["n"])
        yield 1.0
        if point["n"] == 2 and ran.count(2) == 1:
            signal.raise_signal(signal.SIGINT)
        yield 0.5

    with pytest.raises(KeyboardInterrupt):
        search(interrupted, store, space, grid, total=4, **QUICK)
    first, second = trials(store, study=STUDY)
    assert (first.state, second.state, second.because) == (DONE, FAILED, "interrupted")
    assert len(in_flight(store, study=STUDY)) == 0
    search(interrupted, store, space, grid, total=4, **QUICK)
    assert ran == [1, 2, 2, 3, 4]
    assert sorted(row.point["n"] for row in finished(store, study=STUDY)) == [1, 2, 3, 4]


SCRIPT = """
    import sys, time
    from somatize import Store
    from somatize.study import Sampler, Space, search

    def slow(point):
        yield 1.0
        print("running", flush=True)
        for _ in range(600):  # in short steps: a signal that comes just before a sleep is heard after it
            time.sleep(0.1)

    space = Space().int("n", 1, 4)
    how = {"study": "bowls", "total": 4, "goal": "min", "progress": False}
    search(slow, Store(sys.argv[1]), space, Sampler.grid(), **how)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, None)])
def test_a_schedulers_signal_leaves_no_trial_running_c17(tmp_path, number, code):
    where = tmp_path / "store"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(where)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "running\n"
    process.send_signal(number)
    _, words = process.communicate(timeout=20)
    if code is not None:
        assert process.returncode == code
    else:
        assert "KeyboardInterrupt" in words
    (row,) = trials(Store(where, read_only=True), study=STUDY)
    assert (row.state, row.because, row.reports) == (FAILED, "interrupted", 1)


def test_a_handler_of_the_programs_own_is_left_alone(store):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("term"))
    try:

        def objective(point):
            signal.raise_signal(signal.SIGTERM)
            return 1.0

        search(objective, store, SPACE, SAMPLER, total=1, **QUICK)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (heard, states(store)) == (["term"], [DONE])
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_bar_counts_the_studys_trials(store, capsys):
    pytest.importorskip("tqdm")
    search(bowl, store, SPACE, SAMPLER, total=3, **QUICK | {"progress": True})
    said = capsys.readouterr()
    assert "3/3" in said.err
    assert "best" in said.err
    assert said.out == ""


def test_without_tqdm_there_is_no_bar(store, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    search(bowl, store, SPACE, SAMPLER, total=2, **QUICK | {"progress": True})
    assert capsys.readouterr().err == ""
    assert states(store) == [DONE] * 2


def _work(where, total, lease, delay):
    def slow_bowl(point):
        for value in bowl(point):
            time.sleep(delay)
            yield value

    store = Store(where, durable=False, lease=lease)
    search(slow_bowl, store, SPACE, SAMPLER, total=total, **QUICK)


def _fleet(where, n_workers, total, lease=30.0, delay=0.0):
    spawn = multiprocessing.get_context("fork")
    workers = [spawn.Process(target=_work, args=(where, total, lease, delay)) for _ in range(n_workers)]
    for worker in workers:
        worker.start()
    return workers


def test_seven_workers_run_exactly_the_total_c06(store):
    for worker in _fleet(store.location, 7, 20):
        worker.join()
        assert worker.exitcode == 0
    rows = trials(store, study=STUDY)
    assert [row.trial for row in rows] == list(range(20))
    assert {row.state for row in rows} == {DONE}
    (eighth,) = _fleet(store.location, 1, 20)
    eighth.join()
    assert len(trials(store, study=STUDY)) == 20


def test_the_trials_of_killed_workers_are_taken_over_with_the_same_points_c08_c17_c25(store):
    total, lease = 12, 0.5
    workers = _fleet(store.location, 3, total, lease, delay=0.05)
    while len(in_flight(store, study=STUDY)) < 3 and all(worker.is_alive() for worker in workers):
        time.sleep(0.01)
    workers[0].kill()
    workers[1].kill()
    for worker in workers:
        worker.join()
    assert workers[2].exitcode == 0
    watcher = Store(store.location, lease=lease)
    done = finished(watcher, study=STUDY)
    assert [row.trial for row in done] == list(range(total))
    assert [row.point for row in done] == [SAMPLER.ask(SPACE, trial) for trial in range(total)]
    rows = trials(watcher, study=STUDY)
    assert RUNNING not in {row.state for row in rows}
    assert any(row.attempt == 1 for row in rows)


STOPPED = """
    import os, sys, time, warnings
    from somatize import Store
    from somatize.study import Sampler, Space, search

    def slow(point):
        yield 1.0
        print("running", flush=True)
        while not os.path.exists(sys.argv[3]):
            time.sleep(0.01)
        yield 0.5

    warnings.simplefilter("always")
    store = Store(sys.argv[1], durable=False, lease=float(sys.argv[2]))
    space = Space().int("n", 1, 2)
    search(slow, store, space, Sampler.grid(), study="bowls", total=2, goal="min", progress=False)
    print("lives on", flush=True)
"""


FOUR_BY_FOUR = Space().choice("a", [1, 2, 3, 4]).choice("b", [1, 2, 3, 4])


def _together(n, work, *arguments):
    """`work(barrier, ...)` in `n` processes, which it may release at once."""
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(n)
    workers = [fork.Process(target=work, args=(barrier, *arguments)) for _ in range(n)]
    for worker in workers:
        worker.start()
    return workers


def _pick(barrier, where, sampler):
    def picked(point):
        time.sleep(0.002)
        return point["a"] * point["b"]

    store = Store(where, durable=False)
    barrier.wait()
    search(picked, store, FOUR_BY_FOUR, sampler, total=16, **QUICK)


@pytest.mark.parametrize("sampler", [Sampler.random(seed=5), Sampler.tpe(seed=5, startup=3)], ids=str)
def test_four_workers_visit_sixteen_of_sixteen_combinations_c07(store, sampler):
    for worker in _together(4, _pick, store.location, sampler):
        worker.join()
        assert worker.exitcode == 0
    known = asked(store, study=STUDY)
    assert len({row.point for row in known}) == len(known) == 16
    with pytest.raises(UsedUpError, match="trial 16"):
        sampler.ask(FOUR_BY_FOUR, 16, known)


def _prune_half(barrier, where):
    def halved(point):
        yield float((point["a"] + point["b"]) % 2)
        time.sleep(0.01)
        yield 0.1 * point["a"]

    store = Store(where, durable=False)
    sampler, pruner = Sampler.tpe(seed=3, startup=3), Pruner.threshold(upper=0.5)
    barrier.wait()
    search(halved, store, FOUR_BY_FOUR, sampler, total=16, pruner=pruner, **QUICK)


def test_four_workers_with_tpe_never_ask_again_what_was_pruned_c07(store):
    for worker in _together(4, _prune_half, store.location):
        worker.join()
    rows = trials(store, study=STUDY)
    assert (len(rows), len({row.point for row in rows})) == (16, 16)
    assert states(store).count(PRUNED) == 8


DEADLY = """
    import os, signal, sys
    from somatize import Store
    from somatize.study import Sampler, Space, search

    def deadly(point):
        yield 1.0
        if point["n"] == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        yield 0.5

    store = Store(sys.argv[1], durable=False, lease=0.3)
    how = {"study": "bowls", "total": 4, "goal": "min", "progress": False}
    search(deadly, store, Space().int("n", 1, 4), Sampler.grid(), attempts=int(sys.argv[2]), **how)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("attempts", [1, 3])
def test_a_point_that_kills_its_workers_is_given_up(tmp_path, attempts):
    where, script = tmp_path / "store", textwrap.dedent(DEADLY)
    codes = []
    for _ in range(attempts + 3):
        command = [sys.executable, "-c", script, str(where), str(attempts)]
        codes.append(subprocess.run(command, timeout=60, check=False).returncode)
        if codes[-1] == 0:
            break
    assert codes == [-signal.SIGKILL] * attempts + [0]
    store = Store(where, read_only=True)
    rows = [row for row in trials(store, study=STUDY) if row.trial == 1]
    assert [row.state for row in rows] == [FAILED] * (attempts + 1)
    times = "time" if attempts == 1 else "times"
    assert rows[-1].because == f"abandoned {attempts} {times}"
    assert [row.trial for row in finished(store, study=STUDY)] == [0, 2, 3]


def test_an_interruption_is_no_lost_worker(store):
    calls = []

    def interrupted(point):
        yield 1.0
        calls.append(point)
        if len(calls) < 4:
            signal.raise_signal(signal.SIGINT)

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            search(interrupted, store, SPACE, SAMPLER, total=1, attempts=1, **QUICK)
    search(interrupted, store, SPACE, SAMPLER, total=1, attempts=1, **QUICK)
    assert states(store) == [FAILED] * 3 + [DONE]


def test_a_sampler_that_learns_hears_the_goal_and_what_is_under_way(store):
    quick = QUICK | {"goal": "max"}
    space = Space().real("x", 0.0, 1.0)
    seen = search(lambda point: point["x"], store, space, Sampler.tpe(seed=0), total=40, **quick)
    late = [row.point["x"] for row in seen[25:]]
    assert sum(late) / len(late) > 0.75


def _walk_the_grid(barrier, where, lease, delay):
    def walked(point):
        for value in (2.0, 1.0):
            time.sleep(delay)
            yield value + point["a"]

    store = Store(where, durable=False, lease=lease)
    barrier.wait()
    search(walked, store, GRID, Sampler.grid(), total=18, **QUICK)


GRID = Space().choice("a", [1, 2, 3]).choice("b", list("xyz")).choice("c", [True, False])


def test_six_workers_walk_a_grid_once_c08(store):
    for worker in _together(6, _walk_the_grid, store.location, 30.0, 0.002):
        worker.join()
        assert worker.exitcode == 0
    rows = trials(store, study=STUDY)
    assert [(row.trial, row.attempt, row.state) for row in rows] == [(n, 0, DONE) for n in range(18)]
    assert len({row.point for row in rows}) == 18
    with pytest.raises(UsedUpError, match="trial 18 was asked of a space of 18 points"):
        Sampler.grid().ask(GRID, 18)


def test_the_point_of_a_killed_walker_is_offered_again_c08(store):
    lease = 0.5
    workers = _together(6, _walk_the_grid, store.location, lease, 0.1)
    while len(in_flight(store, study=STUDY)) < 6 and workers[0].is_alive():
        time.sleep(0.005)
    workers[0].kill()
    for worker in workers:
        worker.join()
    watcher = Store(store.location, lease=lease)
    done = finished(watcher, study=STUDY)
    assert [row.trial for row in done] == list(range(18))
    assert len({row.point for row in done}) == 18
    retried = [row.trial for row in trials(watcher, study=STUDY) if row.attempt == 1]
    assert len(retried) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
def test_a_worker_that_was_stopped_is_refused_by_name_and_lives_on_c04(tmp_path):
    where, lease = str(tmp_path / "store"), 0.4
    script, go = textwrap.dedent(STOPPED), tmp_path / "go"
    process = subprocess.Popen(
        [sys.executable, "-c", script, where, str(lease), str(go)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "running\n"
    os.kill(process.pid, signal.SIGSTOP)
    store = Store(where, durable=False, lease=lease)
    search(lambda point: 0.25, store, Space().int("n", 1, 2), Sampler.grid(), total=2, **QUICK)
    go.touch()
    os.kill(process.pid, signal.SIGCONT)
    said, words = process.communicate(timeout=30)
    assert said.endswith("lives on\n")
    assert process.returncode == 0
    assert "trial 0" in words
    done = finished(store, study=STUDY)
    assert [(row.trial, row.score) for row in done] == [(0, 0.25), (1, 0.25)]


def test_no_warning_in_the_plain_case(store):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search(bowl, store, SPACE, SAMPLER, total=4, **QUICK)
