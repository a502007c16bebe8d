"""Pruners from Python: the same warm-up in all, verdicts in words, composition, text, pickling."""

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from somatize.errors import PrunerError, SpaceError
from somatize.study import Pruner

EVERY = [
    Pruner.median(goal="min", warmup=4, startup=6),
    Pruner.percentile(percentile=25.0, goal="max"),
    Pruner.threshold(upper=2.5),
    Pruner.patience(patience=3, min_delta=0.5),
    Pruner.diverged(factor=3.0, goal="min"),
    Pruner.halving(min_steps=2, factor=3),
    Pruner.hyperband(max_steps=27),
    Pruner.median() | Pruner.threshold(lower=-1.0, upper=1e300) | Pruner.patience(),
]


def test_a_median_verdict_says_why_in_words():
    pruner = Pruner.median(goal="min", warmup=1, startup=2)
    others = [[1.0, 0.25], [1.0, 0.5]]
    assert pruner.verdict([0.9], others) is None
    assert pruner.verdict([0.9, 0.25], others) is None
    assert pruner.verdict([0.9, 0.8], others) == (
        "after 2 reports its best is 0.8, worse than 0.375, the median of 2 trials by then"
    )
    assert pruner.verdict([0.9, 0.8]) is None


def test_the_goal_is_the_rules_own_then_the_one_it_is_turned_toward_then_min():
    others, mine = [[1.0], [2.0], [3.0]], [2.5]
    assert Pruner.median(startup=1).verdict(mine, others) is not None
    assert Pruner.median(startup=1).toward("max").verdict(mine, others) is None
    assert Pruner.median(startup=1, goal="min").toward("max").verdict(mine, others) is not None


@pytest.mark.parametrize("warmup", range(4))
def test_the_first_report_that_can_be_pruned_is_the_one_after_the_warmup_in_all_c14(warmup):
    others = [[0.0] * 8] * 4
    judged = {
        "median": Pruner.median(warmup=warmup, startup=1),
        "percentile": Pruner.percentile(warmup=warmup, startup=1),
        "threshold": Pruner.threshold(upper=2, warmup=warmup),
        "patience": Pruner.patience(patience=1, warmup=warmup),
        "diverged": Pruner.diverged(factor=0, warmup=warmup),
    }
    for name, pruner in judged.items():
        # Ever worse, and above every bound: each rule speaks as soon as it may.
        curve = [3.0 + step for step in range(8)]
        first = next(n for n in range(1, 9) if pruner.verdict(curve[:n], others) is not None)
        needs = 2 if name in ("patience", "diverged") else 1  # one report to compare with
        assert first == max(warmup + 1, needs), name


def test_the_very_first_report_can_be_pruned_c14():
    assert Pruner.threshold(upper=2, warmup=0).verdict([3.0]) is not None


def test_patience_counts_reports_and_not_epochs_c15():
    pruner = Pruner.patience(patience=3)
    flat, better = [1.0] * 5, [5.0, 4.0, 3.0, 2.0, 1.0]
    assert any(pruner.verdict(flat[:n]) for n in range(1, 6))
    assert not any(pruner.verdict(better[:n]) for n in range(1, 6))


@pytest.mark.parametrize("pruner", EVERY, ids=repr)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_report_that_is_not_finite_is_always_pruned_c13(pruner, bad):
    assert "not a finite number" in pruner.verdict([0.5, bad], [])
    assert pruner.verdict([], []) is None


def test_reports_of_others_that_are_not_finite_decide_nothing_c13():
    pruner = Pruner.median(startup=2)
    others = [[1.0], [3.0], [math.nan], [math.inf]]
    assert pruner.verdict([1.9], others) is None
    assert pruner.verdict([2.1], others) is not None


@pytest.mark.parametrize("pruner", EVERY, ids=repr)
def test_a_pruner_reads_back_from_its_text_its_pickle_and_its_repr(pruner):
    for other in (Pruner(str(pruner)), pickle.loads(pickle.dumps(pruner)), eval(repr(pruner))):
        assert other == pruner
        assert hash(other) == hash(pruner)
        assert repr(other) == repr(pruner)
    assert pruner != Pruner.median(startup=99)


def test_a_pruner_prints_as_the_call_that_makes_it():
    assert repr(EVERY[0]) == "Pruner.median(goal='min', warmup=4, startup=6)"
    assert repr(Pruner.threshold(upper=2.5) | Pruner.patience()) == (
        "Pruner.threshold(upper=2.5, warmup=0) | Pruner.patience(patience=5, min_delta=0, warmup=0)"
    )
    assert str(Pruner.median()) == "median(warmup=0,startup=5)"


@given(
    st.lists(st.floats(-10, 10), max_size=8),
    st.lists(st.lists(st.floats(-10, 10), min_size=1, max_size=8), max_size=8),
)
def test_composed_pruners_prune_when_either_does(mine, others):
    one, two = Pruner.median(startup=2), Pruner.threshold(upper=5)
    either = (one | two).verdict(mine, others)
    assert either == (one.verdict(mine, others) or two.verdict(mine, others))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Pruner("medain()"), PrunerError, ["`medain`", "hint", "`median`"]),
        (lambda: Pruner("median(warm=4)"), PrunerError, ["`warm`", "`goal`, `warmup`, `startup`"]),
        (lambda: Pruner("median(warmup=-4)"), PrunerError, ["`warmup`", "-4", "at least 0"]),
        (lambda: Pruner("median(goal=up)"), PrunerError, ["`goal`", "up", "`min` or `max`"]),
        (lambda: Pruner("median(warmup=4,warmup=5)"), PrunerError, ["not given yet", "^"]),
        (lambda: Pruner("median"), PrunerError, ["the pruner", "`(`", "hint", "diverged(factor=10)"]),
        (lambda: Pruner("median() diverged()"), PrunerError, ["the end", "`diverged`"]),
        (lambda: Pruner("halving(factor=1)"), PrunerError, ["`factor`", "1", "at least 2"]),
        (lambda: Pruner(3), TypeError, []),
        (lambda: Pruner.threshold(), PrunerError, ["`threshold`"]),
        (lambda: Pruner.threshold(lower=2, upper=1), PrunerError, ["`threshold`", "2"]),
        (lambda: Pruner.patience(patience=0), PrunerError, ["`patience`", "0", "at least 1"]),
        (lambda: Pruner.percentile(percentile=101), PrunerError, ["`percentile`", "101"]),
        (lambda: Pruner.halving(factor=1), PrunerError, ["`factor`", "1"]),
        (lambda: Pruner.median(goal="lower"), SpaceError, ["`goal`", "`lower`", "hint"]),
        (lambda: Pruner.median(warmup=-1), OverflowError, []),
        (lambda: Pruner.median() | 3, TypeError, []),
        (lambda: Pruner.median().verdict(["a"]), TypeError, []),
    ],
)
def test_what_a_pruner_cannot_work_with_is_refused(make, error, words):
    with pytest.raises(error) as caught:
        make()
    assert isinstance(caught.value, (ValueError, ArithmeticError, TypeError))
    for word in words:
        assert word in str(caught.value)
