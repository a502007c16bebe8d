"""What `pip install .` brings: the package and the native command."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path | None = None) -> str:
    ran = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=900)
    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of a venv that holds nothing but pip and the wheel built from this tree."""
    where = tmp_path_factory.mktemp("install")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", where, ROOT)
    venv.create(where / "venv", with_pip=True)
    (wheel,) = where.glob("*.whl")
    run(where / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel)
    return where / "venv/bin"


@pytest.mark.timeout(900)
def test_the_package_imports_without_torch_plotly_or_numpy(clean: Path):
    code = "import sys, somatize; print(sorted({'torch', 'plotly', 'polars', 'numpy'} & set(sys.modules)))"
    assert run(clean / "python", "-c", code) == "[]\n"


@pytest.mark.timeout(900)
def test_the_command_is_the_native_one(clean: Path):
    assert (clean / "soma").read_bytes()[:4] == b"\x7fELF"
    assert run(clean / "soma", "--version").startswith("soma ")


@pytest.mark.timeout(900)
def test_the_command_links_no_python(clean: Path):
    assert "python" not in run("ldd", clean / "soma")


def test_importing_takes_under_a_tenth_of_a_second():
    """The best of five starts, less the interpreter's own."""
    code = "import time; t = time.perf_counter(); import somatize; print(time.perf_counter() - t)"
    took = [float(run(sys.executable, "-c", code)) for _ in range(5)]
    assert min(took) < 0.1


@pytest.mark.timeout(60)
def test_the_repository_names_no_place_of_its_own():
    """No machine path and no registry host in what is committed, lock files aside."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: there is no list of committed files")
    words = ["/wor" + "k/", "/ro" + "ot/", "pypi" + ".org", "pythonhosted" + ".org"]
    grep = ["git", "-c", "safe.directory=*", "grep", "-n", "-I", "-F"]
    found = subprocess.run(
        [*grep, *[a for w in words for a in ("-e", w)], "--", ":!*.lock"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert found.returncode in (0, 1), found.stderr
    assert found.stdout == ""
