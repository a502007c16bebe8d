"""The exceptions: one base, the built-ins people catch, and a hint on its own line."""

import inspect
import pickle

import pytest

from somatize import errors
from somatize.errors import BlobNotFoundError, SomaError, SpaceError, StoreError, StudyNotFoundError

CLASSES = [
    one
    for _, one in inspect.getmembers(errors, inspect.isclass)
    if issubclass(one, Exception) and one.__module__ == "somatize.errors" and not issubclass(one, Warning)
]


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_is_a_soma_error_with_a_docstring(error):
    assert issubclass(error, SomaError)
    assert error.__name__.endswith("Error")
    assert error.__doc__


def test_the_hint_stands_on_its_own_line_and_is_kept():
    error = SpaceError("`x` was given low 1 and high 0, expected low at most high", hint="swap the two")
    assert str(error).splitlines() == [
        "`x` was given low 1 and high 0, expected low at most high",
        "hint: swap the two",
    ]
    assert (error.text.startswith("`x`"), error.hint) == (True, "swap the two")
    assert str(SpaceError("no more to say")) == "no more to say"


@pytest.mark.parametrize(
    ("error", "parents"),
    [
        (SpaceError, [ValueError]),
        (BlobNotFoundError, [StoreError, LookupError]),
        (StudyNotFoundError, [errors.StudyError, LookupError]),
    ],
)
def test_an_error_is_also_the_built_in_a_person_would_catch(error, parents):
    for parent in [SomaError, *parents]:
        assert issubclass(error, parent)
    assert not issubclass(error, KeyError)


def test_an_error_pickles_with_its_hint():
    error = pickle.loads(pickle.dumps(SpaceError("text", hint="hint")))
    assert (type(error), error.text, error.hint) == (SpaceError, "text", "hint")
