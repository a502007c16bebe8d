"""Defaults live in Rust; what Python's signatures repeat is the same."""

import inspect

import pytest

from somatize import Store, study
from somatize._somatize import _defaults

DEFAULTS = dict(_defaults())
NEEDS_NO_ARGUMENT = [name for name in DEFAULTS if name.startswith(("Pruner.", "Sampler."))]


@pytest.mark.parametrize("name", NEEDS_NO_ARGUMENT)
def test_a_constructor_given_nothing_makes_the_default_of_the_crate(name):
    kind, method = name.split(".")
    assert str(getattr(getattr(study, kind), method)()) == DEFAULTS[name]


def test_every_constructor_without_a_required_argument_is_compared():
    # `grid` and `halton` have one argument, which in Rust is required; a threshold needs a bound.
    others = {"Sampler.grid", "Sampler.halton", "Pruner.threshold"}
    for kind in (study.Sampler, study.Pruner):
        methods = {name for name in vars(kind) if not name.startswith("_")}
        constructors = {f"{kind.__name__}.{name}" for name in methods if _is_on_the_class(kind, name)}
        assert constructors - others <= set(DEFAULTS)


def _is_on_the_class(kind, name):
    return not inspect.ismethoddescriptor(getattr(kind, name)) and callable(getattr(kind, name))


def test_the_dimensions_have_the_defaults_of_the_crate():
    assert str(study.Space().real("x", 1, 2)) == DEFAULTS["Space.real"]
    assert str(study.Space().int("x", 1, 2)) == DEFAULTS["Space.int"]
    assert (
        inspect.signature(study.Space.int).parameters["step"].default
        == study.Space().int("x", 1, 2)["x"].step
    )


def test_a_store_has_the_defaults_of_the_crate():
    store = Store("memory://")
    said = f"durable={store.durable}, read_only={store.read_only}, lease={store.lease:g}".lower()
    assert said == DEFAULTS["Store"]
    parameters = inspect.signature(Store).parameters
    assert (parameters["durable"].default, parameters["read_only"].default) == (
        store.durable,
        store.read_only,
    )


def test_a_seed_not_given_is_zero():
    for method in ("halton", "sobol", "random", "tpe"):
        make = getattr(study.Sampler, method)
        assert make() == make(seed=0)


def test_search_leaves_lease_and_name_to_the_store_and_the_machine():
    parameters = inspect.signature(study.search).parameters
    assert parameters["lease"].default is None
    assert parameters["me"].default is None
    assert parameters["raises"].default is False
    assert parameters["progress"].default is True
