"""Studies at the edge of what floats hold, or of what a space may be or be called, are drawn all the same."""

from __future__ import annotations

import pytest

from somatize import Store
from somatize.study import DONE, Space, coordinates, history, learning, report, slices, table, take

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


@pytest.mark.parametrize("draw", [history, learning, slices])
@pytest.mark.parametrize(
    "scores",
    [
        [0.0, 1.5e-323],
        [5e-324, 1.7e308] * 6,
        [10.0**power for power in range(-300, 301, 60)],
        [-1.7e308, 0.0, 1.7e308] * 4,
        [-1.7e308, 1.7e308],
        [1.7e308] * 9,
        [5e-324] * 9,
    ],
    ids=lambda scores: f"{scores[0]:g} to {scores[-1]:g}",
)
def test_scores_as_far_apart_or_as_small_as_floats_are_drawn(draw, scores):
    space = Space().real("x", 0.0, 1.0)
    store = finished_with(space, [{"x": i / len(scores)} for i in range(len(scores))], scores)
    page = draw(store, study="s").to_json()
    assert "NaN" not in page
    assert "Infinity" not in page


@pytest.mark.parametrize("draw", [coordinates, slices])
@pytest.mark.parametrize("high", [1.5e-323, 1e-320])
def test_a_range_of_subnormal_floats_is_drawn(draw, high):
    space = Space().real("z", 0.0, high)
    assert draw(finished_with(space, [{"z": 0.0}, {"z": high}], [1.0, 2.0]), study="s").to_dict()["data"]


@pytest.mark.parametrize("draw", [coordinates, slices, table])
def test_a_name_of_a_hundred_thousand_letters_is_cut_at_once(draw):
    name = "n" * 100_000
    space = Space().real(name, 0.0, 1.0)
    store = finished_with(space, [{name: 0.0}, {name: 1.0}], [1.0, 2.0])
    assert r"\u2026" in draw(store, study="s").to_json()
