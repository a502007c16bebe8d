"""Spaces and their dimensions: what they refuse, how they print, and that their text loses nothing."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from somatize.errors import SomaError, SpaceError
from somatize.study import Point, Sampler, Space

SAMPLERS = [
    Sampler.sobol(seed=0),
    Sampler.halton(seed=0),
    Sampler.random(seed=0),
    Sampler.grid(points_per_real=3),
    Sampler.tpe(seed=0),
]


def of_the_seed():
    return Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64).choice("opt", ["adam", "sgd"])


def test_a_space_prints_as_the_seed_shows_it():
    text = "Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))"
    assert repr(of_the_seed()) == text
    assert str(of_the_seed()) == text


def test_each_call_answers_a_new_space():
    empty = Space()
    one = empty.real("x", 0, 1)
    assert (len(empty), len(one)) == (0, 1)
    assert empty != one


def test_a_space_pickles_copies_and_hashes_by_what_it_is():
    space = of_the_seed().real("momentum", 0, 0.99, when=("opt", "sgd"))
    for other in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space), Space(str(space))):
        assert other == space
        assert hash(other) == hash(space)
    assert space != of_the_seed()


def test_dimensions_say_what_was_declared():
    space = (
        of_the_seed()
        .real("momentum", 0.0, 0.9, step=0.3, when=("opt", "sgd"))
        .int("heads", 2, 8, step=2, when=("opt", ["sgd", "adam"]))
    )
    lr, width, opt, momentum, heads = space.dimensions
    assert (lr.name, lr.kind, lr.low, lr.high, lr.log, lr.step, lr.options, lr.when) == (
        "lr", "real", 1e-4, 1e-1, True, None, None, None,
    )  # fmt: skip
    assert (width.kind, width.low, width.high, width.log, width.step) == ("int", 8, 64, False, 1)
    assert type(width.low) is int
    assert (opt.kind, opt.low, opt.high, opt.step, opt.options) == (
        "choice",
        None,
        None,
        None,
        ("adam", "sgd"),
    )
    assert (momentum.step, momentum.when) == (0.3, ("opt", ("sgd",)))
    assert (heads.step, heads.when) == (2, ("opt", ("adam", "sgd")))
    assert space["opt"] == opt
    assert list(space) == ["lr", "width", "opt", "momentum", "heads"]
    assert "lr" in space
    assert "nothing" not in space
    assert repr(width) == "Dimension(width=int(8,64))"
    with pytest.raises(KeyError, match="nothing"):
        space["nothing"]


def test_the_size_is_the_number_of_points():
    assert Space().size == 1
    assert Space().int("a", 1, 3).choice("b", ["x", "y"]).size == 6
    assert Space().choice("a", [1, 2]).int("b", 0, 4, when=("a", 1)).size == 6
    assert of_the_seed().size is None


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (lambda s: s.real("x", 0, 1, log=True), ["`x`", "low 0"]),
        (lambda s: s.int("x", 0, 8, log=True), ["`x`", "low 0"]),
        (lambda s: s.real("x", 1, 0), ["`x`", "low 1", "high 0"]),
        (lambda s: s.real("x", float("nan"), 1), ["`x`", "NaN"]),
        (lambda s: s.real("x", 0, float("inf")), ["`x`", "inf"]),
        (lambda s: s.choice("x", []), ["`x`", "no options"]),
        (lambda s: s.choice("x", ["a", "a"]), ["`x`", "twice"]),
        (lambda s: s.choice("x", [(1, 2), (3, 4)]), ["`x`", "(1, 2)", "tuple"]),
        (lambda s: s.choice("x", [[64, 64], [128]]), ["`x`", "[64, 64]", "list"]),
        (lambda s: s.choice("x", "adam"), ["`x`", "'adam'", "list of options", "hint: ", "`['adam', ...]`"]),
        (lambda s: s.choice("x", 3), ["`x`", "was given 3", "a list of options", "`[3, ...]`"]),
        (lambda s: s.choice("x", [2**63]), ["`x`", str(2**63), "64 bits"]),
        (lambda s: s.int("x", 0, 2**63), ["`x`", "high", str(2**63), "64 bits"]),
        (lambda s: s.int("x", 0.5, 3), ["`x`", "low 0.5", "whole number", "hint", '`.real("x", low, high)`']),
        (lambda s: s.real("x", "low", 3), ["`x`", "low 'low'", "a number"]),
        (lambda s: s.int("x", 0, 3, step=0), ["`x`", "step 0"]),
        (lambda s: s.real("x", 1, 3, step=1, log=True), ["`x`", "step", "log"]),
        (lambda s: s.real("", 0, 1), ["empty name"]),
        (lambda s: s.real("x", 0, 1).int("x", 0, 1), ["`x`", "twice"]),
        (lambda s: s.choice("a", ["b"]).real("x", 0, 1, when=("a", "c")), ["`x`", "`a`", "c"]),
        (lambda s: s.choice("opt", ["b"]).real("x", 0, 1, when=("op", "b")), ["`op`", "hint", "`opt`"]),
        (lambda s: Space("Space(x=imaginary(0,1))"), ["imaginary"]),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_where_it_is_declared_c10(declare, words):
    with pytest.raises(SpaceError) as caught:
        declare(Space())
    assert isinstance(caught.value, SomaError)
    assert isinstance(caught.value, ValueError)
    for word in words:
        assert word in str(caught.value)


def test_a_condition_that_is_no_pair_is_a_type_error():
    with pytest.raises(TypeError, match="`when` of `x` was given 'opt'"):
        of_the_seed().real("x", 0, 1, when="opt")


def test_a_real_with_int_ends_yields_fractions_c10():
    space = Space().real("x", 0, 1)
    drawn = [Sampler.random(seed=0).ask(space, trial)["x"] for trial in range(50)]
    assert all(type(value) is float for value in drawn)
    assert sum(0 < value < 1 for value in drawn) == 50


def test_the_median_of_a_log_range_is_its_middle_ratio_c10():
    space = Space().real("x", 1e-5, 1e-1, log=True)
    drawn = sorted(Sampler.random(seed=1).ask(space, trial)["x"] for trial in range(1000))
    assert 5e-4 <= drawn[500] <= 2e-3


def test_a_grid_has_both_ends_and_every_int_is_drawn_alike_c09():
    unit = Space().real("x", 0, 1)
    grid = Sampler.grid(points_per_real=3)
    assert [grid.ask(unit, trial)["x"] for trial in range(3)] == [0, 0.5, 1]
    dice = Space().int("n", 1, 3)
    drawn = [Sampler.random(seed=0).ask(Space().int("n", 1, 3).real("x", 0, 1), t)["n"] for t in range(3000)]
    assert {n: 800 <= drawn.count(n) <= 1200 for n in (1, 2, 3)} == {1: True, 2: True, 3: True}
    assert dice.size == 3


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_a_range_of_one_value_is_that_value_under_every_sampler_c09(sampler):
    space = Space().real("r", 2, 2).int("i", 3, 3).choice("c", ["only"]).real("l", 1e-3, 1e-3, log=True)
    assert dict(sampler.ask(space, 0)) == {"r": 2.0, "i": 3, "c": "only", "l": 1e-3}


NAMES = st.text(min_size=1, max_size=8)
OPTIONS = st.one_of(
    st.text(max_size=6),
    st.booleans(),
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def spaces(draw):
    space = Space()
    for name in draw(st.lists(NAMES, unique=True, max_size=5)):
        kind = draw(st.sampled_from(["real", "int", "choice"]))
        if kind == "real":
            low, high = sorted(draw(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 2)))
            space = space.real(name, low, high)
        elif kind == "int":
            low, high = sorted(draw(st.tuples(*[st.integers(-(2**63), 2**63 - 1)] * 2)))
            space = space.int(name, low, high)
        else:
            options = draw(
                st.lists(OPTIONS, min_size=1, max_size=4, unique_by=lambda one: (type(one), repr(one)))
            )
            space = space.choice(name, options)
    return space


@given(spaces(), st.integers(0, 2**40))
def test_the_text_of_a_space_and_of_a_point_loses_nothing(space, trial):
    assert Space(str(space)) == space
    point = Sampler.random(seed=0).ask(space, trial % (space.size or 2**40))
    again = Point(space, str(point))
    assert again == point
    assert [(type(a), a) for a in again.values()] == [(type(a), a) for a in point.values()]
    assert Point(space, dict(point)) == point
    assert pickle.loads(pickle.dumps(point)) == point
