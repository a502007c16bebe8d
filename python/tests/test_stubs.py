"""The signatures written by hand are those of the built module."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_the_stub_of_the_native_module_says_what_the_module_has():
    checked = subprocess.run(
        [
            sys.executable, "-m", "mypy.stubtest", "somatize._somatize", "--concise",
            "--allowlist", str(HERE / "stubtest_allowlist.txt"),
            "--mypy-config-file", str(HERE / "stubtest.ini"),
        ],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(HERE.parent)}, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr
