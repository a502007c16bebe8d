"""A point reads like a mapping and keeps the type of every value."""

import copy
import pickle
from collections.abc import Mapping

import pytest

from somatize.errors import DimensionNotFoundError, SpaceError
from somatize.study import Point, Sampler, Space

SPACE = (
    Space()
    .real("lr", 1e-4, 1e-1, log=True)
    .int("width", 8, 64)
    .choice("opt", ["adam", "sgd"])
    .real("momentum", 0, 1, when=("opt", "sgd"))
)


def sgd():
    return Point(SPACE, {"lr": 0.01, "width": 44, "opt": "sgd", "momentum": 0.5})


def adam():
    return Point(SPACE, {"lr": 0.01, "width": 44, "opt": "adam"})


def test_a_point_reads_like_a_mapping():
    point = sgd()
    assert isinstance(point, Mapping)
    assert point["width"] == 44
    assert list(point) == list(point.keys()) == ["lr", "width", "opt", "momentum"]
    assert list(point.values()) == [0.01, 44, "sgd", 0.5]
    assert dict(point.items()) == dict(point) == {**point}
    assert len(point) == 4
    assert "lr" in point
    assert point.get("nothing") is None
    assert point.get("nothing", 3) == 3
    match point:
        case {"opt": "sgd", "momentum": momentum}:
            assert momentum == 0.5
        case _:
            pytest.fail("a mapping pattern reads a point")


def test_a_point_is_passed_on_as_keyword_arguments():
    def train(lr, width, opt, momentum=None):
        return lr, width, opt, momentum

    assert train(**sgd()) == (0.01, 44, "sgd", 0.5)
    assert train(**adam()) == (0.01, 44, "adam", None)


def test_a_conditional_dimension_is_left_out_where_it_does_not_exist():
    assert "momentum" not in adam()
    assert len(adam()) == 3
    with pytest.raises(KeyError, match="momentum"):
        adam()["momentum"]


def test_what_is_not_there_is_a_key_error_of_what_was_asked():
    with pytest.raises(KeyError) as caught:
        sgd()[3]
    assert caught.value.args == (3,)
    assert str(caught.value) == "the point has no `3`, expected one of `lr`, `width`, `opt`, `momentum`"


def test_a_name_that_was_misspelt_hears_the_names_and_a_close_one():
    for asked, whose in ((adam(), "the point"), (SPACE, "the space")):
        with pytest.raises(KeyError) as caught:
            asked["widht"]
        assert isinstance(caught.value, DimensionNotFoundError)
        assert caught.value.args == ("widht",)
        assert caught.value.text.startswith(f"{whose} has no `widht`, expected one of `lr`, `width`, `opt`")
        assert caught.value.hint == "did you mean `width`?"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.args, str(again)) == (caught.value.args, str(caught.value))


def test_a_value_whose_condition_does_not_hold_hears_the_condition():
    with pytest.raises(KeyError) as caught:
        adam()["momentum"]
    assert caught.value.text == "the point has no `momentum`, expected it only where opt='sgd'"
    assert caught.value.hint == "`point.get('momentum')` is None there"


def test_of_many_names_some_are_listed_and_the_rest_counted():
    space = Space()
    for i in range(20):
        space = space.int(f"knob{i}", 0, 1)
    with pytest.raises(KeyError, match=r"`knob11` and 8 more") as caught:
        space["x"]
    assert caught.value.hint is None
    with pytest.raises(KeyError, match=r"the space has no `x`, expected nothing, as it has no dimensions"):
        Space()["x"]


def test_equal_points_have_equal_hashes_and_equal_the_dict_of_their_values():
    assert sgd() == sgd()
    assert hash(sgd()) == hash(sgd())
    assert sgd() != adam()
    assert adam() == {"opt": "adam", "width": 44, "lr": 0.01}
    assert adam() != {"opt": "adam"}
    assert adam() != "lr=0.01,width=44,opt=adam"
    assert len({sgd(), sgd(), adam()}) == 2


