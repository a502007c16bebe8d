"""Studies at the edge of what floats hold, and of what a space may be, are drawn all the same."""

from __future__ import annotations

import pytest

from somatize import Store
from somatize.study import DONE, Space, coordinates, history, report, slices, take

pytest.importorskip("plotly")


def finished_with(space: Space, points: list[dict[str, float]], scores: list[float]) -> Store:
    store = Store("memory://")
    for trial, (values, score) in enumerate(zip(points, scores, strict=True)):
        point = space.point(values)
        assert take(store, point, study="s", trial=trial, me="w", goal="min")
        report(store, point, [score], study="s", trial=trial, me="w", state=DONE, score=score)
    return store


def test_a_space_without_knobs_is_its_scores():
    figure = coordinates(finished_with(Space(), [{}, {}], [1.0, 2.0]), study="s")
    assert figure.to_dict()["data"]


@pytest.mark.parametrize("draw", [coordinates, slices])
def test_a_range_of_two_neighbouring_floats_has_two_ends(draw):
    space = Space().real("z", 0.0, 5e-324)
    store = finished_with(space, [{"z": 0.0}, {"z": 5e-324}, {"z": 0.0}], [1.0, 2.0, 3.0])
    assert draw(store, study="s").to_dict()["data"]


@pytest.mark.parametrize("draw", [history, slices])
def test_scores_that_differ_by_the_least_a_float_can_are_drawn(draw):
    space = Space().real("x", 0.0, 1.0)
    store = finished_with(space, [{"x": 0.0}, {"x": 1.0}], [0.0, 5e-324])
    assert draw(store, study="s").to_dict()["data"]
