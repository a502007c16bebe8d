"""Whole-process times of `soma`: start to exit, as a person waits for it, with the peak memory of each.

Makes a study of 10,000 trials with 8 reports each and one of 100,000 with one report each through
`somatize.study`, on a memory file system where there is one, and then runs every command RUNS times. The
least of them is printed, and the least time its processors spent on it (what a busy machine changes less),
beside what must be reached and beside the baseline of the same run: `true`, a process that does nothing.
Peak memory is that of a run under GNU time, whose own start is small; a process started by Python has
Python's peak in its count.

    python benches/compare/cli.py [--smoke] [--soma PATH]
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from somatize import Store
from somatize.study import DONE, PRUNED, Sampler, Space, report, take

RUNS = 15
SMOKE_RUNS = 3
# Trials, reports of each, the most milliseconds a command may take.
SIZES = [(10_000, 8, 60.0), (100_000, 1, 500.0)]
SMOKE_SIZES = [(1_000, 8, 60.0)]
PRUNED_OF_TEN = 3
HELP_MS = 5.0
GNU_TIME = "/usr/bin/time"
MEMORY_FOLDER = Path("/dev/shm")
SPACE = Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64).choice("opt", ["adam", "sgd"])
COMMANDS = [
    ["inspect"],
    ["trials", "--limit", "20"],
    ["importance"],
    ["best"],
    ["trials", "--json"],
    ["export"],
]
# These three must be reached; the rest is for comparison.
JUDGED = 3


def made(folder: Path, n_trials: int, n_reports: int) -> Path:
    """A store with one study, `bench`, whose trials have all ended."""
    where = folder / f"{n_trials}"
    store, sampler = Store(str(where), durable=False), Sampler.sobol(seed=0)
    for trial in range(n_trials):
        point = sampler.ask(SPACE, trial, [])
        take(store, point, study="bench", trial=trial, me="bench", goal="min")
        best = abs(math.log10(point["lr"]) + 2) + point["width"] / 100
        said = [best + 1 / (epoch + 1) for epoch in range(n_reports)]
        state = PRUNED if trial % 10 < PRUNED_OF_TEN else DONE
        report(store, point, said, study="bench", trial=trial, me="bench", state=state, goal="min")
    return where


def run(command: list[str]) -> tuple[float, float]:
    """One process: milliseconds from start to exit, and those that processors spent on it."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    took = (time.perf_counter() - start) * 1e3
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return took, (usage.ru_utime + usage.ru_stime) * 1e3


def peak(command: list[str]) -> str:
    """The peak memory of a run, as text."""
    if not Path(GNU_TIME).exists():
        return f"(no {GNU_TIME})"
    timed = [GNU_TIME, "--format", "%M", *command]
    said = subprocess.run(timed, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return f"{int(said.stderr.split()[-1]) / 1e3:.1f} MB"


def line(name: str, command: list[str], runs: int, must: float | None, baseline: float) -> float:
    """Runs a command, prints its least time and peak memory, and answers the time."""
    results = [run(command) for _ in range(runs)]
    least, median = min(took for took, _ in results), sorted(took for took, _ in results)[len(results) // 2]
    processor = min(processor for _, processor in results)
    ratio = f"{least / baseline:6.1f}x" if baseline else "       "
    limit = f"must {must:.0f} ms" if must else ""
    times = f"{least:8.1f} ms  median {median:8.1f} ms  processor {processor:7.1f} ms"
    print(f"{name:32} {times}  {ratio} true  {peak(command)}  {limit}")
    return least


def main() -> None:
    """Prints one line a command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="one small study, few runs")
    parser.add_argument("--soma", default=shutil.which("soma", path=Path(sys.executable).parent) or "soma")
    asked = parser.parse_args()
    runs, sizes = (SMOKE_RUNS, SMOKE_SIZES) if asked.smoke else (RUNS, SIZES)
    baseline = line("true", ["true"], runs, None, 0.0)
    line("soma --help", [asked.soma, "--help"], runs, HELP_MS, baseline)
    folder = Path(tempfile.mkdtemp(dir=MEMORY_FOLDER if MEMORY_FOLDER.is_dir() else None))
    try:
        for n_trials, n_reports, must in sizes:
            store = str(made(folder, n_trials, n_reports))
            for place, (verb, *options) in enumerate(COMMANDS):
                command = [asked.soma, verb, store, "bench", *options]
                limit = must if place < JUDGED else None
                line(f"{' '.join([verb, *options])}, {n_trials:,} trials", command, runs, limit, baseline)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
