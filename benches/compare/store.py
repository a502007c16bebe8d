"""A study's loop here and over Optuna's journal, side by side on one memory file system.

Each trial asks, reports eight values and ends; the history is read as each tool reads it. Prints
microseconds a trial and the ratio, both measured in this run.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile
import time

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from somatize import Store
from somatize.study import DONE, Sampler, Space, finished, report, take

N_REPORTS = 8


def ours(folder: str, n_trials: int) -> float:
    """Seconds for `n_trials` trials in a store."""
    space = Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64).choice("opt", ["adam", "sgd"])
    store, sampler = Store(folder), Sampler.sobol(seed=0)
    begun = time.perf_counter()
    for trial in range(n_trials):
        point = sampler.ask(space, trial, finished(store, space, study="widths"))
        take(store, point, study="widths", trial=trial, me="w", goal="min")
        said: list[float] = []
        for step in range(N_REPORTS):
            said.append(1.0 / (trial + step + 1))
            if step + 1 < N_REPORTS:
                report(store, point, said, study="widths", trial=trial, me="w")
        report(store, point, said, study="widths", trial=trial, me="w", state=DONE, goal="min")
    return time.perf_counter() - begun


def theirs(folder: str, n_trials: int) -> float:
    """Seconds for `n_trials` trials in Optuna's journal."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = JournalStorage(JournalFileBackend(str(pathlib.Path(folder) / "journal.log")))
    study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=0))

    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("lr", 1e-4, 1e-1, log=True)
        trial.suggest_int("width", 8, 64)
        trial.suggest_categorical("opt", ["adam", "sgd"])
        value = 0.0
        for step in range(N_REPORTS):
            value = 1.0 / (trial.number + step + 1)
            trial.report(value, step)
        return value

    begun = time.perf_counter()
    study.optimize(objective, n_trials=n_trials)
    return time.perf_counter() - begun


def main() -> None:
    """Measure both and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a few trials, to see that it runs")
    n_trials = 20 if parser.parse_args().smoke else 500
    memory = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None
    seconds = {}
    for name, run in (("somatize", ours), ("optuna journal", theirs)):
        with tempfile.TemporaryDirectory(dir=memory) as folder:
            seconds[name] = run(folder, n_trials)
        print(f"{name}: {seconds[name] / n_trials * 1e6:.0f} us a trial")
    print(f"ratio: {seconds['optuna journal'] / seconds['somatize']:.1f}")


if __name__ == "__main__":
    main()
