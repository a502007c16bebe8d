"""Samplers from Python: the golden points, purity, ends, text, pickling."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from somatize.errors import SamplerError, SpaceError, UsedUpError
from somatize.study import Point, Sampler, Space

SPACE = Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64).choice("opt", ["adam", "sgd"])
GOLDEN = [
    "lr=0.002771855228616633,width=44,opt=sgd",
    "lr=0.08765375866675294,width=15,opt=adam",
    "lr=0.015587287424960756,width=58,opt=sgd",
    "lr=0.0004929133080657691,width=29,opt=adam",
]


def test_sobol_gives_the_points_of_the_seed():
    sampler = Sampler.sobol(seed=0)
    assert [str(sampler.ask(SPACE, trial, [])) for trial in range(4)] == GOLDEN
    assert str(sampler.ask(SPACE, 2)) == GOLDEN[2]


@pytest.mark.parametrize(
    ("sampler", "text", "shown"),
    [
        (Sampler.sobol(), "sobol(seed=0)", "Sampler.sobol(seed=0)"),
        (Sampler.sobol(seed=3, owen=True), "sobol(seed=3,owen=true)", "Sampler.sobol(seed=3, owen=True)"),
        (Sampler.halton(seed=2**64 - 1), f"halton(seed={2**64 - 1})", f"Sampler.halton(seed={2**64 - 1})"),
        (Sampler.random(seed=5), "random(seed=5)", "Sampler.random(seed=5)"),
        (
            Sampler.tpe(goal="max"),
            "tpe(seed=0,goal=max,startup=10,candidates=24)",
            "Sampler.tpe(seed=0, goal='max', startup=10, candidates=24)",
        ),
        (Sampler.grid(points_per_real=4), "grid(points_per_real=4)", "Sampler.grid(points_per_real=4)"),
    ],
)
def test_a_sampler_reads_back_from_its_text_and_from_its_pickle(sampler, text, shown):
    assert str(sampler) == text
    assert repr(sampler) == shown
    for other in (Sampler(text), pickle.loads(pickle.dumps(sampler)), eval(shown)):
        assert other == sampler
        assert hash(other) == hash(sampler)
    assert sampler != Sampler.random(seed=6)
    assert sampler.is_independent == (not text.startswith("tpe"))


def test_a_history_is_ours_a_list_of_pairs_or_a_list_of_rows():
    sampler = Sampler.tpe(seed=0)
    point = Point(SPACE, GOLDEN[0])
    pairs = [(point, 0.5), (dict(Point(SPACE, GOLDEN[1])), None)]
    rows = [{"point": point, "score": 0.5}, {"point": dict(Point(SPACE, GOLDEN[1])), "score": None}]
    assert sampler.ask(SPACE, 2, pairs) == sampler.ask(SPACE, 2, rows)
    with pytest.raises(SpaceError, match="`width`"):
        sampler.ask(SPACE, 2, [({"lr": 0.01, "width": 1000, "opt": "adam"}, 0.5)])


def test_the_grid_visits_each_combination_once_and_says_when_it_is_used_up_c08():
    space = Space().choice("a", [1, 2, 3]).choice("b", list("xyz")).choice("c", [True, False])
    grid = Sampler.grid()
    assert grid.size(space) == space.size == 18
    assert len({grid.ask(space, trial) for trial in range(18)}) == 18
    with pytest.raises(UsedUpError, match="18") as caught:
        grid.ask(space, 18)
    assert isinstance(caught.value, SpaceError)
    assert "hint: " in str(caught.value)


@pytest.mark.parametrize("sampler", [Sampler.random(seed=3), Sampler.halton(), Sampler.sobol()], ids=repr)
def test_a_finite_space_is_visited_without_repeats_c07(sampler):
    space = Space().choice("a", [1, 2, 3, 4]).choice("b", [1, 2, 3, 4])
    if sampler.size(space) is None:
        pytest.skip(f"{sampler!r} repeats points of a finite space, as its documentation says")
    assert len({sampler.ask(space, trial) for trial in range(16)}) == 16
    with pytest.raises(UsedUpError):
        sampler.ask(space, 16)


def test_tpe_does_not_ask_twice_for_a_point_the_history_holds_c07():
    space = Space().choice("a", [1, 2, 3, 4]).choice("b", [1, 2, 3, 4])
    sampler, seen = Sampler.tpe(seed=0, startup=4), []
    for trial in range(16):
        point = sampler.ask(space, trial, seen)
        seen.append((point, float(point["a"] * point["b"])))
    assert len({point for point, _ in seen}) == 16
    with pytest.raises(UsedUpError):
        sampler.ask(space, 16, seen)


def test_tpe_learns_toward_its_goal_and_is_the_same_in_every_process():
    space = Space().real("x", 0.0, 1.0)
    known = [(space.point({"x": k / 40}), k / 40) for k in range(41)]
    for goal, is_right in (("min", lambda x: x < 0.4), ("max", lambda x: x > 0.6)):
        sampler = Sampler.tpe(seed=3).toward(goal)
        assert sampler == Sampler.tpe(seed=3, goal=goal) == pickle.loads(pickle.dumps(sampler))
        assert not sampler.is_independent
        asked = [sampler.ask(space, trial, known)["x"] for trial in range(41, 61)]
        assert asked == [sampler.ask(space, trial, known)["x"] for trial in range(41, 61)]
        assert sum(map(is_right, asked)) >= 15


def test_random_repeats_where_it_is_asked_to():
    space = Space().choice("a", [1, 2])
    sampler = Sampler.random(seed=0, repeats=True)
    assert sampler.size(space) is None
    assert {sampler.ask(space, trial)["a"] for trial in range(64)} == {1, 2}


def test_the_same_trial_is_the_same_point_in_any_thread():
    sampler = Sampler.halton(seed=1)
    alone = [sampler.ask(SPACE, trial) for trial in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda trial: sampler.ask(SPACE, trial), range(200))) == alone


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Sampler("sobel(seed=0)"), SamplerError, ["`sobel`", "hint", "`sobol`"]),
        (lambda: Sampler("sobol(sed=0)"), SamplerError, ["`sed`", "`seed`"]),
        (lambda: Sampler("sobol"), SamplerError, ["the sampler"]),
        (lambda: Sampler.grid(points_per_real=0), SamplerError, ["`points_per_real`", "at least 1"]),
        (lambda: Sampler.sobol(seed=-1), OverflowError, []),
        (lambda: Sampler.sobol().ask(SPACE, -1), ValueError, ["`trial`", "-1", "0 to 2^64-1"]),
        (lambda: Sampler.sobol(0), TypeError, []),
    ],
)
def test_what_a_sampler_cannot_work_with_is_refused(make, error, words):
    with pytest.raises(error) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
