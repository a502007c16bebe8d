"""`import somatize` is cheap, and brings nothing heavy along."""

import subprocess
import sys

import pytest

HEAVY = ["torch", "plotly", "polars", "numpy", "tqdm", "pandas", "scipy"]
# What a person would notice in a shell; the time of an interpreter that imports nothing is taken off.
MOST_SECS = 0.1


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("module", ["somatize", "somatize.study", "somatize.errors"])
def test_importing_brings_nothing_heavy(module):
    loaded = run(f"import sys, {module}; print([name for name in {HEAVY} if name in sys.modules])")
    assert loaded == "[]"


def test_importing_takes_less_than_a_tenth_of_a_second():
    # Time of the processor, and the least of a few: other work on the machine only adds.
    code = "from time import process_time as now; began = now(); import somatize; print(now() - began)"
    assert min(float(run(code)) for _ in range(5)) < MOST_SECS


def test_the_version_is_that_of_the_native_module():
    assert run("import somatize; print(somatize.__version__ == somatize._somatize.__version__)") == "True"


def test_every_public_name_is_there_and_documented():
    import somatize
    import somatize.study

    for module in (somatize, somatize.study):
        assert module.__doc__
        for name in module.__all__:
            one = getattr(module, name)
            assert isinstance(one, str) or one.__doc__, f"{module.__name__}.{name} has no docstring"
