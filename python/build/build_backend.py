"""The wheel's build: maturin for the extension, and the native `soma` binary beside it.

maturin builds one kind of target a wheel. The extension is that one; `soma` is built first and travels
in the wheel's `data/scripts`, which an installer copies to `bin`. So `pip install .` gives the same
native program as `cargo install --path crates/soma-cli`: no interpreter starts when it is called.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "python" / "somatize.data" / "scripts"
BINARY = "soma.exe" if sys.platform == "win32" else "soma"


def lay(binary: Path) -> None:
    """Copies `binary` to where maturin collects scripts."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    shutil.copy2(binary, SCRIPTS / BINARY)


def build() -> None:
    """Builds `soma` in release and lays it."""
    command = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "--package",
        "soma-cli",
        "--message-format=json-render-diagnostics",
    ]
    out = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = (json.loads(line) for line in out.splitlines() if line.startswith("{"))
    lay(next(Path(m["executable"]) for m in messages if m.get("executable")))


def build_wheel(
    wheel_directory: str, config_settings: dict | None = None, metadata_directory: str | None = None
) -> str:
    """PEP 517."""
    import maturin

    build()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: dict | None = None, metadata_directory: str | None = None
) -> str:
    """PEP 660."""
    import maturin

    build()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: dict | None = None) -> str:
    """PEP 517."""
    import maturin

    SCRIPTS.mkdir(parents=True, exist_ok=True)
    return maturin.build_sdist(sdist_directory, config_settings)
