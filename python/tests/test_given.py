"""Arguments of another class are refused in words: what was given, and how to make the right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from somatize import Store
from somatize.errors import SpaceError
from somatize.study import (
    Point,
    Pruner,
    Sampler,
    Space,
    abandoned,
    asked,
    best,
    curves,
    declared,
    discard,
    finished,
    frame,
    importance,
    report,
    seal,
    take,
    trials,
)

SPACE = Space().real("lr", 1e-4, 1e-1)
POINT = SPACE.point({"lr": 0.1})
OURS = dict(study="widths", trial=0, me="here")


def said(call):
    with pytest.raises(TypeError) as caught:
        call()
    return str(caught.value)


def test_a_dict_for_a_point_hears_how_a_point_is_made():
    store = Store("memory://")
    for call in (
        lambda: take(store, {"lr": 0.1}, **OURS),
        lambda: report(store, {"lr": 0.1}, [1.0], **OURS),
    ):
        assert said(call).startswith(
            "a `dict` was given, expected a Point: make one with `space.point({...})`"
        )


@pytest.mark.parametrize("where", ["/shared/widths", Path("/shared/widths")])
def test_a_path_for_a_store_hears_how_a_store_is_opened(where):
    for call in (
        lambda: take(where, POINT, **OURS),
        lambda: report(where, POINT, [1.0], **OURS),
        *(
            lambda read=read: read(where, study="widths")
            for read in (finished, asked, curves, abandoned, trials, best, importance, seal, declared, frame)
        ),
        lambda: discard(where, study="widths", trial=0),
    ):
        assert said(call).endswith(" was given, expected a Store: open one with `Store('/shared/widths')`")
    assert said(lambda: best(Store, study="widths")).startswith(
        "the class `Store` was given, expected a Store"
    )
    assert said(lambda: best(None, study="widths")).startswith("None was given, expected a Store")


def test_another_thing_for_a_space_hears_how_a_space_is_made():
    store = Store("memory://")
    for call in (
        lambda: Sampler.sobol().ask({"lr": 0.1}, 0),
        lambda: Sampler.sobol().size({"lr": 0.1}),
        lambda: Point({"lr": 0.1}, "lr=0.1"),
        lambda: finished(store, {"lr": 0.1}, study="widths"),
    ):
        assert said(call).startswith("a `dict` was given, expected a Space: make one with `Space().real(")


def test_another_thing_for_values_or_a_folder_hears_what_was_expected():
    assert said(lambda: SPACE.point(3)) == (
        "a point was given as 3, expected a dict of names to values, or its text"
    )
    assert said(lambda: Store(3)) == (
        '`where` was given a `int`, expected the path of a folder, or "memory://"'
    )


def test_several_goals_hear_that_there_is_one():
    store, goals = Store("memory://"), ["min", "max"]
    for call in (
        lambda: take(store, POINT, goal=goals, **OURS),
        lambda: report(store, POINT, [1.0], goal=goals, **OURS),
        lambda: best(store, study="widths", goal=goals),
        lambda: Sampler.sobol().toward(goals),
        lambda: Sampler.tpe(goal=goals),
        lambda: Pruner.median(goal=goals),
        lambda: Pruner.median().toward(goals),
    ):
        assert said(call) == (
            "`goal` was given ['min', 'max'], expected \"min\" or \"max\", as a study has one score"
        )
    with pytest.raises(SpaceError, match="`goal` was given `minimize`, expected `min` or `max`"):
        take(store, POINT, goal="minimize", **OURS)