def test_a_point_prints_as_its_text_pickles_and_copies():
    text = "lr=0.01,width=44,opt=sgd,momentum=0.5"
    assert str(sgd()) == repr(sgd()) == text
    assert Point(SPACE, text) == SPACE.point(text) == sgd()
    for other in (pickle.loads(pickle.dumps(sgd())), copy.copy(sgd()), copy.deepcopy(sgd())):
        assert other == sgd()
        assert other.space == SPACE


def test_options_come_back_with_their_type_c11_c12():
    options = [None, True, 1, 1.0, "1", "none", "a,b=c|d\n", ""]
    space = Space().choice("x", options).int("n", 1, 4)
    grid = Sampler.grid()
    seen = [pickle.loads(pickle.dumps(grid.ask(space, trial))) for trial in range(space.size)]
    assert [(type(point["x"]), point["x"]) for point in seen[::4]] == [(type(one), one) for one in options]
    assert all(type(point["n"]) is int for point in seen)


def test_numbers_of_numpy_are_the_numbers_they_are():
    numpy = pytest.importorskip("numpy")
    space = (
        Space().choice("width", list(numpy.array([32, 64, 128]))).real("lr", numpy.float32(0), numpy.int64(1))
    )
    point = space.point({"width": numpy.int32(64), "lr": numpy.float64(0.5)})
    assert dict(point) == {"width": 64, "lr": 0.5}
    assert type(point["width"]) is int


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"lr": 0.01, "width": 44}, ["`opt`"]),
        ({"lr": 0.01, "width": 44, "opt": "adam", "momentum": 0.1}, ["`momentum`", "opt=sgd"]),
        ({"lr": 0.01, "width": 44, "opt": "sgd", "momentum": 0.1, "depth": 3}, ["`depth`"]),
        ({"lr": 0.01, "widht": 44, "opt": "adam"}, ["`widht`", "hint", "`width`"]),
        ({"lr": 0.01, "width": 65, "opt": "adam"}, ["`width`", "65", "8 to 64", "hint"]),
        ({"lr": 0.01, "width": 44.0, "opt": "adam"}, ["`width`", "44.0", "whole number"]),
        ({"lr": float("nan"), "width": 44, "opt": "adam"}, ["`lr`", "NaN"]),
        ({"lr": 0.01, "width": 44, "opt": "adagrad"}, ["`opt`", "adagrad", "adam"]),
        ({"lr": 0.01, "width": 44, "opt": ("adam",)}, ["`opt`", "tuple"]),
        ("lr=0.01,width=44,opt=", ["the point"]),
        ("lr=0.01,lr=0.01,width=44,opt=adam", ["`lr`", "twice"]),
    ],
)
def test_what_is_no_point_of_the_space_is_refused_by_name(values, words):
    with pytest.raises(SpaceError) as caught:
        Point(SPACE, values)
    for word in words:
        assert word in str(caught.value)


def test_neither_text_nor_mapping_is_a_type_error():
    with pytest.raises(TypeError):
        Point(SPACE, 3)


def test_scalars_of_other_libraries_are_the_values_they_stand_for():
    numpy, torch = pytest.importorskip("numpy"), pytest.importorskip("torch")
    space = Space().real("x", 0, 1).int("n", 1, 8).choice("c", ["a", True, 1, 1.0])
    point = Point(space, {"x": 0.5, "n": 3, "c": True})
    for true in (numpy.bool_(True), torch.tensor(True)):
        assert Point(space, {"x": numpy.float32(0.5), "n": numpy.int64(3), "c": true}) == point
        assert Point(space, {"x": torch.tensor(0.5), "n": torch.tensor(3), "c": true}) == point
    options = [numpy.int64(3), numpy.float32(0.5), numpy.bool_(True), numpy.str_("q")]
    assert str(Space().choice("c", options)) == "Space(c=choice(3|0.5|true|q))"
    with pytest.raises(SpaceError, match="`n` was given true, expected a whole number"):
        Point(space, {"x": 0.5, "n": numpy.bool_(True), "c": "a"})
    with pytest.raises(SpaceError, match="`c` was given"):
        Space().choice("c", [numpy.datetime64("2020-01-01")])
