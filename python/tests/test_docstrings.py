"""The examples in the docstrings of the native classes run, and every public call says what it raises."""

import doctest

import pytest

from somatize import Store, study
from somatize.study import Point, Pruner, Sampler, Space


@pytest.mark.parametrize("kind", [Store, Space, Point, Sampler, Pruner], ids=lambda kind: kind.__name__)
def test_the_example_of_a_class_runs(kind):
    example = doctest.DocTestParser().get_doctest(kind.__doc__, {}, kind.__name__, None, None)
    assert example.examples
    said = []
    doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert said == []


@pytest.mark.parametrize(
    "name", ["take", "report", "finished", "in_flight", "curves", "abandoned", "trials", "best", "importance",
             "discard", "attempts", "declared", "frame", "search"],
)  # fmt: skip
def test_a_function_of_the_loop_documents_its_arguments_and_errors(name):
    text = getattr(study, name).__doc__
    assert "Args:" in text
    assert "Raises:" in text
